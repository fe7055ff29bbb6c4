/* checked_stream.c — a stream of numbers and bytes with a magic and a checksum. */
#include "base/checked_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

enum {
    NUMBER_BYTES = 8,
    ROOM = 1 << 16, /* of the buffer: a call of the caller's is not cheap in every language */
};

/* ---- bytes ---- */

static bool is_read(const struct twin__checked_stream *stream)
{
    return stream->source.read != NULL;
}

/* A callback returned `status`; errno, which was 0 before it, says more about TWIN_EIO if it was set. */
static void fail_transfer(struct twin__checked_stream *stream, twin_status status, const char *verb)
{
    stream->status = status == TWIN_EIO && errno ? twin__fail(stream->error, status, "cannot be %s: %m", verb)
                                                 : twin__fail_status(stream->error, status);
}

static void hand_over(struct twin__checked_stream *stream, const void *bytes, size_t length)
{
    errno = 0;
    twin_status status = length ? stream->sink.write(stream->sink.context, bytes, length) : TWIN_OK;
    if (status != TWIN_OK)
        fail_transfer(stream, status, "written");
}

static void write_bytes(struct twin__checked_stream *stream, const void *bytes, size_t length)
{
    if (length > ROOM - stream->end) {
        hand_over(stream, stream->buffer, stream->end);
        stream->end = 0;
    }
    if (stream->status != TWIN_OK)
        return;
    if (length > ROOM) {
        hand_over(stream, bytes, length);
        return;
    }
    memcpy(stream->buffer + stream->end, bytes, length);
    stream->end += length;
}

/* Whether there are bytes in the buffer, after reading if there were none. */
static bool fill(struct twin__checked_stream *stream)
{
    if (stream->begin < stream->end)
        return true;
    size_t length = ROOM;
    errno = 0;
    twin_status status = stream->source.read(stream->source.context, stream->buffer, &length);
    if (status != TWIN_OK)
        fail_transfer(stream, status, "read");
    stream->begin = 0;
    stream->end = status == TWIN_OK && length <= ROOM ? length : 0;
    return stream->end > 0;
}

static void read_bytes(struct twin__checked_stream *stream, unsigned char *out, size_t length)
{
    while (length > 0 && fill(stream)) {
        size_t some = stream->end - stream->begin;
        some = some < length ? some : length;
        memcpy(out, stream->buffer + stream->begin, some);
        stream->begin += some;
        out += some;
        length -= some;
    }
    if (length > 0)
        twin__checked_fail(stream, "the file ends too early");
}

void twin__checked_bytes(struct twin__checked_stream *stream, void *bytes, size_t length)
{
    if (length == 0)
        return;
    bool reads = is_read(stream);
    if (stream->status == TWIN_OK && reads)
        read_bytes(stream, bytes, length);
    if (stream->status == TWIN_OK)
        XXH3_64bits_update(stream->hash, bytes, length);
    if (stream->status == TWIN_OK && !reads)
        write_bytes(stream, bytes, length);
    if (stream->status == TWIN_OK)
        stream->offset += length;
    else if (reads)
        memset(bytes, 0, length);
}

twin_status twin__checked_fail(struct twin__checked_stream *stream, const char *what)
{
    if (stream->status == TWIN_OK)
        stream->status = twin__fail_at(stream->error, TWIN_EFORMAT, stream->offset, "damaged at byte %" PRIu64 ": %s",
                                       stream->offset, what);
    return stream->status;
}

/* ---- values ---- */

uint64_t twin__checked_number(struct twin__checked_stream *stream, uint64_t number)
{
    unsigned char bytes[NUMBER_BYTES];
    for (int i = 0; i < NUMBER_BYTES; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    twin__checked_bytes(stream, bytes, sizeof bytes);
    number = 0;
    for (int i = 0; i < NUMBER_BYTES; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

double twin__checked_real(struct twin__checked_stream *stream, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits = twin__checked_number(stream, bits);
    memcpy(&number, &bits, sizeof bits);
    return number;
}

void twin__checked_put_text(struct twin__checked_stream *stream, twin_text text)
{
    twin__checked_number(stream, text.length);
    twin__checked_bytes(stream, (void *)(uintptr_t)text.bytes, text.length); /* which only reads them */
}

void twin__checked_get_text(twin_buffer *out, struct twin__checked_stream *stream, size_t most)
{
    enum { AT_ONCE = 1 << 20 };
    uint64_t left = twin__checked_number(stream, 0);
    if (left > most)
        twin__checked_fail(stream, "a text is too long");
    while (left > 0 && stream->status == TWIN_OK) {
        size_t some = left < AT_ONCE ? (size_t)left : AT_ONCE;
        if (twin_buffer_reserve(out, some) != TWIN_OK) {
            stream->status = twin__fail_memory(stream->error);
            return;
        }
        twin__checked_bytes(stream, out->bytes + out->length, some);
        out->length += stream->status == TWIN_OK ? some : 0;
        left -= some;
    }
}

/* ---- begin and end ---- */

static void begin(struct twin__checked_stream *stream, const char magic[TWIN__MAGIC_BYTES + 1])
{
    char found[TWIN__MAGIC_BYTES];
    memcpy(found, magic, sizeof found);
    stream->hash = XXH3_createState();
    stream->buffer = malloc(ROOM);
    if (!stream->hash || !stream->buffer) {
        stream->status = twin__fail_memory(stream->error);
        return;
    }
    XXH3_64bits_reset(stream->hash);
    twin__checked_bytes(stream, found, sizeof found);
    if (stream->status == TWIN_EFORMAT || (stream->status == TWIN_OK && memcmp(found, magic, sizeof found) != 0))
        stream->status =
            twin__fail(stream->error, TWIN_EFORMAT, "not a file of this kind: it does not begin with %s", magic);
}

void twin__checked_write(struct twin__checked_stream *stream, twin_sink sink, const char magic[TWIN__MAGIC_BYTES + 1],
                         twin_error *error)
{
    *stream = (struct twin__checked_stream){ .sink = sink, .error = error };
    begin(stream, magic);
}

void twin__checked_read(struct twin__checked_stream *stream, twin_source source,
                        const char magic[TWIN__MAGIC_BYTES + 1], twin_error *error)
{
    *stream = (struct twin__checked_stream){ .source = source, .error = error };
    begin(stream, magic);
}

static void finish(struct twin__checked_stream *stream)
{
    uint64_t sum = XXH3_64bits_digest(stream->hash), found = twin__checked_number(stream, sum);
    if (stream->status != TWIN_OK)
        return;
    if (found != sum)
        stream->status = twin__fail(stream->error, TWIN_EFORMAT, "damaged: its checksum is wrong");
    else if (!is_read(stream))
        hand_over(stream, stream->buffer, stream->end);
    else if (fill(stream))
        twin__checked_fail(stream, "something follows the end");
}

twin_status twin__checked_close(struct twin__checked_stream *stream, twin_status status)
{
    if (status == TWIN_OK && stream->status == TWIN_OK)
        finish(stream);
    XXH3_freeState(stream->hash);
    free(stream->buffer);
    stream->hash = NULL;
    stream->buffer = NULL;
    return status == TWIN_OK ? stream->status : status;
}

/* checked_stream.c — a stream of numbers and bytes with a magic and a checksum. */
#include "base/checked_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

enum { NUMBER_BYTES = 8 };

/* ---- bytes ---- */

static void write_bytes(struct twin__checked_stream *stream, const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, stream->file) != length)
        stream->status = twin__fail(stream->error, TWIN_EIO, "cannot be written: %m");
}

static void read_bytes(struct twin__checked_stream *stream, void *out, size_t length)
{
    errno = 0;
    if (fread(out, 1, length, stream->file) == length)
        return;
    if (ferror(stream->file))
        stream->status = twin__fail(stream->error, TWIN_EIO, "cannot be read: %m");
    else
        twin__checked_fail(stream, "the file ends too early");
}

void twin__checked_bytes(struct twin__checked_stream *stream, void *bytes, size_t length)
{
    if (length == 0)
        return;
    bool reads = stream->direction == TWIN__CHECKED_READ;
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

void twin__checked_open(struct twin__checked_stream *stream, FILE *file, enum twin__checked_direction direction,
                        const char magic[TWIN__MAGIC_BYTES + 1], twin_error *error)
{
    char found[TWIN__MAGIC_BYTES];
    memcpy(found, magic, sizeof found);
    *stream = (struct twin__checked_stream){
        .file = file, .direction = direction, .hash = XXH3_createState(), .error = error
    };
    if (!stream->hash) {
        stream->status = twin__fail_memory(error);
        return;
    }
    XXH3_64bits_reset(stream->hash);
    twin__checked_bytes(stream, found, sizeof found);
    if (stream->status == TWIN_EFORMAT || (stream->status == TWIN_OK && memcmp(found, magic, sizeof found) != 0))
        stream->status = twin__fail(error, TWIN_EFORMAT, "not a file of this kind: it does not begin with %s", magic);
}

static void finish(struct twin__checked_stream *stream)
{
    uint64_t sum = XXH3_64bits_digest(stream->hash), found = twin__checked_number(stream, sum);
    if (stream->status != TWIN_OK)
        return;
    if (found != sum)
        stream->status = twin__fail(stream->error, TWIN_EFORMAT, "damaged: its checksum is wrong");
    else if (stream->direction == TWIN__CHECKED_WRITE && fflush(stream->file) != 0)
        stream->status = twin__fail(stream->error, TWIN_EIO, "cannot be written: %m");
    else if (stream->direction == TWIN__CHECKED_READ && getc(stream->file) != EOF)
        twin__checked_fail(stream, "something follows the end");
}

twin_status twin__checked_close(struct twin__checked_stream *stream, twin_status status)
{
    if (status == TWIN_OK && stream->status == TWIN_OK)
        finish(stream);
    XXH3_freeState(stream->hash);
    stream->hash = NULL;
    return status == TWIN_OK ? stream->status : status;
}

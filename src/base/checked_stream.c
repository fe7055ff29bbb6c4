/* checked_stream.c — a stream of numbers and bytes with a magic and a checksum. */
#include "base/checked_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"

static void begin(struct twin__checked_stream *stream, FILE *file)
{
    *stream = (struct twin__checked_stream){ .file = file, .hash = XXH3_createState() };
    if (stream->hash)
        XXH3_64bits_reset(stream->hash);
}

void twin__checked_clear(struct twin__checked_stream *stream)
{
    XXH3_freeState(stream->hash);
    stream->hash = NULL;
}

static void encode(unsigned char out[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t decode(const unsigned char bytes[8])
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << (8 * i);
    return number;
}

/* ---- writing ---- */

void twin__checked_begin(struct twin__checked_stream *stream, FILE *file, const char magic[TWIN__MAGIC_BYTES + 1])
{
    begin(stream, file);
    twin__checked_put(stream, magic, TWIN__MAGIC_BYTES);
}

void twin__checked_put(struct twin__checked_stream *stream, const void *bytes, size_t length)
{
    if (length == 0 || !stream->hash || stream->failed)
        return;
    XXH3_64bits_update(stream->hash, bytes, length);
    stream->failed = fwrite(bytes, 1, length, stream->file) != length;
}

void twin__checked_put_number(struct twin__checked_stream *stream, uint64_t number)
{
    unsigned char bytes[8];
    encode(bytes, number);
    twin__checked_put(stream, bytes, sizeof bytes);
}

void twin__checked_put_real(struct twin__checked_stream *stream, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    twin__checked_put_number(stream, bits);
}

void twin__checked_put_text(struct twin__checked_stream *stream, const void *bytes, size_t length)
{
    twin__checked_put_number(stream, length);
    twin__checked_put(stream, bytes, length);
}

twin_status twin__checked_put_end(struct twin__checked_stream *stream, twin_error *error)
{
    if (!stream->hash)
        return twin__fail_memory(error);
    unsigned char sum[8];
    encode(sum, XXH3_64bits_digest(stream->hash));
    twin__checked_clear(stream);
    if (stream->failed || fwrite(sum, 1, sizeof sum, stream->file) != sizeof sum || fflush(stream->file) != 0)
        return twin__fail(error, TWIN_EIO, "cannot be written: %m");
    return TWIN_OK;
}

/* ---- reading ---- */

twin_status twin__checked_fail(const struct twin__checked_stream *stream, const char *what, twin_error *error)
{
    return twin__fail_at(error, TWIN_EFORMAT, stream->offset, "damaged at byte %" PRIu64 ": %s", stream->offset,
                         what);
}

twin_status twin__checked_open(struct twin__checked_stream *stream, FILE *file,
                               const char magic[TWIN__MAGIC_BYTES + 1], twin_error *error)
{
    char found[TWIN__MAGIC_BYTES];
    begin(stream, file);
    if (!stream->hash)
        return twin__fail_memory(error);
    twin_status status = twin__checked_get(stream, found, sizeof found, error);
    if (status == TWIN_EFORMAT || (status == TWIN_OK && memcmp(found, magic, sizeof found) != 0))
        return twin__fail(error, TWIN_EFORMAT, "not a file of this kind: it does not begin with %s", magic);
    return status;
}

twin_status twin__checked_get(struct twin__checked_stream *stream, void *out, size_t length, twin_error *error)
{
    if (length == 0)
        return TWIN_OK;
    errno = 0;
    size_t got = fread(out, 1, length, stream->file);
    if (got != length && ferror(stream->file))
        return twin__fail(error, TWIN_EIO, "cannot be read: %m");
    if (got != length)
        return twin__checked_fail(stream, "the file ends too early", error);
    XXH3_64bits_update(stream->hash, out, length);
    stream->offset += length;
    return TWIN_OK;
}

twin_status twin__checked_get_number(struct twin__checked_stream *stream, uint64_t *out, twin_error *error)
{
    unsigned char bytes[8];
    twin_status status = twin__checked_get(stream, bytes, sizeof bytes, error);
    *out = status == TWIN_OK ? decode(bytes) : 0;
    return status;
}

twin_status twin__checked_get_real(struct twin__checked_stream *stream, double *out, twin_error *error)
{
    uint64_t bits;
    twin_status status = twin__checked_get_number(stream, &bits, error);
    memcpy(out, &bits, sizeof bits);
    return status;
}

twin_status twin__checked_get_text(struct twin__checked_stream *stream, twin_buffer *out, size_t most,
                                   twin_error *error)
{
    enum { AT_ONCE = 1 << 20 };
    uint64_t left;
    twin_status status = twin__checked_get_number(stream, &left, error);
    if (status == TWIN_OK && left > most)
        return twin__checked_fail(stream, "a text is too long", error);
    while (status == TWIN_OK && left > 0) {
        size_t some = left < AT_ONCE ? (size_t)left : AT_ONCE;
        if (twin_buffer_reserve(out, some) != TWIN_OK)
            return twin__fail_memory(error);
        status = twin__checked_get(stream, out->bytes + out->length, some, error);
        out->length += status == TWIN_OK ? some : 0;
        left -= some;
    }
    return status;
}

twin_status twin__checked_get_end(struct twin__checked_stream *stream, twin_error *error)
{
    uint64_t wanted = XXH3_64bits_digest(stream->hash), found;
    twin_status status = twin__checked_get_number(stream, &found, error);
    if (status == TWIN_OK && found != wanted)
        return twin__fail(error, TWIN_EFORMAT, "damaged: its checksum is wrong");
    if (status == TWIN_OK && getc(stream->file) != EOF)
        return twin__checked_fail(stream, "something follows the end", error);
    return status;
}

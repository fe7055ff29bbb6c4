/* checked_stream.h — a stream of numbers and bytes that begins with a magic and ends with a checksum of all of it.
 *
 * The same calls write and read. A number has eight bytes, the low one first; a double is written as the number of its
 * bits. The first failure fills the `error` given at the beginning and is kept: after it nothing is written, and
 * everything is read as zeros. So `status` need not be checked after each call, except in a loop over a count that was
 * read. No value is to be trusted before the checksum has been. */
#ifndef TWIN_BASE_CHECKED_STREAM_H
#define TWIN_BASE_CHECKED_STREAM_H

#include <stdint.h>
#include <twinsift/buffer.h>
#include <twinsift/status.h>

enum { TWIN__MAGIC_BYTES = 8 };

struct twin__checked_stream {
    twin_sink sink; /* of a stream that is written */
    twin_source source;
    unsigned char *buffer;
    size_t begin, end;         /* of the bytes that wait in it */
    struct XXH3_state_s *hash; /* of all bytes so far */
    uint64_t offset;
    twin_status status;
    twin_error *error;
};

/* Writes the magic, or checks it. End with twin__checked_close(), also after a failure. */
void twin__checked_write(struct twin__checked_stream *stream, twin_sink sink, const char magic[TWIN__MAGIC_BYTES + 1],
                         twin_error *error);
void twin__checked_read(struct twin__checked_stream *stream, twin_source source,
                        const char magic[TWIN__MAGIC_BYTES + 1], twin_error *error);

void twin__checked_bytes(struct twin__checked_stream *stream, void *bytes, size_t length);

/* Writes the number and returns it; or reads one, whatever `number` is, and returns that. */
uint64_t twin__checked_number(struct twin__checked_stream *stream, uint64_t number);
double twin__checked_real(struct twin__checked_stream *stream, double number);

/* A length and that many bytes. What is read is appended to `out`; more bytes than `most` are a failure. */
void twin__checked_put_text(struct twin__checked_stream *stream, twin_text text);
void twin__checked_get_text(twin_buffer *out, struct twin__checked_stream *stream, size_t most);

/* For a value that is impossible: TWIN_EFORMAT with the offset, unless there was a failure before. */
twin_status twin__checked_fail(struct twin__checked_stream *stream, const char *what);

/* Writes the checksum; or checks it, and that nothing follows. After a failure, of the caller (`status`) or of the
 * stream, it only releases the stream and returns that failure. */
twin_status twin__checked_close(struct twin__checked_stream *stream, twin_status status);

#endif

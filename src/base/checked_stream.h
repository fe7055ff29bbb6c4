/* checked_stream.h — a stream of numbers and bytes that begins with a magic and ends with a checksum of all of it.
 *
 * Numbers have eight bytes, the low one first. Writers do not look at failures in between: the end tells. A reader
 * must not believe a length before the bytes are there, nor a value before the end has been checked. */
#ifndef TWIN_BASE_CHECKED_STREAM_H
#define TWIN_BASE_CHECKED_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <twinsift/buffer.h>
#include <twinsift/status.h>

enum { TWIN__MAGIC_BYTES = 8 };

struct twin__checked_stream {
    FILE *file;
    struct XXH3_state_s *hash; /* of all bytes so far; NULL: out of memory */
    uint64_t offset;
    bool failed;
};

/* ---- writing */

void twin__checked_begin(struct twin__checked_stream *stream, FILE *file, const char magic[TWIN__MAGIC_BYTES + 1]);
void twin__checked_put(struct twin__checked_stream *stream, const void *bytes, size_t length);
void twin__checked_put_number(struct twin__checked_stream *stream, uint64_t number);
void twin__checked_put_real(struct twin__checked_stream *stream, double number); /* its bits as a number */

/* A length and so many bytes. */
void twin__checked_put_text(struct twin__checked_stream *stream, const void *bytes, size_t length);

/* Writes the checksum. TWIN_EIO, with errno, when something could not be written. Ends the stream in any case. */
twin_status twin__checked_put_end(struct twin__checked_stream *stream, twin_error *error);

/* ---- reading: each fills `error` when it fails; then, or in the end, call twin__checked_clear() */

twin_status twin__checked_open(struct twin__checked_stream *stream, FILE *file,
                               const char magic[TWIN__MAGIC_BYTES + 1], twin_error *error);
twin_status twin__checked_get(struct twin__checked_stream *stream, void *out, size_t length, twin_error *error);
twin_status twin__checked_get_number(struct twin__checked_stream *stream, uint64_t *out, twin_error *error);
twin_status twin__checked_get_real(struct twin__checked_stream *stream, double *out, twin_error *error);

/* Appends a length and so many bytes to what is in `out`, but no more than `most`. */
twin_status twin__checked_get_text(struct twin__checked_stream *stream, twin_buffer *out, size_t most,
                                   twin_error *error);

/* Checks the checksum, and that nothing follows. */
twin_status twin__checked_get_end(struct twin__checked_stream *stream, twin_error *error);
void twin__checked_clear(struct twin__checked_stream *stream);

/* A value that cannot be: TWIN_EFORMAT with the offset. */
twin_status twin__checked_fail(const struct twin__checked_stream *stream, const char *what, twin_error *error);

#endif

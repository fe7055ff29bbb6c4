/* file_bytes.h — the bytes of a file of records, at any offset.
 *
 * Files are read, not mapped: one that is truncated while it is read is then an error and not a
 * signal. What cannot be read at any offset, because it is compressed or a pipe, is first copied
 * to a temporary file. Of many files only some stay open, as far as the limit of the process
 * (RLIMIT_NOFILE) allows; the others are opened again by name, and must be the same files then. */
#ifndef TWIN_INPUT_FILE_BYTES_H
#define TWIN_INPUT_FILE_BYTES_H

#include "input/source.h"

struct twin__file_bytes {
    int fd;              /* the file, or the temporary file it was unpacked into; -1: opened when it is read */
    uint64_t begin, end; /* where its bytes begin, after a byte order mark, and end */
    bool is_original;    /* not a temporary file */
    struct timespec modified;
    dev_t device; /* of a file that is opened when it is read: which file it was */
    ino_t number;
};

/* Takes the descriptor over. A file whose first bytes cannot be those of the format is refused with advice. To be
 * closed also after a failure. */
twin_status twin__file_bytes_open(struct twin__file_bytes *out, struct twin__opening *opening,
                                  twin_input_format format, twin_error *error);
void twin__file_bytes_close(struct twin__file_bytes *bytes);

/* Appends `length` bytes of the file to the block, which keeps room for a line end. `name` is for the error. */
twin_status twin__file_bytes_read(twin_buffer *block, const struct twin__file_bytes *bytes, const char *name,
                                  uint64_t offset, size_t length, twin_error *error);

/* Appends the bytes from `begin` to `end`, or to the last. */
twin_status twin__file_bytes_range(twin_buffer *out, const struct twin__file_bytes *bytes, const char *name,
                                   uint64_t begin, uint64_t end, twin_error *error);

/* What others have done to the file since it was opened. */
twin_input_change twin__file_bytes_change(const struct twin__file_bytes *bytes, const char *name);

#endif

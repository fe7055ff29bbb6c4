/* unpack.h — what cannot be read twice becomes a file that can: unpacked, and without a name. */
#ifndef TWIN_INPUT_UNPACK_H
#define TWIN_INPUT_UNPACK_H

#include <twinsift/status.h>

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

/* Enough bytes to tell the packing. */
enum { TWIN__PACKING_BYTES = 4 };
enum packing twin__packing_of(const unsigned char *bytes, size_t length);

struct unpack_options {
    const char *name; /* of what is read, for errors */
    const char *temp_folder;
    uint64_t total; /* bytes there are to read; 0 when that is not known */
    twin_progress progress;
};

/* Reads the descriptor to its end, undoing gzip or zstd where the first bytes say so, into a new
 * temporary file; `out` is its descriptor and `size` its length. `from` stays open. Damaged or
 * truncated: TWIN_EFORMAT; no room on the disk: TWIN_EIO. */
twin_status twin__unpack(int *out, uint64_t *size, int from, struct unpack_options options, twin_error *error);

#endif

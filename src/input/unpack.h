/* unpack.h — what cannot be read twice becomes a file that can: unpacked, and without a name; in memory
 * while it is small. */
#ifndef TWIN_INPUT_UNPACK_H
#define TWIN_INPUT_UNPACK_H

#include <twinsift/input.h>

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_ZSTD };

/* Enough bytes to recognise the packing. */
enum { TWIN__PACKING_BYTES = 4 };
enum packing twin__packing_of(const unsigned char *bytes, size_t length);

struct unpack_options {
    const char *name; /* of what is read, for errors */
    const char *temp_folder;
    uint64_t total; /* bytes there are to read; 0 when that is not known */
    twin_progress progress;

    /* Limits. Nothing is ever unpacked to more than this. */
    uint64_t most; /* bytes; 0: of compressed data 1 GiB, or 200 times what was read of it if that is more */
    const char *most_option; /* that allows more, for the error; NULL: --max-unpacked-bytes */
    size_t memory;           /* larger files are in the temporary folder; 0: 64 MiB */

    /* For lines. */
    bool is_json;     /* JSON arrays or objects, which become lines */
    bool may_be_json; /* the first bytes show whether it is */
    bool is_lines;    /* bytes that cannot be lines of the format are refused at once */
    twin_input_format format;
    uint64_t longest_line; /* what follows in a longer line is dropped; 0: nothing is */
};

/* Reads the descriptor to its end, undoing gzip or zstd where the first bytes say so, into a new
 * file; `out` is its descriptor and `size` its length. `from` stays open. Damaged or truncated:
 * TWIN_EFORMAT; no room on the disk: TWIN_EIO; more than is allowed: TWIN_ELIMIT. */
twin_status twin__unpack(int *out, uint64_t *size, int from, struct unpack_options options, twin_error *error);

/* The same, but the bytes go to a function as they come. What it returns ends the unpacking unless it is TWIN_OK. */
struct unpack_sink {
    twin_status (*put)(void *context, const char *bytes, size_t length);
    void *context;
};
twin_status twin__unpack_to_sink(struct unpack_sink sink, int from, struct unpack_options options, twin_error *error);

#endif

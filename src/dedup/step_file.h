/* step_file.h — what the files of the steps have in common: whose they are, and which part.
 *
 * A file belongs to one collection, by its fingerprint, and has one part of the work; those of all parts are read
 * together. */
#ifndef TWIN_DEDUP_STEP_FILE_H
#define TWIN_DEDUP_STEP_FILE_H

#include <twinsift/dedup.h>

#include "base/checked_stream.h"
#include "join/candidates.h"

/* The candidates of some or all bands of a collection. */
struct twin_candidates {
    twin_part part;
    uint64_t fingerprint; /* of the collection */
    size_t documents;     /* of it */
    struct twin__bands_found found;
};

/* A kind of files, of one collection. */
struct twin__step_files {
    const char *magic;
    uint64_t fingerprint;
};

/* Opens a stream and writes whose it is. */
void twin__step_begin(struct twin__checked_stream *stream, twin_sink sink, const struct twin__step_files *kind,
                      twin_part part, twin_error *error);

/* Reads what follows in one file. What it returns except TWIN_OK ends the reading. */
typedef twin_status twin__step_read(void *context, struct twin__checked_stream *stream);

/* Reads the files one after the other and checks that they are all parts of one collection, each once. */
twin_status twin__step_read_all(twin_saved_files saved, const struct twin__step_files *kind, twin__step_read *read,
                                void *context, twin_error *error);

#endif

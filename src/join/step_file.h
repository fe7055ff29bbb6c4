/* step_file.h — what the files of the steps have in common: whose they are, and which part. */
#ifndef TWIN_JOIN_STEP_FILE_H
#define TWIN_JOIN_STEP_FILE_H

#include <twinsift/candidates.h>

#include "base/checked_stream.h"

/* The parts that were read of one kind of file. */
struct twin__parts_read {
    bool *seen;
    uint32_t of; /* 0: none was read, or one that is the whole */
};

void twin__step_put_head(struct twin__checked_stream *stream, uint64_t fingerprint, twin_part part);

/* Checks that a file belongs to the collection and that its part has not been read. */
twin_status twin__step_get_head(struct twin__checked_stream *stream, struct twin__parts_read *parts,
                                uint64_t fingerprint, twin_error *error);

/* Checks that no part is missing, and releases; also after a failure, which it returns. */
twin_status twin__step_end(struct twin__parts_read *parts, twin_status status, twin_error *error);

#endif

/* verify_private.h — what the files of verification share. */
#ifndef TWIN_JOIN_VERIFY_PRIVATE_H
#define TWIN_JOIN_VERIFY_PRIVATE_H

#include <stdatomic.h>

#include "join/verify.h"

/* Candidate pairs on their way to be matches. */
struct twin__verification {
    const struct twin__provider *provider;
    struct twin__verify_options options;
    uint32_t *documents; /* by rank: those that are in a pair */
    size_t ranked;       /* how many these are */
    atomic_size_t done;  /* pairs compared */
    size_t count;        /* of all */
};

/* Some more pairs are done. */
void twin__verification_report(struct twin__verification *verification, size_t pairs);

/* Adds those of the pairs, of ranks, that are similar enough to the matches, in the same order whatever the executor
 * is. The list of pairs is used up. A failure also fills `error`. */
twin_status twin__verify_tiles(twin_matches *out, struct twin__verification *verification, struct twin__pairs *pairs,
                               twin_error *error);

#endif

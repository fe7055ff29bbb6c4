/* pair_rounds.h — candidate pairs outside of joined groups are compared: all, or as many as are enough. */
#ifndef TWIN_JOIN_PAIR_ROUNDS_H
#define TWIN_JOIN_PAIR_ROUNDS_H

#include "join/groups.h"
#include "join/pairs.h"
#include "join/verify.h"

struct twin__pair_rounds_options {
    /* TWIN__JOIN_ALL:     all similar pairs are added.
     * TWIN__JOIN_KEPT:    as many as twin__cluster_keepers() needs to decide as by all of them, if documents with lower
     *                     numbers are preferred. Documents of joined groups may be similar to others besides.
     * TWIN__JOIN_CONNECT: as many as connect the components of all similar pairs. */
    enum twin__join_mode mode;
    const struct twin__groups *joined;
    struct twin__components *components;        /* TWIN__JOIN_CONNECT: unites those of each pair that is added */
    const struct twin__pair_overflow *overflow; /* unless NULL, all pairs are there */
    struct twin__verify_options verify;
};

/* Compares pairs, and adds similar ones to the matches; the list is used up. Adds to *compared how many were compared, which
 * does not depend on their order or the executor. A failure also fills `error`. */
twin_status twin__pair_rounds(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                              struct twin__pairs *pairs, const struct twin__pair_rounds_options *options,
                              twin_error *error);

#endif

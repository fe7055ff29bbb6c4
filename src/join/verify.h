/* verify.h — candidate pairs are compared, and those that are similar enough become matches. */
#ifndef TWIN_JOIN_VERIFY_H
#define TWIN_JOIN_VERIFY_H

#include <stdatomic.h>

#include "join/candidates.h"
#include "join/groups.h"
#include "join/matches.h"
#include "join/pair_overflow.h"

/* Sets are compared by a measure, and must reach a threshold. */
struct twin__set_rule {
    twin_measure measure;
    double threshold;
};

/* How two contents are compared: `compare` writes their similarity, or -1 when that is not enough. It is called by all
 * workers at once. */
struct twin__comparison {
    twin_status (*compare)(double *out, void *context, struct twin__content a, struct twin__content b, int worker);
    void *context;
    const struct twin__set_rule *sets; /* unless NULL, sets are compared by this rule, in whatever way is fastest */
};

/* The result borrows `rule`. */
struct twin__comparison twin__compare_sets(struct twin__set_rule *rule);

struct twin__verify_options {
    struct twin__comparison comparison;
    twin_exec exec;
    twin_progress progress; /* receives "verifying" */
};

/* Adds the pairs that are similar enough to the matches, in the same order whatever `exec` is; `pairs` has none
 * twice, and may be in any order. A failure also fills `error`; many workers fail as one would. */
twin_status twin__verify_pairs(twin_matches *out, const struct twin__provider *provider,
                               const struct twin__pairs *pairs, struct twin__verify_options options,
                               twin_error *error);

/* Adds all pairs to the matches, each with the share of its equal slots. */
twin_status twin__estimate_pairs(twin_matches *out, const struct twin__provider *provider,
                                 const struct twin__pairs *pairs);

/* ---- between verify.c and verify_tiles.c ---- */

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

/* ---- pair_rounds.c: all pairs are compared, or as many as are enough ---- */

struct twin__pair_rounds_options {
    /* TWIN__JOIN_ALL:     all similar pairs are added.
     * TWIN__JOIN_KEPT:    as many as twin__cluster_keepers() needs to decide as by all of them, if documents with lower
     *                     numbers are preferred. Documents of joined groups may be similar to others besides.
     * TWIN__JOIN_CONNECT: as many as connect the components of all similar pairs. */
    enum twin__join_mode mode;
    const struct twin__groups *joined;
    uint32_t *components; /* TWIN__JOIN_CONNECT: a union-find; unites those of each pair that is added */
    const struct twin__pair_overflow *overflow; /* unless NULL, all pairs are there */
    struct twin__verify_options verify;
};

/* Compares pairs, and adds similar ones to the matches; the list is used up. Adds to *compared how many were compared, which
 * does not depend on their order or the executor. A failure also fills `error`. */
twin_status twin__pair_rounds(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                              struct twin__pairs *pairs, const struct twin__pair_rounds_options *options,
                              twin_error *error);

#endif

/* verify.h — candidate pairs are compared, and those that are similar enough become matches. */
#ifndef TWIN_JOIN_VERIFY_H
#define TWIN_JOIN_VERIFY_H

#include "join/candidates.h"

twin_status twin__matches_add(twin_matches *matches, twin_match match);

/* Moves all matches of `from` to the end of `out`. False when out of memory: then nothing was moved. */
bool twin__matches_move(twin_matches *out, twin_matches *from);

/* Sorts by a, then b. */
void twin__matches_sort(twin_matches *matches);

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

#endif

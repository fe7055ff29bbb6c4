/* deciding_pairs.h — the candidate pairs that decide which documents stay, in the order of their numbers. */
#ifndef TWIN_JOIN_DECIDING_PAIRS_H
#define TWIN_JOIN_DECIDING_PAIRS_H

#include "join/pairs.h"
#include "join/verify.h"

/* Compares pairs, and adds those that are similar enough to the matches: not all, but as many as twin_cluster_keepers()
 * needs to decide as by all of them, if documents with lower numbers are preferred. The list is used up. Documents that
 * are marked in `unsure`, unless it is NULL, may be similar to others besides. Adds to *compared how many pairs were
 * compared, which does not depend on their order or the executor. A failure also fills `error`. */
twin_status twin__deciding_pairs(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                                 struct twin__pairs *pairs, const bool *unsure, struct twin__verify_options options,
                                 twin_error *error);

/* The same for pairs that do not fit into memory. `unsure` is not NULL, and more documents are marked in it. */
twin_status twin__deciding_batches(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                                   const struct twin__pair_overflow *overflow, bool *unsure,
                                   struct twin__verify_options options, twin_error *error);

#endif

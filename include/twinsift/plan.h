/* plan.h — bands and rows: from accepted error rates, and the keys of a signature in them.
 *
 * With b bands of r rows, two sets of similarity J become candidates with probability 1 - (1 - J^r)^b: an
 * S-curve that is steeper the more slots b·r a signature has. */
#ifndef TWINSIFT_PLAN_H
#define TWINSIFT_PLAN_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_plan {
    size_t bands, rows;
} twin_plan;

/* A similarity and the probability wanted there. */
typedef struct twin_plan_point {
    double similarity, probability;
} twin_plan_point;

/* The cells, hash functions and bytes of a classic Bloom filter. */
typedef struct twin_plan_bloom {
    uint64_t cells, bytes;
    unsigned functions;
    double probability; /* of a false positive, with these cells and functions */
} twin_plan_bloom;

/* The probability that two sets of this similarity become candidates. */
TWIN_API double twin_plan_probability(twin_plan plan, double similarity);

/* The plan with the fewest slots whose probability is at most reject.probability at reject.similarity and at
 * least accept.probability at accept.similarity; of equals the one with more rows. TWIN_EINVAL when the
 * points contradict each other, TWIN_ELIMIT when `most_slots` are not enough. */
TWIN_API twin_status twin_plan_from_errors(twin_plan *out, twin_plan_point reject, twin_plan_point accept,
                                           size_t most_slots);

/* The plan with the most rows, hence the fewest false candidates, that still reaches accept.probability at
 * accept.similarity with `slots` slots. If none does, the closest: one row, one band per slot. */
TWIN_API twin_status twin_plan_from_slots(twin_plan *out, twin_plan_point accept, size_t slots);

/* Slots for an expected error of the estimate: k = ceil(1/error²). 0 when error is not in (0, 1]. */
TWIN_API size_t twin_plan_slots(double error);

/* Sizes a classic Bloom filter: cells = items·ln(1/p)/(ln 2)², functions = cells/items·ln 2. */
TWIN_API twin_status twin_plan_for_bloom(twin_plan_bloom *out, uint64_t items, double probability);

/* How signatures are cut into bands. */
typedef struct twin_band_options {
    twin_plan plan;   /* {0}: planned for these slots and a threshold of 0.8, as twin_scheme_complete() does */
    uint32_t buckets; /* 0: equal rows make a bucket. Else each band is hashed into this many buckets, so that
                         different rows may collide (the textbook variant). */
    uint64_t reserved[TWIN_RESERVED];
} twin_band_options;

/* Writes the key of each band of a signature to `out`, which has room for plan.bands numbers: documents whose keys
 * agree at some band are candidates, whatever engine compares the keys (a hash join, a database, another
 * program). key[b] is XXH3-64 with seed b over the rows of band b, signature[b·rows] .. signature[b·rows + rows - 1],
 * as numbers of four bytes, low byte first, so it is the same on every machine; docs/format.md has an example. The
 * band is part of the key: all keys of all documents may go into one table. Of unequal rows one pair in 2^64 has
 * equal keys. The signature has at least bands·rows slots. TWIN_EINVAL when the plan has no bands or no rows. */
TWIN_API twin_status twin_band_keys(uint64_t *out, const uint32_t *signature, twin_plan plan);

#ifdef __cplusplus
}
#endif
#endif

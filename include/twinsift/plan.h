/* plan.h — bands, rows and slots from accepted error rates.
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

#ifdef __cplusplus
}
#endif
#endif

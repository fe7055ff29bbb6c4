/* deep_bands.h — bands of more rows, for groups whose documents are alike and yet not similar. */
#ifndef TWIN_JOIN_DEEP_BANDS_H
#define TWIN_JOIN_DEEP_BANDS_H

#include <twinsift/similar.h>

#include "join/groups.h"
#include "lsh/large_buckets.h"

/* The fewest bands of each number of rows that miss no more similar pairs than the ordinary bands do; 0: too many. */
struct twin__deep_plans {
    size_t slots;
    size_t bands[TWIN__MOST_DRAWN_ROWS + 1];
};
struct twin__deep_plans twin__deep_plans_make(const twin_similar_options *options, size_t slots, size_t least_equal);

/* The probability that such bands miss a pair of this similarity that has `least_equal` equal slots or more. */
double twin__deep_plan_missed(twin_plan plan, size_t slots, double similarity, size_t least_equal);

/* Decides how the pairs of each group would be listed: where bands of more rows take fewer looks, they become its plan, and
 * its meetings become as few. */
void twin__deep_plans_choose(struct twin__groups *groups, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options);

/* The slots of each band (large_buckets.h), the same on every machine. NULL when out of memory. */
uint16_t *twin__deep_order(twin_plan plan, size_t slots);

#endif

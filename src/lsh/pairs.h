/* pairs.h — lists of candidate pairs. */
#ifndef TWIN_LSH_PAIRS_H
#define TWIN_LSH_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twinsift/status.h>

/* Pairs of documents that grow, each as one number: the lower document in the high half, the higher in the low. Begin
 * with {0}; free `items` in the end. */
struct twin__pairs {
    uint64_t *items;
    size_t count, capacity;
};

static inline uint64_t twin__pair(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static inline uint32_t twin__pair_low(uint64_t pair)
{
    return (uint32_t)(pair >> 32);
}

static inline uint32_t twin__pair_high(uint64_t pair)
{
    return (uint32_t)pair;
}

/* Adds a pair, or all pairs of another list. False when out of memory: then nothing was added. */
bool twin__pairs_add(struct twin__pairs *pairs, uint64_t pair);
bool twin__pairs_append(struct twin__pairs *pairs, const struct twin__pairs *more);

/* Sorts the pairs and drops repeats, and, unless `known` is NULL, those that are in it; `known` is sorted. */
twin_status twin__pairs_sort_unique(struct twin__pairs *pairs, const struct twin__pairs *known);

#endif

/* containment_private.h — what the files of the join by containment share.
 *
 *   containment_join.c    all of it: sizes, blocks, searching
 *   containment_probes.c  which documents may be contained in a larger one, and the shingles by which that is found
 *   shingle_marks.c       which larger documents may have a shingle
 *   set_index.c           the index of a block of documents */
#ifndef TWIN_JOIN_CONTAINMENT_PRIVATE_H
#define TWIN_JOIN_CONTAINMENT_PRIVATE_H

#include <math.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/containment_join.h"
#include "join/matches.h"
#include "join/set_index.h"
#include "join/shingle_marks.h"

/* The documents that are joined, sorted by size. The rank of a document is its place in that order: of two documents
 * the one of lower rank is the one that may be contained. */
struct twin__containment {
    const struct twin__provider *provider;
    struct twin__containment_options options;
    double threshold; /* less what arithmetic may err */
    uint64_t *order;  /* by rank: the size of a set in the high half, its document in the low */
    size_t count;
};

static inline uint32_t twin__containment_document(const struct twin__containment *join, size_t rank)
{
    return (uint32_t)join->order[rank];
}

static inline size_t twin__containment_size(const struct twin__containment *join, size_t rank)
{
    return (size_t)(join->order[rank] >> 32);
}

/* The items of a set that a set not smaller must have. */
static inline size_t twin__containment_needed(const struct twin__containment *join, size_t size)
{
    size_t items = (size_t)ceil(join->threshold * (double)size);
    return items > 0 ? items : 1;
}

/* The colour of a document, one bit. Where only pairs between two collections are wanted, each has half of the
 * colours. */
static inline uint64_t twin__containment_colour(const struct twin__containment *join, size_t rank)
{
    uint32_t split = join->provider->split;
    if (split == 0)
        return (uint64_t)1 << rank % TWIN__COLOURS;
    bool second = twin__containment_document(join, rank) >= split;
    return (uint64_t)1 << (rank % (TWIN__COLOURS / 2) + (second ? TWIN__COLOURS / 2 : 0));
}

/* What a worker needs to divide sets and to search for them. Begin with {0}. */
struct twin__containment_worker {
    struct twin__index_scratch scratch;
    struct twin__item_marks marks;
    uint64_t *bits;
    size_t bit_capacity;
};
void twin__containment_worker_clear(struct twin__containment_worker *worker);

/* A set, in any order, as an index has it; it lives until the same worker divides again. False when out of memory. */
bool twin__containment_divide(struct twin__divided_set *out, struct twin__containment_worker *worker,
                              const struct twin__frequent_items *frequent, twin_set items);

/* ---- containment_probes.c */

/* Takes documents from the largest to the smallest. */
struct twin__prober;
twin_status twin__prober_create(struct twin__prober **out, struct twin__containment *join);
void twin__prober_free(struct twin__prober *prober);

/* The rank above which all documents have been taken; 0 in the end. */
size_t twin__prober_left(const struct twin__prober *prober);

/* Adds the next documents that may be contained in a larger one to the index, by their ranks, as many as there is room
 * for; those that are too long for it are paired with all that may contain them. */
twin_status twin__prober_fill(struct twin__set_index *index, struct twin__pairs *pairs, struct twin__prober *prober,
                              twin_error *error);

#endif

/* containment_private.h — what the files of the join by containment share.
 *
 *   containment_join.c    all of it: sizes, blocks, lookups, comparing
 *   containment_probes.c  which documents may be contained in a larger one, and the shingles by which that is found
 *   shingle_marks.c       which larger documents may have a shingle
 *   probe_index.c         an inverted index of a block of documents */
#ifndef TWIN_JOIN_CONTAINMENT_PRIVATE_H
#define TWIN_JOIN_CONTAINMENT_PRIVATE_H

#include <math.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/containment_join.h"
#include "join/matches.h"
#include "join/probe_index.h"
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

/* ---- containment_probes.c */

/* A document of a block. */
struct twin__probe_member {
    uint64_t colours; /* of the documents that may contain it */
    uint32_t rank;
    uint16_t wanted; /* its probes that a document containing it has, at least */
};

/* Some documents that may be contained in a larger one, in decreasing order of rank, and an index of their probes.
 * Begin with {0}; end with twin__probe_block_clear(). */
struct twin__probe_block {
    struct twin__probe_member *members;
    size_t count, capacity;
    struct twin__probe_index index;
};
void twin__probe_block_clear(struct twin__probe_block *block);

/* Takes documents from the largest to the smallest. */
struct twin__prober;
twin_status twin__prober_create(struct twin__prober **out, struct twin__containment *join);
void twin__prober_free(struct twin__prober *prober);

/* The rank above which all documents have been taken; 0 in the end. */
size_t twin__prober_left(const struct twin__prober *prober);

/* Fills the block with the next documents, as many as the entries of the index allow. */
twin_status twin__prober_fill(struct twin__probe_block *block, struct twin__prober *prober, twin_error *error);

/* Compares the pairs of which one document is long, if there are several of that document, and takes them from the
 * others. Adds those that reach the threshold to the matches, and to *compared how many it compared. A failure also
 * fills `error`. */
twin_status twin__containment_compare_long(twin_matches *out, uint64_t *compared,
                                           const struct twin__containment *join, struct twin__pairs *pairs,
                                           twin_error *error);

#endif

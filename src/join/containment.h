/* containment.h — all pairs of documents of which the smaller set is mostly contained in the larger.
 *
 *   containment_join.c    all of it: sizes, blocks, searching
 *   containment_probes.c  which documents may be contained in a larger one, and the shingles by which that is found
 *   set_index.c           the index of a block of documents */
#ifndef TWIN_JOIN_CONTAINMENT_H
#define TWIN_JOIN_CONTAINMENT_H

#include <math.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/matches.h"
#include "join/set_index.h"
#include "join/verify.h"

struct twin__containment_options {
    double threshold;
    size_t most_room; /* of an index, about, in units of eight bytes; 0: 8 million, or 32 per document where that is
                             * more */
    size_t pairs_at_a_time; /* found at a time; 0: 2 million */
    size_t items_at_a_time; /* of sets whose probes are chosen at a time, and of one that is indexed; 0: a million */
    size_t steps_per_item;  /* of a search, through the lists of the index; 0: 256 */
    twin_exec exec;
    twin_progress progress; /* receives "joining" */
};

/* Adds all pairs of the provider's documents that reach the threshold to the matches, in the same order whatever the
 * executor is. None is missed, unless documents are incomplete. Signatures are not used to find them. A failure also fills
 * `error`. */
twin_status twin__containment_join(twin_matches *out, struct twin__join_counts *counts,
                                   const struct twin__provider *provider, struct twin__containment_options options,
                                   twin_error *error);

/* ---- which of the documents seen so far may have a shingle (containment_probes.c) ----
 *
 * Documents have one of 64 colours. A table has a word per shingle with the colours of the documents that have it.
 * Shingles share words by chance, so there may be too many marks, never too few: a shingle without the mark of a colour is
 * in no document of that colour. How many colours a shingle has says about how rare it is. */
enum { TWIN__COLOURS = 64 };

struct twin__shingle_marks {
    uint64_t *marks; /* a bit per colour */
    unsigned shift;
};

/* 16 to 32 marks per shingle of all documents, `items` in number, but 64 MB at most, or 256 bytes per document where
 * that is more. */
twin_status twin__shingle_marks_init(struct twin__shingle_marks *out, size_t documents, size_t items);
void twin__shingle_marks_clear(struct twin__shingle_marks *marks);

/* The leading bits of a shingle are its part of the table: different parts may be used at once. */
enum { TWIN__MARK_PART_BITS = 5, TWIN__MARK_PARTS = 1 << TWIN__MARK_PART_BITS };

/* Marks items, all of one part, with `colour`, one bit. before[i] becomes the colours that item i had. */
void twin__shingle_marks_add(uint64_t *before, struct twin__shingle_marks *marks, twin_set part, uint64_t colour);

/* counts[c] becomes the number of words with bit c. */
void twin__count_colours(uint32_t counts[TWIN__COLOURS], const uint64_t *words, size_t count);

/* ---- between the two files ---- */

enum { TWIN__SETS_AT_A_TIME = 8 }; /* that a worker takes */

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

/* ---- containment_probes.c ---- */

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

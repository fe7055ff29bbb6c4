/* near_pairs.h — pairs of texts that are near by edit distance, as numbers. */
#ifndef TWIN_JOIN_NEAR_PAIRS_H
#define TWIN_JOIN_NEAR_PAIRS_H

#include <pthread.h>
#include <twinsift/similar.h>

/* A pair is one number, in the order of a, then b: documents a < b, 28 bits each, and how many characters one has
 * that the other has not, 8 bits. */
enum { TWIN__NEAR_DOCUMENTS = 1 << 28, TWIN__NEAR_INDELS = 255 };

static inline uint64_t twin__near_pair(uint32_t a, uint32_t b, size_t indels)
{
    return (uint64_t)(a < b ? a : b) << 36 | (uint64_t)(a < b ? b : a) << 8 | indels;
}

static inline uint32_t twin__near_a(uint64_t pair)
{
    return (uint32_t)(pair >> 36);
}

static inline uint32_t twin__near_b(uint64_t pair)
{
    return (uint32_t)(pair >> 8) & (TWIN__NEAR_DOCUMENTS - 1);
}

static inline size_t twin__near_indels(uint64_t pair)
{
    return pair & TWIN__NEAR_INDELS;
}

/* Where pairs go when more of them are found than are to be in memory: to the runs of a list of matches. Lists of
 * several workers share it. */
struct twin__near_overflow {
    pthread_mutex_t lock;
    twin_matches *matches; /* with runs, which say how many a list may hold */
    const twin_collection *collection;
    bool may_repeat; /* what went there: a pair may be in more than one run */
};

/* Pairs that grow. Begin with {0}, or with an overflow; free `items` in the end. */
struct twin__near_pairs {
    struct twin__near_overflow *overflow; /* NULL: all are kept */
    uint64_t *items;
    size_t count, capacity;
    size_t sorted;     /* as many as were left when repeats were dropped last */
    uint64_t compared; /* how many pairs were compared for them */
};

twin_status twin__near_pairs_add(struct twin__near_pairs *pairs, uint64_t pair);

/* The same where pairs repeat: drops repeats when they may be many. */
twin_status twin__near_pairs_add_once(struct twin__near_pairs *pairs, uint64_t pair);

/* Sorts all pairs of a list, and leaves it empty: they are then in a run of the overflow. */
twin_status twin__near_pairs_spill(struct twin__near_pairs *pairs);

/* Moves all of `more` to the end of `out`. */
twin_status twin__near_pairs_move(struct twin__near_pairs *out, struct twin__near_pairs *more);

/* Sorts, and drops repeats. */
twin_status twin__near_pairs_sort(struct twin__near_pairs *pairs);

/* A pair as a match, with the indel ratio of the texts, whose lengths the collection knows; and all of them, added. */
twin_match twin__near_match(uint64_t pair, const twin_collection *collection);
twin_status twin__near_pairs_match(twin_matches *out, const struct twin__near_pairs *pairs,
                                   const twin_collection *collection);

#endif

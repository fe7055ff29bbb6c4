/* pairs.h — candidate pairs: lists of them, and more than are to be in memory.
 *
 * Lists that are full go to runs of a temporary file, each sorted by the later document of a pair, then the earlier
 * one. In the end they are read in that order, some at a time. */
#ifndef TWIN_JOIN_PAIRS_H
#define TWIN_JOIN_PAIRS_H

#include <pthread.h>

#include "join/join_private.h"
#include "join/matches.h"

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

struct twin__pair_overflow {
    size_t most; /* pairs in memory, of all workers together; 0: there is no overflow, and lists may grow */
    pthread_mutex_t lock;
    twin_matches matches; /* with runs: pairs as matches, the later document first, without a similarity */
};

/* Begins with no pairs. End with twin__pair_overflow_clear(), also if it fails; {0} needs no end. The folder is "/tmp"
 * if NULL. */
twin_status twin__pair_overflow_init(struct twin__pair_overflow *out, size_t most, const char *folder);
void twin__pair_overflow_clear(struct twin__pair_overflow *overflow);

/* Moves all pairs of a list to a run. Any thread may call it. A run that cannot be written is reported when pairs are
 * read. */
twin_status twin__pair_overflow_take(struct twin__pair_overflow *overflow, struct twin__pairs *pairs);

/* Reading, once all are taken. Begin with twin__pair_batches_init(), end with twin__pair_batches_clear(), also if it
 * fails. A failure also fills `error`. */
struct twin__pair_batches {
    const struct twin__pair_overflow *overflow;
    struct twin__match_cursor cursor;
    twin_match next;
    bool has_next;
};
twin_status twin__pair_batches_init(struct twin__pair_batches *out, const struct twin__pair_overflow *overflow,
                                    twin_error *error);
void twin__pair_batches_clear(struct twin__pair_batches *batches);

/* Whether a pair is still needed; `low` comes before `high`. */
typedef bool twin__pair_filter(void *context, uint32_t low, uint32_t high);

/* Replaces what is in `out` by the next pairs that pass the filter, about as many as may be in memory: all pairs of a
 * later document are in one batch. None: there are no more. */
twin_status twin__pair_batches_next(struct twin__pairs *out, struct twin__pair_batches *batches,
                                    twin__pair_filter *filter, void *context, twin_error *error);

#endif

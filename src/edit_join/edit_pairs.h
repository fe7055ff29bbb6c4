/* edit_pairs.h — pairs of texts that are near by edit distance, as numbers. */
#ifndef TWIN_EDIT_JOIN_EDIT_PAIRS_H
#define TWIN_EDIT_JOIN_EDIT_PAIRS_H

#include <pthread.h>

#include "collection/provider.h"
#include "join/similar_private.h"

/* Where pairs go when more of them are found than are to be in memory: to the runs of a list of matches. Lists of
 * several workers share it. */
struct twin__edit_spill {
    pthread_mutex_t lock;
    twin_matches *matches;             /* with runs, which say how many a list may hold */
    const twin_collection *collection; /* for twin__edit_pairs_unpack() */
    const struct twin__provider *provider;
    bool may_repeat; /* what went there: a pair may be in more than one run */
};

/* Pairs that grow. Begin with {0}, or with a `spill`; free `items` in the end. */
struct twin__edit_pairs {
    struct twin__edit_spill *spill; /* NULL: all are kept */
    uint64_t *items;
    size_t count, capacity;
    size_t sorted;     /* as many as were left when repeats were dropped last */
    uint64_t compared; /* how many pairs were compared for them */
};

twin_status twin__edit_pairs_add(struct twin__edit_pairs *pairs, uint64_t pair);

/* The same where pairs repeat: drops repeats when they may be many. */
twin_status twin__edit_pairs_add_once(struct twin__edit_pairs *pairs, uint64_t pair);

/* Sorts all pairs of a list, and leaves it empty: they are then in a run of the spill. */
twin_status twin__edit_pairs_spill(struct twin__edit_pairs *pairs);

/* Moves all of `more` to the end of `out`. */
twin_status twin__edit_pairs_move(struct twin__edit_pairs *out, struct twin__edit_pairs *more);

/* Sorts, and drops repeats. */
twin_status twin__edit_pairs_sort(struct twin__edit_pairs *pairs);

/* Adds the pairs to the matches; the provider has the documents of the collection, and perhaps those of another. */
twin_status twin__edit_pairs_unpack(twin_matches *out, const struct twin__edit_pairs *pairs,
                                    const struct twin__provider *provider, const twin_collection *collection);

#endif

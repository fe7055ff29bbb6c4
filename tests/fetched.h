/* fetched.h — what the provider of a test gives: a copy that the next fetch of the same worker spoils, as far as a
 * provider may do that. Who keeps a set too long is noticed. */
#ifndef FETCHED_H
#define FETCHED_H

#include <assert.h>
#include <string.h>

#include "collection/provider.h"

enum { MOST_FETCHING = 8, MOST_FETCHED = 512 };

struct fetched {
    uint64_t items[MOST_FETCHING][MOST_FETCHED]; /* of each worker */
};

static inline struct twin__content fetch_copy(struct fetched *fetched, int worker, const uint64_t *items,
                                              size_t count)
{
    assert(worker >= 0 && worker < MOST_FETCHING && count <= MOST_FETCHED);
    memset(fetched->items[worker], 0xEE, sizeof fetched->items[worker]);
    if (count)
        memcpy(fetched->items[worker], items, count * sizeof *items);
    return (struct twin__content){ fetched->items[worker], count * sizeof *items };
}

#endif

/* item_counters.h — which items of many sets only one of them has.
 *
 * Two bits per counter, and items share counters by chance: an item that is said to be single is in one set only, one
 * that is not may be so all the same. */
#ifndef TWIN_JOIN_ITEM_COUNTERS_H
#define TWIN_JOIN_ITEM_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct twin__item_counters {
    _Atomic uint8_t *bytes; /* four counters each: 0, 1 for one set, 3 for more */
    unsigned shift;         /* of an item, down to the number of its counter */
};

/* Makes counters for about so many items in all, of about `most_bytes` at most; false when out of memory. End with
 * twin__item_counters_clear(), which accepts {0}. */
bool twin__item_counters_init(struct twin__item_counters *out, size_t items, size_t most_bytes);
void twin__item_counters_clear(struct twin__item_counters *counters);

/* Counts the items of a set. Any number of workers may count at once. */
void twin__items_count(const struct twin__item_counters *counters, const uint64_t *items, size_t count);

/* Drops items of which one was counted; returns how many are left. */
size_t twin__items_drop_single(uint64_t *items, size_t count, const struct twin__item_counters *counters);

#endif

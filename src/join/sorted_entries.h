/* sorted_entries.h — sorted numbers, in which those that begin with a hash are found at once. */
#ifndef TWIN_JOIN_SORTED_ENTRIES_H
#define TWIN_JOIN_SORTED_ENTRIES_H

#include <twinsift/status.h>

#include "kernels/sort.h"

/* To be filled and sorted by the caller, then indexed. Their leading bits are hashes. Begin with {0}; end with
 * twin__entries_clear(). */
struct twin__sorted_entries {
    uint64_t *items;
    size_t count, capacity;
    uint32_t *starts; /* of the entries that begin with a number of `start_bits` bits; one more for the end */
    unsigned start_bits;
};

/* Notes where entries begin that have the same leading bits, about one of them each. */
twin_status twin__entries_index(struct twin__sorted_entries *entries);
void twin__entries_clear(struct twin__sorted_entries *entries);

/* The leading bits of `key`, by which starts are numbered. */
static inline size_t twin__entries_slot(const struct twin__sorted_entries *entries, uint64_t key)
{
    return key >> (64 - entries->start_bits);
}

/* The first entry not less than `key`. */
static inline size_t twin__entries_find(const struct twin__sorted_entries *entries, uint64_t key)
{
    size_t slot = twin__entries_slot(entries, key);
    size_t low = entries->starts[slot], count = entries->starts[slot + 1] - low;
    return low + twin__lower_bound(entries->items + low, count, key);
}

#endif

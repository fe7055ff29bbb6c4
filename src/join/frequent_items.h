/* frequent_items.h — items that many documents of a family have: each is a bit of a document's bitmap. */
#ifndef TWIN_JOIN_FREQUENT_ITEMS_H
#define TWIN_JOIN_FREQUENT_ITEMS_H

#include "join/item_bins.h"
#include "join/item_counters.h"

struct twin__frequent_items {
    struct twin__item_bins bins;
    size_t count;
    size_t words; /* of a bitmap */
};

/* Takes different items, perhaps not all of them. False when out of memory. End with twin__frequent_items_clear(),
 * which accepts {0}. */
bool twin__frequent_items_init(struct twin__frequent_items *out, const uint64_t *items, size_t count);
void twin__frequent_items_clear(struct twin__frequent_items *frequent);

/* Divides the items of a document, in any order, some perhaps more than once: those that are frequent set their bits,
 * and the set of the others is marks->missed. marks->found is how many bits are set. False when out of memory. */
bool twin__frequent_items_divide(uint64_t *bits, struct twin__item_marks *marks,
                                 const struct twin__frequent_items *frequent, const uint64_t *items, size_t count);

/* Counts them as items that more than one set has. */
void twin__frequent_items_count(const struct twin__item_counters *counters,
                                const struct twin__frequent_items *frequent);

#endif

/* item_table.h — the items of one document, so that others can be compared with it without being sorted. */
#ifndef TWIN_JOIN_ITEM_TABLE_H
#define TWIN_JOIN_ITEM_TABLE_H

#include <stdbool.h>
#include <twinsift/set.h>

#include "join/item_bins.h"

struct twin__item_table {
    struct twin__item_bins bins;
    struct twin__item_marks marks; /* of the other document */
    size_t size;                   /* of the document's set */
};

/* Fills the table with a document's items, in any order, some perhaps more than once. False when out of memory: then it
 * is empty. */
bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count);

/* The similarity of the table's document and one with these items, in any order, some perhaps more than once. -1 when
 * out of memory. */
double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure);

void twin__item_table_clear(struct twin__item_table *table);

#endif

/* item_table.h — the items of one document, so that others can be compared with it without being sorted. */
#ifndef TWIN_JOIN_ITEM_TABLE_H
#define TWIN_JOIN_ITEM_TABLE_H

#include <stdbool.h>
#include <twinsift/set.h>

struct twin__item_table {
    uint64_t *bins;    /* BIN_ROOM items each */
    uint8_t *held;     /* of each bin: how many */
    uint8_t *marks;    /* of each bin: a bit for each item that another document has */
    size_t room;       /* bins */
    unsigned shift;    /* the bin of an item is given by its leading bits */
    twin_items strays; /* the set of those that found their bin full */
    twin_items missed; /* of another document: items that are in no bin */
    twin_items spare;
    size_t size; /* of the document's set */
};

/* Fills the table with a document's items, in any order, some perhaps more than once. False when out of memory: then it
 * is empty. */
bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count);

/* The similarity of the table's document and one with these items, in any order, some perhaps more than once. -1 when out
 * of memory. */
double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure);

void twin__item_table_clear(struct twin__item_table *table);

#endif

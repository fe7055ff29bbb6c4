/* item_bins.h — items in bins by their leading bits, and which of them a document has.
 *
 * A kernel (mark_items in kernels.h) compares an item with a whole bin at once, so that a document need not be sorted
 * to be looked up. */
#ifndef TWIN_JOIN_ITEM_BINS_H
#define TWIN_JOIN_ITEM_BINS_H

#include <stdbool.h>
#include <twinsift/set.h>

struct twin__item_bins {
    uint64_t *items;   /* BIN_ROOM per bin */
    uint8_t *held;     /* of each bin: how many */
    size_t count;      /* bins */
    size_t room;       /* for so many */
    unsigned shift;    /* the bin of an item is given by its leading bits */
    size_t held_count; /* items in all bins */
    twin_items strays; /* the set of those that found their bin full */
    twin_items spare;
};

/* Leading bits for two to four items per bin: most bins then suffice. */
unsigned twin__item_bins_bits(size_t items);

/* Distributes items, in any order, some perhaps more than once, to 2^bits bins, at least eight. Begin with {0}. False
 * when out of memory. */
bool twin__item_bins_fill(struct twin__item_bins *bins, unsigned bits, const uint64_t *items, size_t count);
void twin__item_bins_clear(struct twin__item_bins *bins);

/* Which items of the bins a document has. */
struct twin__item_marks {
    uint8_t *marks; /* of each bin: a bit for each item that the document has */
    size_t room;
    size_t found;      /* how many these are */
    twin_items missed; /* the set of its other items */
    twin_items spare;
};

/* Looks up the items of a document, in any order, some perhaps more than once. Begin with {0}. False when out of
 * memory. */
bool twin__item_bins_look_up(struct twin__item_marks *out, const struct twin__item_bins *bins, const uint64_t *items,
                             size_t count);
void twin__item_marks_clear(struct twin__item_marks *marks);

#endif

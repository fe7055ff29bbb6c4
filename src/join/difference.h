/* difference.h — what a set lacks of a base, and what it has besides.
 *
 * Near-duplicates of one base differ from it in a few items. The overlap of two such sets then follows from these few:
 * |A∩B| = |base| - |missing of A ∪ missing of B| + |extra of A ∩ extra of B|. */
#ifndef TWIN_JOIN_DIFFERENCE_H
#define TWIN_JOIN_DIFFERENCE_H

#include <stdbool.h>
#include <twinsift/set.h>

/* Begin with {0}; free `items` in the end. */
struct twin__difference {
    uint64_t *items; /* the missing ones first */
    size_t capacity;
    twin_set missing, extra; /* borrow the items */
};

/* Replaces `out` by the difference of a set from the base. False when out of memory. */
bool twin__difference_make(struct twin__difference *out, twin_set base, twin_set set);

/* |A∩B| of two sets by their differences from the same base of `base` items. */
size_t twin__difference_common(const struct twin__difference *a, const struct twin__difference *b, size_t base);

#endif

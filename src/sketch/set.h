/* set.h — sets are made, counted and compared. */
#ifndef TWIN_SKETCH_SET_H
#define TWIN_SKETCH_SET_H

#include <twinsift/set.h>

#include "base/scratch.h"

/* Makes room for `more` hashes past `count`. */
twin_status twin__items_reserve(twin_items *items, size_t more);

/* Sorts the hashes and drops repeats. The set borrows `items` and is valid until they change. Fastest when the hashes
 * are well mixed. `scratch` grows as needed and may be kept for the next call. */
twin_status twin__set_make(twin_set *out, twin_items *items, twin_items *scratch);

/* The number of distinct hashes, which is the size of their set. Faster than making the set, and does not change the
 * hashes. */
twin_status twin__items_distinct(size_t *out, const twin_items *items, twin_items *scratch);

/* Replaces repeated hashes by the items of their occurrences; the order changes. Done twice it changes nothing. */
twin_status twin__items_number(twin_items *items, twin_items *scratch);

/* The similarity of two sets of `a` and `b` items, `common` of which are in both; 0 when either is empty. */
double twin__similarity_of_counts(size_t a, size_t b, size_t common, twin_measure measure);

/* twin_set_similarity(), but -1 as soon as it cannot reach `threshold`. */
double twin__set_similarity_at_least(twin_set a, twin_set b, twin_measure measure, double threshold);

/* A 128-bit digest of the set: equal digests are taken to mean equal sets. */
twin_digest twin__set_digest(twin_set set);

#endif

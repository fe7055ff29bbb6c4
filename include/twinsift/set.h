/* set.h — a set of 64-bit hashes.
 *
 * Shingles are hashed at once and the strings are not kept; a set is its distinct hashes in increasing order. */
#ifndef TWINSIFT_SET_H
#define TWINSIFT_SET_H

#include <twinsift/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed hashes, strictly increasing. */
typedef struct twin_set {
    const uint64_t *items;
    size_t count;
} twin_set;

/* A growing array of hashes; begin with {0} and end with twin_items_clear(). */
typedef struct twin_items {
    uint64_t *items;
    size_t count, capacity;
} twin_items;

typedef enum twin_measure {
    TWIN_JACCARD,     /* |A∩B| / |A∪B| */
    TWIN_CONTAINMENT, /* |A∩B| / min(|A|, |B|) */
} twin_measure;

/* Makes room for `more` hashes past `count`. */
TWIN_API twin_status twin_items_reserve(twin_items *items, size_t more);
TWIN_API void twin_items_clear(twin_items *items);

/* Sorts the hashes and drops repeats. The set borrows `items` and is valid until they change. Fastest when the hashes
 * are well mixed. `scratch` grows as needed and may be kept for the next call. */
TWIN_API twin_status twin_set_make(twin_set *out, twin_items *items, twin_items *scratch);

/* The number of distinct hashes, which is the size of their set. Faster than making the set, and does not change the
 * hashes. */
TWIN_API twin_status twin_items_distinct(size_t *out, const twin_items *items, twin_items *scratch);

/* The item that stands for the occurrence `number`, from 0, of a hash in a multiset: the first is the hash itself, and
 * each further one an item of its own. Then the similarity of two sets is that of the multisets: the sum of the lesser
 * counts by the sum of the greater ones. */
TWIN_API uint64_t twin_item_occurrence(uint64_t item, size_t number);

/* Replaces repeated hashes by the items of their occurrences; the order changes. Done twice it changes nothing. */
TWIN_API twin_status twin_items_number(twin_items *items, twin_items *scratch);

/* |A∩B| */
TWIN_API size_t twin_set_common(twin_set a, twin_set b);

/* The similarity of two sets of `a` and `b` items, `common` of which are in both; 0 when either is empty. */
TWIN_API double twin_similarity_of_counts(size_t a, size_t b, size_t common, twin_measure measure);

/* The similarity of two sets; 0 when either is empty: two empty texts do not count as similar. */
TWIN_API double twin_set_similarity(twin_set a, twin_set b, twin_measure measure);

/* The same, but returns -1 as soon as the similarity cannot reach `threshold`. */
TWIN_API double twin_set_similarity_at_least(twin_set a, twin_set b, twin_measure measure, double threshold);

/* A 128-bit digest of the set: equal digests are taken to mean equal sets. */
TWIN_API twin_digest twin_set_digest(twin_set set);

#ifdef __cplusplus
}
#endif
#endif

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

typedef enum twin_measure {
    TWIN_JACCARD,     /* |A∩B| / |A∪B| */
    TWIN_CONTAINMENT, /* |A∩B| / min(|A|, |B|) */
} twin_measure;

/* The item that stands for the occurrence `number`, from 0, of a hash in a multiset: the first is the hash itself, and
 * each further one an item of its own. Then the similarity of two sets is that of the multisets: the sum of the lesser
 * counts by the sum of the greater ones. */
TWIN_API uint64_t twin_item_occurrence(uint64_t item, size_t number);

/* |A∩B| */
TWIN_API size_t twin_set_common(twin_set a, twin_set b);

/* The similarity of two sets; 0 when either is empty: two empty texts do not count as similar. */
TWIN_API double twin_set_similarity(twin_set a, twin_set b, twin_measure measure);

#ifdef __cplusplus
}
#endif
#endif

/* set.h — a set: unique 64-bit hashes.
 *
 * Shingles become hashes at once and strings are not kept; a set is its hashes in increasing order. */
#ifndef TWINSIFT_SET_H
#define TWINSIFT_SET_H

#include <twinsift/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hashes that someone else owns, increasing, none twice. */
typedef struct twin_set {
    const uint64_t *items;
    size_t count;
} twin_set;

/* Hashes that grow; begin with {0} and end with twin_items_clear(). */
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

/* Sorts the hashes, drops repeats, and returns the set they are; it lives as long as `items` is left
 * alone. Quickest when the hashes are well mixed. `scratch` is
 * room that grows with need and may be kept for the next call. */
TWIN_API twin_status twin_set_make(twin_set *out, twin_items *items, twin_items *scratch);

/* How many different hashes there are, which is the size of their set. Quicker than making the set,
 * and leaves the hashes as they are. */
TWIN_API twin_status twin_items_distinct(size_t *out, const twin_items *items, twin_items *scratch);

/* |A∩B| */
TWIN_API size_t twin_set_common(twin_set a, twin_set b);

/* The similarity of two sets; 0 when either is empty, for two texts too short to say anything are not
 * alike. */
TWIN_API double twin_set_similarity(twin_set a, twin_set b, twin_measure measure);

/* The same, but gives up and returns -1 as soon as the similarity cannot reach `threshold`. */
TWIN_API double twin_set_similarity_at_least(twin_set a, twin_set b, twin_measure measure, double threshold);

/* 128 bits that stand for the set: equal digests are taken to mean equal sets. */
TWIN_API twin_digest twin_set_digest(twin_set set);

#ifdef __cplusplus
}
#endif
#endif

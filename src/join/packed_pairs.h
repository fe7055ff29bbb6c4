/* packed_pairs.h — pairs of texts by edit distance, eight bytes each: there may be a hundred million of them. */
#ifndef TWIN_JOIN_PACKED_PAIRS_H
#define TWIN_JOIN_PACKED_PAIRS_H

#include <twinsift/similar.h>

/* A pair is one number, in the order of a, then b: documents a < b, 28 bits each, and how many characters one has
 * that the other has not, 8 bits. */
enum { TWIN__PACKED_DOCUMENTS = 1 << 28, TWIN__PACKED_INDELS = 255 };

static inline uint64_t twin__packed_pair(uint32_t a, uint32_t b, size_t indels)
{
    return (uint64_t)(a < b ? a : b) << 36 | (uint64_t)(a < b ? b : a) << 8 | indels;
}

static inline uint32_t twin__packed_a(uint64_t pair)
{
    return (uint32_t)(pair >> 36);
}

static inline uint32_t twin__packed_b(uint64_t pair)
{
    return (uint32_t)(pair >> 8) & (TWIN__PACKED_DOCUMENTS - 1);
}

static inline size_t twin__packed_indels(uint64_t pair)
{
    return pair & TWIN__PACKED_INDELS;
}

struct twin__packed_pairs {
    uint64_t *items;
    size_t count;
};

/* A pair as a match, with the indel ratio of the texts, whose lengths the collection knows; and all of them, added
 * (similar.c). */
twin_match twin__packed_match(uint64_t pair, const twin_collection *collection);
twin_status twin__packed_pairs_unpack(twin_matches *out, struct twin__packed_pairs pairs,
                                      const twin_collection *collection);

#endif

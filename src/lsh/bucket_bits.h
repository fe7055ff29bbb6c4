/* bucket_bits.h — which documents are alone in their bucket, by bits of buckets. */
#ifndef TWIN_LSH_BUCKET_BITS_H
#define TWIN_LSH_BUCKET_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Buckets as bits: eight per document while a second cache holds them, and one at least. With eight, one in ten of the
 * documents that share a bit is alone in its bucket; with fewer, those that share one are looked at again by other bits
 * of theirs. */
struct twin__bucket_bits {
    unsigned shift; /* from a mixed bucket to its bit */
    size_t count;   /* of words */
    struct twin__bucket_word {
        uint64_t once, again; /* met once at least, and twice at least: side by side, for one access to memory */
    } * words;                /* of the caller, `count` */
};

/* How many words the bits of that many documents take. */
struct twin__bucket_bits twin__bucket_bits_for(size_t documents);

/* Drops keys, with the bucket in the high half, whose document is alone in its bucket, most of them; returns how many
 * are left, in order. */
size_t twin__bucket_bits_drop_single(uint64_t *keys, size_t count, const struct twin__bucket_bits *bits);

#endif

/* bucket_bits.c — which documents are alone in their bucket, by bits of buckets. */
#include "lsh/bucket_bits.h"

#include <string.h>

enum { PER_DOCUMENT_BITS = 3, AHEAD = 32 }; /* keys whose bits are fetched in advance */

struct twin__bucket_bits twin__bucket_bits_for(size_t documents)
{
    enum { FEWEST_BITS = 6, CACHED_BITS = 23 };
    unsigned bits = FEWEST_BITS;
    while (bits < 32 && documents >> (bits < CACHED_BITS ? bits - PER_DOCUMENT_BITS : bits))
        bits++;
    return (struct twin__bucket_bits){ .shift = 32 - bits, .count = ((size_t)1 << bits) / 64 };
}

/* Where the bucket of a key has its bit. */
static inline uint32_t bit_of(const struct twin__bucket_bits *bits, uint64_t key, uint32_t factor)
{
    return (uint32_t)(key >> 32) * factor >> bits->shift;
}

/* Has the bits of a key ready when it is its turn: those of many millions of documents are larger than a second cache. */
static inline void fetch_bits(const struct twin__bucket_bits *bits, const uint64_t *keys, size_t i, size_t count,
                              uint32_t factor)
{
    if (i + AHEAD < count)
        __builtin_prefetch(&bits->words[bit_of(bits, keys[i + AHEAD], factor) / 64], 1);
}

/* Drops keys whose document is alone with its bit, and returns how many are left, in order. */
static size_t drop_some(uint64_t *keys, size_t count, const struct twin__bucket_bits *bits, uint32_t factor)
{
    size_t kept = 0;
    memset(bits->words, 0, bits->count * sizeof *bits->words);
    for (size_t i = 0; i < count; i++) {
        fetch_bits(bits, keys, i, count, factor);
        uint32_t at = bit_of(bits, keys[i], factor);
        uint64_t bit = (uint64_t)1 << at % 64;
        struct twin__bucket_word *word = &bits->words[at / 64];
        word->again |= word->once & bit;
        word->once |= bit;
    }
    for (size_t i = 0; i < count; i++) {
        fetch_bits(bits, keys, i, count, factor);
        uint32_t at = bit_of(bits, keys[i], factor);
        keys[kept] = keys[i];
        kept += bits->words[at / 64].again >> at % 64 & 1;
    }
    return kept;
}

size_t twin__bucket_bits_drop_single(uint64_t *keys, size_t count, const struct twin__bucket_bits *bits)
{
    static const uint32_t factors[] = { 1, 0x9E3779B1, 0x85EBCA77 }; /* odd: no two buckets become one */
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        size_t before = count;
        count = drop_some(keys, count, bits, factors[i]);
        if (before << PER_DOCUMENT_BITS <= 64 * bits->count) /* there were bits enough */
            break;
    }
    return count;
}

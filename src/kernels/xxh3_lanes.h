/* xxh3_lanes.h — XXH3 of several short texts at a time, one per lane, for windows_avx2.c, windows_avx512.c,
 * words_avx2.c and words_avx512.c; LANE_BYTES as in lanes.h.
 *
 * By its specification XXH3 treats texts of 1 to 3, 4 to 8 and 9 to 16 bytes differently, and only the longer ones in
 * steps. The constants are made from its default secret. */
#ifndef TWIN_KERNELS_XXH3_LANES_H
#define TWIN_KERNELS_XXH3_LANES_H

#include "kernels/lanes.h"

static const uint64_t FLIP_SHORT = 0x0000000087275A9Bu;  /* of 1 to 3 bytes: plus the seed */
static const uint64_t FLIP_MEDIUM = 0xC73AB174C5ECD5A2u; /* of 4 to 8: minus the seed, whose halves are mixed first */
static const uint64_t FLIP_LO = 0x6782737BEA4239B9u;     /* of 9 to 16: plus the seed; of the first eight bytes */
static const uint64_t FLIP_HI = 0xAF56BC3B0996523Au;     /* minus the seed; of the last eight */

/* What the bytes are combined with, for a seed. */
struct flips {
    uint64_t short_text, medium, lo, hi;
};

LANES_INLINE struct flips flips_of(uint64_t seed)
{
    uint64_t mixed = seed ^ (uint64_t)__builtin_bswap32((uint32_t)seed) << 32;
    return (struct flips){ FLIP_SHORT + seed, FLIP_MEDIUM - mixed, FLIP_LO + seed, FLIP_HI - seed };
}

/* ---- the three lengths ---- */

/* `first`, `middle` and `last` are the bytes at 0, length / 2 and length - 1. */
LANES_INLINE lanes hash_1_to_3(lanes first, lanes middle, lanes last, lanes length, const struct flips *flips)
{
    lanes x = (first << 16 | middle << 24 | last | length << 8) ^ flips->short_text;
    x = (x ^ x >> 33) * 0xC2B2AE3D27D4EB4Fu;
    x = (x ^ x >> 29) * 0x165667B19E3779F9u;
    return x ^ x >> 32;
}

/* `first` and `last` are four bytes each. */
LANES_INLINE lanes hash_4_to_8(lanes first, lanes last, lanes length, const struct flips *flips)
{
    lanes x = (last + (first << 32)) ^ flips->medium;
    x = (x ^ (x << 49 | x >> 15) ^ (x << 24 | x >> 40)) * 0x9FB21C651E98DF25u;
    x = (x ^ ((x >> 35) + length)) * 0x9FB21C651E98DF25u;
    return x ^ x >> 28;
}

/* The low half of each product xor the high half, from four products of halves. */
LANES_INLINE lanes fold_product(lanes a, lanes b)
{
    lanes a_high = a >> 32, b_high = b >> 32;
    lanes low = multiply_low_halves(a, b), high = multiply_low_halves(a_high, b_high);
    lanes middle = multiply_low_halves(a_high, b) + (low >> 32);
    lanes other = multiply_low_halves(a, b_high) + (middle & UINT32_MAX);
    return ((low & UINT32_MAX) | other << 32) ^ (high + (middle >> 32) + (other >> 32));
}

/* `first` and `last` are eight bytes each. */
LANES_INLINE lanes hash_9_to_16(lanes first, lanes last, lanes length, const struct flips *flips)
{
    lanes lo = first ^ flips->lo, hi = last ^ flips->hi;
    lanes x = length + swap_bytes(lo) + hi + fold_product(lo, hi);
    x = (x ^ x >> 37) * 0x165667919E3779F9u;
    return x ^ x >> 32;
}

#endif

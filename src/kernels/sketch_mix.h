/* sketch_mix.h — items are mixed before they are sketched. */
#ifndef TWIN_KERNELS_SKETCH_MIX_H
#define TWIN_KERNELS_SKETCH_MIX_H

#include <stdint.h>

/* Mixes an item before it is assigned or multiplied, so that an arithmetic progression does not stay one. Two
 * multiplications; the leading bits of either half of the result depend on every bit of the item. Multiplication only
 * carries upwards, so the high half is folded down first: items that differ only in their leading bits, as small
 * doubles do, would otherwise be assigned by sixteen bits (variance 1.2 times what it should be). */
static inline uint64_t twin__sketch_mix(uint64_t item, uint64_t seed)
{
    uint64_t x = item ^ seed;
    x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15u;
    return (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
}

#endif

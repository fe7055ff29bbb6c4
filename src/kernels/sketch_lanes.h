/* sketch_lanes.h — what sketch_avx2.c and sketch_avx512.c share.
 *
 * To be included after the definitions of GROUP, the items whose slots are computed at a time, and of LANES and
 * VECTORS: numbers of 32 bits in a vector, and vectors that stay in registers. */
#ifndef TWIN_KERNELS_SKETCH_LANES_H
#define TWIN_KERNELS_SKETCH_LANES_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

/* Items that are mixed, or filtered, before they are used. */
enum { BATCH = 256 };

/* Updates the slots of a group: the slot of each item is at odd places, its value at even ones. The minimum is taken
 * in vector registers, since a compiler may turn one of integers into a branch, which could not be predicted. */
static inline void update(uint32_t *out, const uint32_t *group)
{
    for (size_t i = 0; i < GROUP; i++) {
        uint32_t *slot = out + group[2 * i + 1];
        __m128i least = _mm_min_epu32(_mm_cvtsi32_si128((int)*slot), _mm_cvtsi32_si128((int)group[2 * i]));
        *slot = (uint32_t)_mm_cvtsi128_si32(least);
    }
}

/* ---- linear functions ---- */

/* Functions and their minima so far. */
struct linear {
    uint32_t *least;
    const uint32_t *factor, *offset;
};

/* Writes the leading halves of the mixed items. */
static void leading_halves(uint32_t *out, const uint64_t *items, size_t n, uint64_t seed);

/* Of LANES · VECTORS functions, in registers; of up to LANES functions; of one function, LANES items at a time. */
static void minima_of_many(struct linear linear, const uint32_t *x, size_t n);
static void minima_of_some(struct linear linear, size_t functions, const uint32_t *x, size_t n);
static void minimum_of_one(struct linear linear, const uint32_t *x, size_t n);

static inline void linear_minima(struct linear all, size_t slots, const uint64_t *items, size_t n, uint64_t seed)
{
    enum { REDUCING = 4 }; /* as many steps as the minimum of a vector takes */
    for (size_t begin = 0; begin < n; begin += BATCH) {
        uint32_t x[BATCH];
        size_t count = n - begin < BATCH ? n - begin : BATCH, slot = 0, step;
        leading_halves(x, items + begin, count, seed);
        for (; slot < slots; slot += step) {
            struct linear linear = { all.least + slot, all.factor + slot, all.offset + slot };
            size_t left = slots - slot, some = left < LANES ? left : LANES;
            step = left >= LANES * VECTORS ? LANES * VECTORS : some * (count / LANES + REDUCING) < count ? 1 : some;
            if (step == 1)
                minimum_of_one(linear, x, count);
            else if (step <= LANES)
                minima_of_some(linear, some, x, count);
            else
                minima_of_many(linear, x, count);
        }
    }
}

#endif

/* sketch_avx2.c — four items at a time.
 *
 * As in sketch_avx512.c, the slot (high half) and the value (low half) of each item are computed DISTANCE groups before
 * the slots are updated. Slots that a second round cannot change are not filtered out: that needs a register with a bit
 * for each. */
#include "kernels/kernels.h"
#include "kernels/sketch_mix.h"

#include <immintrin.h>

enum { GROUP = 4 /* items */, DISTANCE = 16 /* groups */ };
enum { LANES = 8, VECTORS = 4 };

#include "kernels/sketch_lanes.h"

/* The low 64 bits of each product; AVX2 only multiplies 32 by 32. */
static inline __m256i multiply64(__m256i a, __m256i b)
{
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b),
                                     _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}

static inline __m256i mix(__m256i item, __m256i seed)
{
    __m256i x = _mm256_xor_si256(item, seed);
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
    x = multiply64(x, _mm256_set1_epi64x((long long)0x9E3779B97F4A7C15u));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
    return multiply64(x, _mm256_set1_epi64x((long long)0xD6E8FEB86659FD93u));
}

void twin__fast_round_avx2(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                           uint32_t round)
{
    uint32_t found[2 * DISTANCE][2 * GROUP];
    const __m256i seeds = _mm256_set1_epi64x((long long)seed), count = _mm256_set1_epi64x((long long)slots);
    const __m256i rounds = _mm256_set1_epi64x((long long)round);
    size_t groups = n / GROUP;
    for (size_t g = 0; g < groups + DISTANCE; g++) {
        if (g < groups) {
            __m256i x = mix(_mm256_loadu_si256((const __m256i *)(items + g * GROUP)), seeds);
            __m256i slot = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), count);
            __m256i value = _mm256_or_si256(_mm256_srli_epi64(_mm256_slli_epi64(x, 32), 34), rounds);
            _mm256_storeu_si256((__m256i *)found[g % (2 * DISTANCE)], _mm256_blend_epi32(value, slot, 0xAA));
        }
        if (g >= DISTANCE)
            update(out, found[(g - DISTANCE) % (2 * DISTANCE)]);
    }
    twin__fast_round_scalar(out, slots, items + groups * GROUP, n % GROUP, seed, round);
}

/* ---- linear functions ---- */

static void leading_halves(uint32_t *out, const uint64_t *items, size_t n, uint64_t seed)
{
    const __m256i seeds = _mm256_set1_epi64x((long long)seed), odd = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
    size_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        __m256i x = mix(_mm256_loadu_si256((const __m256i *)(items + i)), seeds);
        _mm_storeu_si128((__m128i *)(out + i), _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(x, odd)));
    }
    for (; i < n; i++)
        out[i] = (uint32_t)(twin__sketch_mix(items[i], seed) >> 32);
}

static inline __m256i lesser(__m256i least, __m256i x, __m256i factor, __m256i offset)
{
    return _mm256_min_epu32(least, _mm256_add_epi32(_mm256_mullo_epi32(x, factor), offset));
}

/* 32 functions, in registers. */
static void minima_of_many(struct linear linear, const uint32_t *x, size_t n)
{
    __m256i least[VECTORS], f[VECTORS], o[VECTORS];
    for (size_t v = 0; v < VECTORS; v++) {
        least[v] = _mm256_loadu_si256((const __m256i *)(linear.least + v * LANES));
        f[v] = _mm256_loadu_si256((const __m256i *)(linear.factor + v * LANES));
        o[v] = _mm256_loadu_si256((const __m256i *)(linear.offset + v * LANES));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < VECTORS; v++)
            least[v] = lesser(least[v], _mm256_set1_epi32((int)x[i]), f[v], o[v]);
    for (size_t v = 0; v < VECTORS; v++)
        _mm256_storeu_si256((__m256i *)(linear.least + v * LANES), least[v]);
}

/* The first of `left` lanes; all if there are more. */
static inline __m256i first8(size_t left)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(left < LANES ? (int)left : LANES),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* Up to eight functions. */
static void minima_of_some(struct linear linear, size_t functions, const uint32_t *x, size_t n)
{
    __m256i there = first8(functions), f = _mm256_maskload_epi32((const int *)linear.factor, there);
    __m256i o = _mm256_maskload_epi32((const int *)linear.offset, there);
    __m256i least = _mm256_maskload_epi32((const int *)linear.least, there);
    for (size_t i = 0; i < n; i++)
        least = lesser(least, _mm256_set1_epi32((int)x[i]), f, o);
    _mm256_maskstore_epi32((int *)linear.least, there, least);
}

/* One function, eight items at a time. */
static void minimum_of_one(struct linear linear, const uint32_t *x, size_t n)
{
    const __m256i f = _mm256_set1_epi32((int)*linear.factor), o = _mm256_set1_epi32((int)*linear.offset);
    __m256i least = _mm256_set1_epi32((int)*linear.least);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        least = lesser(least, _mm256_loadu_si256((const __m256i *)(x + i)), f, o);
    __m128i half = _mm_min_epu32(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_min_epu32(half, _mm_shuffle_epi32(half, 0xB1));
    uint32_t minimum = (uint32_t)_mm_cvtsi128_si32(half);
    for (; i < n; i++) {
        uint32_t value = *linear.factor * x[i] + *linear.offset;
        minimum = value < minimum ? value : minimum;
    }
    *linear.least = minimum;
}

void twin__linear_minima_avx2(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                              const uint64_t *items, size_t n, uint64_t seed)
{
    linear_minima((struct linear){ out, factor, offset }, slots, items, n, seed);
}

size_t twin__agree_avx2(const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t equal = 0, i = 0;
    for (; i + LANES <= n; i += LANES) {
        __m256i va = _mm256_loadu_si256((const __m256i *)(a + i)), vb = _mm256_loadu_si256((const __m256i *)(b + i));
        equal +=
            (size_t)__builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(va, vb))));
    }
    return equal + twin__agree_scalar(a + i, b + i, n - i);
}

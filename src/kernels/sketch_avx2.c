/* sketch_avx2.c — four items at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

enum { BLOCK = 64, LANES = 8, VECTORS = 4 };

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

/* The vector unit computes slots (high half) and values (low half); the scalar unit writes them to the slots. */
static inline void deal(uint32_t *out, const uint64_t *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = out + (found[i] >> 32), value = (uint32_t)found[i];
        *slot = value < *slot ? value : *slot;
    }
}

void twin__fast_round_avx2(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                           uint32_t round)
{
    /* One block is computed while the previous one is written, so that both units are busy. */
    uint64_t found[2][BLOCK];
    const __m256i seeds = _mm256_set1_epi64x((long long)seed), count = _mm256_set1_epi64x((long long)slots);
    const __m256i rounds = _mm256_set1_epi64x((long long)round);
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint64_t *now = found[i / BLOCK & 1], *before = found[~(i / BLOCK) & 1];
        for (size_t j = 0; j < BLOCK; j += 4) {
            __m256i x = mix(_mm256_loadu_si256((const __m256i *)(items + i + j)), seeds);
            __m256i slot = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), count);
            __m256i value = _mm256_or_si256(_mm256_srli_epi64(_mm256_slli_epi64(x, 32), 34), rounds);
            _mm256_storeu_si256((__m256i *)(now + j), _mm256_blend_epi32(value, slot, 0xAA));
            if (i)
                deal(out, before + j, 4);
        }
    }
    if (i)
        deal(out, found[(i / BLOCK - 1) & 1], BLOCK);
    twin__fast_round_scalar(out, slots, items + i, n - i, seed, round);
}

static void leading_halves(uint32_t *out, const uint64_t *items, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)(twin__sketch_mix(items[i], seed) >> 32);
}

void twin__linear_minima_avx2(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                              const uint64_t *items, size_t n, uint64_t seed)
{
    size_t vectored = slots - slots % (LANES * VECTORS);
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        uint32_t x[BLOCK];
        size_t count = n - begin < BLOCK ? n - begin : BLOCK;
        leading_halves(x, items + begin, count, seed);
        for (size_t slot = 0; slot < vectored; slot += LANES * VECTORS) {
            __m256i least[VECTORS], f[VECTORS], o[VECTORS];
            for (size_t v = 0; v < VECTORS; v++) {
                least[v] = _mm256_loadu_si256((const __m256i *)(out + slot + v * LANES));
                f[v] = _mm256_loadu_si256((const __m256i *)(factor + slot + v * LANES));
                o[v] = _mm256_loadu_si256((const __m256i *)(offset + slot + v * LANES));
            }
            for (size_t i = 0; i < count; i++) {
                __m256i xs = _mm256_set1_epi32((int)x[i]);
                for (size_t v = 0; v < VECTORS; v++)
                    least[v] = _mm256_min_epu32(least[v], _mm256_add_epi32(_mm256_mullo_epi32(xs, f[v]), o[v]));
            }
            for (size_t v = 0; v < VECTORS; v++)
                _mm256_storeu_si256((__m256i *)(out + slot + v * LANES), least[v]);
        }
    }
    twin__linear_minima_scalar(out + vectored, factor + vectored, offset + vectored, slots - vectored, items, n,
                               seed);
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

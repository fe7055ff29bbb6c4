/* sketch_avx512.c — eight items at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

enum { BLOCK = 64, LANES = 16, VECTORS = 8 };

static inline __m512i mix(__m512i item, __m512i seed)
{
    __m512i x = _mm512_xor_si512(item, seed);
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0x9E3779B97F4A7C15u));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    return _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0xD6E8FEB86659FD93u));
}

/* The vector unit computes slots (high half) and values (low half); the scalar unit writes them to the slots. */
static inline void deal(uint32_t *out, const uint64_t *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = out + (found[i] >> 32), value = (uint32_t)found[i];
        *slot = value < *slot ? value : *slot;
    }
}

void twin__fast_round_avx512(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                             uint32_t round)
{
    /* One block is computed while the previous one is written, so that both units are busy. */
    uint64_t found[2][BLOCK];
    const __m512i seeds = _mm512_set1_epi64((long long)seed), count = _mm512_set1_epi64((long long)slots);
    const __m512i rounds = _mm512_set1_epi64((long long)round);
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint64_t *now = found[i / BLOCK & 1], *before = found[~(i / BLOCK) & 1];
        for (size_t j = 0; j < BLOCK; j += 8) {
            __m512i x = mix(_mm512_loadu_si512(items + i + j), seeds);
            __m512i slot = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), count);
            __m512i value = _mm512_or_si512(_mm512_srli_epi64(_mm512_slli_epi64(x, 32), 34), rounds);
            _mm512_storeu_si512(now + j, _mm512_mask_mov_epi32(value, 0xAAAA, slot));
            if (i)
                deal(out, before + j, 8);
        }
    }
    if (i)
        deal(out, found[(i / BLOCK - 1) & 1], BLOCK);
    twin__fast_round_scalar(out, slots, items + i, n - i, seed, round);
}

static void leading_halves(uint32_t *out, const uint64_t *items, size_t n, uint64_t seed)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m512i x = mix(_mm512_loadu_si512(items + i), _mm512_set1_epi64((long long)seed));
        _mm256_storeu_si256((__m256i *)(out + i), _mm512_cvtepi64_epi32(_mm512_srli_epi64(x, 32)));
    }
    for (; i < n; i++)
        out[i] = (uint32_t)(twin__sketch_mix(items[i], seed) >> 32);
}

void twin__linear_minima_avx512(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                const uint64_t *items, size_t n, uint64_t seed)
{
    size_t vectored = slots - slots % (LANES * VECTORS);
    for (size_t begin = 0; begin < n; begin += BLOCK) {
        uint32_t x[BLOCK];
        size_t count = n - begin < BLOCK ? n - begin : BLOCK;
        leading_halves(x, items + begin, count, seed);
        for (size_t slot = 0; slot < vectored; slot += LANES * VECTORS) {
            __m512i least[VECTORS], f[VECTORS], o[VECTORS];
            for (size_t v = 0; v < VECTORS; v++) {
                least[v] = _mm512_loadu_si512(out + slot + v * LANES);
                f[v] = _mm512_loadu_si512(factor + slot + v * LANES);
                o[v] = _mm512_loadu_si512(offset + slot + v * LANES);
            }
            for (size_t i = 0; i < count; i++) {
                __m512i xs = _mm512_set1_epi32((int)x[i]);
                for (size_t v = 0; v < VECTORS; v++)
                    least[v] = _mm512_min_epu32(least[v], _mm512_add_epi32(_mm512_mullo_epi32(xs, f[v]), o[v]));
            }
            for (size_t v = 0; v < VECTORS; v++)
                _mm512_storeu_si512(out + slot + v * LANES, least[v]);
        }
    }
    /* Fewer than 128 slots are left; slots that a fast sketch left empty are few. */
    twin__linear_minima_avx2(out + vectored, factor + vectored, offset + vectored, slots - vectored, items, n, seed);
}

size_t twin__agree_avx512(const uint32_t *a, const uint32_t *b, size_t n)
{
    size_t equal = 0, i = 0;
    for (; i + LANES <= n; i += LANES) {
        __m512i va = _mm512_loadu_si512(a + i), vb = _mm512_loadu_si512(b + i);
        equal += (size_t)_mm_popcnt_u32(_mm512_cmpeq_epi32_mask(va, vb));
    }
    return equal + twin__agree_scalar(a + i, b + i, n - i);
}

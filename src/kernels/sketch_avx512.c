/* sketch_avx512.c — eight items at a time.
 *
 * In a round the vector unit computes slots and values, and the slots are updated one item after the other. The
 * update of a group comes DISTANCE groups after its computation: then the addresses of all stores before a load are
 * known, and the processor does not have to guess whether they overlap, which it often would get wrong. */
#include "kernels/kernels.h"

#include <immintrin.h>

enum {
    GROUP = 8,     /* items */
    DISTANCE = 8,  /* groups */
    FILTERED = 512 /* slots: as many as one register has bits */
};
enum { LANES = 16, VECTORS = 8 };

#include "kernels/sketch_lanes.h"

static inline __m512i mix(__m512i item, __m512i seed)
{
    __m512i x = _mm512_xor_si512(item, seed);
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0x9E3779B97F4A7C15u));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    return _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)0xD6E8FEB86659FD93u));
}

/* The first of `left` lanes of 64 or 32 bits; all if there are more. */
static inline __mmask8 first8(size_t left)
{
    return left < 8 ? (__mmask8)((1u << left) - 1) : 0xFF;
}

static inline __mmask16 first16(size_t left)
{
    return left < 16 ? (__mmask16)((1u << left) - 1) : 0xFFFF;
}

/* ---- a round of fast similarity sketching ---- */

struct round {
    __m512i seed, slots, bits;
};

/* The slot (high half) and the value (low half) of each item. A lane without an item gets slot 0 and a value that
 * changes nothing. */
static inline __m512i assign(const struct round *round, const uint64_t *items, __mmask8 there)
{
    __m512i x = mix(_mm512_maskz_loadu_epi64(there, items), round->seed);
    __m512i slot = _mm512_mul_epu32(_mm512_srli_epi64(x, 32), round->slots);
    __m512i value = _mm512_or_si512(_mm512_srli_epi64(_mm512_slli_epi64(x, 32), 34), round->bits);
    return _mm512_mask_mov_epi64(_mm512_set1_epi64(UINT32_MAX), there, _mm512_mask_mov_epi32(value, 0xAAAA, slot));
}

static void update_all(uint32_t *out, const uint64_t *items, size_t n, const struct round *round)
{
    uint32_t found[2 * DISTANCE][2 * GROUP];
    size_t groups = (n + GROUP - 1) / GROUP;
    for (size_t g = 0; g < groups + DISTANCE; g++) {
        if (g < groups)
            _mm512_storeu_si512(found[g % (2 * DISTANCE)], assign(round, items + g * GROUP, first8(n - g * GROUP)));
        if (g >= DISTANCE)
            update(out, found[(g - DISTANCE) % (2 * DISTANCE)]);
    }
}

/* Bit i is set if slot i may still change in the round: what an earlier one filled is less than any value of this
 * one. */
static __m512i open_slots(const uint32_t *out, size_t slots, uint32_t round)
{
    uint16_t bits[FILTERED / LANES] = { 0 };
    for (size_t i = 0; i < slots; i += LANES) {
        __m512i values = _mm512_maskz_loadu_epi32(first16(slots - i), out + i);
        bits[i / LANES] = _mm512_mask_cmpge_epu32_mask(first16(slots - i), values, _mm512_set1_epi32((int)round));
    }
    return _mm512_loadu_si512(bits);
}

/* The same as update_all() if few slots are open: items of other slots are dropped first. */
static void update_open(uint32_t *out, const uint64_t *items, size_t n, const struct round *round, __m512i open)
{
    const __m512i harmless = _mm512_set1_epi64(UINT32_MAX), one = _mm512_set1_epi64(1);
    for (size_t begin = 0; begin < n; begin += BATCH) {
        uint32_t found[2 * (BATCH + GROUP)];
        size_t end = n - begin < BATCH ? n : begin + BATCH, count = 0;
        for (size_t i = begin; i < end; i += GROUP) {
            __mmask8 there = first8(end - i);
            __m512i item = assign(round, items + i, there), slot = _mm512_srli_epi64(item, 32);
            __m512i bits = _mm512_permutexvar_epi32(_mm512_srli_epi64(slot, 5), open);
            bits = _mm512_srlv_epi32(bits, _mm512_and_si512(slot, _mm512_set1_epi64(31)));
            __mmask8 wanted = _mm512_mask_test_epi64_mask(there, bits, one);
            _mm512_storeu_si512(found + 2 * count, _mm512_maskz_compress_epi64(wanted, item));
            count += (size_t)_mm_popcnt_u32(wanted);
        }
        _mm512_storeu_si512(found + 2 * count, harmless);
        for (size_t i = 0; i < count; i += GROUP)
            update(out, found + 2 * i);
    }
}

void twin__fast_round_avx512(uint32_t *out, size_t slots, const uint64_t *items, size_t n, uint64_t seed,
                             uint32_t round)
{
    const struct round what = { _mm512_set1_epi64((long long)seed), _mm512_set1_epi64((long long)slots),
                                _mm512_set1_epi64((long long)round) };
    if (round && slots <= FILTERED)
        update_open(out, items, n, &what, open_slots(out, slots, round));
    else
        update_all(out, items, n, &what);
}

/* ---- linear functions ---- */

static void leading_halves(uint32_t *out, const uint64_t *items, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i += GROUP) {
        __mmask8 there = first8(n - i);
        __m512i x = mix(_mm512_maskz_loadu_epi64(there, items + i), _mm512_set1_epi64((long long)seed));
        _mm256_mask_storeu_epi32(out + i, there, _mm512_cvtepi64_epi32(_mm512_srli_epi64(x, 32)));
    }
}

static inline __m512i lesser(__m512i least, __m512i x, __m512i factor, __m512i offset)
{
    return _mm512_min_epu32(least, _mm512_add_epi32(_mm512_mullo_epi32(x, factor), offset));
}

/* 128 functions, in registers. */
static void minima_of_many(struct linear linear, const uint32_t *x, size_t n)
{
    __m512i least[VECTORS], f[VECTORS], o[VECTORS];
    for (size_t v = 0; v < VECTORS; v++) {
        least[v] = _mm512_loadu_si512(linear.least + v * LANES);
        f[v] = _mm512_loadu_si512(linear.factor + v * LANES);
        o[v] = _mm512_loadu_si512(linear.offset + v * LANES);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < VECTORS; v++)
            least[v] = lesser(least[v], _mm512_set1_epi32((int)x[i]), f[v], o[v]);
    for (size_t v = 0; v < VECTORS; v++)
        _mm512_storeu_si512(linear.least + v * LANES, least[v]);
}

/* Up to 16 functions. */
static void minima_of_some(struct linear linear, size_t functions, const uint32_t *x, size_t n)
{
    __mmask16 there = first16(functions);
    __m512i f = _mm512_maskz_loadu_epi32(there, linear.factor), o = _mm512_maskz_loadu_epi32(there, linear.offset);
    __m512i least = _mm512_maskz_loadu_epi32(there, linear.least);
    for (size_t i = 0; i < n; i++)
        least = lesser(least, _mm512_set1_epi32((int)x[i]), f, o);
    _mm512_mask_storeu_epi32(linear.least, there, least);
}

/* One function, sixteen items at a time. */
static void minimum_of_one(struct linear linear, const uint32_t *x, size_t n)
{
    const __m512i f = _mm512_set1_epi32((int)*linear.factor), o = _mm512_set1_epi32((int)*linear.offset);
    __m512i least = _mm512_set1_epi32((int)*linear.least);
    for (size_t i = 0; i < n; i += LANES) {
        __mmask16 there = first16(n - i);
        least =
            _mm512_mask_min_epu32(least, there, least, lesser(least, _mm512_maskz_loadu_epi32(there, x + i), f, o));
    }
    *linear.least = _mm512_reduce_min_epu32(least);
}

void twin__linear_minima_avx512(uint32_t *out, const uint32_t *factor, const uint32_t *offset, size_t slots,
                                const uint64_t *items, size_t n, uint64_t seed)
{
    linear_minima((struct linear){ out, factor, offset }, slots, items, n, seed);
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

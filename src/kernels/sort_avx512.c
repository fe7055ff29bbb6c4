/* sort_avx512.c — eight bins at a time, one in each lane. */
#include "kernels/kernels.h"

#include <immintrin.h>

enum { LANES = 8 };

typedef __m512i lane;

static inline void order(lane *low, lane *high)
{
    __m512i a = *low, b = *high;
    *low = _mm512_min_epu64(a, b);
    *high = _mm512_max_epu64(a, b);
}

#include "kernels/sort_network.h"

/* Eight rows of eight become eight columns: pairs of numbers, then pairs of pairs, then halves. */
static inline void transpose(__m512i x[LANES])
{
    __m512i pairs[LANES], fours[LANES];
    for (int i = 0; i < LANES; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(x[i], x[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(x[i], x[i + 1]);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int odd = 0; odd < 2; odd++) {
            fours[i + odd] = _mm512_shuffle_i64x2(pairs[i + odd], pairs[i + 2 + odd], 0x88);
            fours[i + 2 + odd] = _mm512_shuffle_i64x2(pairs[i + odd], pairs[i + 2 + odd], 0xDD);
        }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i64x2(fours[i], fours[i + 4], 0x88);
        x[i + 4] = _mm512_shuffle_i64x2(fours[i], fours[i + 4], 0xDD);
    }
}

void twin__sort_bins_avx512(uint64_t *out, size_t n, const uint64_t *rows, size_t stride, const uint32_t *held,
                            size_t bins)
{
    const __m512i greatest = _mm512_set1_epi64(-1);
    size_t at = 0;
    for (size_t bin = 0; bin < bins; bin += LANES) {
        __m512i x[BIN_ROOM], counts = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(held + bin)));
        for (int k = 0; k < BIN_ROOM; k++) {
            __mmask8 taken = _mm512_cmpgt_epu64_mask(counts, _mm512_set1_epi64(k));
            x[k] = _mm512_mask_loadu_epi64(greatest, taken, rows + (size_t)k * stride + bin);
        }
        sort_eight(x);
        transpose(x);
        for (size_t b = 0; b < LANES; b++) {
            if (at + BIN_ROOM <= n)
                _mm512_storeu_si512(out + at, x[b]);
            else
                _mm512_mask_storeu_epi64(out + at, (__mmask8)((1u << (n - at)) - 1), x[b]);
            at += held[bin + b];
        }
    }
}

/* Compares eight items with the same items shifted by one; stores never overtake loads. */
size_t twin__drop_repeats_avx512(uint64_t *items, size_t n)
{
    size_t kept = 0;
    if (n == 0)
        return 0;
    __m512i before = _mm512_set1_epi64((long long)~items[0]);
    for (size_t i = 0; i < n; i += LANES) {
        __mmask8 there = n - i < LANES ? (__mmask8)((1u << (n - i)) - 1) : 0xFF;
        __m512i here = _mm512_maskz_loadu_epi64(there, items + i);
        __mmask8 keep = _mm512_mask_cmpneq_epu64_mask(there, here, _mm512_alignr_epi64(here, before, LANES - 1));
        _mm512_mask_storeu_epi64(items + kept, there, _mm512_maskz_compress_epi64(keep, here));
        kept += (size_t)_mm_popcnt_u32(keep);
        before = here;
    }
    return kept;
}

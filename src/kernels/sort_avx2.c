/* sort_avx2.c — four bins at a time, one in each lane. */
#include "kernels/kernels.h"

#include <immintrin.h>
#include <string.h>

enum { LANES = 4 };

typedef __m256i lane;

/* Signed comparison: AVX2 has no other. */
static inline void order(lane *low, lane *high)
{
    __m256i a = *low, b = *high, swap = _mm256_cmpgt_epi64(a, b);
    *low = _mm256_blendv_epi8(a, b, swap);
    *high = _mm256_blendv_epi8(b, a, swap);
}

#include "kernels/sort_network.h"

/* Four rows of four become four columns. */
static inline void transpose(__m256i x[LANES])
{
    __m256i even01 = _mm256_unpacklo_epi64(x[0], x[1]), odd01 = _mm256_unpackhi_epi64(x[0], x[1]);
    __m256i even23 = _mm256_unpacklo_epi64(x[2], x[3]), odd23 = _mm256_unpackhi_epi64(x[2], x[3]);
    x[0] = _mm256_permute2x128_si256(even01, even23, 0x20);
    x[1] = _mm256_permute2x128_si256(odd01, odd23, 0x20);
    x[2] = _mm256_permute2x128_si256(even01, even23, 0x31);
    x[3] = _mm256_permute2x128_si256(odd01, odd23, 0x31);
}

/* Four bins, sorted: bin b is x[b] followed by x[4 + b]. */
static inline void sort_four_bins(__m256i x[BIN_ROOM], const uint64_t *rows, size_t stride, const uint32_t *held)
{
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN), all = _mm256_set1_epi64x(-1);
    __m256i counts = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)held));
    for (int k = 0; k < BIN_ROOM; k++) {
        __m256i taken = _mm256_cmpgt_epi64(counts, _mm256_set1_epi64x(k));
        __m256i row = _mm256_maskload_epi64((const long long *)(rows + (size_t)k * stride), taken);
        x[k] = _mm256_xor_si256(_mm256_or_si256(row, _mm256_xor_si256(taken, all)), sign);
    }
    sort_eight(x);
    for (int k = 0; k < BIN_ROOM; k++)
        x[k] = _mm256_xor_si256(x[k], sign);
    transpose(x);
    transpose(x + LANES);
}

static inline void store_eight(uint64_t *out, __m256i first, __m256i second)
{
    _mm256_storeu_si256((__m256i *)out, first);
    _mm256_storeu_si256((__m256i *)(out + LANES), second);
}

void twin__sort_bins_avx2(uint64_t *out, size_t n, const uint64_t *rows, size_t stride, const uint32_t *held,
                          size_t bins)
{
    size_t at = 0;
    for (size_t bin = 0; bin < bins; bin += LANES) {
        __m256i x[BIN_ROOM];
        sort_four_bins(x, rows + bin, stride, held + bin);
        for (size_t b = 0; b < LANES; b++) {
            if (at + BIN_ROOM <= n) {
                store_eight(out + at, x[b], x[LANES + b]);
            } else {
                uint64_t last[BIN_ROOM];
                store_eight(last, x[b], x[LANES + b]);
                memcpy(out + at, last, (n - at) * sizeof last[0]);
            }
            at += held[bin + b];
        }
    }
}

/* Which halves of lanes to take so that the lanes of a mask come first. */
static const uint32_t to_front[1 << LANES][2 * LANES] = {
    { 0 },
    { 0, 1 },
    { 2, 3 },
    { 0, 1, 2, 3 },
    { 4, 5 },
    { 0, 1, 4, 5 },
    { 2, 3, 4, 5 },
    { 0, 1, 2, 3, 4, 5 },
    { 6, 7 },
    { 0, 1, 6, 7 },
    { 2, 3, 6, 7 },
    { 0, 1, 2, 3, 6, 7 },
    { 4, 5, 6, 7 },
    { 0, 1, 4, 5, 6, 7 },
    { 2, 3, 4, 5, 6, 7 },
    { 0, 1, 2, 3, 4, 5, 6, 7 },
};

/* Compares four items with the same items shifted by one; stores never overtake loads. */
size_t twin__drop_repeats_avx2(uint64_t *items, size_t n)
{
    size_t kept = 0, i = 0;
    if (n == 0)
        return 0;
    uint64_t last = ~items[0];
    __m256i before = _mm256_set1_epi64x((long long)last);
    for (; i + LANES <= n; i += LANES) {
        __m256i here = _mm256_loadu_si256((const __m256i *)(items + i)),
                turned = _mm256_permute4x64_epi64(here, 0x93);
        __m256i same = _mm256_cmpeq_epi64(here, _mm256_blend_epi32(turned, before, 0x03));
        unsigned keep = ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 0xF;
        __m256i order = _mm256_loadu_si256((const __m256i *)to_front[keep]);
        _mm256_storeu_si256((__m256i *)(items + kept), _mm256_permutevar8x32_epi32(here, order));
        kept += (size_t)_mm_popcnt_u32(keep);
        before = turned;
    }
    last = (uint64_t)_mm256_extract_epi64(before, 0);
    for (; i < n; i++) {
        uint64_t item = items[i];
        items[kept] = item;
        kept += item != last;
        last = item;
    }
    return kept;
}

/* mark_avx2.c — a bin is two vectors. */
#include "kernels/mark_lanes.h"

#include <immintrin.h>

static inline unsigned equal_of_four(const uint64_t *four, __m256i item)
{
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(const void *)four), item);
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
}

static inline unsigned equal_lanes(const uint64_t *bin, uint64_t item)
{
    __m256i lanes = _mm256_set1_epi64x((long long)item);
    return equal_of_four(bin, lanes) | equal_of_four(bin + 4, lanes) << 4;
}

size_t twin__fill_bins_avx2(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                            size_t n)
{
    return fill_bins(bins, held, strays, shift, items, n);
}

size_t twin__mark_items_avx2(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                             const uint64_t *items, size_t n)
{
    return mark_items(marks, missed, bins, shift, items, n);
}

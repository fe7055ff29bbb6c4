/* mark_avx2.c — a bin is two vectors. */
#include "kernels/kernels.h"

#include <immintrin.h>

static unsigned equal_lanes(const uint64_t *four, __m256i item)
{
    __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(const void *)four), item);
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal));
}

size_t twin__mark_items_avx2(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                             const uint64_t *items, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i];
        const uint64_t *bin = bins + (item >> shift) * BIN_ROOM;
        __m256i lanes = _mm256_set1_epi64x((long long)item);
        unsigned equal = equal_lanes(bin, lanes) | equal_lanes(bin + 4, lanes) << 4;
        marks[item >> shift] |= (uint8_t)(equal & -equal);
        missed[count] = item;
        count += equal == 0;
    }
    return count;
}

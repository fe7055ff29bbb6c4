/* mark_avx512.c — a bin is one vector. */
#include "kernels/mark_lanes.h"

#include <immintrin.h>

static inline unsigned equal_lanes(const uint64_t *bin, uint64_t item)
{
    return _mm512_cmpeq_epi64_mask(_mm512_load_si512(bin), _mm512_set1_epi64((long long)item));
}

size_t twin__fill_bins_avx512(uint64_t *bins, uint8_t *held, uint64_t *strays, unsigned shift, const uint64_t *items,
                              size_t n)
{
    return fill_bins(bins, held, strays, shift, items, n);
}

size_t twin__mark_items_avx512(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                               const uint64_t *items, size_t n)
{
    return mark_items(marks, missed, bins, shift, items, n);
}

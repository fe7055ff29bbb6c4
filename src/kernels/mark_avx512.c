/* mark_avx512.c — a bin is one vector. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__mark_items_avx512(uint8_t *marks, uint64_t *missed, const uint64_t *bins, unsigned shift,
                               const uint64_t *items, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t item = items[i];
        __m512i bin = _mm512_load_si512(bins + (item >> shift) * BIN_ROOM);
        unsigned equal = _mm512_cmpeq_epi64_mask(bin, _mm512_set1_epi64((long long)item));
        marks[item >> shift] |= (uint8_t)(equal & -equal);
        missed[count] = item;
        count += equal == 0;
    }
    return count;
}

/* equal_avx512.c — where rows of bytes are equal, 64 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

void twin__equal_bytes_avx512(uint64_t *equal, uint32_t *counts, const uint8_t *row, const uint8_t *rows,
                              size_t words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (size_t w = 0; w < words; w++, rows += 64) {
            uint64_t bits =
                _cvtmask64_u64(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(row + 64 * w), _mm512_loadu_si512(rows)));
            *equal++ = bits;
            sum += (uint64_t)_mm_popcnt_u64(bits);
        }
        counts[i] = (uint32_t)sum;
    }
}

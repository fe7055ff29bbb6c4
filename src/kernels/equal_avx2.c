/* equal_avx2.c — where rows of bytes are equal, 32 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline uint64_t equal_32(const uint8_t *a, const uint8_t *b)
{
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)a);
    __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)b);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y));
}

void twin__equal_bytes_avx2(uint64_t *equal, uint32_t *counts, const uint8_t *row, const uint8_t *rows, size_t words,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (size_t w = 0; w < words; w++, rows += 64) {
            uint64_t bits = equal_32(row + 64 * w, rows) | equal_32(row + 64 * w + 32, rows + 32) << 32;
            *equal++ = bits;
            sum += (uint64_t)_mm_popcnt_u64(bits);
        }
        counts[i] = (uint32_t)sum;
    }
}

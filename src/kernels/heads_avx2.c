/* heads_avx2.c — two heads at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__agree_bytes_avx2(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t equal = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(a + i)), y = _mm256_loadu_si256((const __m256i *)(b + i));
        equal += (size_t)_mm_popcnt_u32((unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, y)));
    }
    return equal + twin__agree_bytes_scalar(a + i, b + i, n - i);
}

size_t twin__near_heads_avx2(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                             const uint8_t head[HEAD_BYTES], unsigned least)
{
    const __m256i wanted = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)head));
    size_t count = 0, i = 0;
    for (; i + 2 <= n; i += 2) {
        __m256i two = _mm256_loadu_si256((const __m256i *)heads[i]);
        unsigned equal = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(two, wanted));
        out[count] = (uint32_t)i;
        count += (unsigned)_mm_popcnt_u32(equal & 0xFFFF) >= least;
        out[count] = (uint32_t)i + 1;
        count += (unsigned)_mm_popcnt_u32(equal >> 16) >= least;
    }
    if (i < n) {
        __m128i one = _mm_loadu_si128((const __m128i *)heads[i]);
        unsigned equal = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(one, _mm256_castsi256_si128(wanted)));
        out[count] = (uint32_t)i;
        count += (unsigned)_mm_popcnt_u32(equal) >= least;
    }
    return count;
}

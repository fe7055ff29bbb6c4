/* heads_avx512.c — four heads at a time. Four that have nothing in common with the head, as most, cost one test. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__near_heads_avx512(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                               const uint8_t head[HEAD_BYTES], unsigned least)
{
    const __m512i wanted = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)head));
    size_t count = 0;
    for (size_t i = 0; i < n; i += 4) {
        size_t left = n - i;
        __mmask8 loaded = left >= 4 ? 0xFF : (__mmask8)((1u << 2 * left) - 1);
        __m512i four = _mm512_maskz_loadu_epi64(loaded, heads[i]);
        uint64_t equal = _mm512_cmpeq_epi8_mask(four, wanted);
        if ((unsigned)_mm_popcnt_u64(equal) < least && left >= 4)
            continue;
        for (size_t k = 0; k < 4 && k < left; k++, equal >>= HEAD_BYTES) {
            out[count] = (uint32_t)(i + k);
            count += (unsigned)_mm_popcnt_u64(equal & 0xFFFF) >= least;
        }
    }
    return count;
}

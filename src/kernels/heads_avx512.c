/* heads_avx512.c — four heads at a time, without a branch: which ones agree cannot be predicted. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__agree_bytes_avx512(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t equal = 0;
    for (size_t i = 0; i < n; i += 64) {
        __mmask64 loaded = n - i >= 64 ? UINT64_MAX : ((uint64_t)1 << (n - i)) - 1;
        __m512i x = _mm512_maskz_loadu_epi8(loaded, a + i), y = _mm512_maskz_loadu_epi8(loaded, b + i);
        equal += (size_t)_mm_popcnt_u64(_mm512_mask_cmpeq_epi8_mask(loaded, x, y));
    }
    return equal;
}

size_t twin__near_heads_avx512(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                               const uint8_t head[HEAD_BYTES], unsigned least)
{
    const __m512i wanted = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)head));
    size_t count = 0, i = 0;
    for (; i + 4 <= n; i += 4) {
        uint64_t equal = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(heads[i]), wanted);
        for (size_t k = 0; k < 4; k++, equal >>= HEAD_BYTES) {
            out[count] = (uint32_t)(i + k);
            count += (unsigned)_mm_popcnt_u64(equal & 0xFFFF) >= least;
        }
    }
    for (; i < n; i++) {
        __m128i one = _mm_loadu_si128((const __m128i *)heads[i]);
        unsigned equal = _mm_cmpeq_epi8_mask(one, _mm512_castsi512_si128(wanted));
        out[count] = (uint32_t)i;
        count += (unsigned)_mm_popcnt_u32(equal) >= least;
    }
    return count;
}

/* heads_avx512.c — sixteen heads at a time, without a branch: which ones agree cannot be predicted. */
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

/* The bytes of eight heads that agree with `wanted`, which is a head four times. Lanes 2k and 2k + 1 are of the heads k and
 * 4 + k. */
static inline __m512i count_equal(const uint8_t (*heads)[HEAD_BYTES], __m512i wanted)
{
    const __m512i one = _mm512_set1_epi8(1), zero = _mm512_setzero_si512();
    __m512i a = _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(heads[0]), wanted), one);
    __m512i b = _mm512_maskz_mov_epi8(_mm512_cmpeq_epi8_mask(_mm512_loadu_si512(heads[4]), wanted), one);
    __m512i halves_a = _mm512_sad_epu8(a, zero), halves_b = _mm512_sad_epu8(b, zero);
    return _mm512_add_epi64(_mm512_unpacklo_epi64(halves_a, halves_b), _mm512_unpackhi_epi64(halves_a, halves_b));
}

/* Bit k: head k of eight has at least that many bytes in common. */
static inline unsigned near_eight(const uint8_t (*heads)[HEAD_BYTES], __m512i wanted, __m512i least)
{
    unsigned found = _mm512_cmpge_epu64_mask(count_equal(heads, wanted), least);
    return _pext_u32(found, 0x55) | _pext_u32(found, 0xAA) << 4;
}

size_t twin__near_heads_avx512(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n,
                               const uint8_t head[HEAD_BYTES], unsigned least)
{
    const __m512i wanted = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)head));
    const __m512i enough = _mm512_set1_epi64(least), sixteen = _mm512_set1_epi32(16);
    __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t count = 0, i = 0;
    for (; i + 16 <= n; i += 16) {
        unsigned found = near_eight(heads + i, wanted, enough) | near_eight(heads + i + 8, wanted, enough) << 8;
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi32((__mmask16)found, numbers));
        count += (unsigned)_mm_popcnt_u32(found);
        numbers = _mm512_add_epi32(numbers, sixteen);
    }
    for (; i < n; i++) {
        __m128i one = _mm_loadu_si128((const __m128i *)heads[i]);
        unsigned equal = _mm_cmpeq_epi8_mask(one, _mm512_castsi512_si128(wanted));
        out[count] = (uint32_t)i;
        count += (unsigned)_mm_popcnt_u32(equal) >= least;
    }
    return count;
}

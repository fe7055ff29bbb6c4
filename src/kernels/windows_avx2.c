/* windows_avx2.c — XXH3 of four windows at a time, for windows of 9 to 16 bytes. */
#include "kernels/kernels.h"
#include "kernels/windows.h"

#include <immintrin.h>

/* The low half of each product xor the high half, from four products of halves. */
static inline __m256i fold_product(__m256i a, __m256i b)
{
    const __m256i low_half = _mm256_set1_epi64x(0xFFFFFFFF);
    __m256i a_high = _mm256_srli_epi64(a, 32), b_high = _mm256_srli_epi64(b, 32);
    __m256i low = _mm256_mul_epu32(a, b), high = _mm256_mul_epu32(a_high, b_high);
    __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_srli_epi64(low, 32));
    __m256i other = _mm256_add_epi64(_mm256_mul_epu32(a, b_high), _mm256_and_si256(middle, low_half));
    high = _mm256_add_epi64(high, _mm256_add_epi64(_mm256_srli_epi64(middle, 32), _mm256_srli_epi64(other, 32)));
    low = _mm256_blend_epi32(low, _mm256_slli_epi64(other, 32), 0xAA);
    return _mm256_xor_si256(low, high);
}

static inline __m256i avalanche(__m256i x)
{
    const __m256i factor = _mm256_set1_epi64x((long long)XXH3_FACTOR);
    const __m256i factor_high = _mm256_set1_epi64x((long long)(XXH3_FACTOR >> 32));
    x = _mm256_xor_si256(x, _mm256_srli_epi64(x, 37));
    __m256i cross =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor), _mm256_mul_epu32(x, factor_high));
    x = _mm256_add_epi64(_mm256_mul_epu32(x, factor), _mm256_slli_epi64(cross, 32));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 32));
}

void twin__xxh3_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    size_t i = 0;
    if (width >= 9 && width <= 16) {
        /* Byte j of window i is byte i + j of the sixteen loaded. */
        const __m256i windows = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, /* 0 and 1 */
                                                 2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 8, 9, 10 /* 2 and 3 */);
        const __m256i swap = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, /* each lane */
                                              7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
        const __m256i length = _mm256_set1_epi64x((long long)width);
        const __m256i flip_lo = _mm256_set1_epi64x((long long)(XXH3_FLIP_LO + seed));
        const __m256i flip_hi = _mm256_set1_epi64x((long long)(XXH3_FLIP_HI - seed));
        for (; i + 8 < count; i += 4) { /* sixteen bytes are read where eleven are used */
            const char *p = bytes + i;
            __m256i lo = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
            __m256i hi = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(p + width - 8)));
            lo = _mm256_xor_si256(_mm256_shuffle_epi8(lo, windows), flip_lo);
            hi = _mm256_xor_si256(_mm256_shuffle_epi8(hi, windows), flip_hi);
            __m256i x = _mm256_add_epi64(_mm256_add_epi64(length, hi), _mm256_shuffle_epi8(lo, swap));
            _mm256_storeu_si256((__m256i *)(out + i), avalanche(_mm256_add_epi64(x, fold_product(lo, hi))));
        }
    }
    twin__xxh3_windows_scalar(out + i, bytes + i, width, count - i, seed);
}

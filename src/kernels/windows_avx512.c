/* windows_avx512.c — XXH3 of eight windows at a time, for windows of 9 to 16 bytes. */
#include "kernels/kernels.h"
#include "kernels/windows.h"

#include <immintrin.h>

/* The low half of each product xor the high half, from four products of halves. */
static inline __m512i fold_product(__m512i a, __m512i b)
{
    const __m512i low_half = _mm512_set1_epi64(0xFFFFFFFF);
    __m512i a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
    __m512i low = _mm512_mul_epu32(a, b), high = _mm512_mul_epu32(a_high, b_high);
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(low, 32));
    __m512i other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(middle, low_half));
    high = _mm512_add_epi64(high, _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(other, 32)));
    low = _mm512_mask_mov_epi32(low, 0xAAAA, _mm512_slli_epi64(other, 32));
    return _mm512_xor_si512(low, high);
}

static inline __m512i avalanche(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 37));
    x = _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)XXH3_FACTOR));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
}

/* Byte j of window i is byte i + j of what was loaded. */
static __m512i window_bytes(void)
{
    char index[64];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            index[8 * i + j] = (char)(i + j);
    return _mm512_loadu_si512(index);
}

void twin__xxh3_windows_avx512(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    size_t i = 0;
    if (width >= 9 && width <= 16) {
        const __m512i windows = window_bytes(), length = _mm512_set1_epi64((long long)width);
        const __m512i flip_lo = _mm512_set1_epi64((long long)(XXH3_FLIP_LO + seed));
        const __m512i flip_hi = _mm512_set1_epi64((long long)(XXH3_FLIP_HI - seed));
        const __m512i swap = _mm512_set4_epi32(0x08090A0B, 0x0C0D0E0F, 0x00010203, 0x04050607);
        for (; i + 8 < count; i += 8) {
            const char *p = bytes + i;
            __m512i lo = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
            __m512i hi = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(p + width - 8)));
            lo = _mm512_xor_si512(_mm512_permutexvar_epi8(windows, lo), flip_lo);
            hi = _mm512_xor_si512(_mm512_permutexvar_epi8(windows, hi), flip_hi);
            __m512i x = _mm512_add_epi64(_mm512_add_epi64(length, hi), _mm512_shuffle_epi8(lo, swap));
            _mm512_storeu_si512(out + i, avalanche(_mm512_add_epi64(x, fold_product(lo, hi))));
        }
    }
    twin__xxh3_windows_scalar(out + i, bytes + i, width, count - i, seed);
}

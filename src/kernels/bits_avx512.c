/* bits_avx512.c — eight words at a time: the bits of each half byte come from a table in a register. */
#include "kernels/kernels.h"

#include <immintrin.h>

/* The bits of each byte, at most 8. */
static inline __m512i bits_of_bytes(__m512i bytes)
{
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(bytes, low)),
                           _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low)));
}

static inline __m512i common(const uint64_t *a, const uint64_t *b)
{
    return _mm512_and_si512(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}

size_t twin__common_bits_avx512(const uint64_t *a, const uint64_t *b, size_t n)
{
    enum { WORDS = 8, MOST = 31 * WORDS }; /* 31 times 8 fits into a byte */
    __m512i sum = _mm512_setzero_si512();
    size_t i = 0;
    while (i + WORDS <= n) {
        __m512i bytes = _mm512_setzero_si512();
        for (size_t end = n - i < MOST ? n : i + MOST; i + WORDS <= end; i += WORDS)
            bytes = _mm512_add_epi8(bytes, bits_of_bytes(common(a + i, b + i)));
        sum = _mm512_add_epi64(sum, _mm512_sad_epu8(bytes, _mm512_setzero_si512()));
    }
    __mmask8 rest = (__mmask8)((1u << (n - i)) - 1);
    __m512i last = _mm512_and_si512(_mm512_maskz_loadu_epi64(rest, a + i), _mm512_maskz_loadu_epi64(rest, b + i));
    sum = _mm512_add_epi64(sum, _mm512_sad_epu8(bits_of_bytes(last), _mm512_setzero_si512()));
    return (size_t)_mm512_reduce_add_epi64(sum);
}

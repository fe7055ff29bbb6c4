/* blanks_avx512.c — 64 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

void twin__blanks_avx512(uint64_t *out, const char *p, size_t n)
{
    const __m512i tab = _mm512_set1_epi8(9), four = _mm512_set1_epi8(4), blank = _mm512_set1_epi8(' ');
    for (size_t i = 0; i < n; i += 64) {
        __mmask64 there = n - i < 64 ? ((__mmask64)1 << (n - i)) - 1 : ~(__mmask64)0;
        __m512i bytes = _mm512_maskz_loadu_epi8(there, p + i);
        *out++ = _mm512_mask_cmpeq_epi8_mask(there, bytes, blank) |
                 _mm512_mask_cmple_epu8_mask(there, _mm512_sub_epi8(bytes, tab), four);
    }
}

bool twin__is_ascii_avx512(const char *p, size_t n)
{
    __m512i any = _mm512_setzero_si512();
    for (size_t i = 0; i < n; i += 64) {
        __mmask64 there = n - i < 64 ? ((__mmask64)1 << (n - i)) - 1 : ~(__mmask64)0;
        any = _mm512_or_si512(any, _mm512_maskz_loadu_epi8(there, p + i));
    }
    return _mm512_movepi8_mask(any) == 0;
}

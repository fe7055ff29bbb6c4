/* blanks_avx2.c — 32 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline uint64_t blanks_of(const char *p)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)p);
    __m256i from_tab = _mm256_sub_epi8(bytes, _mm256_set1_epi8(9));
    __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(from_tab, _mm256_set1_epi8(4)), from_tab);
    __m256i blank = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(' '));
    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(control, blank));
}

void twin__blanks_avx2(uint64_t *out, const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64)
        *out++ = blanks_of(p + i) | blanks_of(p + i + 32) << 32;
    twin__blanks_scalar(out, p + i, n - i);
}

bool twin__is_ascii_avx2(const char *p, size_t n)
{
    __m256i any = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        any = _mm256_or_si256(any, _mm256_loadu_si256((const __m256i *)(p + i)));
    return _mm256_movemask_epi8(any) == 0 && twin__is_ascii_scalar(p + i, n - i);
}

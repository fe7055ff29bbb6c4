/* find_avx2.c — 32 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

size_t twin__find_string_end_avx2(const char *p, size_t n)
{
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\'), last = _mm256_set1_epi8(0x1f);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(p + i));
        __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, last), bytes);
        __m256i special = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, quote), _mm256_cmpeq_epi8(bytes, backslash));
        unsigned found = (unsigned)_mm256_movemask_epi8(_mm256_or_si256(control, special));
        if (found)
            return i + _tzcnt_u32(found);
    }
    return i + twin__find_string_end_scalar(p + i, n - i);
}

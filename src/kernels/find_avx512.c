/* find_avx512.c — 64 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>

static inline uint64_t ends(__m512i bytes)
{
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
           _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')) |
           _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
}

size_t twin__find_string_end_avx512(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t found = ends(_mm512_loadu_si512(p + i));
        if (found)
            return i + _tzcnt_u64(found);
    }
    /* Masked lanes read as blanks, which do not end a string. */
    __mmask64 rest = _bzhi_u64(~(uint64_t)0, (unsigned)(n - i));
    uint64_t found = ends(_mm512_mask_loadu_epi8(_mm512_set1_epi8(' '), rest, p + i));
    return found ? i + _tzcnt_u64(found) : n;
}

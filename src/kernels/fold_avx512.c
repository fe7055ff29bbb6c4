/* fold_avx512.c — 64 bytes at a time. */
#include "kernels/kernels.h"

#include <immintrin.h>
#include <stdbool.h>

enum { BLOCK = 64 };
typedef __m512i vector;
typedef uint64_t bits;

#include "kernels/fold_blocks.h"

static inline __mmask64 between(__m512i v, char first, char last)
{
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(first)),
                                  _mm512_set1_epi8((char)(last - first)));
}

static inline struct block fold_block(__m512i v)
{
    const __m512i blank = _mm512_set1_epi8(' ');
    __mmask64 blanks = _mm512_cmpeq_epi8_mask(v, blank) | between(v, 9, 13);
    __m512i lower = _mm512_mask_add_epi8(v, between(v, 'A', 'Z'), v, blank);
    return (struct block){
        .folded = _mm512_mask_mov_epi8(lower, blanks, blank),
        .blanks = blanks,
        .high = _mm512_movepi8_mask(v),
    };
}

/* Bytes are widened to 32 bits, which can be compressed. */
static inline char *squeeze(char *o, __m512i v, uint64_t kept)
{
    for (int quarter = 0; quarter < 4; quarter++) {
        __m512i wide = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(v));
        __m512i left = _mm512_maskz_compress_epi32((__mmask16)kept, wide);
        _mm_storeu_si128((void *)o, _mm512_cvtepi32_epi8(left));
        o += _mm_popcnt_u32((uint16_t)kept);
        kept >>= 16;
        v = _mm512_shuffle_i64x2(v, v, _MM_SHUFFLE(0, 3, 2, 1));
    }
    return o;
}

static inline __m512i load_block(const char *p)
{
    return _mm512_loadu_si512(p);
}

static inline void store_block(char *o, __m512i v)
{
    _mm512_storeu_si512(o, v);
}

static inline unsigned count_bits(uint64_t x)
{
    return (unsigned)_mm_popcnt_u64(x);
}

static inline __m512i load_end(const char *p, size_t n)
{
    return _mm512_mask_loadu_epi8(_mm512_set1_epi8((char)0x80), _bzhi_u64(UINT64_MAX, (unsigned)n), p);
}

size_t twin__fold_ascii_avx512(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    return fold_ascii(out, written, after_blank, p, n);
}

/* fold_avx512.c — 64 bytes at a time, by the method of fold_avx2.c. */
#include "kernels/kernels.h"

#include <immintrin.h>
#include <stdbool.h>

enum { BLOCK = 64 };

struct block {
    __m512i folded;
    uint64_t blanks, high; /* a bit per byte */
};

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

/* Writes the kept bytes of a block, widened to the 32 bits that can be compressed. */
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

/* The last bytes of the text, followed by bytes that stop the loop. */
static inline __m512i load_end(const char *p, size_t n)
{
    return _mm512_mask_loadu_epi8(_mm512_set1_epi8((char)0x80), _bzhi_u64(UINT64_MAX, (unsigned)n), p);
}

size_t twin__fold_ascii_avx512(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    uint64_t blank = *after_blank;
    char *o = out;
    size_t i = 0;
    while (i < n) {
        struct block block = fold_block(n - i < BLOCK ? load_end(p + i, n - i) : _mm512_loadu_si512(p + i));
        uint64_t dropped = block.blanks & (block.blanks << 1 | blank);
        _mm512_storeu_si512(o, block.folded);
        if ((dropped | block.high) == 0) {
            blank = block.blanks >> (BLOCK - 1);
            o += BLOCK;
            i += BLOCK;
            continue;
        }
        uint64_t valid = ~block.high & (block.high - 1); /* the bits below the first high one */
        unsigned count = (unsigned)_mm_popcnt_u64(valid);
        o = dropped & valid ? squeeze(o, block.folded, valid & ~dropped) : o + count;
        i += count;
        if (count > 0)
            blank = block.blanks >> (count - 1) & 1;
        if (block.high)
            break;
    }
    *after_blank = blank;
    *written = (size_t)(o - out);
    return i;
}

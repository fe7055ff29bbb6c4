/* words_avx512.c — eight words at a time. */
#define LANE_BYTES 64
#include "kernels/words_lanes.h"

LANES_INLINE lanes gather(const char *base, offsets at)
{
    return (lanes)_mm512_i32gather_epi64((__m256i)at, base, 1);
}

LANES_INLINE size_t keep(uint64_t *out, lanes hashes, signed_lanes wanted)
{
    __mmask8 mask = _mm512_movepi64_mask((__m512i)wanted);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(mask, (__m512i)hashes));
    return (size_t)_mm_popcnt_u32(mask);
}

LANES_INLINE unsigned sign_bits(signed_lanes x)
{
    return _mm512_movepi64_mask((__m512i)x);
}

LANES_INLINE void find_cuts(struct cuts *cuts, size_t n)
{
    uint64_t blanks[CHUNK / 64];
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t count = 0;
    twin__blanks_avx512(blanks, cuts->chunk, n);
    for (size_t i = 0; i < (n + 63) / 64; i++)
        for (uint64_t mask = blanks[i], part = 0; part < 4; part++, mask >>= 16) {
            _mm512_storeu_si512(cuts->at + count, _mm512_maskz_compress_epi32((__mmask16)mask, at));
            count += (size_t)_mm_popcnt_u32((uint16_t)mask);
            at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        }
    cuts->count = count;
}

size_t twin__xxh3_words_avx512(uint64_t *out, const char *text, size_t n, uint64_t seed)
{
    return hash_words(out, text, n, seed);
}

void twin__word_windows_avx512(uint64_t *items, size_t n, size_t width, uint64_t base)
{
    word_windows(items, n, width, base);
}

/* sha256_avx512.c — SHA-256 by the instructions for it, which every processor of this level has.
 *
 * They keep the state as two registers, a b e f and c d g h, from the highest lane down, and do two rounds each. */
#include "kernels/kernels.h"
#include "kernels/sha256_constants.h"

#include <immintrin.h>

struct state {
    __m128i abef, cdgh;
};

/* Four rounds with the words `w`. */
static inline struct state four_rounds(struct state s, __m128i w, int first)
{
    __m128i sums = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(SHA256_K + first)));
    s.cdgh = _mm_sha256rnds2_epu32(s.cdgh, s.abef, sums);
    s.abef = _mm_sha256rnds2_epu32(s.abef, s.cdgh, _mm_shuffle_epi32(sums, 0x0E));
    return s;
}

/* The four words after w[0..16), which are in four registers. */
static inline __m128i next_words(const __m128i w[4])
{
    __m128i sums = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));
    return _mm_sha256msg2_epu32(sums, w[3]);
}

static inline struct state one_block(struct state s, const unsigned char *bytes)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + i), swap);
        s = four_rounds(s, w[i], 4 * i);
    }
    for (int i = 4; i < SHA256_ROUNDS / 4; i++) {
        __m128i next = next_words(w);
        w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = next;
        s = four_rounds(s, next, 4 * i);
    }
    return s;
}

void twin__sha256_blocks_avx512(uint32_t state[8], const unsigned char *bytes, size_t blocks)
{
    __m128i dcba = _mm_loadu_si128((const __m128i *)state), hgfe = _mm_loadu_si128((const __m128i *)(state + 4));
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    struct state s = { _mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xF0) };
    for (; blocks > 0; blocks--, bytes += SHA256_BLOCK) {
        struct state after = one_block(s, bytes);
        s.abef = _mm_add_epi32(s.abef, after.abef);
        s.cdgh = _mm_add_epi32(s.cdgh, after.cdgh);
    }
    __m128i feba = _mm_shuffle_epi32(s.abef, 0x1B), dchg = _mm_shuffle_epi32(s.cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

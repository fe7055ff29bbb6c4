/* sip_avx2.c — SipHash of four windows at a time, for windows of up to 15 bytes. */
#include "kernels/kernels.h"
#include "kernels/sip_round.h"

#include <immintrin.h>

struct sip {
    __m256i v0, v1, v2, v3;
};

#define ROTATE(x, by) _mm256_or_si256(_mm256_slli_epi64(x, by), _mm256_srli_epi64(x, 64 - (by)))

static inline __m256i rotate_32(__m256i x)
{
    return _mm256_shuffle_epi32(x, 0xB1);
}

static inline void sip_round(struct sip *s)
{
    s->v0 = _mm256_add_epi64(s->v0, s->v1);
    s->v2 = _mm256_add_epi64(s->v2, s->v3);
    s->v1 = _mm256_xor_si256(ROTATE(s->v1, 13), s->v0);
    s->v3 = _mm256_xor_si256(ROTATE(s->v3, 16), s->v2);
    s->v0 = _mm256_add_epi64(rotate_32(s->v0), s->v3);
    s->v2 = _mm256_add_epi64(s->v2, s->v1);
    s->v3 = _mm256_xor_si256(ROTATE(s->v3, 21), s->v0);
    s->v1 = _mm256_xor_si256(ROTATE(s->v1, 17), s->v2);
    s->v2 = rotate_32(s->v2);
}

static inline void sip_word(struct sip *s, __m256i word)
{
    s->v3 = _mm256_xor_si256(s->v3, word);
    sip_round(s);
    s->v0 = _mm256_xor_si256(s->v0, word);
}

static inline __m256i all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

/* Byte j of window i is byte i + j of the sixteen loaded. */
static inline __m256i load_windows(const char *p)
{
    const __m256i windows = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, /* 0 and 1 */
                                             2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 8, 9, 10 /* 2 and 3 */);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p)), windows);
}

void twin__sip_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    size_t i = 0;
    if (width <= SIP_MOST) {
        const struct sip start = { all(key[0] ^ SIP_START[0]), all(key[1] ^ SIP_START[1]), all(key[0] ^ SIP_START[2]),
                                   all(key[1] ^ SIP_START[3]) };
        const __m256i mask = all(twin__sip_mask(width)), length = all((uint64_t)width << 56);
        const size_t last = width / 8 * 8;               /* where the last word begins: 0 or 8 */
        for (; i + last + 17 <= count + width; i += 4) { /* 16 bytes are read there */
            struct sip s = start;
            if (last)
                sip_word(&s, load_windows(bytes + i));
            sip_word(&s, _mm256_or_si256(_mm256_and_si256(load_windows(bytes + i + last), mask), length));
            s.v2 = _mm256_xor_si256(s.v2, all(SIP_END));
            sip_round(&s);
            sip_round(&s);
            sip_round(&s);
            __m256i hash = _mm256_xor_si256(_mm256_xor_si256(s.v0, s.v1), _mm256_xor_si256(s.v2, s.v3));
            _mm256_storeu_si256((__m256i *)(out + i), hash);
        }
    }
    twin__sip_windows_scalar(out + i, bytes + i, width, count - i, key);
}

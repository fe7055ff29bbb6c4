/* sip_avx512.c — SipHash of eight windows at a time, for windows of up to 15 bytes. */
#include "kernels/kernels.h"
#include "kernels/sip_round.h"

#include <immintrin.h>

struct sip {
    __m512i v0, v1, v2, v3;
};

static inline void sip_round(struct sip *s)
{
    s->v0 = _mm512_add_epi64(s->v0, s->v1);
    s->v2 = _mm512_add_epi64(s->v2, s->v3);
    s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 13), s->v0);
    s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 16), s->v2);
    s->v0 = _mm512_add_epi64(_mm512_rol_epi64(s->v0, 32), s->v3);
    s->v2 = _mm512_add_epi64(s->v2, s->v1);
    s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 21), s->v0);
    s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 17), s->v2);
    s->v2 = _mm512_rol_epi64(s->v2, 32);
}

static inline void sip_word(struct sip *s, __m512i word)
{
    s->v3 = _mm512_xor_si512(s->v3, word);
    sip_round(s);
    s->v0 = _mm512_xor_si512(s->v0, word);
}

static inline __m512i all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Byte j of window i is byte i + j of what was loaded. */
static __m512i window_bytes(void)
{
    char index[64];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            index[8 * i + j] = (char)(i + j);
    return _mm512_loadu_si512(index);
}

static inline __m512i load_windows(const char *p, __m512i windows)
{
    return _mm512_permutexvar_epi8(windows, _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p)));
}

void twin__sip_windows_avx512(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    size_t i = 0;
    if (width <= SIP_MOST) {
        const struct sip start = { all(key[0] ^ SIP_START[0]), all(key[1] ^ SIP_START[1]), all(key[0] ^ SIP_START[2]),
                                   all(key[1] ^ SIP_START[3]) };
        const __m512i windows = window_bytes(), mask = all(twin__sip_mask(width)),
                      length = all((uint64_t)width << 56);
        const size_t last = width / 8 * 8;               /* where the last word begins: 0 or 8 */
        for (; i + last + 17 <= count + width; i += 8) { /* 16 bytes are read there */
            struct sip s = start;
            if (last)
                sip_word(&s, load_windows(bytes + i, windows));
            sip_word(&s, _mm512_or_si512(_mm512_and_si512(load_windows(bytes + i + last, windows), mask), length));
            s.v2 = _mm512_xor_si512(s.v2, all(SIP_END));
            sip_round(&s);
            sip_round(&s);
            sip_round(&s);
            __m512i hash = _mm512_xor_si512(_mm512_xor_si512(s.v0, s.v1), _mm512_xor_si512(s.v2, s.v3));
            _mm512_storeu_si512(out + i, hash);
        }
    }
    twin__sip_windows_scalar(out + i, bytes + i, width, count - i, key);
}

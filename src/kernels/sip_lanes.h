/* sip_lanes.h — the loop of sip_avx2.c and sip_avx512.c, a window per lane; LANE_BYTES as in lanes.h. The steps are
 * those of sip_round.h. */
#ifndef TWIN_KERNELS_SIP_LANES_H
#define TWIN_KERNELS_SIP_LANES_H

#include <string.h>

#include "kernels/kernels.h"
#include "kernels/lanes.h"
#include "kernels/sip_round.h"

struct sip {
    lanes v0, v1, v2, v3;
};

LANES_INLINE lanes rotate(lanes x, int by)
{
    return x << by | x >> (64 - by);
}

LANES_INLINE void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = swap_halves(s->v0) + s->v3;
    s->v2 += s->v1;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = swap_halves(s->v2);
}

LANES_INLINE void sip_word(struct sip *s, lanes word)
{
    s->v3 ^= word;
    sip_round(s);
    s->v0 ^= word;
}

LANES_INLINE lanes all(uint64_t x)
{
    return (lanes){ 0 } + x;
}

LANES_INLINE struct sip begin(const uint64_t key[2])
{
    return (struct sip){ all(key[0] ^ SIP_START[0]), all(key[1] ^ SIP_START[1]), all(key[0] ^ SIP_START[2]),
                         all(key[1] ^ SIP_START[3]) };
}

LANES_INLINE lanes finish(struct sip s)
{
    s.v2 ^= all(SIP_END);
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

LANES_INLINE void sip_texts(uint64_t out[SIP_TEXTS], const uint64_t *words, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < SIP_TEXTS; i += LANES) {
        struct sip s = begin(key);
        for (size_t k = 0; k < count; k++) {
            lanes word;
            memcpy(&word, words + SIP_TEXTS * k + i, sizeof word);
            sip_word(&s, word);
        }
        store_lanes(out + i, finish(s));
    }
}

LANES_INLINE void sip_windows(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    size_t i = 0;
    if (width <= SIP_MOST) {
        const struct sip start = begin(key);
        const lanes mask = all(twin__sip_mask(width)), length = all((uint64_t)width << 56);
        const size_t last = width / 8 * 8;                   /* where the last word begins: 0 or 8 */
        for (; i + last + 17 <= count + width; i += LANES) { /* 16 bytes are read there */
            struct sip s = start;
            if (last)
                sip_word(&s, load_windows(bytes + i));
            sip_word(&s, (load_windows(bytes + i + last) & mask) | length);
            store_lanes(out + i, finish(s));
        }
    }
    twin__sip_windows_scalar(out + i, bytes + i, width, count - i, key);
}

#endif

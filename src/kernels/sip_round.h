/* sip_round.h — SipHash-1-3, step by step: one round per word of eight bytes and three at the end. The last word has
 * the bytes that are left over and, in its leading byte, the length. */
#ifndef TWIN_KERNELS_SIP_ROUND_H
#define TWIN_KERNELS_SIP_ROUND_H

#include "kernels/sip.h"

static const uint64_t SIP_START[4] = { 0x736f6d6570736575u, 0x646f72616e646f6du, 0x6c7967656e657261u,
                                       0x7465646279746573u };
static const uint64_t SIP_END = 0xff;

static inline uint64_t twin__sip_rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void twin__sip_round(struct twin__sip_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = twin__sip_rotate(s->v1, 13) ^ s->v0;
    s->v3 = twin__sip_rotate(s->v3, 16) ^ s->v2;
    s->v0 = twin__sip_rotate(s->v0, 32) + s->v3;
    s->v2 += s->v1;
    s->v3 = twin__sip_rotate(s->v3, 21) ^ s->v0;
    s->v1 = twin__sip_rotate(s->v1, 17) ^ s->v2;
    s->v2 = twin__sip_rotate(s->v2, 32);
}

static inline void twin__sip_word(struct twin__sip_state *s, uint64_t word)
{
    s->v3 ^= word;
    twin__sip_round(s);
    s->v0 ^= word;
}

/* Four bytes as a word, the low one first. */
static inline uint64_t twin__sip_four(const unsigned char *p)
{
    return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

/* Up to eight bytes as a word, the low one first: by two reads that may overlap, or three of a byte. */
static inline uint64_t twin__sip_bytes(const unsigned char *p, size_t n)
{
    if (n >= 4)
        return twin__sip_four(p) | twin__sip_four(p + n - 4) << 8 * (n - 4);
    if (n == 0)
        return 0;
    return p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
}

/* Windows that the vector variants hash: of one word or two. Which bytes of the last one belong to a window. */
enum { SIP_MOST = 15 };

static inline uint64_t twin__sip_mask(size_t width)
{
    return ((uint64_t)1 << 8 * (width % 8)) - 1;
}

#endif

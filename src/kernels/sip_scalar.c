/* sip_scalar.c — SipHash, and that of every window of a text: the specification. */
#include "kernels/kernels.h"
#include "kernels/sip_round.h"

static struct twin__sip_state begin(const uint64_t key[2])
{
    return (struct twin__sip_state){ key[0] ^ SIP_START[0], key[1] ^ SIP_START[1], key[0] ^ SIP_START[2],
                                     key[1] ^ SIP_START[3] };
}

/* The hash, after all words. */
static uint64_t finish(struct twin__sip_state s)
{
    s.v2 ^= SIP_END;
    twin__sip_round(&s);
    twin__sip_round(&s);
    twin__sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* The hash of `length` bytes, of which the last length % 8, those of no word yet, are at `tail`. */
static uint64_t end(struct twin__sip_state s, uint64_t length, const unsigned char *tail)
{
    twin__sip_word(&s, length << 56 | twin__sip_bytes(tail, length % 8));
    return finish(s);
}

static uint64_t sip13(const unsigned char *p, size_t length, const uint64_t key[2])
{
    struct twin__sip_state s = begin(key);
    size_t whole = length & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        twin__sip_word(&s, twin__sip_bytes(p + i, 8));
    return end(s, length, p + whole);
}

void twin__sip_windows_scalar(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < count; i++)
        out[i] = sip13((const unsigned char *)bytes + i, width, key);
}

void twin__sip_texts_scalar(uint64_t out[SIP_TEXTS], const uint64_t *words, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < SIP_TEXTS; i++) {
        struct twin__sip_state s = begin(key);
        for (size_t k = 0; k < count; k++)
            twin__sip_word(&s, words[SIP_TEXTS * k + i]);
        out[i] = finish(s);
    }
}

/* ---- piece by piece ---- */

uint64_t twin__sip_add(struct twin__sip *sip, const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    size_t i = 0;
    if (sip->length == 0)
        sip->state = begin(sip->key);
    while (i < length) {
        if (sip->length % 8 == 0 && length - i >= 8) {
            twin__sip_word(&sip->state, twin__sip_bytes(p + i, 8));
            sip->length += 8;
            i += 8;
            continue;
        }
        sip->tail[sip->length++ % 8] = p[i++];
        if (sip->length % 8 == 0)
            twin__sip_word(&sip->state, twin__sip_bytes(sip->tail, 8));
    }
    return end(sip->state, sip->length, sip->tail);
}

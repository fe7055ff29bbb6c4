/* sip_scalar.c — SipHash, and that of every window of a text: the specification. */
#include "kernels/kernels.h"
#include "kernels/sip_round.h"

struct twin__sip twin__sip_begin(const uint64_t key[2])
{
    return (struct twin__sip){ key[0] ^ SIP_START[0], key[1] ^ SIP_START[1], key[0] ^ SIP_START[2],
                               key[1] ^ SIP_START[3] };
}

void twin__sip_add(struct twin__sip *s, const unsigned char bytes[8])
{
    twin__sip_word(s, twin__sip_bytes(bytes, 8));
}

uint64_t twin__sip_end(struct twin__sip s, uint64_t length, const unsigned char *tail)
{
    twin__sip_word(&s, length << 56 | twin__sip_bytes(tail, length % 8));
    s.v2 ^= SIP_END;
    twin__sip_round(&s);
    twin__sip_round(&s);
    twin__sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static uint64_t sip13(const unsigned char *p, size_t length, const uint64_t key[2])
{
    struct twin__sip s = twin__sip_begin(key);
    size_t whole = length & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8)
        twin__sip_word(&s, twin__sip_bytes(p + i, 8));
    return twin__sip_end(s, length, p + whole);
}

void twin__sip_windows_scalar(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    for (size_t i = 0; i < count; i++)
        out[i] = sip13((const unsigned char *)bytes + i, width, key);
}

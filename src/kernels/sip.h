/* sip.h — SipHash-1-3 (Aumasson and Bernstein 2012) of bytes that come piece by piece. */
#ifndef TWIN_KERNELS_SIP_H
#define TWIN_KERNELS_SIP_H

#include <stddef.h>
#include <stdint.h>

struct twin__sip_state {
    uint64_t v0, v1, v2, v3;
};

/* Begin with the key, and zeros. */
struct twin__sip {
    uint64_t key[2];
    struct twin__sip_state state;
    uint64_t length;       /* bytes so far */
    unsigned char tail[8]; /* those that make no word yet */
};

/* Returns the hash of all bytes so far, with these, of which there may be none. */
uint64_t twin__sip_add(struct twin__sip *sip, const void *bytes, size_t length);

#endif

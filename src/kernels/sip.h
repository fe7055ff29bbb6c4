/* sip.h — SipHash-1-3 (Aumasson and Bernstein 2012) of bytes that come piece by piece. */
#ifndef TWIN_KERNELS_SIP_H
#define TWIN_KERNELS_SIP_H

#include <stddef.h>
#include <stdint.h>

struct twin__sip {
    uint64_t v0, v1, v2, v3;
};

struct twin__sip twin__sip_begin(const uint64_t key[2]);

/* Eight bytes more. */
void twin__sip_add(struct twin__sip *sip, const unsigned char bytes[8]);

/* The hash of `length` bytes, of which `tail` is the last length % 8, those that were not added. */
uint64_t twin__sip_end(struct twin__sip sip, uint64_t length, const unsigned char *tail);

#endif

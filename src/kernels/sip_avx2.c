/* sip_avx2.c — SipHash of four windows at a time, of up to 15 bytes, and of eight texts. */
#define LANE_BYTES 32
#include "kernels/sip_lanes.h"

void twin__sip_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    sip_windows(out, bytes, width, count, key);
}

void twin__sip_texts_avx2(uint64_t out[SIP_TEXTS], const uint64_t *words, size_t count, const uint64_t key[2])
{
    sip_texts(out, words, count, key);
}

/* sip_avx2.c — SipHash of four windows at a time, for windows of up to 15 bytes. */
#define LANE_BYTES 32
#include "kernels/sip_lanes.h"

void twin__sip_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    sip_windows(out, bytes, width, count, key);
}

/* sip_avx512.c — SipHash of eight windows at a time, for windows of up to 15 bytes. */
#define LANE_BYTES 64
#include "kernels/sip_lanes.h"

void twin__sip_windows_avx512(uint64_t *out, const char *bytes, size_t width, size_t count, const uint64_t key[2])
{
    sip_windows(out, bytes, width, count, key);
}

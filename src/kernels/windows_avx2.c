/* windows_avx2.c — XXH3 of four windows at a time, for windows of 9 to 16 bytes. */
#define LANE_BYTES 32
#include "kernels/windows_lanes.h"

void twin__xxh3_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    xxh3_windows(out, bytes, width, count, seed);
}

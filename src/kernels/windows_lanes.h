/* windows_lanes.h — the loop of windows_avx2.c and windows_avx512.c, a window per lane; LANE_BYTES as in lanes.h. */
#ifndef TWIN_KERNELS_WINDOWS_LANES_H
#define TWIN_KERNELS_WINDOWS_LANES_H

#include "kernels/kernels.h"
#include "kernels/xxh3_lanes.h"

LANES_INLINE void xxh3_windows(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    size_t i = 0;
    if (width >= 9 && width <= 16) {
        const struct flips flips = flips_of(seed);
        for (; i + 8 < count; i += LANES) { /* sixteen bytes are read from i + width - 8 on */
            lanes first = load_windows(bytes + i), last = load_windows(bytes + i + width - 8);
            store_lanes(out + i, hash_9_to_16(first, last, (lanes){ 0 } + width, &flips));
        }
    }
    twin__xxh3_windows_scalar(out + i, bytes + i, width, count - i, seed);
}

#endif

/* windows_avx512.c — XXH3 of eight windows at a time, for windows of 9 to 16 bytes. */
#include "kernels/kernels.h"

#define LANE_BYTES 64
#include "kernels/xxh3_lanes.h"

/* Byte j of window i is byte i + j of what was loaded. */
static __m512i window_bytes(void)
{
    char index[64];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            index[8 * i + j] = (char)(i + j);
    return _mm512_loadu_si512(index);
}

static inline lanes load_windows(const char *p, __m512i windows)
{
    __m512i bytes = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
    return (lanes)_mm512_permutexvar_epi8(windows, bytes);
}

void twin__xxh3_windows_avx512(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    size_t i = 0;
    if (width >= 9 && width <= 16) {
        const __m512i windows = window_bytes();
        const struct flips flips = flips_of(seed);
        for (; i + 8 < count; i += 8) {
            lanes first = load_windows(bytes + i, windows), last = load_windows(bytes + i + width - 8, windows);
            lanes hashes = hash_9_to_16(first, last, (lanes){ 0 } + width, &flips);
            _mm512_storeu_si512(out + i, (__m512i)hashes);
        }
    }
    twin__xxh3_windows_scalar(out + i, bytes + i, width, count - i, seed);
}

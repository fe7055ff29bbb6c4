/* windows_avx2.c — XXH3 of four windows at a time, for windows of 9 to 16 bytes. */
#include "kernels/kernels.h"

#define LANE_BYTES 32
#include "kernels/xxh3_lanes.h"

/* Byte j of window i is byte i + j of the sixteen loaded. */
static inline lanes load_windows(const char *p)
{
    const __m256i windows = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, /* 0 and 1 */
                                             2, 3, 4, 5, 6, 7, 8, 9, 3, 4, 5, 6, 7, 8, 9, 10 /* 2 and 3 */);
    __m256i bytes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)p));
    return (lanes)_mm256_shuffle_epi8(bytes, windows);
}

void twin__xxh3_windows_avx2(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    size_t i = 0;
    if (width >= 9 && width <= 16) {
        const struct flips flips = flips_of(seed);
        for (; i + 8 < count; i += 4) { /* sixteen bytes are read where eleven are used */
            lanes first = load_windows(bytes + i), last = load_windows(bytes + i + width - 8);
            lanes hashes = hash_9_to_16(first, last, (lanes){ 0 } + width, &flips);
            _mm256_storeu_si256((__m256i *)(out + i), (__m256i)hashes);
        }
    }
    twin__xxh3_windows_scalar(out + i, bytes + i, width, count - i, seed);
}

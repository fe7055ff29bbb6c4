/* windows_scalar.c — XXH3 of every window of a text: the specification. */
#include "kernels/kernels.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A width known to the compiler turns XXH3 into a dozen instructions. */
static inline __attribute__((always_inline)) void hash_windows(uint64_t *out, const char *bytes, size_t width,
                                                               size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        out[i] = XXH3_64bits_withSeed(bytes + i, width, seed);
}

void twin__xxh3_windows_scalar(uint64_t *out, const char *bytes, size_t width, size_t count, uint64_t seed)
{
    switch (width) {
    case 4: hash_windows(out, bytes, 4, count, seed); break;
    case 5: hash_windows(out, bytes, 5, count, seed); break;
    case 8: hash_windows(out, bytes, 8, count, seed); break;
    case 9: hash_windows(out, bytes, 9, count, seed); break;
    case 10: hash_windows(out, bytes, 10, count, seed); break;
    case 12: hash_windows(out, bytes, 12, count, seed); break;
    case 16: hash_windows(out, bytes, 16, count, seed); break;
    default: hash_windows(out, bytes, width, count, seed); break;
    }
}

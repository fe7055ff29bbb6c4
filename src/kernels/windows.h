/* windows.h — the constants of XXH3 for 9 to 16 bytes, from its specification. With lo the first and hi the last
 * eight bytes of a window, flipped, the hash is
 *
 *     x = width + byteswap(lo) + hi + (low half of lo·hi ^ high half of lo·hi)
 *     x ^= x >> 37;  x *= XXH3_FACTOR;  x ^= x >> 32 */
#ifndef TWIN_KERNELS_WINDOWS_H
#define TWIN_KERNELS_WINDOWS_H

#include <stdint.h>

static const uint64_t XXH3_FLIP_LO = 0x6782737BEA4239B9u; /* plus the seed */
static const uint64_t XXH3_FLIP_HI = 0xAF56BC3B0996523Au; /* minus the seed */
static const uint64_t XXH3_FACTOR = 0x165667919E3779F9u;

#endif

/* blanks_scalar.c — marks white space: the specification. */
#include "kernels/kernels.h"

void twin__blanks_scalar(uint64_t *out, const char *p, size_t n)
{
    for (size_t begin = 0; begin < n; begin += 64) {
        uint64_t mask = 0;
        size_t count = n - begin < 64 ? n - begin : 64;
        for (size_t i = 0; i < count; i++) {
            unsigned char c = (unsigned char)p[begin + i];
            mask |= (uint64_t)(c == ' ' || (unsigned)c - 9 <= 4) << i;
        }
        *out++ = mask;
    }
}

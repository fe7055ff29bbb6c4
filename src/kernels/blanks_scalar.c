/* blanks_scalar.c — marks white space, and knows ASCII: the specification. */
#include "kernels/kernels.h"

#include <string.h>

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

bool twin__is_ascii_scalar(const char *p, size_t n)
{
    uint64_t any = 0, word;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&word, p + i, 8);
        any |= word;
    }
    for (; i < n; i++)
        any |= (uint64_t)(unsigned char)p[i];
    return (any & 0x8080808080808080u) == 0;
}

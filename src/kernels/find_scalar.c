/* find_scalar.c — finds where a JSON string may end: the specification. */
#include "kernels/kernels.h"

#include <stdbool.h>
#include <string.h>

static bool ends(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

/* Whether one of eight bytes is below `limit`, at most 0x80 (Mycroft 1987): only a byte that borrows while its
 * own high bit is clear leaves that bit set. */
static bool any_below(uint64_t bytes, uint64_t limit)
{
    const uint64_t ones = 0x0101010101010101u;
    return (bytes - ones * limit) & ~bytes & (ones << 7);
}

size_t twin__find_string_end_scalar(const char *p, size_t n)
{
    size_t i = 0;
    for (uint64_t bytes; i + 8 <= n; i += 8) {
        memcpy(&bytes, p + i, 8);
        if (any_below(bytes, 0x20) || any_below(bytes ^ 0x2222222222222222u, 1) ||
            any_below(bytes ^ 0x5C5C5C5C5C5C5C5Cu, 1))
            break;
    }
    while (i < n && !ends(p[i]))
        i++;
    return i;
}

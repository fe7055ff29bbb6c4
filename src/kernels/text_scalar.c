/* text_scalar.c — the loops over text: the specification. */
#include "kernels.h"

size_t twin__find_string_end_scalar(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
        i++;
    return i;
}

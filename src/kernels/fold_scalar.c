/* fold_scalar.c — ASCII in lower case, its white space folded: the specification. */
#include "kernels/kernels.h"

#include <stdbool.h>

static bool is_blank(char c)
{
    return c == ' ' || (c >= 9 && c <= 13);
}

size_t twin__fold_ascii_scalar(char *out, size_t *written, bool *after_blank, const char *p, size_t n)
{
    bool blank = *after_blank;
    char *o = out;
    size_t i = 0;
    for (; i < n && (unsigned char)p[i] < 0x80; i++) {
        char c = p[i];
        if (is_blank(c)) {
            if (!blank)
                *o++ = ' ';
            blank = true;
        } else {
            *o++ = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
            blank = false;
        }
    }
    *after_blank = blank;
    *written = (size_t)(o - out);
    return i;
}

/* utf8.h — characters are written as UTF-8. */
#ifndef TWIN_BASE_UTF8_H
#define TWIN_BASE_UTF8_H

#include <stdint.h>

/* U+FFFD, which stands for what is not a character. */
enum { TWIN__REPLACEMENT = 0xFFFD };

/* Writes a character, 1 to 4 bytes, and returns where they end. */
static inline char *twin__put_character(char *o, uint32_t value)
{
    if (value < 0x80) {
        *o++ = (char)value;
        return o;
    }
    if (value < 0x800) {
        *o++ = (char)(0xC0 | value >> 6);
    } else {
        if (value < 0x10000) {
            *o++ = (char)(0xE0 | value >> 12);
        } else {
            *o++ = (char)(0xF0 | value >> 18);
            *o++ = (char)(0x80 | (value >> 12 & 0x3F));
        }
        *o++ = (char)(0x80 | (value >> 6 & 0x3F));
    }
    *o++ = (char)(0x80 | (value & 0x3F));
    return o;
}

#endif

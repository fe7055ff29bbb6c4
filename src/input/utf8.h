/* utf8.h — writing characters. */
#ifndef TWIN_INPUT_UTF8_H
#define TWIN_INPUT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Stands for what is not a character. */
enum { TWIN__REPLACEMENT = 0xFFFD };

/* Writes a character as UTF-8 and returns its length, at most 4. */
static inline size_t twin__encode_character(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

#endif

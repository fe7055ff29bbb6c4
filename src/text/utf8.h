/* utf8.h — characters are read from UTF-8, well-formed or not. */
#ifndef TWIN_TEXT_UTF8_H
#define TWIN_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static inline bool twin__is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

struct twin__point {
    uint32_t value; /* replaces ill-formed bytes */
    uint16_t length;
    bool bad;
};

/* Any lead byte, well-formed or not, by table 3-7 of the Unicode standard: the second byte has a narrower
 * range after some leads, which excludes overlong forms, surrogates and values above U+10FFFF. */
static inline struct twin__point twin__decode_any(const unsigned char *p, size_t n)
{
    unsigned lead = p[0], low = 0x80, high = 0xBF;
    uint16_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4)
        return (struct twin__point){ TWIN__REPLACEMENT, 1, true };
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;

    uint32_t value = lead & (0x7Fu >> length);
    for (uint16_t i = 1; i < length; i++) {
        if (i == n || p[i] < low || p[i] > high)
            return (struct twin__point){ TWIN__REPLACEMENT, i, true };
        value = value << 6 | (p[i] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    return (struct twin__point){ value, length, false };
}

/* Reads the character at *at, which is before the end, and advances past it; U+FFFD for ill-formed
 * bytes. The common forms come first, each with its own step, so that the next read need not wait for
 * the length of this one. */
static inline uint32_t twin__take_character(const unsigned char **at, const unsigned char *end, uint64_t *bad)
{
    const unsigned char *p = *at;
    if (p[0] < 0x80) {
        *at = p + 1;
        return p[0];
    }
    if (p[0] >= 0xC2 && p[0] < 0xE0 && end - p >= 2 && twin__is_tail(p[1])) {
        *at = p + 2;
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3F);
    }
    if (p[0] > 0xE0 && p[0] < 0xED && end - p >= 3 && twin__is_tail(p[1]) && twin__is_tail(p[2])) {
        *at = p + 3;
        return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3F);
    }
    struct twin__point any = twin__decode_any(p, (size_t)(end - p));
    *at = p + any.length;
    *bad += any.bad;
    return any.value;
}

static inline bool twin__eight_ascii(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return (word & 0x8080808080808080u) == 0;
}

#endif

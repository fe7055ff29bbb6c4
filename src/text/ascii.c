/* ascii.c — names, and texts whose ends are white space; what bytes above ASCII mean where nobody says. */
#include "text/ascii.h"

#include "text/utf8.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

twin_text twin__trim(twin_text text)
{
    while (text.length > 0 && is_space(text.bytes[0])) {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 && is_space(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

twin_text twin__cut(twin_text text, size_t most)
{
    if (text.length <= most)
        return text;
    while (most > 0 && ((unsigned char)text.bytes[most] & 0xc0) == 0x80)
        most--;
    return (twin_text){ text.bytes, most };
}

bool twin__is_same_name(const char *name, const char *wanted, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (twin__lower(name[i]) != wanted[i])
            return false;
    return true;
}

/* The characters of windows-1252 from 128 to 159; 0: none. */
static const uint16_t windows_characters[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178,
};

uint32_t twin__windows_character(unsigned char byte)
{
    if (byte < 128 || byte > 159)
        return byte;
    return windows_characters[byte - 128] ? windows_characters[byte - 128] : 0xfffd;
}

bool twin__is_utf8(const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + length;
    uint64_t bad = 0;
    while (at < end && !bad)
        twin__take_character(&at, end, &bad);
    return !bad;
}

/* utf16.c — UTF-16 becomes UTF-8. */
#include "input/utf16.h"

#include <string.h>

#include "base/utf8.h"

/* A unit of two bytes becomes at most three: a pair of units, four. */
enum { MOST_PER_UNIT = 3, MARK_LENGTH = 2 };

bool twin__is_utf16(twin_text text)
{
    if (text.length < MARK_LENGTH)
        return false;
    bool utf32 = text.length >= 4 && memcmp(text.bytes, "\xFF\xFE\0\0", 4) == 0;
    return memcmp(text.bytes, "\xFE\xFF", 2) == 0 || (memcmp(text.bytes, "\xFF\xFE", 2) == 0 && !utf32);
}

static uint32_t unit_at(const unsigned char *p, bool big_endian)
{
    return big_endian ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
}

twin_status twin__utf16_append(twin_buffer *out, twin_text text)
{
    const unsigned char *p = (const unsigned char *)text.bytes, *end = p + text.length;
    bool big_endian = p[0] == 0xFE;
    if (text.length / 2 >= SIZE_MAX / MOST_PER_UNIT)
        return TWIN_ENOMEM;
    twin_status status = twin_buffer_reserve(out, (text.length / 2 + 1) * MOST_PER_UNIT);
    if (status != TWIN_OK)
        return status;
    char *to = out->bytes + out->length;
    for (p += MARK_LENGTH; end - p >= 2; p += 2) {
        uint32_t code = unit_at(p, big_endian);
        if (code >= 0xD800 && code <= 0xDFFF) {
            uint32_t low = code < 0xDC00 && end - p >= 4 ? unit_at(p + 2, big_endian) : 0;
            bool paired = low >= 0xDC00 && low <= 0xDFFF;
            code = paired ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : TWIN__REPLACEMENT;
            p += paired ? 2 : 0;
        }
        to = twin__put_character(to, code);
    }
    if (p < end)
        to = twin__put_character(to, TWIN__REPLACEMENT);
    out->length = (size_t)(to - out->bytes);
    return TWIN_OK;
}

/* fuzz_utf16.c — any bytes as UTF-16 of either order: what a converter finds that looks at one unit after the other, as
 * well-formed UTF-8. And whatever the bytes are, the beginnings of foreign files are looked for within them only. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "input/foreign.h"
#include "input/utf16.h"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool is_high(uint32_t unit)
{
    return unit >> 10 == 0xD800 >> 10;
}

static bool is_low(uint32_t unit)
{
    return unit >> 10 == 0xDC00 >> 10;
}

/* Keeps half a pair until its other half comes, or does not. */
static size_t convert(char *out, const uint8_t *bytes, size_t length, bool big_endian)
{
    char *to = out;
    uint32_t half = 0;
    for (size_t i = 0; i + 1 < length; i += 2) {
        uint32_t unit = (uint32_t)bytes[i + big_endian] | (uint32_t)bytes[i + !big_endian] << 8;
        if (half && is_low(unit)) {
            to = twin__put_character(to, 0x10000 + ((half & 0x3FF) << 10 | (unit & 0x3FF)));
            half = 0;
            continue;
        }
        if (half)
            to = twin__put_character(to, TWIN__REPLACEMENT);
        half = is_high(unit) ? unit : 0;
        if (!half)
            to = twin__put_character(to, is_low(unit) ? TWIN__REPLACEMENT : unit);
    }
    if (half)
        to = twin__put_character(to, TWIN__REPLACEMENT);
    if (length % 2)
        to = twin__put_character(to, TWIN__REPLACEMENT);
    return (size_t)(to - out);
}

/* The first two bytes are the mark. */
static void check(const uint8_t *bytes, size_t length)
{
    twin_text text = { (const char *)bytes, length };
    twin_buffer converted = { 0 };
    char *expected = malloc(3 * length);
    demand(expected && twin__utf16_append(&converted, text) == TWIN_OK);
    size_t wanted = convert(expected, bytes + 2, length - 2, bytes[0] == 0xFE);
    demand(converted.length == wanted && (wanted == 0 || memcmp(converted.bytes, expected, wanted) == 0));
    twin_buffer_clear(&converted);
    free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const uint8_t marks[2][2] = { { 0xFF, 0xFE }, { 0xFE, 0xFF } };
    uint8_t *marked = malloc(length + 2);
    demand(marked);
    if (length)
        memcpy(marked + 2, bytes, length);
    for (int order = 0; order < 2; order++) {
        memcpy(marked, marks[order], 2);
        if (twin__is_utf16((twin_text){ (const char *)marked, length + 2 }))
            check(marked, length + 2);
        else /* UTF-32 begins like the first */
            demand(order == 0 && length >= 2 && bytes[0] == 0 && bytes[1] == 0);
    }
    free(marked);
    if (length) {
        (void)twin__foreign_file((const char *)bytes, length);
        (void)twin__foreign_bytes((const char *)bytes, length, TWIN_INPUT_DOCUMENTS);
        (void)twin__foreign_bytes((const char *)bytes, length, TWIN_INPUT_SETS);
    }
    return 0;
}

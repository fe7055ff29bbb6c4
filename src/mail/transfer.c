/* transfer.c — base64 and quoted-printable, in the reading of GMime, which forgives what programs get wrong. */
#include "mail/mime.h"

#include <string.h>

#include "text/ascii.h"

/* The value of a character plus 1; 0: it is skipped. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

char *twin__base64_decode(char *to, twin_text text)
{
    uint32_t bits = 0;
    int held = 0;
    for (size_t i = 0; i < text.length; i++) {
        uint32_t value = values[(unsigned char)text.bytes[i]];
        if (value) {
            bits = bits << 6 | (value - 1);
            if (++held < 4)
                continue;
            *to++ = (char)(bits >> 16);
            *to++ = (char)(bits >> 8);
            *to++ = (char)bits;
            held = 0;
        } else if (text.bytes[i] == '=') {
            if (held >= 2)
                *to++ = (char)(bits >> (held == 2 ? 4 : 10));
            if (held == 3)
                *to++ = (char)(bits >> 2);
            break;
        }
    }
    return to;
}

/* "=" before what is no number is kept; less than two characters after the last "=" are lost. */
static char *decode_quoted(char *to, twin_text text)
{
    for (const char *at = text.bytes, *end = at + text.length; at < end;) {
        const char *sign = memchr(at, '=', (size_t)(end - at));
        size_t plain = (size_t)((sign ? sign : end) - at);
        memcpy(to, at, plain);
        to += plain;
        at = sign ? sign + 1 : end;
        if (at < end && *at == '\n') {
            at++;
            continue;
        }
        if (end - at < 2)
            break;
        int high = twin__hex_digit(at[0]), low = twin__hex_digit(at[1]);
        if (high >= 0 && low >= 0) {
            *to++ = (char)(16 * high + low);
        } else if (at[0] != '\r' || at[1] != '\n') {
            memcpy(to, sign, 3);
            to += 3;
        }
        at += 2;
    }
    return to;
}

bool twin__mime_is_plain(twin_text encoding)
{
    return !twin__is_named(encoding, "base64") && !twin__is_named(encoding, "quoted-printable");
}

twin_status twin__mime_decode(twin_buffer *out, twin_text encoding, twin_text bytes)
{
    out->length = 0;
    if (twin_buffer_reserve(out, bytes.length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    char *end = twin__is_named(encoding, "base64") ? twin__base64_decode(out->bytes, bytes)
                                                   : decode_quoted(out->bytes, bytes);
    out->length = (size_t)(end - out->bytes);
    return TWIN_OK;
}

/* html_references.c — character references of HTML: &eacute; &#233; &#xe9;.
 *
 * As in browsers all names of html_names.c are known, a hundred of them may lack their semicolon, and numbers 128 to 159 are
 * taken as windows-1252, which is what their authors meant. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "html/html_names.h"
#include "html/html_tokens.h"
#include "text/ascii.h"

enum { REPLACEMENT = 0xfffd };

static size_t encode(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t tails = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = { 0, 0xc0, 0xe0, 0xf0 };
    out[0] = (char)(heads[tails] | c >> (6 * tails));
    for (size_t i = 1; i <= tails; i++)
        out[i] = (char)(0x80 | (c >> (6 * (tails - i)) & 0x3f));
    return tails + 1;
}

/* ---- numbers */

static int digit_of(char c, uint32_t base)
{
    int digit = twin__hex_digit(c);
    return digit < (int)base ? digit : -1;
}

/* No blank is written where a zero was meant, and nothing that ends the text. */
static uint32_t character_of(uint32_t value)
{
    if (value >= 128 && value < 160)
        return twin__windows_character((unsigned char)value);
    bool good = value > 0 && value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
    return good ? value : REPLACEMENT;
}

/* After "&#". */
static size_t read_number(char *out, size_t *length, const char *at, const char *end)
{
    const char *begin = at;
    bool is_hex = at < end && (*at == 'x' || *at == 'X');
    uint32_t base = is_hex ? 16 : 10, value = 0;
    at += is_hex;
    const char *digits = at;
    for (int digit; at < end && (digit = digit_of(*at, base)) >= 0; at++)
        value = value > 0x10ffff ? value : value * base + (uint32_t)digit;
    if (at == digits)
        return 0;
    *length = encode(out, character_of(value));
    at += at < end && *at == ';';
    return (size_t)(at - begin) + 2;
}

/* ---- names */

static int compare(const void *key, const void *entry)
{
    return strcmp(key, ((const struct twin__html_name *)entry)->name);
}

static const struct twin__html_name *find(const char *at, size_t length)
{
    char name[TWIN__HTML_LONGEST_NAME + 1];
    memcpy(name, at, length);
    name[length] = '\0';
    return bsearch(name, twin__html_names, TWIN__HTML_NAMES, sizeof twin__html_names[0], compare);
}

/* The longest name that the letters begin with and that needs no semicolon. */
static const struct twin__html_name *find_short(size_t *length, const char *at, size_t letters)
{
    if (letters > TWIN__HTML_LONGEST_OPEN_NAME)
        letters = TWIN__HTML_LONGEST_OPEN_NAME;
    for (; letters >= 2; letters--) {
        const struct twin__html_name *found = find(at, letters);
        *length = letters;
        if (found && found->character & TWIN__HTML_OPEN_NAME)
            return found;
    }
    return NULL;
}

size_t twin__html_reference(char out[4], size_t *length, const char *at, const char *end, bool in_attribute)
{
    const char *begin = at++;
    if (at < end && *at == '#')
        return read_number(out, length, at + 1, end);
    size_t letters = 0;
    while (letters < TWIN__HTML_LONGEST_NAME && at + letters < end && twin__is_letter_or_digit(at[letters]))
        letters++;
    if (letters < 2)
        return 0;
    const struct twin__html_name *found = NULL;
    size_t used = letters;
    if (at + letters < end && at[letters] == ';') {
        found = find(at, letters);
        used += found != NULL;
    }
    if (!found)
        found = find_short(&used, at, letters);
    if (!found)
        return 0;
    const char *after = at + used;
    /* "?a=1&copy=2" is an address with a parameter, and no copyright sign. */
    if (in_attribute && after[-1] != ';' && after < end && (*after == '=' || twin__is_letter_or_digit(*after)))
        return 0;
    *length = encode(out, found->character & ~(uint32_t)TWIN__HTML_OPEN_NAME);
    return (size_t)(after - begin);
}

/* style.c — whether the style of an HTML element hides its text.
 *
 * Understands the attribute `style` and the older attributes for colours, which is what mail uses: style sheets are not
 * applied by many mail programs. A declaration is a name, a colon and a value; names and values are compared without
 * blanks, in lower case. */
#include "mail/style.h"

#include <stdlib.h>
#include <string.h>

#include "mail/fields.h"

enum { MAX_VALUE = 64, MAX_DECLARATIONS = 100, WHITE = 0xffffff };

struct twin__style twin__style_start(void)
{
    return (struct twin__style){ .colour = 0, .behind = WHITE };
}

/* ---- colours */

struct colour_name {
    const char *name;
    uint32_t colour;
};

static const struct colour_name colour_names[] = {
    { "white", WHITE },          { "black", 0 },
    { "red", 0xff0000 },         { "blue", 0x0000ff },
    { "green", 0x008000 },       { "yellow", 0xffff00 },
    { "gray", 0x808080 },        { "silver", 0xc0c0c0 },
    { "snow", 0xfffafa },        { "ivory", 0xfffff0 },
    { "ghostwhite", 0xf8f8ff },  { "whitesmoke", 0xf5f5f5 },
    { "azure", 0xf0ffff },       { "mintcream", 0xf5fffa },
    { "floralwhite", 0xfffaf0 }, { "lightyellow", 0xffffe0 },
};

static bool parse_hex(uint32_t *out, const char *digits)
{
    size_t length = strspn(digits, "0123456789abcdef");
    if (length != 3 && length != 6)
        return false;
    uint32_t value = (uint32_t)strtoul(digits, NULL, 16);
    if (length == 3)
        value = ((value & 0xf00) << 8 | (value & 0x0f0) << 4 | (value & 0x00f)) * 0x11;
    *out = value;
    return true;
}

static bool parse_rgb(uint32_t *out, const char *value)
{
    const char *at = strchr(value, '(');
    if (!at)
        return false;
    uint32_t colour = 0;
    for (int i = 0; i < 3; i++) {
        char *end;
        long part = strtol(at + 1, &end, 10);
        if (end == at + 1)
            return false;
        if (*end == '%')
            part = part * 255 / 100;
        colour = colour << 8 | (uint32_t)(part < 0 ? 0 : part > 255 ? 255 : part);
        at = end + (*end == '%');
        if (i < 2 && *at != ',')
            return false;
    }
    *out = colour;
    return true;
}

/* A colour as CSS and HTML write it, in lower case without blanks. */
static bool parse_colour(uint32_t *out, const char *value)
{
    if (value[0] == '#')
        return parse_hex(out, value + 1);
    if (strncmp(value, "rgb", 3) == 0)
        return parse_rgb(out, value);
    for (size_t i = 0; i < sizeof colour_names / sizeof colour_names[0]; i++)
        if (strcmp(value, colour_names[i].name) == 0) {
            *out = colour_names[i].colour;
            return true;
        }
    return parse_hex(out, value); /* bgcolor="ffffff" */
}

/* Colours that cannot be told apart: none of red, green and blue differs by more than this. */
enum { NEAR = 12 };

static bool is_near(uint32_t a, uint32_t b)
{
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > NEAR)
            return false;
    return true;
}

/* ---- declarations */

/* The text in lower case without blanks, cut to fit. */
static void squeeze(char out[MAX_VALUE], twin_text text)
{
    size_t length = 0;
    for (size_t i = 0; i < text.length && length + 1 < MAX_VALUE; i++)
        if ((unsigned char)text.bytes[i] > ' ')
            out[length++] = twin__lower(text.bytes[i]);
    out[length] = '\0';
}

/* A length too small to be read: 0, 0px, 1px, 0.1em. */
static bool is_tiny(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value)
        return false;
    if (strncmp(end, "px", 2) == 0 || strncmp(end, "pt", 2) == 0)
        return number <= 1;
    if (*end == '%')
        return number <= 5;
    return strncmp(end, "em", 2) == 0 || strncmp(end, "rem", 3) == 0 ? number <= 0.05 : number <= 0;
}

static void declare(struct twin__style *style, const char *name, const char *value)
{
    if (strcmp(name, "color") == 0)
        parse_colour(&style->colour, value);
    else if (strcmp(name, "background-color") == 0 || strcmp(name, "background") == 0)
        parse_colour(&style->behind, value);
    else if (strcmp(name, "display") == 0)
        style->is_hidden |= strncmp(value, "none", 4) == 0;
    else if (strcmp(name, "visibility") == 0)
        style->is_hidden |= strncmp(value, "hidden", 6) == 0 || strncmp(value, "collapse", 8) == 0;
    else if (strcmp(name, "font-size") == 0 || strcmp(name, "max-height") == 0 || strcmp(name, "max-width") == 0)
        style->is_hidden |= is_tiny(value);
    else if (strcmp(name, "opacity") == 0)
        style->is_hidden |= strtod(value, NULL) < 0.05;
    else if (strcmp(name, "mso-hide") == 0)
        style->is_hidden |= strncmp(value, "all", 3) == 0;
    else if (strcmp(name, "text-indent") == 0)
        style->is_hidden |= strtod(value, NULL) < -500;
}

static void declare_all(struct twin__style *style, twin_text text)
{
    const char *at = text.bytes, *end = at + text.length;
    for (int n = 0; n < MAX_DECLARATIONS && at < end; n++) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        if (!stop)
            stop = end;
        const char *colon = memchr(at, ':', (size_t)(stop - at));
        if (colon) {
            char name[MAX_VALUE], value[MAX_VALUE];
            squeeze(name, (twin_text){ at, (size_t)(colon - at) });
            squeeze(value, (twin_text){ colon + 1, (size_t)(stop - colon - 1) });
            declare(style, name, value);
        }
        at = stop + 1;
    }
}

void twin__style_attribute(struct twin__style *style, const char *name, twin_text value)
{
    char squeezed[MAX_VALUE];
    if (strcmp(name, "style") == 0) {
        declare_all(style, value);
    } else if (strcmp(name, "hidden") == 0) {
        style->is_hidden = true;
    } else if (strcmp(name, "color") == 0 || strcmp(name, "text") == 0) {
        squeeze(squeezed, value);
        parse_colour(&style->colour, squeezed);
    } else if (strcmp(name, "bgcolor") == 0) {
        squeeze(squeezed, value);
        parse_colour(&style->behind, squeezed);
    }
}

bool twin__style_hides(const struct twin__style *style)
{
    return style->is_hidden || is_near(style->colour, style->behind);
}

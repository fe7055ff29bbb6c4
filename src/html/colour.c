/* colour.c — colours as CSS and HTML write them: #rrggbb, rgb(), hsl(), and the names that mail uses. */
#include "html/colour.h"

#include <stdlib.h>
#include <string.h>

#include "html/css.h"

enum { WHITE = TWIN__COLOUR_WHITE };

/* Less than this of a colour is not seen. */
static const double FAINT = 0.1;

static const struct colour_name {
    const char *name;
    uint32_t colour;
} colour_names[] = {
    { "white", WHITE },          { "black", 0 },
    { "red", 0xff0000 },         { "blue", 0x0000ff },
    { "green", 0x008000 },       { "yellow", 0xffff00 },
    { "gray", 0x808080 },        { "silver", 0xc0c0c0 },
    { "snow", 0xfffafa },        { "ivory", 0xfffff0 },
    { "ghostwhite", 0xf8f8ff },  { "whitesmoke", 0xf5f5f5 },
    { "azure", 0xf0ffff },       { "mintcream", 0xf5fffa },
    { "floralwhite", 0xfffaf0 }, { "lightyellow", 0xffffe0 },
};

static bool parse_hex(uint32_t *out, double *opacity, const char *digits)
{
    size_t length = strspn(digits, "0123456789abcdef");
    uint32_t value = (uint32_t)strtoul(digits, NULL, 16);
    if (length == 4 || length == 8) {
        *opacity = length == 4 ? (value & 0xf) / 15.0 : (value & 0xff) / 255.0;
        value >>= length;
        length -= length / 4;
    }
    if (length != 3 && length != 6)
        return false;
    if (length == 3)
        value = ((value & 0xf00) << 8 | (value & 0x0f0) << 4 | (value & 0x00f)) * 0x11;
    *out = value;
    return true;
}

/* The numbers between parentheses, "(1,2,3)" or "(1 2 3/4)"; those in percent are of `whole[i]`. False: not three or four. */
static bool parse_numbers(double out[4], const double whole[4], const char *at)
{
    int count = 0;
    at += strcspn(at, "(");
    at += *at == '(';
    while (*at && *at != ')' && count < 4) {
        const char *end;
        out[count] = twin__css_number(at, &end);
        if (end == at)
            return false;
        if (*end == '%')
            out[count] *= whole[count] / 100;
        count++;
        at = end + strcspn(end, ",/ )");
        at += strspn(at, ",/ ");
    }
    return count >= 3;
}

static uint32_t byte_of(double part)
{
    return part <= 0 ? 0 : part >= 255 ? 255 : (uint32_t)part;
}

static bool parse_rgb(uint32_t *out, double *opacity, const char *value)
{
    static const double whole[] = { 255, 255, 255, 1 };
    double parts[4] = { 0, 0, 0, 1 };
    if (!parse_numbers(parts, whole, value))
        return false;
    *out = byte_of(parts[0]) << 16 | byte_of(parts[1]) << 8 | byte_of(parts[2]);
    *opacity = parts[3];
    return true;
}

/* Hue, saturation, lightness: only white, black and greys are understood, and what is transparent. */
static bool parse_hsl(uint32_t *out, double *opacity, const char *value)
{
    static const double whole[] = { 360, 100, 255, 1 };
    double parts[4] = { 0, 0, 0, 1 };
    if (!parse_numbers(parts, whole, value))
        return false;
    *opacity = parts[3];
    *out = byte_of(parts[2]) * 0x010101;
    return parts[1] <= 0 || parts[2] <= 5 || parts[2] >= 250 || parts[3] < FAINT;
}

/* The colour, and how much of it there is, 0 to 1. False: it is not understood. */
static bool parse_colour(uint32_t *out, double *opacity, const char *value)
{
    *opacity = 1;
    if (value[0] == '#')
        return parse_hex(out, opacity, value + 1);
    if (strncmp(value, "rgb", 3) == 0)
        return parse_rgb(out, opacity, value);
    if (strncmp(value, "hsl", 3) == 0)
        return parse_hsl(out, opacity, value);
    for (size_t i = 0; i < sizeof colour_names / sizeof colour_names[0]; i++)
        if (strcmp(value, colour_names[i].name) == 0) {
            *out = colour_names[i].colour;
            return true;
        }
    return parse_hex(out, opacity, value); /* bgcolor="ffffff" */
}

uint32_t twin__colour_of_text(const char *value)
{
    uint32_t colour;
    double opacity;
    if (strcmp(value, "transparent") == 0)
        return TWIN__COLOUR_CLEAR;
    if (!parse_colour(&colour, &opacity, value))
        return TWIN__COLOUR_UNKNOWN;
    return opacity < FAINT ? (uint32_t)TWIN__COLOUR_CLEAR : colour;
}

uint32_t twin__colour_over(uint32_t behind, const char *value)
{
    uint32_t colour;
    double opacity;
    if (strcmp(value, "transparent") == 0)
        return behind;
    if (strstr(value, "url(") || strstr(value, "gradient(") || !parse_colour(&colour, &opacity, value))
        return TWIN__COLOUR_UNKNOWN;
    if (opacity < FAINT)
        return behind;
    return opacity < 1 - FAINT ? (uint32_t)TWIN__COLOUR_UNKNOWN : colour;
}

bool twin__colour_is_near(uint32_t a, uint32_t b)
{
    enum { NEAR = 12 }; /* none of red, green and blue differs by more than this */
    if (a >= TWIN__COLOUR_UNKNOWN || b >= TWIN__COLOUR_UNKNOWN)
        return false;
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > NEAR)
            return false;
    return true;
}

/* style.c — whether the style of an HTML element hides its text.
 *
 * A declaration is a name, a colon and a value; names and values are compared without blanks, in lower case. The question
 * has two sides: text that is hidden must not pass for text, and text that is seen must not pass for hidden text, or
 * spam would be written so. So a declaration that shows what one before it hid is heeded, and where a colour is not
 * understood, or a picture is behind the text, the text counts as seen. */
#include "mail/style.h"

#include <stdlib.h>
#include <string.h>

#include "mail/fields.h"

enum { MAX_VALUE = 64, MAX_DECLARATIONS = 100, WHITE = 0xffffff };

struct twin__style twin__style_start(void)
{
    return (struct twin__style){ .colour = 0, .behind = WHITE };
}

static bool hides_all_inside(const struct twin__style *style)
{
    return style->is_inside_hidden || style->is_absent || style->is_transparent ||
           (style->is_flat && style->is_clipped);
}

struct twin__style twin__style_inside(const struct twin__style *outer)
{
    struct twin__style style = *outer;
    style.is_inside_hidden = hides_all_inside(outer);
    style.is_absent = style.is_transparent = style.is_flat = style.is_clipped = false;
    return style;
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

/* The colour that a declaration or attribute gives; unknown if we do not know it; as it was if it says so. */
static void set_colour(uint32_t *colour, const char *value)
{
    static const char *const kept[] = { "inherit", "transparent", "currentcolor", "unset", "none", "" };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcmp(value, kept[i]) == 0)
            return;
    if (strstr(value, "url(") || strstr(value, "gradient(") || !parse_colour(colour, value))
        *colour = TWIN__STYLE_UNKNOWN;
}

/* Colours that cannot be distinguished: none of red, green and blue differs by more than this. */
enum { NEAR = 12 };

static bool is_near(uint32_t a, uint32_t b)
{
    if (a == TWIN__STYLE_UNKNOWN || b == TWIN__STYLE_UNKNOWN)
        return false;
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > NEAR)
            return false;
    return true;
}

/* ---- declarations */

/* The text in lower case without blanks, comments and what follows a '!', cut to fit. */
static void squeeze(char out[MAX_VALUE], twin_text text)
{
    size_t length = 0;
    for (size_t i = 0; i < text.length && length + 1 < MAX_VALUE && text.bytes[i] != '!'; i++) {
        if (text.length - i >= 4 && memcmp(text.bytes + i, "/*", 2) == 0) {
            const char *close = memmem(text.bytes + i + 2, text.length - i - 2, "*/", 2);
            i = close ? (size_t)(close + 1 - text.bytes) : text.length - 1;
        } else if ((unsigned char)text.bytes[i] > ' ') {
            out[length++] = twin__lower(text.bytes[i]);
        }
    }
    out[length] = '\0';
}

/* Whether a length is too small to be read: 0, 0px, 1px, 0.1pt. One relative to a size that is too small is, too. */
static bool is_tiny(const char *value, bool was_tiny)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value)
        return was_tiny && (strcmp(value, "inherit") == 0 || strcmp(value, "smaller") == 0);
    if (strncmp(end, "px", 2) == 0 || strncmp(end, "pt", 2) == 0)
        return number <= 1;
    if (*end == '%')
        return was_tiny || number <= 5;
    if (strncmp(end, "em", 2) == 0)
        return was_tiny || number <= 0.05;
    return number <= 0;
}

static bool is_zero(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return end > value && number <= 0;
}

static bool is_any(const char *value, const char *a, const char *b)
{
    return strncmp(value, a, strlen(a)) == 0 || strncmp(value, b, strlen(b)) == 0;
}

static void declare(struct twin__style *style, const char *name, const char *value)
{
    if (strcmp(name, "color") == 0)
        set_colour(&style->colour, value);
    else if (strcmp(name, "background-color") == 0 || strcmp(name, "background") == 0 ||
             strcmp(name, "background-image") == 0)
        set_colour(&style->behind, value);
    else if (strcmp(name, "display") == 0)
        style->is_absent = strncmp(value, "none", 4) == 0;
    else if (strcmp(name, "visibility") == 0)
        style->is_unseen = is_any(value, "hidden", "collapse");
    else if (strcmp(name, "font-size") == 0)
        style->is_tiny = is_tiny(value, style->is_tiny);
    else if (strcmp(name, "max-height") == 0 || strcmp(name, "max-width") == 0 || strcmp(name, "height") == 0)
        style->is_flat = is_zero(value);
    else if (strcmp(name, "overflow") == 0)
        style->is_clipped = is_any(value, "hidden", "clip");
    else if (strcmp(name, "opacity") == 0)
        style->is_transparent = strtod(value, NULL) < 0.05;
    else if (strcmp(name, "text-indent") == 0)
        style->is_off = strtod(value, NULL) < -500;
}

void twin__style_declare(struct twin__style *style, twin_text declarations)
{
    const char *at = declarations.bytes, *end = at + declarations.length;
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
    if (strcmp(name, "hidden") == 0) {
        style->is_absent = true;
    } else if (strcmp(name, "color") == 0 || strcmp(name, "text") == 0) {
        squeeze(squeezed, value);
        set_colour(&style->colour, squeezed);
    } else if (strcmp(name, "bgcolor") == 0) {
        squeeze(squeezed, value);
        set_colour(&style->behind, squeezed);
    } else if (strcmp(name, "background") == 0 && value.length > 0) {
        style->behind = TWIN__STYLE_UNKNOWN; /* a picture */
    }
}

bool twin__style_hides(const struct twin__style *style)
{
    return hides_all_inside(style) || style->is_tiny || style->is_off || style->is_unseen ||
           is_near(style->colour, style->behind);
}

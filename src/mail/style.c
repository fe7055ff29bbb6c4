/* style.c — whether the style of an HTML element hides its text.
 *
 * A declaration is a name, a colon and a value; names and values are compared without blanks, in lower case. The question
 * has two sides: text that is hidden must not pass for text, and text that is seen must not pass for hidden text, or
 * spam would be written so. So a declaration that shows what one before it hid is heeded, and where a colour is not
 * understood, or a picture is behind the text, the text counts as seen. */
#include "mail/style.h"

#include <stdio.h>
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

/* Less than this of a colour is not seen. */
static const double FAINT = 0.1;

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
        char *end;
        out[count] = strtod(at, &end);
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

/* A colour as CSS and HTML write it, in lower case, and how much of it there is, 0 to 1. */
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

static bool keeps_colour(const char *value)
{
    static const char *const kept[] = { "inherit", "currentcolor", "unset", "none", "" };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcmp(value, kept[i]) == 0)
            return true;
    return false;
}

/* The colour that a declaration or attribute gives; unknown if we do not know it; as it was if it says so. */
static void set_colour(uint32_t *colour, const char *value)
{
    uint32_t given;
    double opacity;
    if (keeps_colour(value))
        return;
    if (strcmp(value, "transparent") == 0)
        *colour = TWIN__STYLE_CLEAR;
    else if (!parse_colour(&given, &opacity, value))
        *colour = TWIN__STYLE_UNKNOWN;
    else
        *colour = opacity < FAINT ? (uint32_t)TWIN__STYLE_CLEAR : given;
}

/* The colour behind the text: what is transparent shows what was there before. */
static void set_behind(uint32_t *behind, const char *value)
{
    uint32_t given = *behind;
    double opacity = 1;
    if (keeps_colour(value) || strcmp(value, "transparent") == 0)
        return;
    if (strstr(value, "url(") || strstr(value, "gradient(") || !parse_colour(&given, &opacity, value) ||
        (opacity >= FAINT && opacity < 1 - FAINT))
        *behind = TWIN__STYLE_UNKNOWN;
    else if (opacity >= FAINT)
        *behind = given;
}

/* Colours that cannot be distinguished: none of red, green and blue differs by more than this. */
enum { NEAR = 12 };

static bool is_near(uint32_t a, uint32_t b)
{
    if (a >= TWIN__STYLE_UNKNOWN || b >= TWIN__STYLE_UNKNOWN)
        return false;
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > NEAR)
            return false;
    return true;
}

/* ---- declarations */

/* The character of the escape at `at`, a backslash, which may hide letters of names: "d\\69splay". Moves *at to its last byte. */
static char unescape(size_t *at, twin_text text)
{
    uint32_t value = 0;
    size_t digits = 0, i = *at + 1;
    while (i < text.length && digits < 6 && twin__hex_digit(text.bytes[i]) >= 0) {
        value = value * 16 + (uint32_t)twin__hex_digit(text.bytes[i++]);
        digits++;
    }
    if (digits == 0) {
        *at += i < text.length;
        return i < text.length ? text.bytes[i] : '\\';
    }
    *at = i < text.length && text.bytes[i] == ' ' ? i : i - 1;
    return value < 0x80 ? (char)value : '?';
}

/* The text in lower case without comments and what follows a '!', with single blanks between words, cut to fit. */
static void squeeze(char out[MAX_VALUE], twin_text text)
{
    size_t length = 0;
    bool has_gap = false;
    for (size_t i = 0; i < text.length && length + 1 < MAX_VALUE && text.bytes[i] != '!'; i++) {
        if (text.length - i >= 4 && memcmp(text.bytes + i, "/*", 2) == 0) {
            const char *close = memmem(text.bytes + i + 2, text.length - i - 2, "*/", 2);
            i = close ? (size_t)(close + 1 - text.bytes) : text.length - 1;
        } else if ((unsigned char)text.bytes[i] <= ' ') {
            has_gap = length > 0;
        } else if (length + 2 < MAX_VALUE) {
            if (has_gap)
                out[length++] = ' ';
            has_gap = false;
            out[length++] = twin__lower(text.bytes[i] == '\\' ? unescape(&i, text) : text.bytes[i]);
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

/* Whether a height or width has no room for text. */
static bool is_flat(const char *value)
{
    char *end;
    double number = strtod(value, &end);
    return end > value && number <= (strncmp(end, "px", 2) == 0 || strncmp(end, "pt", 2) == 0);
}

static bool is_any(const char *value, const char *a, const char *b)
{
    return strncmp(value, a, strlen(a)) == 0 || strncmp(value, b, strlen(b)) == 0;
}

/* The size in "italic 700 0/0 arial": the first number that is no weight, which has no unit. */
static const char *size_of_font(const char *value)
{
    const char *at = value;
    while (*at) {
        char *end;
        double number = strtod(at, &end);
        if (end > at && !(number >= 1 && (*end == ' ' || !*end)))
            break;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return at;
}

static bool is_drawing(const char *name)
{
    return strcmp(name, "text-shadow") == 0 || strstr(name, "text-stroke") || strstr(name, "text-fill-color");
}

static bool is_size(const char *name)
{
    return strcmp(name, "max-height") == 0 || strcmp(name, "max-width") == 0 || strcmp(name, "height") == 0 ||
           strcmp(name, "width") == 0;
}

/* False: the declaration does not matter. */
static bool declare(struct twin__style *style, const char *name, const char *value)
{
    if (strcmp(name, "color") == 0)
        set_colour(&style->colour, value);
    else if (strcmp(name, "background-color") == 0 || strcmp(name, "background") == 0 ||
             strcmp(name, "background-image") == 0)
        set_behind(&style->behind, value);
    else if (strcmp(name, "display") == 0)
        style->is_absent = strncmp(value, "none", 4) == 0;
    else if (strcmp(name, "visibility") == 0)
        style->is_unseen = is_any(value, "hidden", "collapse");
    else if (strcmp(name, "font-size") == 0)
        style->is_tiny = is_tiny(value, style->is_tiny);
    else if (strcmp(name, "font") == 0)
        style->is_tiny = is_tiny(size_of_font(value), style->is_tiny);
    else if (is_drawing(name))
        style->is_drawn = strcmp(value, "none") != 0;
    else if (strstr(name, "background-clip"))
        style->is_drawn |= strcmp(value, "text") == 0;
    else if (is_size(name))
        style->is_flat = is_flat(value);
    else if (strncmp(name, "overflow", 8) == 0)
        style->is_clipped = is_any(value, "hidden", "clip");
    else if (strcmp(name, "opacity") == 0)
        style->is_transparent = strtod(value, NULL) < 0.05;
    else if (strcmp(name, "text-indent") == 0)
        style->is_off = strtod(value, NULL) < -500;
    else
        return false;
    return true;
}

/* The first such character that is not in a comment; the end: there is none. */
static const char *find_outside(const char *at, const char *end, char wanted)
{
    for (; at < end && *at != wanted; at++)
        if (*at == '/' && end - at >= 4 && at[1] == '*') {
            const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
            if (!close)
                return end;
            at = close + 1;
        }
    return at;
}

/* Calls for each declaration; false ends it. */
typedef bool each_declaration(void *context, const char *name, const char *value);

static void visit_declarations(twin_text declarations, each_declaration *visit, void *context)
{
    const char *at = declarations.bytes, *end = at + declarations.length;
    for (int n = 0; n < MAX_DECLARATIONS && at < end; n++) {
        const char *stop = find_outside(at, end, ';'), *colon = find_outside(at, stop, ':');
        if (colon < stop) {
            char name[MAX_VALUE], value[MAX_VALUE];
            squeeze(name, (twin_text){ at, (size_t)(colon - at) });
            squeeze(value, (twin_text){ colon + 1, (size_t)(stop - colon - 1) });
            if (!visit(context, name, value))
                return;
        }
        at = stop + 1;
    }
}

static bool take(void *style, const char *name, const char *value)
{
    declare(style, name, value);
    return true;
}

void twin__style_declare(struct twin__style *style, twin_text declarations)
{
    visit_declarations(declarations, take, style);
}

struct keeping {
    char *out;
    size_t room;
};

static bool keep(void *context, const char *name, const char *value)
{
    struct keeping *keeping = context;
    struct twin__style tried = twin__style_start();
    size_t length = strlen(name) + strlen(value) + 2;
    if (!declare(&tried, name, value))
        return true;
    if (length >= keeping->room)
        return false;
    snprintf(keeping->out, keeping->room, "%s:%s;", name, value);
    keeping->out += length;
    keeping->room -= length;
    return true;
}

void twin__style_keep(char *out, size_t room, twin_text declarations)
{
    struct keeping keeping = { out, room };
    *out = '\0';
    visit_declarations(declarations, keep, &keeping);
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
        set_behind(&style->behind, squeezed);
    } else if (strcmp(name, "background") == 0 && value.length > 0) {
        style->behind = TWIN__STYLE_UNKNOWN; /* a picture */
    }
}

bool twin__style_hides(const struct twin__style *style)
{
    return hides_all_inside(style) || style->is_tiny || style->is_off || style->is_unseen ||
           (!style->is_drawn && (style->colour == TWIN__STYLE_CLEAR || is_near(style->colour, style->behind)));
}

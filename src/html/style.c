/* style.c — whether the style of an HTML element hides its text.
 *
 * Declarations come from css.c. The question has two sides: text that is hidden must not pass for text, and text that is
 * seen must not pass for hidden text, or spam would be written so. So declarations are taken as browsers take them: a
 * later one wins, unless an earlier one is important; a value that cannot be changes nothing; "inherit" is what the
 * element around has. Where a colour is not understood, or a picture is behind the text, the text counts as seen. */
#include "html/style.h"

#include <stdio.h>
#include <string.h>

#include "html/colour.h"
#include "html/css.h"

/* What declarations can be about. */
enum property {
    COLOUR,
    FILL,
    BEHIND,
    PICTURE,
    DISPLAY,
    VISIBILITY,
    OPACITY,
    FONT_SIZE,
    FONT,
    HEIGHT,
    MAX_HEIGHT,
    MIN_HEIGHT,
    WIDTH,
    MAX_WIDTH,
    MIN_WIDTH,
    OVERFLOW,
    INDENT,
    SHADOW,
    STROKE,
    CLIP,
    OTHER
};

static const struct {
    const char *name;
    enum property property;
} properties[] = {
    { "color", COLOUR },
    { "-webkit-text-fill-color", FILL },
    { "background", BEHIND },
    { "background-color", BEHIND },
    { "background-image", PICTURE },
    { "display", DISPLAY },
    { "visibility", VISIBILITY },
    { "opacity", OPACITY },
    { "font-size", FONT_SIZE },
    { "font", FONT },
    { "height", HEIGHT },
    { "max-height", MAX_HEIGHT },
    { "min-height", MIN_HEIGHT },
    { "width", WIDTH },
    { "max-width", MAX_WIDTH },
    { "min-width", MIN_WIDTH },
    { "overflow", OVERFLOW },
    { "overflow-x", OVERFLOW },
    { "overflow-y", OVERFLOW },
    { "text-indent", INDENT },
    { "text-shadow", SHADOW },
    { "-webkit-text-stroke", STROKE },
    { "-webkit-text-stroke-width", STROKE },
    { "background-clip", CLIP },
    { "-webkit-background-clip", CLIP },
};

static uint32_t bit(enum property property)
{
    return UINT32_C(1) << property;
}

static void set_bit(uint32_t *bits, enum property property, bool value)
{
    *bits = value ? *bits | bit(property) : *bits & ~bit(property);
}

struct twin__style twin__style_start(void)
{
    struct twin__style_text text = { .colour = 0, .fill = TWIN__COLOUR_NONE, .behind = TWIN__COLOUR_WHITE };
    return (struct twin__style){ .text = text, .outer = text };
}

/* No room in one direction; there is some if it has to be larger, whatever else is said. */
static bool is_flat(const struct twin__style *style)
{
    bool is_low = style->flat & (bit(HEIGHT) | bit(MAX_HEIGHT)), is_high = style->flat & bit(MIN_HEIGHT);
    bool is_narrow = style->flat & (bit(WIDTH) | bit(MAX_WIDTH)), is_wide = style->flat & bit(MIN_WIDTH);
    return (is_low && !is_high) || (is_narrow && !is_wide);
}

static bool hides_all_inside(const struct twin__style *style)
{
    return style->is_inside_hidden || style->is_absent || style->is_transparent ||
           (is_flat(style) && style->is_clipped);
}

struct twin__style twin__style_inside(const struct twin__style *outer)
{
    return (struct twin__style){ .text = outer->text,
                                 .outer = outer->text,
                                 .is_inside_hidden = hides_all_inside(outer),
                                 .is_silent = outer->is_silent };
}

/* ---- values */

static bool is_among(const char *value, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0)
            return true;
    return false;
}
#define IS_AMONG(value, words) is_among(value, words, sizeof(words) / sizeof((words)[0]))

/* What an inherited property is set to if nothing else is said. */
static bool is_inherited(const char *value)
{
    static const char *const words[] = { "inherit", "unset", "revert" };
    return IS_AMONG(value, words);
}

static bool begins(const char *value, const char *with)
{
    return strncmp(value, with, strlen(with)) == 0;
}

/* A length of up to one dot or point: nothing can be read in it. */
static bool is_nothing(double number, const char *unit)
{
    return number <= (begins(unit, "px") || begins(unit, "pt") ? 1 : 0);
}

/* Whether a font size is too small to be read: 0, 0px, 1px, 0.1pt. One relative to a size that is too small is, too. */
static bool is_tiny(const char *value, const struct twin__style *style)
{
    static const char *const relative[] = { "smaller", "larger" };
    const char *unit;
    double number = twin__css_number(value, &unit);
    if (is_inherited(value) || IS_AMONG(value, relative))
        return style->outer.is_tiny;
    if (unit == value)
        return false;
    if (*unit == '%')
        return style->outer.is_tiny || number <= 5;
    if (begins(unit, "em") || begins(unit, "ex"))
        return style->outer.is_tiny || number <= 0.05;
    return begins(unit, "rem") ? number <= 0.05 : is_nothing(number, unit);
}

/* The size in "italic 700 0/0 arial": the first number that is no weight, which has no unit. */
static const char *size_of_font(const char *value)
{
    const char *at = value;
    while (*at && !is_inherited(value)) {
        const char *end;
        double number = twin__css_number(at, &end);
        if (end > at && !(number >= 1 && (*end == ' ' || !*end)))
            break;
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return at;
}

static void set_display(struct twin__style *style, const char *value)
{
    static const char *const shown[] = { "block",
                                         "contents",
                                         "flex",
                                         "flow-root",
                                         "grid",
                                         "inherit",
                                         "initial",
                                         "inline",
                                         "inline-block",
                                         "inline-flex",
                                         "inline-grid",
                                         "inline-table",
                                         "list-item",
                                         "revert",
                                         "ruby",
                                         "run-in",
                                         "table",
                                         "table-caption",
                                         "table-cell",
                                         "table-column",
                                         "table-column-group",
                                         "table-footer-group",
                                         "table-header-group",
                                         "table-row",
                                         "table-row-group",
                                         "unset",
                                         "-ms-flexbox",
                                         "-webkit-box",
                                         "-webkit-flex",
                                         "-webkit-inline-box",
                                         "-webkit-inline-flex" };
    if (strcmp(value, "none") == 0)
        style->is_absent = true;
    else if (IS_AMONG(value, shown))
        style->is_absent = false;
}

static void set_visibility(struct twin__style *style, const char *value)
{
    static const char *const hidden[] = { "hidden", "collapse" }, *const shown[] = { "visible", "initial" };
    if (is_inherited(value))
        style->text.is_unseen = style->outer.is_unseen;
    else if (IS_AMONG(value, hidden) || IS_AMONG(value, shown))
        style->text.is_unseen = IS_AMONG(value, hidden);
}

static void set_opacity(struct twin__style *style, const char *value)
{
    static const char *const shown[] = { "inherit", "initial", "unset", "revert" };
    const char *end;
    double number = twin__css_number(value, &end);
    if (end > value)
        style->is_transparent = number < (*end == '%' ? 5 : 0.05);
    else if (IS_AMONG(value, shown)) /* if that around it is transparent, this is hidden anyway */
        style->is_transparent = false;
}

static void set_size(struct twin__style *style, enum property property, const char *value)
{
    const char *unit;
    double number = twin__css_number(value, &unit);
    bool is_least = property == MIN_HEIGHT || property == MIN_WIDTH;
    set_bit(&style->flat, property, unit > value && is_nothing(number, unit) != is_least);
}

static void set_indent(struct twin__style *style, const char *value)
{
    const char *unit;
    double number = twin__css_number(value, &unit);
    if (is_inherited(value))
        style->text.is_off = style->outer.is_off;
    else if (unit > value || strcmp(value, "initial") == 0)
        style->text.is_off = number < (begins(unit, "em") || begins(unit, "rem") ? -30 : -500);
}

static void set_overflow(struct twin__style *style, const char *value)
{
    static const char *const clipped[] = { "hidden", "clip", "hidden hidden", "clip clip" }, *const shown[] = {
        "visible", "auto", "scroll", "initial", "unset"
    };
    if (IS_AMONG(value, clipped) || IS_AMONG(value, shown))
        style->is_clipped = IS_AMONG(value, clipped);
}

static void set_colour(struct twin__style *style, const char *value)
{
    if (is_inherited(value) || strcmp(value, "currentcolor") == 0)
        style->text.colour = style->outer.colour;
    else if (*value)
        style->text.colour = twin__colour_of_text(value);
}

/* The colour that is drawn instead of the text's own. */
static void set_fill(struct twin__style *style, const char *value)
{
    if (is_inherited(value))
        style->text.fill = style->outer.fill;
    else
        style->text.fill =
            strcmp(value, "currentcolor") == 0 ? (uint32_t)TWIN__COLOUR_NONE : twin__colour_of_text(value);
}

static void set_behind(struct twin__style *style, const char *value)
{
    static const char *const nothing[] = { "none", "inherit", "initial", "unset", "revert" };
    if (IS_AMONG(value, nothing))
        style->text.behind = style->outer.behind;
    else if (*value)
        style->text.behind = twin__colour_over(style->outer.behind, value);
}

/* A shadow, a stroke, letters cut out of the background. */
static void set_drawn(struct twin__style *style, enum property property, const char *value)
{
    static const char *const nothing[] = { "none", "initial" };
    const char *end;
    double width = twin__css_number(value, &end);
    bool is_drawn = property == SHADOW   ? !IS_AMONG(value, nothing)
                    : property == STROKE ? width > 0 || (end == value && !IS_AMONG(value, nothing))
                                         : strcmp(value, "text") == 0;
    set_bit(&style->text.drawn, property, is_inherited(value) ? style->outer.drawn & bit(property) : is_drawn);
}

/* ---- declarations */

static enum property property_of(const char *name)
{
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (strcmp(name, properties[i].name) == 0)
            return properties[i].property;
    return OTHER;
}

static void apply(struct twin__style *style, enum property property, const char *value)
{
    switch (property) {
    case COLOUR: set_colour(style, value); break;
    case FILL: set_fill(style, value); break;
    case BEHIND: set_behind(style, value); break;
    case PICTURE:
        if (strchr(value, '('))
            style->text.behind = TWIN__COLOUR_UNKNOWN;
        break;
    case DISPLAY: set_display(style, value); break;
    case VISIBILITY: set_visibility(style, value); break;
    case OPACITY: set_opacity(style, value); break;
    case FONT_SIZE: style->text.is_tiny = is_tiny(value, style); break;
    case FONT: style->text.is_tiny = is_tiny(size_of_font(value), style); break;
    case HEIGHT:
    case MAX_HEIGHT:
    case MIN_HEIGHT:
    case WIDTH:
    case MAX_WIDTH:
    case MIN_WIDTH: set_size(style, property, value); break;
    case OVERFLOW: set_overflow(style, value); break;
    case INDENT: set_indent(style, value); break;
    case SHADOW:
    case STROKE:
    case CLIP: set_drawn(style, property, value); break;
    case OTHER: break;
    }
}

static bool take(void *context, const struct twin__declaration *declaration)
{
    struct twin__style *style = context;
    enum property property = property_of(declaration->name), fixed = property == FONT ? FONT_SIZE : property;
    if (!declaration->is_important && style->fixed & bit(fixed))
        return true;
    apply(style, property, declaration->value);
    if (declaration->is_important)
        set_bit(&style->fixed, fixed, true);
    return true;
}

void twin__style_declare(struct twin__style *style, twin_text declarations)
{
    twin__css_visit(declarations, take, style);
}

struct keeping {
    char *out;
    size_t room;
};

static bool keep(void *context, const struct twin__declaration *declaration)
{
    struct keeping *keeping = context;
    bool is_picture = strstr(declaration->value, "url(") || strstr(declaration->value, "gradient(");
    if (property_of(declaration->name) == OTHER)
        return true;
    int length = snprintf(keeping->out, keeping->room, "%s:%s%s;", declaration->name,
                          is_picture ? "url()" : declaration->value, declaration->is_important ? "!important" : "");
    bool fits = (size_t)length < keeping->room;
    if (!fits || !twin__css_is_whole((twin_text){ keeping->out, (size_t)length })) {
        *keeping->out = '\0';
        return fits;
    }
    keeping->out += length;
    keeping->room -= (size_t)length;
    return true;
}

void twin__style_keep(char *out, size_t room, twin_text declarations)
{
    struct keeping keeping = { out, room };
    *out = '\0';
    twin__css_visit(declarations, keep, &keeping);
}

void twin__style_attribute(struct twin__style *style, const char *name, twin_text value)
{
    char squeezed[TWIN__CSS_VALUE];
    twin__css_squeeze(squeezed, value);
    if (strcmp(name, "hidden") == 0)
        style->is_absent = true;
    else if (strcmp(name, "color") == 0 || strcmp(name, "text") == 0)
        set_colour(style, squeezed);
    else if (strcmp(name, "bgcolor") == 0)
        set_behind(style, squeezed);
    else if (strcmp(name, "background") == 0 && value.length > 0)
        style->text.behind = TWIN__COLOUR_UNKNOWN; /* a picture */
}

bool twin__style_hides(const struct twin__style *style)
{
    const struct twin__style_text *text = &style->text;
    uint32_t colour = text->fill != TWIN__COLOUR_NONE ? text->fill : text->colour;
    bool is_blank = colour == TWIN__COLOUR_CLEAR || twin__colour_is_near(colour, text->behind);
    return hides_all_inside(style) || text->is_tiny || text->is_off || text->is_unseen || (is_blank && !text->drawn);
}

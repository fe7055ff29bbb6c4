/* style.h — whether the style of an HTML element hides its text. */
#ifndef TWIN_HTML_STYLE_H
#define TWIN_HTML_STYLE_H

#include <twinsift/buffer.h>

/* What an element gives to those inside it, which can change it for themselves. */
struct twin__style_text {
    uint32_t colour, fill, behind; /* of the text, instead of that, and of what is behind it (colour.h) */
    uint32_t drawn;                /* bits of what draws it whatever its colour: a shadow, a stroke, its background */
    bool is_tiny, is_off, is_unseen; /* size, indentation, visibility */
};

/* What an element says about its text, or has from those around it. */
struct twin__style {
    struct twin__style_text text, outer; /* outer: of the element around it */
    uint32_t fixed;                      /* bits of properties that were declared to be important */
    uint32_t flat;                       /* bits of its heights and widths that leave no room for text, or keep it */
    bool is_inside_hidden;               /* an element around it is not displayed, which nothing inside can undo */
    bool is_absent, is_transparent;      /* display and opacity of this element */
    bool is_clipped;                     /* what does not fit in is not shown */
    bool is_silent;                      /* not text: scripts, style sheets, titles */
};

/* Black on white. */
struct twin__style twin__style_start(void);

/* The style of an element in one of this style, before its own attributes. */
struct twin__style twin__style_inside(const struct twin__style *outer);

/* Takes an attribute of an element into account: color, bgcolor, background, text, hidden. */
void twin__style_attribute(struct twin__style *style, const char *name, twin_text value);

/* Takes declarations into account, "color: red; display: none", which win over attributes. */
void twin__style_declare(struct twin__style *style, twin_text declarations);

/* Copies the declarations that matter, in short and as far as they fit into `room` bytes, for twin__style_declare(). */
void twin__style_keep(char *out, size_t room, twin_text declarations);

/* Whether a person would not see the text. */
bool twin__style_hides(const struct twin__style *style);

#endif

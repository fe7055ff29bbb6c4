/* style.h — whether the style of an HTML element hides its text. */
#ifndef TWIN_MAIL_STYLE_H
#define TWIN_MAIL_STYLE_H

#include <twinsift/buffer.h>

/* What an element says about its text, or has from those around it. */
struct twin__style {
    uint32_t colour, behind;         /* of the text and of what is behind it: 0xRRGGBB, or one of those below */
    bool is_inside_hidden;           /* an element around it is not displayed, which nothing inside can undo */
    bool is_absent, is_transparent;  /* display and opacity of this element */
    bool is_flat, is_clipped;        /* it has no height or width, and what does not fit in is not shown */
    bool is_tiny, is_off, is_unseen; /* size, indentation, visibility: from outside, but an element can undo them */
    bool is_drawn;                   /* with a shadow, a stroke or its background: seen whatever its colour */
    bool is_silent;                  /* not text: scripts, style sheets, titles */
};

enum { TWIN__STYLE_UNKNOWN = 1 << 24, TWIN__STYLE_CLEAR /* of a text that is transparent */ };

/* Black on white. */
struct twin__style twin__style_start(void);

/* The style of an element in one of this style, before its own attributes. */
struct twin__style twin__style_inside(const struct twin__style *outer);

/* Takes an attribute of an element into account: color, bgcolor, background, text, hidden. */
void twin__style_attribute(struct twin__style *style, const char *name, twin_text value);

/* Takes declarations into account, "color: red; display: none", which win over attributes. */
void twin__style_declare(struct twin__style *style, twin_text declarations);

/* Copies those that matter, in short and as far as they fit into `room` bytes, for twin__style_declare(). */
void twin__style_keep(char *out, size_t room, twin_text declarations);

/* Whether a person would not see the text. */
bool twin__style_hides(const struct twin__style *style);

#endif

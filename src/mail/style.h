/* style.h — whether the style of an HTML element hides its text. */
#ifndef TWIN_MAIL_STYLE_H
#define TWIN_MAIL_STYLE_H

#include <twinsift/buffer.h>

struct twin__style {
    uint32_t colour, behind; /* of the text and of what is behind it: 0xRRGGBB */
    bool is_hidden;          /* by display, visibility, size and the like; what is inside cannot show itself */
    bool is_silent;          /* not text: scripts, style sheets, titles */
};

/* Black on white. */
struct twin__style twin__style_start(void);

/* Takes an attribute of an element into account: style, color, bgcolor, hidden, size. */
void twin__style_attribute(struct twin__style *style, const char *name, twin_text value);

/* Whether a person would not see the text. */
bool twin__style_hides(const struct twin__style *style);

#endif

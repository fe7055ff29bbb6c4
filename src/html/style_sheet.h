/* style_sheet.h — what the style sheets of a page say about classes, ids and the body. */
#ifndef TWIN_HTML_STYLE_SHEET_H
#define TWIN_HTML_STYLE_SHEET_H

#include "html/style.h"

enum { TWIN__STYLE_RULES = 64, TWIN__SELECTOR_BYTES = 32, TWIN__DECLARATION_BYTES = 96 };

/* A rule for one class, id or the body: ".name", "#name", "body". Strings are cut to fit, or not kept. */
struct twin__style_rule {
    char selector[TWIN__SELECTOR_BYTES];
    char declarations[TWIN__DECLARATION_BYTES];
};

/* Begin with {0}. */
struct twin__style_sheet {
    struct twin__style_rule rules[TWIN__STYLE_RULES];
    size_t count;
};

/* Adds the rules of a style sheet that may matter: selectors of one class or id, also after the name of an element,
 * outside of @media and the like. */
void twin__style_sheet_add(struct twin__style_sheet *sheet, twin_text css);

/* Applies the rules for an element's name, and for its classes and id, either of which may be NULL. */
void twin__style_sheet_apply(struct twin__style *style, const struct twin__style_sheet *sheet, const char *name,
                             const char *classes, const char *id);

#endif

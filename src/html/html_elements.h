/* html_elements.h — the elements of HTML: what they do to the text, and which end where others begin. */
#ifndef TWIN_HTML_HTML_ELEMENTS_H
#define TWIN_HTML_HTML_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "html/html_tokens.h"

enum twin__html_kind {
    TWIN__HTML_LINE,  /* part of a line: adds nothing around its text */
    TWIN__HTML_BLOCK, /* begins a line */
    TWIN__HTML_CELL,  /* begins a word */
};

/* An element: what is not in the table is part of a line, and ends by its end tag. */
struct twin__html_element {
    const char *name;
    enum twin__html_kind kind;
    uint32_t family; /* what it belongs to, for the elements that end where it begins */
    uint32_t ends;   /* families of open elements that end where it begins */
    uint8_t rank;    /* an end tag does not end open elements of a higher rank */
    bool is_silent;  /* its text is not shown */
    bool is_absent;  /* it is not displayed, nor what is in it */
    bool is_raw;     /* its content has no tags and comments: it goes on to its end tag */
    bool is_literal; /* nor has it references */
    bool is_void;    /* it has neither content nor end tag */
};

/* The element of a name, by its hash; never NULL. */
const struct twin__html_element *twin__html_element_of(uint64_t hash);

#endif

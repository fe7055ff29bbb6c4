/* html_elements.c — the table of elements.
 *
 * Many elements may lack their end tag: a paragraph ends where a block begins, a cell where the next one does. An element
 * lists the families whose innermost open elements end where it begins. Formatting that was left open ends with its
 * paragraph or cell; browsers would open it again in the next one, which matters for what it hides only where the page is
 * broken anyway. */
#include "html/html_elements.h"

#include <pthread.h>
#include <string.h>

enum {
    PARAGRAPH = 1 << 0,
    HEADING = 1 << 1,
    ITEM = 1 << 2, /* li */
    TERM = 1 << 3, /* dt, dd */
    OPTION = 1 << 4,
    CELL = 1 << 5,   /* td, th */
    ROW = 1 << 6,    /* tr */
    ROWS = 1 << 7,   /* thead, tbody, tfoot, caption, colgroup */
    ANCHOR = 1 << 8, /* a */
    STYLED = 1 << 9, /* b, i, u, font, span, and so on */
    HEAD = 1 << 10,  /* head, title */
    FORM = 1 << 11,
    BLOCKS_END = PARAGRAPH | HEAD,
    CELLS_END = PARAGRAPH | CELL | STYLED | ANCHOR,
    ROWS_END = PARAGRAPH | CELL | ROW | STYLED | ANCHOR,
};

enum { DIVISION = 1, A_CELL, A_ROW, SOME_ROWS, A_TABLE, WHOLE }; /* ranks */

#define BLOCK_OF(n)                                                                                                  \
    {                                                                                                                \
        .name = (n), .kind = TWIN__HTML_BLOCK, .ends = BLOCKS_END                                                    \
    }
#define HEADING_OF(n)                                                                                                \
    {                                                                                                                \
        .name = (n), .kind = TWIN__HTML_BLOCK, .family = HEADING, .ends = BLOCKS_END | HEADING                       \
    }
#define STYLED_OF(n)                                                                                                 \
    {                                                                                                                \
        .name = (n), .family = STYLED                                                                                \
    }
#define VOID_OF(n)                                                                                                   \
    {                                                                                                                \
        .name = (n), .is_void = true                                                                                 \
    }
#define ROWS_OF(n)                                                                                                   \
    {                                                                                                                \
        .name = (n), .kind = TWIN__HTML_LINE, .family = ROWS, .ends = ROWS_END | ROWS, .rank = SOME_ROWS             \
    }

static const struct twin__html_element elements[] = {
    BLOCK_OF("address"),
    BLOCK_OF("article"),
    BLOCK_OF("aside"),
    BLOCK_OF("blockquote"),
    BLOCK_OF("center"),
    BLOCK_OF("dir"),
    BLOCK_OF("dl"),
    BLOCK_OF("fieldset"),
    BLOCK_OF("footer"),
    BLOCK_OF("header"),
    BLOCK_OF("main"),
    BLOCK_OF("menu"),
    BLOCK_OF("nav"),
    BLOCK_OF("ol"),
    BLOCK_OF("pre"),
    BLOCK_OF("section"),
    BLOCK_OF("ul"),
    HEADING_OF("h1"),
    HEADING_OF("h2"),
    HEADING_OF("h3"),
    HEADING_OF("h4"),
    HEADING_OF("h5"),
    HEADING_OF("h6"),
    STYLED_OF("b"),
    STYLED_OF("big"),
    STYLED_OF("em"),
    STYLED_OF("font"),
    STYLED_OF("i"),
    STYLED_OF("s"),
    STYLED_OF("small"),
    STYLED_OF("span"),
    STYLED_OF("strike"),
    STYLED_OF("strong"),
    STYLED_OF("tt"),
    STYLED_OF("u"),
    VOID_OF("area"),
    VOID_OF("base"),
    VOID_OF("basefont"),
    VOID_OF("bgsound"),
    VOID_OF("col"),
    VOID_OF("embed"),
    VOID_OF("frame"),
    VOID_OF("img"),
    VOID_OF("input"),
    VOID_OF("link"),
    VOID_OF("meta"),
    VOID_OF("param"),
    VOID_OF("source"),
    VOID_OF("wbr"),
    ROWS_OF("tbody"),
    ROWS_OF("tfoot"),
    ROWS_OF("thead"),
    { .name = "a", .family = ANCHOR, .ends = ANCHOR },
    { .name = "body", .kind = TWIN__HTML_BLOCK, .ends = BLOCKS_END, .rank = WHOLE },
    { .name = "br", .kind = TWIN__HTML_BLOCK, .is_void = true },
    { .name = "caption", .kind = TWIN__HTML_BLOCK, .family = ROWS, .ends = ROWS_END | ROWS },
    { .name = "datalist", .is_absent = true },
    { .name = "dd", .kind = TWIN__HTML_BLOCK, .family = TERM, .ends = BLOCKS_END | TERM },
    { .name = "div", .kind = TWIN__HTML_BLOCK, .ends = BLOCKS_END, .rank = DIVISION },
    { .name = "dt", .kind = TWIN__HTML_BLOCK, .family = TERM, .ends = BLOCKS_END | TERM },
    { .name = "form", .kind = TWIN__HTML_BLOCK, .family = FORM, .ends = BLOCKS_END | FORM },
    { .name = "head", .family = HEAD, .rank = WHOLE },
    { .name = "hr", .kind = TWIN__HTML_BLOCK, .ends = BLOCKS_END, .is_void = true },
    { .name = "html", .rank = WHOLE },
    { .name = "iframe", .is_absent = true, .is_raw = true, .is_literal = true },
    { .name = "li", .kind = TWIN__HTML_BLOCK, .family = ITEM, .ends = BLOCKS_END | HEADING | ITEM },
    { .name = "noembed", .is_absent = true, .is_raw = true, .is_literal = true },
    { .name = "noframes", .is_absent = true, .is_raw = true, .is_literal = true },
    { .name = "option", .kind = TWIN__HTML_BLOCK, .family = OPTION, .ends = OPTION },
    { .name = "p", .kind = TWIN__HTML_BLOCK, .family = PARAGRAPH, .ends = BLOCKS_END | HEADING },
    { .name = "plaintext", .kind = TWIN__HTML_BLOCK, .is_raw = true, .is_literal = true },
    { .name = "script", .is_silent = true, .is_raw = true, .is_literal = true },
    { .name = "style", .is_silent = true, .is_raw = true, .is_literal = true },
    { .name = "table", .kind = TWIN__HTML_BLOCK, .ends = BLOCKS_END | HEADING | ANCHOR, .rank = A_TABLE },
    { .name = "td", .kind = TWIN__HTML_CELL, .family = CELL, .ends = CELLS_END, .rank = A_CELL },
    { .name = "th", .kind = TWIN__HTML_CELL, .family = CELL, .ends = CELLS_END, .rank = A_CELL },
    { .name = "template", .is_absent = true },
    { .name = "textarea", .kind = TWIN__HTML_CELL, .is_raw = true },
    { .name = "title", .family = HEAD, .is_silent = true, .is_raw = true },
    { .name = "tr", .kind = TWIN__HTML_BLOCK, .family = ROW, .ends = ROWS_END, .rank = A_ROW },
    { .name = "xmp", .kind = TWIN__HTML_BLOCK, .is_raw = true, .is_literal = true },
};

enum { COUNT = sizeof elements / sizeof elements[0], SLOTS = 256 };

static struct {
    uint64_t hash;
    const struct twin__html_element *element;
} slots[SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static void fill_slots(void)
{
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t hash = twin__html_hash(elements[i].name);
        unsigned slot = hash % SLOTS;
        while (slots[slot].element)
            slot = (slot + 1) % SLOTS;
        slots[slot].hash = hash;
        slots[slot].element = &elements[i];
    }
}

const struct twin__html_element *twin__html_element_of(uint64_t hash)
{
    static const struct twin__html_element other = { .name = "" };
    pthread_once(&slots_once, fill_slots);
    for (unsigned slot = hash % SLOTS; slots[slot].element; slot = (slot + 1) % SLOTS)
        if (slots[slot].hash == hash)
            return slots[slot].element;
    return &other;
}

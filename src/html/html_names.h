/* html_names.h — the names of character references of HTML. */
#ifndef TWIN_HTML_HTML_NAMES_H
#define TWIN_HTML_HTML_NAMES_H

#include <stdint.h>

enum {
    TWIN__HTML_NAMES = 2125,
    TWIN__HTML_LONGEST_NAME = 31,
    TWIN__HTML_LONGEST_OPEN_NAME = 6,
    TWIN__HTML_OPEN_NAME = 1 << 24, /* added to a character: its name may lack the semicolon */
};

struct twin__html_name {
    const char *name;
    uint32_t character;
};

/* In the order of strcmp(). */
extern const struct twin__html_name twin__html_names[TWIN__HTML_NAMES];

#endif

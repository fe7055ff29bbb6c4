/* css.h — declarations of CSS: "name: value; name: value !important". */
#ifndef TWIN_HTML_CSS_H
#define TWIN_HTML_CSS_H

#include <twinsift/buffer.h>

enum { TWIN__CSS_VALUE = 64 };

/* Name and value as twin__css_squeeze() leaves them. */
struct twin__declaration {
    char name[TWIN__CSS_VALUE], value[TWIN__CSS_VALUE];
    bool is_important;
};

/* Returns false to end the visit. */
typedef bool twin__each_declaration(void *context, const struct twin__declaration *declaration);

/* Calls `visit` for each declaration. */
void twin__css_visit(twin_text declarations, twin__each_declaration *visit, void *context);

/* Whether the semicolon at its end would be found: a value that was cut may lack a quote or a parenthesis. */
bool twin__css_is_whole(twin_text declaration);

/* Writes the text in lower case without comments and escapes, with single blanks between words, cut to fit. */
void twin__css_squeeze(char out[TWIN__CSS_VALUE], twin_text text);

/* The number that a value begins with; *end == value if there is none. Unlike strtod() it does not depend on the
 * locale, and knows neither infinity nor hexadecimal digits. */
double twin__css_number(const char *value, const char **end);

#endif

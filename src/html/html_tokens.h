/* html_tokens.h — the tags, comments and character references of an HTML page, as browsers read them (WHATWG). */
#ifndef TWIN_HTML_HTML_TOKENS_H
#define TWIN_HTML_HTML_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <twinsift/buffer.h>

/* White space and letters, as HTML and style sheets know them. */
static inline bool twin__html_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
static inline bool twin__html_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Attributes that say something about the text or have links; others are skipped. */
enum twin__html_attribute {
    TWIN__HTML_ACTION,
    TWIN__HTML_ALT,
    TWIN__HTML_BACKGROUND,
    TWIN__HTML_BGCOLOR,
    TWIN__HTML_CLASS,
    TWIN__HTML_COLOR,
    TWIN__HTML_HIDDEN,
    TWIN__HTML_HREF,
    TWIN__HTML_ID,
    TWIN__HTML_SRC,
    TWIN__HTML_STYLE,
    TWIN__HTML_TEXT,
    TWIN__HTML_ATTRIBUTES
};

/* The name of an attribute. */
const char *twin__html_attribute_name(enum twin__html_attribute attribute);

enum { TWIN__HTML_NAME_BYTES = 31 };

/* A tag. */
struct twin__html_tag {
    bool is_end;
    char name[TWIN__HTML_NAME_BYTES + 1]; /* in lower case; cut to fit */
    size_t name_length;
    uint64_t hash;                             /* of the whole name */
    const char *values[TWIN__HTML_ATTRIBUTES]; /* decoded; of several of a name the first; NULL: not there */
};

/* What a '<' begins. */
enum twin__html_token { TWIN__HTML_LITERAL, TWIN__HTML_TAG, TWIN__HTML_NOTHING /* a comment or the like */ };

/* Reads what begins at the '<' at *at, and moves *at behind it; a literal '<' is left where it is. The values of the tag are
 * decoded where they are in the page, which has room for one byte more, and live as long as it. */
enum twin__html_token twin__html_read(struct twin__html_tag *out, char **at, char *end);

/* Where the end tag of an element begins whose content is not HTML, such as a script; `end` if there is none. */
char *twin__html_raw_end(char *at, char *end, const char *name);

enum { TWIN__HTML_CHARSET_BYTES = 32 };

/* The character set that the page says it is in, by a <meta> tag near its beginning, in lower case; returns its length, 0: none.
 * As in browsers it is none that ASCII would not be in: the tag could not be read then. */
size_t twin__html_charset(char out[TWIN__HTML_CHARSET_BYTES], twin_text page);

uint64_t twin__html_hash(const char *name);

/* Decodes the reference at the '&' at `at` into `out`; returns how many bytes it has there, or 0 if it is none. */
size_t twin__html_reference(char out[4], size_t *length, const char *at, const char *end, bool in_attribute);

#endif

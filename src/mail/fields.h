/* fields.h — the headers of a message or a part, line by line, in the bytes as they are. */
#ifndef TWIN_MAIL_FIELDS_H
#define TWIN_MAIL_FIELDS_H

#include <string.h>
#include <twinsift/buffer.h>

/* A header with its folded lines. */
struct twin__field {
    twin_text name;  /* without blanks before the colon */
    twin_text value; /* after the colon, with folds, without the last line end */
    twin_text lines; /* all of it */
};

/* Where headers are read; begin with twin__fields_of(). */
struct twin__fields {
    const char *at, *end;
    bool is_malformed; /* ended by a line that is neither a header nor empty; the body begins with it */
};

struct twin__fields twin__fields_of(twin_text message);

/* False after the last header; `at` is then the start of the body. */
bool twin__fields_next(struct twin__field *out, struct twin__fields *fields);

/* The message without the line "From …" that mbox files put before it. */
twin_text twin__without_from_line(twin_text message);

/* Letters and digits of ASCII, whatever the locale. Of twin__lower() other bytes stay. */
static inline char twin__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool twin__is_letter_or_digit(char c)
{
    c = twin__lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Whether the name of a header is `wanted`, which is in lower case. Inline: the length of a literal is known, and tells most
 * names apart. */
bool twin__is_same_name(const char *name, const char *wanted, size_t length);
static inline bool twin__is_named(twin_text name, const char *wanted)
{
    return name.length == strlen(wanted) && twin__is_same_name(name.bytes, wanted, name.length);
}

/* The value of a hexadecimal digit; -1: it is none. */
static inline int twin__hex_digit(char c)
{
    c = twin__lower(c);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The text cut to `most` bytes, or a little less, so that it does not end inside a character. */
twin_text twin__cut(twin_text text, size_t most);

/* A text without blanks, tabs and line ends around it. */
twin_text twin__trim(twin_text text);

#endif

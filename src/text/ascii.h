/* ascii.h — letters, digits and names of ASCII, whatever the locale. */
#ifndef TWIN_TEXT_ASCII_H
#define TWIN_TEXT_ASCII_H

#include <stdint.h>
#include <string.h>
#include <twinsift/buffer.h>

/* Of twin__lower() other bytes stay. */
static inline char twin__lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool twin__is_letter_or_digit(char c)
{
    c = twin__lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Whether a name is `wanted`, which is in lower case. Inline: the length of a literal is known, and tells most
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

/* Whether all of it is well-formed UTF-8. */
bool twin__is_utf8(const char *bytes, size_t length);

/* A text without blanks, tabs and line ends around it. */
twin_text twin__trim(twin_text text);

/* The character of a byte of windows-1252; U+FFFD: none. */
uint32_t twin__windows_character(unsigned char byte);

#endif

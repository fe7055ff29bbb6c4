/* html_guard.c — keeps HTML from what takes libxml2 long.
 *
 * libxml2 compares each attribute of a tag with all before it. Tags are read here the way libxml2 reads them, to count
 * their attributes. Where the two disagree, only time is lost. */
#include "mail/html_guard.h"

#include <stdbool.h>
#include <string.h>

enum {
    MAX_ATTRIBUTES = 300,
    SHORT_PAGE = 8 << 10, /* bytes with too few attributes to matter */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The end of the attribute that begins at `at`: a name, and a value if there is one. */
static char *attribute_end(char *at, char *end)
{
    while (at < end && !is_space(*at) && *at != '=' && *at != '>' && *at != '/')
        at++;
    char *after = at;
    while (after < end && is_space(*after))
        after++;
    if (after == end || *after != '=')
        return at;
    at = after + 1;
    while (at < end && is_space(*at))
        at++;
    if (at < end && (*at == '"' || *at == '\'')) {
        char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
        return quote ? quote + 1 : end;
    }
    while (at < end && !is_space(*at) && *at != '>')
        at++;
    return at;
}

/* The end of the tag whose name begins at `at`. */
static char *tag_end(char *at, char *end)
{
    while (at < end && !is_space(*at) && *at != '>' && *at != '/')
        at++;
    for (size_t count = 0; at < end && *at != '>'; count++) {
        while (at < end && (is_space(*at) || *at == '/'))
            at++;
        char *attribute = at;
        at = attribute_end(at, end);
        if (at == attribute && at < end && *at != '>')
            at++; /* a stray '=' */
        if (count >= MAX_ATTRIBUTES && at > attribute)
            memset(attribute, ' ', (size_t)(at - attribute));
    }
    return at;
}

void twin__html_guard(char *page, size_t length)
{
    if (length < SHORT_PAGE)
        return;
    char *at = page, *end = page + length;
    while ((at = memchr(at, '<', (size_t)(end - at)))) {
        at++;
        if (end - at >= 3 && memcmp(at, "!--", 3) == 0) {
            char *close = memmem(at + 3, (size_t)(end - at - 3), "-->", 3);
            at = close ? close + 3 : end;
        } else if (at < end && (is_letter(*at) || *at == '_' || *at == ':')) {
            at = tag_end(at, end);
        }
    }
}

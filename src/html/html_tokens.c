/* html_tokens.c — the tags and comments of an HTML page, as browsers read them (WHATWG).
 *
 * A tag is '<' or "</" and a letter; its name ends at a blank, '/' or '>', its attributes are names with or without values,
 * quoted or not. What else begins with "<!", "<?" or "</" is a comment: until "-->" after "<!--", else until '>'. Any
 * other '<' is a character. Time is linear: every byte is looked at once, and a comment that does not end, ends the
 * page. */
#include "html/html_tokens.h"

#include <string.h>

#include "text/ascii.h"

static const char *const attribute_names[TWIN__HTML_ATTRIBUTES] = {
    [TWIN__HTML_ACTION] = "action",   [TWIN__HTML_ALT] = "alt",     [TWIN__HTML_BACKGROUND] = "background",
    [TWIN__HTML_BGCOLOR] = "bgcolor", [TWIN__HTML_CLASS] = "class", [TWIN__HTML_COLOR] = "color",
    [TWIN__HTML_HIDDEN] = "hidden",   [TWIN__HTML_HREF] = "href",   [TWIN__HTML_ID] = "id",
    [TWIN__HTML_SRC] = "src",         [TWIN__HTML_STYLE] = "style", [TWIN__HTML_TEXT] = "text",
};

const char *twin__html_attribute_name(enum twin__html_attribute attribute)
{
    return attribute_names[attribute];
}

static char *skip_spaces(char *at, const char *end)
{
    while (at < end && twin__html_is_space(*at))
        at++;
    return at;
}

/* ---- names */

static const uint64_t HASH_START = 14695981039346656037u, HASH_STEP = 1099511628211u; /* FNV-1a */

static uint64_t hash_on(uint64_t hash, char c)
{
    return (hash ^ (unsigned char)c) * HASH_STEP;
}

uint64_t twin__html_hash(const char *name)
{
    uint64_t hash = HASH_START;
    for (; *name; name++)
        hash = hash_on(hash, *name);
    return hash;
}

static char *read_name(struct twin__html_tag *out, char *at, const char *end)
{
    out->hash = HASH_START;
    out->name_length = 0;
    for (; at < end && !twin__html_is_space(*at) && *at != '/' && *at != '>'; at++) {
        char c = twin__lower(*at);
        out->hash = hash_on(out->hash, c);
        if (out->name_length < TWIN__HTML_NAME_BYTES)
            out->name[out->name_length++] = c;
    }
    out->name[out->name_length] = '\0';
    return at;
}

/* ---- attributes */

/* Which attribute it is; TWIN__HTML_ATTRIBUTES: one of no interest. */
static enum twin__html_attribute attribute_of(const char *name, size_t length)
{
    enum { LONGEST = 10 };
    char lower[LONGEST + 1];
    if (length < 2 || length > LONGEST || !strchr("abchistABCHIST", name[0]))
        return TWIN__HTML_ATTRIBUTES;
    for (size_t i = 0; i < length; i++)
        lower[i] = twin__lower(name[i]);
    lower[length] = '\0';
    unsigned i = 0;
    while (i < TWIN__HTML_ATTRIBUTES && (lower[0] != attribute_names[i][0] || strcmp(lower, attribute_names[i]) != 0))
        i++;
    return (enum twin__html_attribute)i;
}

/* A value as it is in the page. */
struct value {
    char *begin, *end;
};

/* Replaces references in the value, which does not become longer, and ends it with a zero byte. */
static void decode(struct value value)
{
    char *from = memchr(value.begin, '&', (size_t)(value.end - value.begin)), *to = from;
    while (from && from < value.end) {
        char character[4];
        size_t length = 0, used = *from == '&' ? twin__html_reference(character, &length, from, value.end, true) : 0;
        if (used > 0) {
            memcpy(to, character, length);
            to += length;
            from += used;
        } else {
            *to++ = *from++;
        }
    }
    *(to ? to : value.end) = '\0';
}

/* Reads the value after a name, if there is one. */
static char *read_value(struct value *out, char *at, char *end)
{
    char *after = skip_spaces(at, end);
    *out = (struct value){ at, at };
    if (after == end || *after != '=')
        return at;
    at = skip_spaces(after + 1, end);
    if (at < end && (*at == '"' || *at == '\'')) {
        char *quote = memchr(at + 1, *at, (size_t)(end - at - 1));
        *out = (struct value){ at + 1, quote ? quote : end };
        return quote ? quote + 1 : end;
    }
    out->begin = at;
    while (at < end && !twin__html_is_space(*at) && *at != '>')
        at++;
    out->end = at;
    return at;
}

/* Reads all attributes; returns the end of the tag, behind its '>'. Values are decoded last: their ends are then free. */
static char *read_attributes(struct twin__html_tag *out, char *at, char *end)
{
    struct value values[TWIN__HTML_ATTRIBUTES] = { 0 };
    while (at < end && *at != '>') {
        char *name = at;
        if (twin__html_is_space(*at) || *at == '/') {
            at++;
            continue;
        }
        at++; /* a '=' here is the first byte of a name */
        while (at < end && !twin__html_is_space(*at) && *at != '/' && *at != '>' && *at != '=')
            at++;
        enum twin__html_attribute attribute = attribute_of(name, (size_t)(at - name));
        struct value value;
        at = read_value(&value, at, end);
        if (attribute < TWIN__HTML_ATTRIBUTES && !values[attribute].begin)
            values[attribute] = value;
    }
    for (int i = 0; i < TWIN__HTML_ATTRIBUTES; i++) {
        if (values[i].begin)
            decode(values[i]);
        out->values[i] = values[i].begin;
    }
    return at < end ? at + 1 : end;
}

/* ---- tokens */

/* Behind the comment that begins at `at`. */
static char *comment_end(char *at, char *end)
{
    if (end - at < 4 || memcmp(at, "<!--", 4) != 0) {
        char *close = memchr(at, '>', (size_t)(end - at));
        return close ? close + 1 : end;
    }
    at += 4;
    if (at < end && *at == '>') /* an empty one */
        return at + 1;
    if (end - at >= 2 && at[0] == '-' && at[1] == '>')
        return at + 2;
    while ((at = memmem(at, (size_t)(end - at), "--", 2))) {
        if (end - at >= 3 && at[2] == '>')
            return at + 3;
        if (end - at >= 4 && at[2] == '!' && at[3] == '>')
            return at + 4;
        at++;
    }
    return end;
}

enum twin__html_token twin__html_read(struct twin__html_tag *out, char **at, char *end)
{
    char *begin = *at, first = end - begin > 1 ? begin[1] : '\0';
    bool is_end = first == '/';
    if (is_end)
        first = end - begin > 2 ? begin[2] : '\0';
    if (twin__html_is_letter(first)) {
        out->is_end = is_end;
        *at = read_attributes(out, read_name(out, begin + 1 + is_end, end), end);
        return TWIN__HTML_TAG;
    }
    if (first != '!' && first != '?' && !(is_end && first))
        return TWIN__HTML_LITERAL;
    *at = comment_end(begin, end);
    return TWIN__HTML_NOTHING;
}

char *twin__html_raw_end(char *at, char *end, const char *name)
{
    size_t length = strlen(name);
    while ((at = memmem(at, (size_t)(end - at), "</", 2))) {
        char *word = at + 2;
        size_t i = 0;
        while (i < length && word + i < end && twin__lower(word[i]) == name[i])
            i++;
        if (i == length && (word + i == end || twin__html_is_space(word[i]) || word[i] == '/' || word[i] == '>'))
            return at;
        at = word;
    }
    return end;
}

/* ---- the character set */

/* Where `word`, in lower case, is between the two, or NULL. */
static const char *find_word(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (; (size_t)(end - at) >= length; at++)
        if (twin__is_named((twin_text){ at, length }, word))
            return at;
    return NULL;
}

static bool has_no_ascii(twin_text charset)
{
    return charset.length >= 5 && (memcmp(charset.bytes, "utf-1", 5) == 0 || memcmp(charset.bytes, "utf-7", 5) == 0);
}

size_t twin__html_charset(char out[TWIN__HTML_CHARSET_BYTES], twin_text page)
{
    enum { LOOKED_AT = 1024 };
    const char *at = page.bytes, *end = at + (page.length < LOOKED_AT ? page.length : LOOKED_AT);
    while ((at = find_word(at, end, "<meta"))) {
        const char *close = memchr(at, '>', (size_t)(end - at));
        if (!close)
            return 0;
        const char *name = find_word(at, close, "charset");
        at = close;
        if (!name)
            continue;
        name += strlen("charset");
        while (name < close && (twin__html_is_space(*name) || strchr("=\"'", *name)))
            name++;
        size_t length = 0;
        while (name + length < close && length + 1 < TWIN__HTML_CHARSET_BYTES && !twin__html_is_space(name[length]) &&
               !strchr("\"';/", name[length])) {
            out[length] = twin__lower(name[length]);
            length++;
        }
        return has_no_ascii((twin_text){ out, length }) ? 0 : length;
    }
    return 0;
}

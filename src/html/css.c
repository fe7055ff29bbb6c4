/* css.c — declarations of CSS: "name: value; name: value !important".
 *
 * Declarations end at a semicolon that is not in a comment, a string or parentheses. Names and values may have comments
 * between their words and escapes in them, and are cut where they are long: rules that hide text are short. */
#include "html/css.h"

#include <math.h>
#include <string.h>

#include "text/ascii.h"

enum { MAX_DECLARATIONS = 100 };

/* ---- numbers */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The factor that an exponent at *at is, "e-9", and moves *at behind it; 1 if there is none, as in "1em". */
static double factor_at(const char **at)
{
    enum { MOST = 200 }; /* what is more is as good as infinite, or nothing */
    const char *digits = *at;
    digits += *digits == 'e';
    digits += digits > *at && (*digits == '-' || *digits == '+');
    if (digits == *at || !is_digit(*digits))
        return 1;
    bool is_small = digits[-1] == '-';
    int exponent = 0;
    for (*at = digits; is_digit(**at); ++*at)
        exponent = exponent < MOST ? 10 * exponent + (**at - '0') : MOST;
    exponent = exponent < MOST ? exponent : MOST;
    return pow(10, is_small ? -exponent : exponent);
}

double twin__css_number(const char *value, const char **end)
{
    const char *at = value + (*value == '-' || *value == '+'), *digits = at;
    double number = 0, unit = 1;
    for (; is_digit(*at); at++)
        number = 10 * number + (*at - '0');
    if (*at == '.' && is_digit(at[1]))
        for (at++; is_digit(*at); at++)
            number += (unit /= 10) * (*at - '0');
    *end = at > digits ? at : value;
    if (*end == value)
        return 0;
    number *= factor_at(end);
    return *value == '-' ? -number : number;
}

/* ---- words */

/* The character of the escape at `at`, a backslash, which may hide letters of names: "d\\69splay". Moves *at to its last
 * byte. An escaped character that is in no name becomes a '?', so that it is not taken for the end of something. */
static char unescape(size_t *at, twin_text text)
{
    int value = 0;
    size_t digits = 0, i = *at + 1;
    while (i < text.length && digits < 6 && twin__hex_digit(text.bytes[i]) >= 0) {
        value = value * 16 + twin__hex_digit(text.bytes[i++]);
        digits++;
    }
    if (digits == 0 && i < text.length)
        value = (unsigned char)text.bytes[i++];
    bool has_blank = digits > 0 && i < text.length && text.bytes[i] == ' ';
    *at = has_blank ? i : i - 1;
    bool is_letter = (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z');
    return is_letter || (value >= '0' && value <= '9') || value == '-' ? (char)value : '?';
}

/* The last byte of the comment that begins at `at`. */
static const char *comment_end(const char *at, const char *end)
{
    const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
    return close ? close + 1 : end - 1;
}

static bool is_comment(const char *at, const char *end)
{
    return end - at >= 2 && at[0] == '/' && at[1] == '*';
}

/* The text in lower case without comments, with single blanks between words, cut to fit. */
void twin__css_squeeze(char out[TWIN__CSS_VALUE], twin_text text)
{
    const char *end = text.bytes + text.length;
    size_t length = 0;
    bool has_gap = false;
    for (size_t i = 0; i < text.length && length + 2 < TWIN__CSS_VALUE; i++) {
        if (is_comment(text.bytes + i, end)) {
            i = (size_t)(comment_end(text.bytes + i, end) - text.bytes);
            has_gap = length > 0; /* it ends a word */
        } else if ((unsigned char)text.bytes[i] <= ' ') {
            has_gap = length > 0;
        } else {
            if (has_gap)
                out[length++] = ' ';
            has_gap = false;
            out[length++] = twin__lower(text.bytes[i] == '\\' ? unescape(&i, text) : text.bytes[i]);
        }
    }
    out[length] = '\0';
}

/* The last byte of the string whose quote is at `at`: the same quote, or the end of the line. */
static const char *string_end(const char *at, const char *end)
{
    const char quote = *at;
    for (at++; at < end && *at != quote && *at != '\n'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at : end - 1;
}

/* The last byte of what the parenthesis at `at` begins if it is an address without quotes, in which all is itself; NULL: it
 * is none. */
static const char *address_end(const char *at, const char *begin, const char *end)
{
    if (at - begin < 3 || !twin__is_named((twin_text){ at - 3, 3 }, "url"))
        return NULL;
    const char *first = at + 1;
    while (first < end && (unsigned char)*first <= ' ')
        first++;
    if (first < end && (*first == '"' || *first == '\''))
        return NULL;
    const char *close = memchr(at, ')', (size_t)(end - at));
    return close ? close : end - 1;
}

/* The first such character that is not in a comment, a string or parentheses; the end: there is none. */
static const char *find_outside(const char *at, const char *end, char wanted)
{
    const char *begin = at, *address;
    for (size_t depth = 0; at < end && (*at != wanted || depth > 0); at++) {
        if (is_comment(at, end))
            at = comment_end(at, end);
        else if (*at == '"' || *at == '\'')
            at = string_end(at, end);
        else if (*at == '\\')
            at += at + 1 < end;
        else if (*at == '(' && (address = address_end(at, begin, end)))
            at = address;
        else if (*at == '(')
            depth++;
        else if (*at == ')')
            depth -= depth > 0;
    }
    return at < end ? at : end;
}

/* ---- declarations */

/* False: it is none. */
static bool read_declaration(struct twin__declaration *out, const char *at, const char *end)
{
    const char *colon = find_outside(at, end, ':');
    if (colon == end)
        return false;
    const char *mark = find_outside(colon + 1, end, '!');
    twin__css_squeeze(out->name, (twin_text){ at, (size_t)(colon - at) });
    twin__css_squeeze(out->value, (twin_text){ colon + 1, (size_t)(mark - colon - 1) });
    out->is_important = mark < end;
    if (!out->is_important)
        return true;
    char word[TWIN__CSS_VALUE];
    twin__css_squeeze(word, (twin_text){ mark + 1, (size_t)(end - mark - 1) });
    return strcmp(word, "important") == 0;
}

void twin__css_visit(twin_text declarations, twin__each_declaration *visit, void *context)
{
    const char *at = declarations.bytes, *end = at + declarations.length;
    for (int n = 0; n < MAX_DECLARATIONS && at < end; n++) {
        struct twin__declaration declaration;
        const char *stop = find_outside(at, end, ';');
        if (read_declaration(&declaration, at, stop) && !visit(context, &declaration))
            return;
        at = stop + 1;
    }
}

bool twin__css_is_whole(twin_text declaration)
{
    const char *last = declaration.bytes + declaration.length - 1;
    return find_outside(declaration.bytes, last + 1, ';') == last;
}

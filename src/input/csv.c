/* csv.c — records of a table in text. */
#include "input/csv.h"

#include <string.h>

/* In columns without quotes the next newline is looked for once, and separators up to it, so that long texts are passed
 * at the speed of memchr(). */
const char *twin__csv_find_end(enum csv_state *state, char separator, const char *p, const char *end)
{
    const char *newline = NULL, *found; /* newline: the next one, or `end`; NULL: not looked for */
    while (p < end)
        switch (*state) {
        case CSV_START:
            *state = *p == '"' ? CSV_QUOTED : CSV_PLAIN;
            p += *p == '"';
            break;
        case CSV_PLAIN:
            if (!newline || newline < p)
                newline = memchr(p, '\n', (size_t)(end - p));
            newline = newline ? newline : end;
            found = memchr(p, separator, (size_t)(newline - p));
            if (!found && newline == end)
                return NULL;
            *state = CSV_START;
            if (!found)
                return newline;
            p = found + 1;
            break;
        case CSV_QUOTED:
            p = memchr(p, '"', (size_t)(end - p));
            if (!p)
                return NULL;
            *state = CSV_QUOTE;
            p++;
            break;
        case CSV_QUOTE: /* the first of two, or the one that ends the column */
            *state = *p == '"' ? CSV_QUOTED : CSV_PLAIN;
            p += *p == '"';
            break;
        }
    return NULL;
}

static struct csv_column next_quoted(const char **p, const char *end, char separator)
{
    struct csv_column column = { .text = { *p + 1, 0 } };
    const char *at = *p + 1, *quote;
    while ((quote = memchr(at, '"', (size_t)(end - at))) != NULL && quote + 1 < end && quote[1] == '"') {
        column.has_quotes = true;
        at = quote + 2;
    }
    if (!quote) {
        column.wrong = "a quote that is not closed";
        *p = NULL;
        return column;
    }
    column.text.length = (size_t)(quote - column.text.bytes);
    if (quote + 1 < end && quote[1] != separator)
        column.wrong = "something follows a closing quote";
    const char *next = memchr(quote, separator, (size_t)(end - quote));
    *p = next ? next + 1 : NULL;
    return column;
}

struct csv_column twin__csv_next(const char **p, const char *end, char separator)
{
    if (*p < end && **p == '"')
        return next_quoted(p, end, separator);
    const char *begin = *p, *next = begin < end ? memchr(begin, separator, (size_t)(end - begin)) : NULL;
    *p = next ? next + 1 : NULL;
    return (struct csv_column){ .text = { begin, (size_t)((next ? next : end) - begin) } };
}

twin_status twin__csv_append(twin_buffer *out, const struct csv_column *column)
{
    const char *at = column->text.bytes, *end = at + column->text.length;
    twin_status status = TWIN_OK;
    while (column->has_quotes && status == TWIN_OK) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            break;
        status = twin_buffer_append(out, at, (size_t)(quote + 1 - at));
        at = quote + 2; /* the second of the two is left out */
    }
    return status == TWIN_OK ? twin_buffer_append(out, at, (size_t)(end - at)) : status;
}

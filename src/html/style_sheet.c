/* style_sheet.c — what the style sheets of a page say about classes, ids and the body.
 *
 * A sheet is a sequence of selectors and declarations in braces. Only what mail hides text with is understood: selectors of
 * one class or id. Of the declarations only those are kept that mail hides text with. Rules apply in their order; which of two is
 * more specific is not considered. */
#include "html/style_sheet.h"

#include <string.h>

#include "html/html_tokens.h"
#include "text/ascii.h"

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* ---- rules */

/* The selector in lower case from its '.' or '#' on, or "body"; false if it is another. */
static bool simple_selector(char out[TWIN__SELECTOR_BYTES], twin_text text)
{
    text = twin__trim(text);
    size_t at = 0, length = 0;
    if (twin__is_named(text, "body")) {
        memcpy(out, "body", sizeof "body");
        return true;
    }
    while (at < text.length && is_name_byte(twin__lower(text.bytes[at])))
        at++;
    if (at == text.length || (text.bytes[at] != '.' && text.bytes[at] != '#') ||
        text.length - at >= TWIN__SELECTOR_BYTES)
        return false;
    out[length++] = text.bytes[at++];
    for (; at < text.length; at++) {
        out[length] = twin__lower(text.bytes[at]);
        if (!is_name_byte(out[length++]))
            return false;
    }
    out[length] = '\0';
    return length > 1;
}

static void add_rules(struct twin__style_sheet *sheet, twin_text selectors, twin_text declarations)
{
    char kept[TWIN__DECLARATION_BYTES];
    twin__style_keep(kept, sizeof kept, declarations);
    const char *at = selectors.bytes, *end = at + selectors.length;
    while (kept[0] && at < end && sheet->count < TWIN__STYLE_RULES) {
        const char *stop = memchr(at, ',', (size_t)(end - at));
        if (!stop)
            stop = end;
        struct twin__style_rule *rule = &sheet->rules[sheet->count];
        if (simple_selector(rule->selector, (twin_text){ at, (size_t)(stop - at) })) {
            memcpy(rule->declarations, kept, sizeof kept);
            sheet->count++;
        }
        at = stop + 1;
    }
}

/* ---- the sheet */

/* The end of the block whose brace is at `at`, with the blocks in it. */
static const char *block_end(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end; at++) {
        depth += *at == '{';
        if (*at == '}' && --depth == 0)
            return at + 1;
    }
    return end;
}

/* The start of the next rule: after blanks, comments and the marks that hid sheets from old programs. */
static const char *next_rule(const char *at, const char *end)
{
    while (at < end) {
        size_t left = (size_t)(end - at);
        if (twin__html_is_space(*at) || *at == '}' || *at == ';') {
            at++;
        } else if (left >= 4 && memcmp(at, "<!--", 4) == 0) {
            at += 4;
        } else if (left >= 3 && memcmp(at, "-->", 3) == 0) {
            at += 3;
        } else if (left >= 2 && memcmp(at, "/*", 2) == 0) {
            const char *close = memmem(at + 2, left - 2, "*/", 2);
            at = close ? close + 2 : end;
        } else {
            break;
        }
    }
    return at;
}

void twin__style_sheet_add(struct twin__style_sheet *sheet, twin_text css)
{
    const char *at = css.bytes, *end = at + css.length, *open = at;
    while ((at = next_rule(at, end)) < end && sheet->count < TWIN__STYLE_RULES) {
        if (open <= at) { /* else it is still the next one: a sheet may have thousands of "@;" before it */
            open = memchr(at, '{', (size_t)(end - at));
            open = open ? open : end;
        }
        const char *semicolon = *at == '@' ? memchr(at, ';', (size_t)(open - at)) : NULL;
        if (semicolon) { /* @import and the like */
            at = semicolon + 1;
            continue;
        }
        if (open == end)
            return;
        const char *next = block_end(open, end);
        if (*at != '@') {
            const char *close = memchr(open, '}', (size_t)(next - open));
            twin_text selectors = { at, (size_t)(open - at) };
            add_rules(sheet, selectors, (twin_text){ open + 1, (size_t)((close ? close : next) - open - 1) });
        }
        at = next;
    }
}

static bool has_class(const char *classes, const char *wanted)
{
    enum { MOST = 200 }; /* bytes that are looked at */
    const char *at = classes, *end = classes + strnlen(classes, MOST);
    while (at < end) {
        while (at < end && twin__html_is_space(*at))
            at++;
        const char *begin = at;
        while (at < end && !twin__html_is_space(*at))
            at++;
        if (twin__is_named((twin_text){ begin, (size_t)(at - begin) }, wanted))
            return true;
    }
    return false;
}

void twin__style_sheet_apply(struct twin__style *style, const struct twin__style_sheet *sheet, const char *name,
                             const char *classes, const char *id)
{
    bool is_body = strcmp(name, "body") == 0;
    if (!classes && !id && !is_body)
        return;
    for (size_t i = 0; i < sheet->count; i++) {
        const struct twin__style_rule *rule = &sheet->rules[i];
        const char *wanted = rule->selector + 1;
        bool applies = rule->selector[0] == '.'   ? classes && has_class(classes, wanted)
                       : rule->selector[0] == '#' ? id && twin__is_named((twin_text){ id, strlen(id) }, wanted)
                                                  : is_body;
        if (applies)
            twin__style_declare(style, (twin_text){ rule->declarations, strlen(rule->declarations) });
    }
}

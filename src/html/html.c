/* html.c — the text that a person sees of an HTML page.
 *
 * The page is read once, from tag to tag (html_tokens.c); no tree is built. A stack has the elements that are open and what
 * they say about their text: hidden or not, its colour and the colour behind it. Where an element begins, open ones end
 * that cannot contain it (html_elements.c); an end tag ends the innermost open element of its name and those inside it.
 * Elements of a line add nothing around their text, so that a word divided by tags is one word; elements of a block begin
 * a line.
 *
 * An end tag is looked for among all open elements, so these are bounded: where MAX_DEPTH are open all of them end. */
#include <stdlib.h>
#include <string.h>

#include "html/html.h"
#include "html/html_elements.h"
#include "html/style_sheet.h"
#include "text/ascii.h"

enum {
    MAX_DEPTH = 200,
    MAX_SHEET = 32 << 10, /* bytes of a style sheet */
};

/* An open element. */
struct level {
    uint64_t hash; /* of its name */
    const struct twin__html_element *element;
    struct twin__style style;
};

struct twin__html {
    struct level levels[MAX_DEPTH + 1]; /* the first is the page */
    size_t depth;                       /* of open elements */
    struct twin__style_sheet sheet;
    size_t begin;   /* of what this page adds to the text */
    bool needs_gap; /* white space since the last visible character */
    bool needs_line;
    bool is_title_endless; /* there is no end tag of a title any more */
    size_t opened,
        divided; /* the bytes of text at the last start tag; at the last element without text, or comment */
    struct twin__html_sink *sink;
    twin_status status;
};

static void keep(struct twin__html *html, twin_status status)
{
    if (html->status == TWIN_OK)
        html->status = status;
}

static struct twin__style *top(struct twin__html *html)
{
    return &html->levels[html->depth].style;
}

static void note_gap(struct twin__html *html, enum twin__html_kind kind)
{
    html->needs_line |= kind == TWIN__HTML_BLOCK;
    html->needs_gap |= kind == TWIN__HTML_CELL;
}

/* ---- text */

static void append(struct twin__html *html, twin_buffer *to, const char *bytes, size_t length)
{
    keep(html, html->sink->append(html->sink->context, to, (twin_text){ bytes, length }));
}

/* Other characters below the blank are not shown, and divide no words. */
static bool is_control(char c)
{
    return (unsigned char)c < ' ';
}

/* Nobody writes an element without text, or a comment, into a word, but to divide it for those who look at bytes. */
static void note_division(struct twin__html *html, const twin_buffer *to, char next)
{
    if (to->length == html->divided && to->length > html->begin && twin__html_is_letter(to->bytes[to->length - 1]) &&
        twin__html_is_letter(next))
        html->sink->is_divided = true;
}

/* Appends words with single blanks between them. */
static void append_words(struct twin__html *html, twin_buffer *to, const char *at, const char *end)
{
    while (at < end && html->status == TWIN_OK) {
        if (twin__html_is_space(*at) || is_control(*at)) {
            html->needs_gap |= twin__html_is_space(*at++);
            continue;
        }
        const char *word = at;
        while (at < end && *at != ' ' && !is_control(*at))
            at++;
        if (!html->needs_line && !html->needs_gap)
            note_division(html, to, *word);
        else if (to->length > html->begin)
            append(html, to, html->needs_line ? "\n" : " ", 1);
        html->needs_line = html->needs_gap = false;
        append(html, to, word, (size_t)(at - word));
    }
}

/* Whether there is more than white space and U+00A0, which pages are full of. */
static bool has_words(twin_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        bool is_fixed_space = text.bytes[i] == '\xc2' && i + 1 < text.length && text.bytes[i + 1] == '\xa0';
        if (!twin__html_is_space(text.bytes[i]) && !is_fixed_space)
            return true;
        i += is_fixed_space;
    }
    return false;
}

static void show(struct twin__html *html, const char *at, const char *end)
{
    append_words(html, html->sink->text, at, end);
}

static void hide(struct twin__html *html, const char *at, const char *end)
{
    twin_text trimmed = twin__trim((twin_text){ at, (size_t)(end - at) });
    if (!has_words(trimmed))
        return;
    html->sink->is_hiding = true;
    if (!html->sink->hidden)
        return;
    if (html->sink->hidden->length > 0)
        append(html, html->sink->hidden, " ", 1);
    append(html, html->sink->hidden, trimmed.bytes, trimmed.length);
}

/* Text without references. */
static void add_plain(struct twin__html *html, const char *at, const char *end)
{
    const struct twin__style *style = top(html);
    if (style->is_silent || at == end)
        return;
    if (twin__style_hides(style))
        hide(html, at, end);
    else
        show(html, at, end);
}

/* Text as it is in the page. */
static void add_text(struct twin__html *html, const char *at, const char *end)
{
    while (at < end && html->status == TWIN_OK) {
        const char *plain = at, *reference = memchr(at, '&', (size_t)(end - at));
        char character[4];
        size_t length = 0, used = reference ? twin__html_reference(character, &length, reference, end, false) : 0;
        at = reference ? reference + (used ? 0 : 1) : end;
        add_plain(html, plain, at);
        add_plain(html, character, character + length);
        at += used;
    }
}

/* ---- elements */

static void add_links(struct twin__html *html, const struct twin__html_tag *tag)
{
    static const enum twin__html_attribute urls[] = { TWIN__HTML_ACTION, TWIN__HTML_BACKGROUND, TWIN__HTML_HREF,
                                                      TWIN__HTML_SRC };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        const char *value = tag->values[urls[i]];
        if (value && html->sink->url)
            keep(html, html->sink->url(html->sink->context, twin__trim((twin_text){ value, strlen(value) })));
    }
}

static void apply_attributes(struct twin__style *style, const struct twin__html *html,
                             const struct twin__html_tag *tag)
{
    static const enum twin__html_attribute looks[] = { TWIN__HTML_BACKGROUND, TWIN__HTML_BGCOLOR, TWIN__HTML_COLOR,
                                                       TWIN__HTML_HIDDEN, TWIN__HTML_TEXT };
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        const char *value = tag->values[looks[i]];
        if (value)
            twin__style_attribute(style, twin__html_attribute_name(looks[i]), (twin_text){ value, strlen(value) });
    }
    twin__style_sheet_apply(style, &html->sheet, tag->name, tag->values[TWIN__HTML_CLASS],
                            tag->values[TWIN__HTML_ID]);
    const char *declarations = tag->values[TWIN__HTML_STYLE];
    if (declarations)
        twin__style_declare(style, (twin_text){ declarations, strlen(declarations) });
}

static void show_picture(struct twin__html *html, const char *text)
{
    enum { MOST = 1000 };
    twin_text shown = twin__cut((twin_text){ text, strlen(text) }, MOST);
    html->needs_gap = true;
    add_plain(html, shown.bytes, shown.bytes + shown.length);
    html->needs_gap = true;
}

/* Ends the innermost element. */
static void end_one(struct twin__html *html)
{
    const struct twin__html_element *element = html->levels[html->depth--].element;
    note_gap(html, element->kind);
    if (!element->is_void && html->sink->text->length == html->opened)
        html->divided = html->opened;
}

static void start_element(struct twin__html *html, const struct twin__html_tag *tag,
                          const struct twin__html_element *element)
{
    while (html->depth > 0 && html->levels[html->depth].element->family & element->ends)
        end_one(html);
    struct twin__style style = twin__style_inside(top(html));
    style.is_silent |= element->is_silent;
    style.is_inside_hidden |= element->is_absent;
    add_links(html, tag);
    if (html->sink->element)
        keep(html, html->sink->element(html->sink->context, tag->hash));
    apply_attributes(&style, html, tag);
    note_gap(html, element->kind);
    html->opened = html->sink->text->length;
    html->levels[++html->depth] = (struct level){ tag->hash, element, style };
    const char *picture = tag->values[TWIN__HTML_ALT];
    if (picture && *picture)
        show_picture(html, picture);
    if (element->is_void)
        end_one(html);
    if (html->depth == MAX_DEPTH)
        html->depth = 0;
}

/* An end tag that nothing matches, or that would end elements of a higher rank, does nothing. */
static void end_element(struct twin__html *html, const struct twin__html_tag *tag,
                        const struct twin__html_element *element)
{
    size_t depth = html->depth;
    while (depth > 0 && html->levels[depth].hash != tag->hash) {
        if (html->levels[depth].element->rank > element->rank)
            return;
        depth--;
    }
    for (size_t ends = depth ? html->depth - depth + 1 : 0; ends > 0; ends--)
        end_one(html);
}

/* ---- the page */

/* Reads the content of an element that has no tags in it: a script, a style sheet, a title. */
static char *read_raw(struct twin__html *html, char *at, char *end, const struct twin__html_element *element)
{
    bool is_title = strcmp(element->name, "title") == 0, has_end = strcmp(element->name, "plaintext") != 0;
    if (is_title && html->is_title_endless) /* it is not looked for again: there may be a million titles */
        return at;
    char *close = has_end ? twin__html_raw_end(at, end, element->name) : end;
    size_t length = (size_t)(close - at);
    if (is_title && close == end) { /* browsers show nothing of such a page; others do */
        html->is_title_endless = true;
        return at;
    }
    if (strcmp(element->name, "style") == 0 && close < end)
        twin__style_sheet_add(&html->sheet, (twin_text){ at, length < MAX_SHEET ? length : MAX_SHEET });
    if (element->is_literal && !element->is_silent)
        add_plain(html, at, close);
    else if (!element->is_silent)
        add_text(html, at, close);
    return close;
}

static char *read_tag(struct twin__html *html, char *at, char *end)
{
    struct twin__html_tag tag;
    switch (twin__html_read(&tag, &at, end)) {
    case TWIN__HTML_LITERAL: add_plain(html, at, at + 1); return at + 1;
    case TWIN__HTML_NOTHING: html->divided = html->sink->text->length; return at;
    case TWIN__HTML_TAG: break;
    }
    const struct twin__html_element *element = twin__html_element_of(tag.hash);
    if (tag.is_end)
        end_element(html, &tag, element);
    else
        start_element(html, &tag, element);
    return element->is_raw && !tag.is_end ? read_raw(html, at, end, element) : at;
}

twin_status twin__html_create(struct twin__html **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? TWIN_OK : TWIN_ENOMEM;
}

void twin__html_free(struct twin__html *html)
{
    free(html);
}

twin_status twin__html_show(struct twin__html *html, struct twin__html_sink *sink, twin_buffer *page)
{
    html->sink = sink;
    html->sheet.count = 0;
    html->depth = 0;
    html->levels[0].style = twin__style_start();
    html->begin = sink->text->length;
    html->needs_gap = html->needs_line = html->is_title_endless = false;
    html->opened = html->divided = SIZE_MAX;
    html->status = twin_buffer_reserve(page, 1); /* for the end of the last value */
    char *at = page->bytes, *end = at + page->length;
    while (html->status == TWIN_OK && at < end) {
        char *tag = memchr(at, '<', (size_t)(end - at));
        add_text(html, at, tag ? tag : end);
        at = tag ? read_tag(html, tag, end) : end;
    }
    return html->status;
}

/* html.c — the text that a person sees of an HTML page. The only user of libxml2.
 *
 * libxml2's HTML parser calls us for each start tag, end tag and stretch of text; no tree is built. A stack has the
 * elements that are open and what they say about their text: hidden or not, its colour and the colour behind it. Elements
 * of a line add nothing around their text, so that a word divided by tags is one word; elements of a block begin a
 * line. */
#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <stdlib.h>
#include <string.h>

#include "mail/fields.h"
#include "mail/message_private.h"
#include "mail/style.h"

enum { MAX_DEPTH = 256 };

struct twin__html {
    htmlSAXHandler sax;
    struct twin__style levels[MAX_DEPTH];
    size_t depth;   /* of open elements; those past MAX_DEPTH have the style of the last */
    size_t begin;   /* of what this page adds to the text */
    bool needs_gap; /* white space since the last visible character */
    bool needs_line;
    twin_message_reader *reader;
    twin_status status;
};

enum element { LINE, BLOCK, CELL, SILENT };

struct element_kind {
    const char *name;
    enum element kind;
};

/* Elements that are not simply part of a line, by name. */
static const struct element_kind elements[] = {
    { "address", BLOCK }, { "article", BLOCK }, { "aside", BLOCK },   { "blockquote", BLOCK }, { "body", BLOCK },
    { "br", BLOCK },      { "caption", BLOCK }, { "center", BLOCK },  { "dd", BLOCK },         { "dir", BLOCK },
    { "div", BLOCK },     { "dl", BLOCK },      { "dt", BLOCK },      { "fieldset", BLOCK },   { "footer", BLOCK },
    { "form", BLOCK },    { "h1", BLOCK },      { "h2", BLOCK },      { "h3", BLOCK },         { "h4", BLOCK },
    { "h5", BLOCK },      { "h6", BLOCK },      { "header", BLOCK },  { "hr", BLOCK },         { "li", BLOCK },
    { "main", BLOCK },    { "menu", BLOCK },    { "nav", BLOCK },     { "ol", BLOCK },         { "option", BLOCK },
    { "p", BLOCK },       { "pre", BLOCK },     { "script", SILENT }, { "section", BLOCK },    { "style", SILENT },
    { "table", BLOCK },   { "td", CELL },       { "th", CELL },       { "title", SILENT },     { "tr", BLOCK },
    { "ul", BLOCK },
};

static int compare_names(const void *name, const void *element)
{
    return strcmp(name, ((const struct element_kind *)element)->name);
}

static enum element kind_of(const char *name)
{
    const struct element_kind *found =
        bsearch(name, elements, sizeof elements / sizeof elements[0], sizeof elements[0], compare_names);
    return found ? found->kind : LINE;
}

static void keep(struct twin__html *html, twin_status status)
{
    if (html->status == TWIN_OK)
        html->status = status;
}

static struct twin__style *top(struct twin__html *html)
{
    return &html->levels[(html->depth < MAX_DEPTH ? html->depth : MAX_DEPTH) - 1];
}

static void note_gap(struct twin__html *html, enum element kind)
{
    html->needs_line |= kind == BLOCK;
    html->needs_gap |= kind == CELL;
}

/* ---- text */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void append(struct twin__html *html, twin_buffer *to, const char *bytes, size_t length)
{
    keep(html, twin__message_add_text(html->reader, to, (twin_text){ bytes, length }));
}

/* Appends words with single blanks between them. */
static void append_words(struct twin__html *html, twin_buffer *to, const char *at, const char *end)
{
    while (at < end && html->status == TWIN_OK) {
        if (is_space(*at)) {
            html->needs_gap = true;
            at++;
            continue;
        }
        const char *word = at;
        while (at < end && !is_space(*at))
            at++;
        if ((html->needs_line || html->needs_gap) && to->length > html->begin)
            append(html, to, html->needs_line ? "\n" : " ", 1);
        html->needs_line = html->needs_gap = false;
        append(html, to, word, (size_t)(at - word));
    }
}

static void on_text(void *context, const xmlChar *text, int length)
{
    struct twin__html *html = context;
    struct twin__style *style = top(html);
    if (style->is_silent || length <= 0)
        return;
    const char *at = (const char *)text, *end = at + length;
    if (!twin__style_hides(style)) {
        append_words(html, &html->reader->text, at, end);
        return;
    }
    twin_text trimmed = twin__trim((twin_text){ at, (size_t)length });
    if (trimmed.length == 0)
        return;
    html->reader->message.flags |= TWIN_MESSAGE_HIDDEN;
    if (html->reader->hidden.length > 0)
        append(html, &html->reader->hidden, " ", 1);
    append(html, &html->reader->hidden, trimmed.bytes, trimmed.length);
}

/* ---- elements */

static void on_attribute(struct twin__html *html, struct twin__style *style, const char *name, const char *value)
{
    twin_text text = { value, strlen(value) };
    if (strcmp(name, "href") == 0 || strcmp(name, "src") == 0 || strcmp(name, "action") == 0 ||
        strcmp(name, "background") == 0)
        keep(html, twin__message_add_url(html->reader, twin__trim(text)));
    else
        twin__style_attribute(style, name, text);
}

static void on_start(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct twin__html *html = context;
    enum element kind = kind_of((const char *)name);
    struct twin__style style = *top(html);
    style.is_silent |= kind == SILENT;
    const char *shown = NULL;
    for (; attributes && attributes[0]; attributes += 2) {
        const char *attribute = (const char *)attributes[0];
        const char *value = attributes[1] ? (const char *)attributes[1] : "";
        on_attribute(html, &style, attribute, value);
        if (strcmp(attribute, "alt") == 0)
            shown = value;
    }
    note_gap(html, kind);
    html->depth++;
    if (html->depth <= MAX_DEPTH)
        *top(html) = style;
    if (shown && *shown) {
        html->needs_gap = true;
        on_text(html, (const xmlChar *)shown, (int)strnlen(shown, 1000));
        html->needs_gap = true;
    }
}

static void on_end(void *context, const xmlChar *name)
{
    struct twin__html *html = context;
    note_gap(html, kind_of((const char *)name));
    if (html->depth > 1)
        html->depth--;
}

static void on_error(void *context, const char *message, ...)
{
    (void)context;
    (void)message;
}

/* ---- the parser */

twin_status twin__html_create(struct twin__html **out)
{
    struct twin__html *html = *out = calloc(1, sizeof *html);
    if (!html)
        return TWIN_ENOMEM;
    html->sax = (htmlSAXHandler){
        .startElement = on_start,
        .endElement = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .warning = on_error,
        .error = on_error,
    };
    return TWIN_OK;
}

void twin__html_free(struct twin__html *html)
{
    free(html);
}

twin_status twin__message_add_html(twin_message_reader *reader, twin_text text)
{
    struct twin__html *html = reader->html;
    reader->message.flags |= TWIN_MESSAGE_HTML;
    if (text.length == 0)
        return TWIN_OK;
    htmlParserCtxtPtr parser = htmlCreateMemoryParserCtxt(text.bytes, (int)text.length);
    if (!parser)
        return TWIN_ENOMEM;
    htmlCtxtUseOptions(parser, HTML_PARSE_IGNORE_ENC | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    xmlSwitchEncoding(parser, XML_CHAR_ENCODING_UTF8);
    html->reader = reader;
    html->status = TWIN_OK;
    html->depth = 1;
    html->begin = reader->text.length;
    html->levels[0] = twin__style_start();
    html->needs_gap = html->needs_line = false;
    htmlSAXHandler *own = parser->sax;
    parser->sax = &html->sax;
    parser->userData = html;
    htmlParseDocument(parser);
    parser->sax = own;
    htmlFreeParserCtxt(parser);
    return html->status;
}

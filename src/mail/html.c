/* html.c — the text that a person sees of an HTML page. The only user of libxml2.
 *
 * libxml2's HTML parser calls us for each start tag, end tag and stretch of text; no tree is built. A stack has the
 * elements that are open and what they say about their text: hidden or not, its colour and the colour behind it. Elements
 * of a line add nothing around their text, so that a word divided by tags is one word; elements of a block begin a
 * line.
 *
 * Two things take libxml2 quadratic time: end tags that match none of many open elements, and tags with many attributes.
 * So the parser is stopped when MAX_DEPTH elements are open, and a new one begins where it stopped; and attributes past
 * MAX_ATTRIBUTES of a tag are blanked out (html_guard.c). */
#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mail/fields.h"
#include "mail/html_guard.h"
#include "mail/message_private.h"
#include "mail/style_sheet.h"

enum {
    MAX_DEPTH = 200,
    MAX_SHEET = 32 << 10, /* bytes of a style sheet */
    MAX_NAMES = 5000,     /* that the parser keeps from page to page */
};

struct twin__html {
    htmlSAXHandler sax;
    htmlParserCtxtPtr parser; /* kept for the names it knows; NULL: to be made */
    struct twin__style levels[MAX_DEPTH + 1];
    struct twin__style_sheet sheet;
    twin_buffer css; /* of the style sheet that is being read */
    bool is_in_sheet;
    size_t depth;   /* of open elements */
    size_t parsers; /* that were begun for this page */
    size_t stopped; /* the byte at which the parser was stopped; SIZE_MAX: it was not */
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
    return &html->levels[html->depth];
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

/* Whether there is more than white space and U+00A0, which pages are full of. */
static bool has_words(twin_text text)
{
    for (size_t i = 0; i < text.length; i++) {
        bool is_fixed_space = text.bytes[i] == '\xc2' && i + 1 < text.length && text.bytes[i + 1] == '\xa0';
        if (!is_space(text.bytes[i]) && !is_fixed_space)
            return true;
        i += is_fixed_space;
    }
    return false;
}

static void on_text(void *context, const xmlChar *text, int length)
{
    struct twin__html *html = context;
    struct twin__style *style = top(html);
    if (html->is_in_sheet && length > 0 && html->css.length + (size_t)length <= MAX_SHEET)
        keep(html, twin_buffer_append(&html->css, text, (size_t)length));
    if (style->is_silent || length <= 0)
        return;
    const char *at = (const char *)text, *end = at + length;
    if (!twin__style_hides(style)) {
        append_words(html, &html->reader->text, at, end);
        return;
    }
    twin_text trimmed = twin__trim((twin_text){ at, (size_t)length });
    if (!has_words(trimmed))
        return;
    html->reader->message.flags |= TWIN_MESSAGE_HIDDEN;
    if (html->reader->hidden.length > 0)
        append(html, &html->reader->hidden, " ", 1);
    append(html, &html->reader->hidden, trimmed.bytes, trimmed.length);
}

/* ---- elements */

static bool is_url(const char *attribute)
{
    switch (attribute[0]) {
    case 'h': return strcmp(attribute, "href") == 0;
    case 's': return strcmp(attribute, "src") == 0;
    case 'a': return strcmp(attribute, "action") == 0;
    case 'b': return strcmp(attribute, "background") == 0;
    default: return false;
    }
}

static void show_picture(struct twin__html *html, const char *text)
{
    enum { MOST = 1000 };
    html->needs_gap = true;
    twin_text shown = twin__cut((twin_text){ text, strlen(text) }, MOST);
    on_text(html, (const xmlChar *)shown.bytes, (int)shown.length);
    html->needs_gap = true;
}

/* The parser is at the end of a start tag: what follows is for the next one. */
static void stop(struct twin__html *html)
{
    long at = xmlByteConsumed(html->parser);
    html->stopped = at < 0 ? 0 : (size_t)at;
    xmlStopParser(html->parser);
}

static void on_start(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct twin__html *html = context;
    if (html->stopped != SIZE_MAX)
        return;
    enum element kind = kind_of((const char *)name);
    struct twin__style style = twin__style_inside(top(html));
    style.is_silent |= kind == SILENT;
    html->is_in_sheet |= kind == SILENT && strcmp((const char *)name, "style") == 0;
    const char *shown = NULL, *declarations = NULL, *classes = NULL, *id = NULL;
    for (; attributes && attributes[0]; attributes += 2) {
        const char *attribute = (const char *)attributes[0];
        const char *value = attributes[1] ? (const char *)attributes[1] : "";
        twin_text text = { value, strlen(value) };
        if (is_url(attribute))
            keep(html, twin__message_add_url(html->reader, twin__trim(text)));
        if (strcmp(attribute, "alt") == 0)
            shown = value;
        else if (strcmp(attribute, "style") == 0)
            declarations = value;
        else if (strcmp(attribute, "class") == 0)
            classes = value;
        else if (strcmp(attribute, "id") == 0)
            id = value;
        else
            twin__style_attribute(&style, attribute, text);
    }
    twin__style_sheet_apply(&style, &html->sheet, (const char *)name, classes, id);
    if (declarations)
        twin__style_declare(&style, (twin_text){ declarations, strlen(declarations) });
    note_gap(html, kind);
    html->depth++;
    *top(html) = style;
    if (shown && *shown)
        show_picture(html, shown);
    if (html->depth == MAX_DEPTH)
        stop(html);
}

static void on_end(void *context, const xmlChar *name)
{
    struct twin__html *html = context;
    note_gap(html, kind_of((const char *)name));
    if (html->is_in_sheet && html->css.length > 0)
        twin__style_sheet_add(&html->sheet, (twin_text){ html->css.bytes, html->css.length });
    html->css.length = 0;
    html->is_in_sheet = false;
    if (html->depth > 0)
        html->depth--;
}

static void on_error(void *context, const char *message, ...)
{
    (void)context;
    (void)message;
}

/* ---- the parser */

/* libxml2's tables are filled by the first parser, which must not be two at once. */
static void start_libxml(void)
{
    xmlInitParser();
}

twin_status twin__html_create(struct twin__html **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_libxml);
    struct twin__html *html = *out = calloc(1, sizeof *html);
    if (!html)
        return TWIN_ENOMEM;
    html->sax = (htmlSAXHandler){
        .startElement = on_start,
        .endElement = on_end,
        .characters = on_text,
        .ignorableWhitespace = on_text,
        .cdataBlock = on_text,
        .warning = on_error,
        .error = on_error,
    };
    return TWIN_OK;
}

size_t twin__html_parsers(const struct twin__html *html)
{
    return html->parsers;
}

static void free_parser(struct twin__html *html)
{
    if (html->parser)
        htmlFreeParserCtxt(html->parser);
    html->parser = NULL;
}

void twin__html_free(struct twin__html *html)
{
    if (!html)
        return;
    free_parser(html);
    twin_buffer_clear(&html->css);
    free(html);
}

/* Makes the parser ready for the text. A parser keeps the names of elements and attributes, so that it need not learn them
 * for each page; one that a page filled with names is made anew. */
static twin_status open_parser(struct twin__html *html, twin_text text)
{
    if (html->parser && xmlDictSize(html->parser->dict) > MAX_NAMES)
        free_parser(html);
    if (!html->parser)
        html->parser = htmlNewParserCtxt();
    else
        htmlCtxtReset(html->parser);
    if (!html->parser)
        return TWIN_ENOMEM;
    xmlParserInputBufferPtr bytes =
        xmlParserInputBufferCreateMem(text.bytes, (int)text.length, XML_CHAR_ENCODING_NONE);
    xmlParserInputPtr input = bytes ? xmlNewIOInputStream(html->parser, bytes, XML_CHAR_ENCODING_NONE) : NULL;
    if (!input) {
        xmlFreeParserInputBuffer(bytes);
        return TWIN_ENOMEM;
    }
    inputPush(html->parser, input);
    htmlCtxtUseOptions(html->parser,
                       HTML_PARSE_IGNORE_ENC | HTML_PARSE_NONET | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    xmlSwitchEncoding(html->parser, XML_CHAR_ENCODING_UTF8);
    *html->parser->sax = html->sax;
    html->parser->userData = html;
    return TWIN_OK;
}

/* Parses until the end, or until too many elements are open. */
static twin_status parse(struct twin__html *html, twin_text text)
{
    html->parsers++;
    html->depth = 0;
    html->stopped = SIZE_MAX;
    html->levels[0] = twin__style_start();
    twin_status status = open_parser(html, text);
    if (status != TWIN_OK)
        return status;
    htmlParseDocument(html->parser);
    if (html->parser->errNo == XML_ERR_NO_MEMORY)
        keep(html, TWIN_ENOMEM);
    return html->status;
}

twin_status twin__message_add_html(twin_message_reader *reader, twin_buffer *page)
{
    struct twin__html *html = reader->html;
    twin__html_guard(page->bytes, page->length);
    twin_text text = { page->bytes, page->length };
    html->reader = reader;
    html->status = TWIN_OK;
    html->parsers = 0;
    html->sheet.count = 0;
    html->css.length = 0;
    html->is_in_sheet = false;
    html->begin = reader->text.length;
    html->needs_gap = html->needs_line = false;
    while (text.length > 0) {
        twin_status status = parse(html, text);
        if (status != TWIN_OK || html->stopped >= text.length)
            return status;
        size_t done = html->stopped + 1; /* with the '>' of the tag */
        text = (twin_text){ text.bytes + done, text.length - done };
    }
    return TWIN_OK;
}

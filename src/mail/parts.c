/* parts.c — the parts of a message.
 *
 * Parts are found by their boundary lines, from the first byte to the last, without recursion: a stack holds the boundaries
 * of the open multiparts. A line that is a boundary of the stack closes what is open above it. Depth and number of parts
 * are limited, so that the time is linear in the size of the message. What is in a part's headers, and what encodings
 * and character sets mean, is GMime's business (mime.c). */
#include <string.h>

#include "base/array.h"
#include "html/html.h"
#include "html/html_tokens.h"
#include "mail/digest.h"
#include "mail/fields.h"
#include "mail/message_private.h"
#include "mail/mime.h"

enum {
    MAX_DEPTH = 32,         /* of multiparts; deeper ones are read as text */
    MAX_FIELDS = 20,        /* Content headers of a part that are looked at */
    MAX_FIELD_BYTES = 4096, /* of a Content header */
    MAX_BOUNDARY = 256,     /* bytes; RFC 2046 allows 70 */
    MAX_ELEMENTS = 4096,    /* of HTML that are told apart */
};

struct level {
    twin_text boundary;
    bool is_digest; /* its parts are messages where they do not say otherwise */
    bool has_parts;
    const char *begin; /* of its content */
};

struct walk {
    twin_message_reader *reader;
    const char *at, *end;
    struct level levels[MAX_DEPTH];
    size_t depth;
    size_t entities; /* parts and containers seen */
};

static bool starts_with(twin_text text, const char *start)
{
    size_t length = strlen(start);
    return text.length >= length && memcmp(text.bytes, start, length) == 0;
}

/* Copies a Content header's value without line ends, ended by a zero. */
static twin_status field_value(const char **out, twin_message_reader *reader, twin_text value)
{
    value = twin__trim(value);
    if (value.length > MAX_FIELD_BYTES)
        value.length = MAX_FIELD_BYTES;
    twin_text copy;
    if (twin__arena_copy(&copy, &reader->arena, value) != TWIN_OK)
        return TWIN_ENOMEM;
    for (char *at = (char *)copy.bytes, *end = at + copy.length; at < end; at++)
        if (*at == '\r' || *at == '\n' || *at == '\0')
            *at = ' ';
    *out = copy.bytes;
    return TWIN_OK;
}

static twin_status read_field(struct twin__content *content, twin_message_reader *reader,
                              const struct twin__field *field)
{
    bool is_type = twin__is_named(field->name, "content-type");
    bool is_disposition = twin__is_named(field->name, "content-disposition");
    if (!is_type && !is_disposition && !twin__is_named(field->name, "content-transfer-encoding"))
        return TWIN_OK;
    const char *value;
    twin_status status = field_value(&value, reader, field->value);
    if (status != TWIN_OK)
        return status;
    if (is_type)
        return twin__mime_content_type(content, reader->mime, &reader->arena, value);
    if (is_disposition)
        return twin__mime_disposition(content, reader->mime, &reader->arena, value);
    size_t length = 0; /* of a word; what is not ASCII is none */
    while (value[length] > ' ' && value[length] != ';' && value[length] != '(')
        length++;
    return twin__message_lower(&content->encoding, &reader->arena, (twin_text){ value, length });
}

static bool is_content(twin_text name)
{
    return name.length > 8 && twin__is_named((twin_text){ name.bytes, 8 }, "content-");
}

/* Reads the headers from `walk->at` on, and leaves it at the body. */
static twin_status read_headers(struct twin__content *content, struct walk *walk)
{
    struct twin__fields fields = { .at = walk->at, .end = walk->end };
    struct twin__field field;
    twin_status status = TWIN_OK;
    size_t count = 0;
    while (status == TWIN_OK && twin__fields_next(&field, &fields)) {
        if (starts_with(field.lines, "--")) { /* a boundary that happens to have a colon */
            fields.at = field.lines.bytes;
            break;
        }
        if (is_content(field.name) && count++ < MAX_FIELDS)
            status = read_field(content, walk->reader, &field);
    }
    walk->at = fields.at;
    return status;
}

/* Whether the line from `line` to `end`, which begins with "--", is the boundary of an open multipart. `closes` becomes
 * true if it is its last. */
static bool match_boundary(size_t *level, bool *closes, const struct walk *walk, const char *line, const char *end)
{
    while (end > line && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' ' || end[-1] == '\t'))
        end--;
    twin_text rest = { line + 2, end - line < 2 ? 0 : (size_t)(end - line) - 2 };
    for (size_t i = walk->depth; i-- > 0;) {
        twin_text boundary = walk->levels[i].boundary;
        if (rest.length < boundary.length || memcmp(rest.bytes, boundary.bytes, boundary.length) != 0)
            continue;
        size_t more = rest.length - boundary.length;
        *closes = more == 2 && memcmp(rest.bytes + boundary.length, "--", 2) == 0;
        *level = i;
        if (more == 0 || *closes)
            return true;
    }
    return false;
}

/* Finds the next boundary line from `walk->at`, which is at the start of a line. The content before it ends at `stop`;
 * `walk->at` becomes the line after it. False: there is none, and `stop` and `at` are the end. */
static bool next_boundary(const char **stop, size_t *level, bool *closes, struct walk *walk)
{
    const char *at = walk->at, *begin = at;
    while (walk->depth > 0 && walk->end - at >= 2) {
        if (at[0] == '-' && at[1] == '-') {
            const char *newline = memchr(at, '\n', (size_t)(walk->end - at));
            const char *next = newline ? newline + 1 : walk->end;
            if (match_boundary(level, closes, walk, at, next)) {
                /* The line end before a boundary belongs to it. */
                *stop = at > begin ? at - 1 : at;
                if (*stop > begin && (*stop)[-1] == '\r')
                    --*stop;
                walk->at = next;
                return true;
            }
        }
        const char *found = memmem(at, (size_t)(walk->end - at), "\n--", 3);
        if (!found)
            break;
        at = found + 1;
    }
    *stop = walk->at = walk->end;
    return false;
}

/* ---- one part */

static twin_status extension_of(twin_text *out, struct twin__arena *arena, twin_text name)
{
    const char *dot = memrchr(name.bytes, '.', name.length);
    if (!dot)
        return TWIN_OK;
    twin_text after = { dot + 1, (size_t)(name.bytes + name.length - dot - 1) };
    return after.length <= 16 ? twin__message_lower(out, arena, after) : TWIN_OK;
}

static twin_status add_part(twin_message_reader *reader, const struct twin__content *content)
{
    size_t count = reader->message.part_count;
    if (!TWIN__ARRAY_GROW(&reader->parts, &reader->part_capacity, count, 1) ||
        !TWIN__ARRAY_GROW(&reader->stretches, &reader->stretch_capacity, count, 1))
        return TWIN_ENOMEM;
    twin_message_part *part = &reader->parts[count];
    *part = (twin_message_part){
        .type = content->type, .charset = content->charset, .encoding = content->encoding, .name = content->name
    };
    reader->stretches[count] = (struct twin__stretch){ .begin = reader->text.length };
    reader->message.part_count++;
    return content->name.length > 0 ? extension_of(&part->extension, &reader->arena, content->name) : TWIN_OK;
}

/* Joins lines that end with a blank to those that follow, without the blank (RFC 3676, DelSp=yes). */
static void join_lines(twin_buffer *text)
{
    char *to = text->bytes;
    for (const char *at = text->bytes, *end = at + text->length; at < end;) {
        const char *newline = at;
        if (*at == ' ' && at + 1 < end && at[1] == '\r')
            newline = at + 1;
        if (*at == ' ' && newline + 1 < end && newline[1] == '\n') {
            at = newline + 2;
            at += at < end && *at == ' '; /* that begins a line was added */
        } else {
            *to++ = *at++;
        }
    }
    text->length = (size_t)(to - text->bytes);
}

static twin_status append_seen(void *context, twin_buffer *to, twin_text text)
{
    return twin__message_add_text(context, to, text);
}

static twin_status add_url(void *context, twin_text url)
{
    return twin__message_add_url(context, url);
}

static twin_status add_element(void *context, uint64_t name)
{
    twin_message_reader *reader = context;
    if (reader->elements.length >= MAX_ELEMENTS * sizeof name)
        return TWIN_OK;
    return twin_buffer_append(&reader->elements, (const char *)&name, sizeof name);
}

/* What a person sees of the page goes to the reader's text, the rest to its hidden text. */
static twin_status add_html(twin_message_reader *reader, twin_buffer *page)
{
    struct twin__html_sink sink = { .text = &reader->text,
                                    .hidden = &reader->hidden,
                                    .append = append_seen,
                                    .url = add_url,
                                    .element = add_element,
                                    .context = reader };
    twin_status status = twin__html_show(reader->html, &sink, page);
    reader->message.flags |=
        (sink.is_hiding ? TWIN_MESSAGE_HIDDEN : 0) | (sink.is_divided ? TWIN_MESSAGE_DISGUISED : 0);
    return status;
}

static twin_status read_text(twin_message_reader *reader, twin_text bytes, const struct twin__content *content,
                             struct twin__stretch *stretch)
{
    bool bad = false;
    if (bytes.length > reader->limits.max_text) { /* more is not wanted, and costs time */
        reader->message.flags |= TWIN_MESSAGE_MUCH_TEXT;
        bytes.length = reader->limits.max_text;
    }
    bool is_html = starts_with(content->type, "text/html") || starts_with(content->type, "text/x-amp-html") ||
                   starts_with(content->type, "application/xhtml");
    char own[TWIN__HTML_CHARSET_BYTES];
    twin_text charset = content->charset;
    if (is_html && charset.length == 0 && bytes.length > 0)
        charset = (twin_text){ own, twin__html_charset(own, bytes) };
    twin_status status = twin__mime_to_utf8(&reader->converted, &bad, reader->mime, charset, bytes);
    if (bad)
        reader->message.flags |= TWIN_MESSAGE_BAD_CHARSET;
    if (is_html)
        reader->message.flags |= TWIN_MESSAGE_HTML;
    if (status != TWIN_OK || reader->converted.length == 0)
        return status;
    if (reader->text.length > 0) {
        status = twin__message_add_text(reader, &reader->text, (twin_text){ "\n", 1 });
        stretch->begin = reader->text.length;
    }
    if (content->joins_lines && !is_html)
        join_lines(&reader->converted);
    twin_text text = { reader->converted.bytes, reader->converted.length };
    if (status == TWIN_OK && is_html)
        status = add_html(reader, &reader->converted);
    else if (status == TWIN_OK)
        status = twin__message_add_text(reader, &reader->text, text);
    if (status == TWIN_OK && !is_html)
        status = twin__message_find_links(reader, text);
    stretch->length = reader->text.length - stretch->begin;
    return status;
}

/* A part whose content is shown as text. Calendars, vCards and the like count; files with a name do too, since spam gives
 * names to what mail programs show at once. */
static bool is_text(const struct twin__content *content)
{
    return starts_with(content->type, "text/") || starts_with(content->type, "application/xhtml") ||
           starts_with(content->type, "message/") || starts_with(content->type, "multipart/");
}

static bool is_uuencoded(twin_text encoding)
{
    return twin__is_named(encoding, "x-uuencode") || twin__is_named(encoding, "uuencode") ||
           twin__is_named(encoding, "x-uue");
}

/* What a part is without its transfer encoding; it may be in the reader's buffer. */
static twin_status decode(twin_text *bytes, twin_message_reader *reader, twin_text encoding, twin_text body)
{
    struct twin__uu_file file;
    *bytes = body;
    twin_status status = TWIN_OK;
    if (is_uuencoded(encoding) && twin__uu_find(&file, body))
        status = twin__uu_decode(&reader->decoded, file.data);
    else if (!twin__mime_is_plain(encoding))
        status = twin__mime_decode(&reader->decoded, encoding, body);
    else
        return TWIN_OK;
    *bytes = (twin_text){ reader->decoded.bytes, reader->decoded.length };
    return status;
}

/* The text without the files in it, in the reader's buffer. */
static twin_status cut_files(twin_text *out, twin_message_reader *reader, twin_text text, struct twin__uu_file file)
{
    twin_status status = TWIN_OK;
    const char *at = text.bytes, *end = at + text.length;
    reader->decoded.length = 0;
    do {
        status = twin_buffer_append(&reader->decoded, at, (size_t)(file.lines.bytes - at));
        at = file.lines.bytes + file.lines.length;
    } while (status == TWIN_OK && twin__uu_find(&file, (twin_text){ at, (size_t)(end - at) }));
    if (status == TWIN_OK)
        status = twin_buffer_append(&reader->decoded, at, (size_t)(end - at));
    *out = (twin_text){ reader->decoded.bytes, reader->decoded.length };
    return status;
}

/* The files in a text become parts. */
static twin_status read_files(twin_message_reader *reader, twin_text text)
{
    const struct twin__content content = { .type = { "application/octet-stream", 24 },
                                           .encoding = { "x-uuencode", 10 } };
    struct twin__uu_file file;
    bool bad = false; /* of no interest in a name */
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && reader->message.part_count < reader->limits.max_parts && twin__uu_find(&file, text)) {
        struct twin__content named = content;
        size_t done = (size_t)(file.lines.bytes + file.lines.length - text.bytes);
        text = (twin_text){ text.bytes + done, text.length - done };
        status = twin__mime_to_utf8(&reader->converted, &bad, reader->mime, (twin_text){ 0 }, file.name);
        if (status == TWIN_OK)
            status = twin__arena_copy(&named.name, &reader->arena,
                                      (twin_text){ reader->converted.bytes, reader->converted.length });
        if (status == TWIN_OK)
            status = add_part(reader, &named);
        if (status == TWIN_OK)
            status = twin__uu_decode(&reader->decoded, file.data);
        if (status != TWIN_OK)
            return status;
        twin_message_part *part = &reader->parts[reader->message.part_count - 1];
        part->size = reader->decoded.length;
        twin__digest(part->digest, (twin_text){ reader->decoded.bytes, reader->decoded.length });
    }
    return status;
}

static twin_status read_part(twin_message_reader *reader, const struct twin__content *content, twin_text body)
{
    twin_text bytes;
    struct twin__uu_file file;
    twin_status status = add_part(reader, content);
    if (status == TWIN_OK)
        status = decode(&bytes, reader, content->encoding, body);
    if (status != TWIN_OK)
        return status;
    size_t number = reader->message.part_count - 1;
    reader->parts[number].size = bytes.length;
    if (!is_text(content)) {
        twin__digest(reader->parts[number].digest, bytes);
        return TWIN_OK;
    }
    bool has_files =
        starts_with(content->type, "text/plain") && bytes.bytes == body.bytes && twin__uu_find(&file, body);
    if (has_files)
        status = cut_files(&bytes, reader, body, file);
    if (status == TWIN_OK)
        status = read_text(reader, bytes, content, &reader->stretches[number]);
    return status == TWIN_OK && has_files ? read_files(reader, body) : status;
}

/* ---- the walk */

static bool is_message(const struct twin__content *content)
{
    return (starts_with(content->type, "message/rfc822") || starts_with(content->type, "message/global") ||
            starts_with(content->type, "message/news")) &&
           twin__mime_is_plain(content->encoding);
}

static bool is_container(struct walk *walk, const struct twin__content *content)
{
    if (!starts_with(content->type, "multipart/"))
        return false;
    bool known = content->boundary.length > 0 && content->boundary.length <= MAX_BOUNDARY;
    if (!known)
        walk->reader->message.flags |= TWIN_MESSAGE_MALFORMED;
    else if (walk->depth == MAX_DEPTH)
        walk->reader->message.flags |= TWIN_MESSAGE_MANY_PARTS;
    return known && walk->depth < MAX_DEPTH;
}

static void push(struct walk *walk, const struct twin__content *content)
{
    walk->levels[walk->depth++] = (struct level){
        .boundary = content->boundary,
        .is_digest = twin__is_named(content->type, "multipart/digest"),
        .begin = walk->at,
    };
}

static struct twin__content default_content(const struct walk *walk)
{
    bool is_digest = walk->depth > 0 && walk->levels[walk->depth - 1].is_digest;
    return (struct twin__content){ .type = is_digest ? (twin_text){ "message/rfc822", 14 }
                                                     : (twin_text){ "text/plain", 10 } };
}

/* Leaves the multiparts above `level`. One without any part is read as text, since its boundary lies. */
static twin_status leave(struct walk *walk, size_t level, const char *stop)
{
    twin_status status = TWIN_OK;
    while (walk->depth > level) {
        struct level *left = &walk->levels[--walk->depth];
        if (left->has_parts || stop <= left->begin)
            continue;
        walk->reader->message.flags |= TWIN_MESSAGE_MALFORMED;
        struct twin__content content = { .type = { "text/plain", 10 } };
        if (status == TWIN_OK)
            status = read_part(walk->reader, &content, (twin_text){ left->begin, (size_t)(stop - left->begin) });
        stop = left->begin; /* containers around it end where it began */
    }
    return status;
}

/* Passes over what lies between parts up to the headers of the next one. False: there is none. */
static bool next_part(struct walk *walk, twin_status *status)
{
    for (;;) {
        const char *stop;
        size_t level;
        bool closes;
        bool found = next_boundary(&stop, &level, &closes, walk);
        size_t kept = found ? level + 1 : 0;
        twin_status left = leave(walk, kept, stop);
        *status = *status == TWIN_OK ? left : *status;
        if (!found)
            return false;
        walk->levels[level].has_parts = true;
        if (!closes)
            return true;
        walk->depth = level;
    }
}

/* Reads one entity, whose headers said `content`: enters a container, or reads a part up to its boundary. `more` becomes
 * false when the message is at its end. */
static twin_status read_entity(bool *more, struct walk *walk, const struct twin__content *content)
{
    twin_status status = TWIN_OK;
    if (is_container(walk, content)) {
        push(walk, content);
        *more = next_part(walk, &status);
        return status;
    }
    const char *begin = walk->at, *stop;
    size_t level;
    bool closes;
    bool found = next_boundary(&stop, &level, &closes, walk);
    status = read_part(walk->reader, content, (twin_text){ begin, (size_t)(stop - begin) });
    walk->depth = found ? level + !closes : 0;
    *more = found && (!closes || next_part(walk, &status));
    return status;
}

twin_status twin__message_read_parts(twin_message_reader *reader, twin_text header, twin_text body)
{
    struct walk walk = { .reader = reader, .at = header.bytes, .end = header.bytes + header.length };
    struct twin__content content = default_content(&walk);
    twin_status status = read_headers(&content, &walk);
    walk.at = body.bytes;
    walk.end = body.bytes + body.length;
    bool more = true;
    while (status == TWIN_OK && more) {
        if (walk.entities++ == reader->limits.max_parts) {
            reader->message.flags |= TWIN_MESSAGE_MANY_PARTS;
            break;
        }
        if (!is_message(&content)) {
            status = read_entity(&more, &walk, &content);
            if (!more)
                break;
        }
        content = default_content(&walk);
        status = status == TWIN_OK ? read_headers(&content, &walk) : status;
    }
    return status;
}

/* message.c — reads a message: its headers here, its parts in parts.c.
 *
 * The header is copied without the lines that filters have added, and divided into fields; addresses, hops and some other
 * fields are read from these. The text of all parts is then folded for comparison. All that a message has lies in buffers
 * and an arena of the reader, which are emptied for the next message and seldom grow. */
#include <twinsift/message.h>

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <twinsift/text.h>

#include "base/array.h"
#include "base/error.h"
#include "html/html.h"
#include "mail/domain.h"
#include "mail/fields.h"
#include "mail/message_private.h"
#include "mail/mime.h"

enum { MAX_HEADER = 64 << 10 };

/* ---- the reader */

twin_status twin_message_available(void)
{
    return TWIN_OK;
}

static size_t or_else(size_t value, size_t otherwise)
{
    return value ? value : otherwise;
}

twin_status twin_message_reader_create(twin_message_reader **out, twin_message_options options)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    twin_status status = twin__check_reserved(NULL, options.reserved, "messages");
    if (status != TWIN_OK)
        return status;
    twin_message_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return TWIN_ENOMEM;
    reader->limits = (twin_message_options){
        .max_bytes = or_else(options.max_bytes, 4 << 20),
        .max_headers = or_else(options.max_headers, 1000),
        .max_parts = or_else(options.max_parts, 200),
        .max_text = or_else(options.max_text, 1 << 20),
        .max_links = or_else(options.max_links, 1000),
    };
    reader->link_hash = (twin_hash){ .family = TWIN_HASH_SIP };
    if (getrandom(reader->link_hash.key, sizeof reader->link_hash.key, 0) < 0)
        reader->link_hash.key[0] = (uint64_t)(uintptr_t)reader; /* better than nothing */
    status = twin__mime_create(&reader->mime);
    if (status == TWIN_OK)
        status = twin__html_create(&reader->html);
    if (status != TWIN_OK) {
        twin_message_reader_free(reader);
        return status;
    }
    *out = reader;
    return TWIN_OK;
}

enum { BUFFERS = 9, KEEP_BYTES = 1 << 20 }; /* what a buffer may keep for the next message */

static void list_buffers(twin_buffer *out[BUFFERS], twin_message_reader *reader)
{
    twin_buffer *buffers[BUFFERS] = { &reader->raw,    &reader->text,    &reader->hidden,
                                      &reader->folded, &reader->decoded, &reader->converted,
                                      &reader->value,  &reader->lines,   &reader->elements };
    memcpy(out, buffers, sizeof buffers);
}

void twin_message_reader_free(twin_message_reader *reader)
{
    if (!reader)
        return;
    twin_buffer *buffers[BUFFERS];
    list_buffers(buffers, reader);
    for (size_t i = 0; i < BUFFERS; i++)
        twin_buffer_clear(buffers[i]);
    twin__arena_clear(&reader->arena);
    twin__mime_free(reader->mime);
    twin__html_free(reader->html);
    free(reader->headers);
    free(reader->written);
    free(reader->addresses);
    free(reader->hops);
    free(reader->links);
    free(reader->parts);
    free(reader->stretches);
    free(reader->link_table);
    free(reader);
}

static void start(twin_message_reader *reader)
{
    twin_buffer *buffers[BUFFERS];
    list_buffers(buffers, reader);
    for (size_t i = 0; i < BUFFERS; i++)
        if (buffers[i]->capacity > KEEP_BYTES)
            twin_buffer_clear(buffers[i]);
    twin__arena_reset(&reader->arena);
    reader->message = (twin_message){ .date = INT64_MIN };
    reader->raw.length = reader->text.length = reader->hidden.length = reader->folded.length = 0;
    reader->elements.length = 0;
    if (reader->link_slots > 0)
        memset(reader->link_table, 0, reader->link_slots * sizeof reader->link_table[0]);
}

size_t twin__message_memory(twin_message_reader *reader)
{
    twin_buffer *buffers[BUFFERS];
    list_buffers(buffers, reader);
    size_t total = sizeof *reader + twin__arena_memory(&reader->arena);
    for (size_t i = 0; i < BUFFERS; i++)
        total += buffers[i]->capacity;
    return total + reader->header_capacity * (sizeof *reader->headers + sizeof *reader->written) +
           reader->address_capacity * sizeof *reader->addresses + reader->hop_capacity * sizeof *reader->hops +
           reader->link_capacity * sizeof *reader->links + reader->part_capacity * sizeof *reader->parts +
           reader->stretch_capacity * sizeof *reader->stretches + reader->link_slots * sizeof *reader->link_table;
}

twin_status twin__message_lower(twin_text *out, struct twin__arena *arena, twin_text text)
{
    twin_status status = twin__arena_copy(out, arena, text);
    if (status == TWIN_OK)
        for (char *at = (char *)out->bytes, *end = at + out->length; at < end; at++)
            *at = twin__lower(*at);
    return status;
}

twin_status twin__message_add_text(twin_message_reader *reader, twin_buffer *to, twin_text text)
{
    size_t room = reader->limits.max_text - to->length;
    if (text.length > room)
        reader->message.flags |= TWIN_MESSAGE_MUCH_TEXT;
    text = twin__cut(text, room);
    return twin_buffer_append(to, text.bytes, text.length);
}

/* ---- headers */

/* Replaces `out` by the value without line ends, with one blank for each fold. True: it has encoded words or bytes that
 * are not ASCII. */
static twin_status unfold(twin_buffer *out, bool *needs_decoding, twin_text value)
{
    out->length = 0;
    if (twin_buffer_reserve(out, value.length + 1) != TWIN_OK)
        return TWIN_ENOMEM;
    unsigned char bits = 0;
    bool has_words = false;
    char *to = out->bytes;
    for (size_t i = 0; i < value.length; i++) {
        char c = value.bytes[i];
        if (c == '\r' || c == '\n') {
            while (i + 1 < value.length && strchr("\r\n\t ", value.bytes[i + 1]))
                i++;
            c = ' ';
        }
        if (c == '\0')
            c = ' ';
        has_words |= c == '?' && i > 0 && value.bytes[i - 1] == '=';
        bits |= (unsigned char)c;
        *to++ = c;
    }
    *to = '\0';
    out->length = (size_t)(to - out->bytes);
    *needs_decoding = has_words || bits >= 0x80;
    return TWIN_OK;
}

static twin_status add_header(twin_message_reader *reader, const struct twin__field *field)
{
    size_t count = reader->message.header_count;
    twin_text value = twin__trim(field->value);
    if (value.length > MAX_HEADER) {
        value.length = MAX_HEADER;
        reader->message.flags |= TWIN_MESSAGE_MANY_HEADERS;
    }
    bool needs_decoding;
    twin_status status = unfold(&reader->value, &needs_decoding, value);
    twin_text readable = { reader->value.bytes, reader->value.length };
    if (status == TWIN_OK && needs_decoding) {
        reader->decoded.length = 0;
        status = twin__mime_decode_words(&reader->decoded, reader->mime, reader->value.bytes);
        readable = (twin_text){ reader->decoded.bytes, reader->decoded.length };
    }
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&reader->headers, &reader->header_capacity, count, 1) ||
        !TWIN__ARRAY_GROW(&reader->written, &reader->written_capacity, count, 1))
        return TWIN_ENOMEM;
    twin_message_header *header = &reader->headers[count];
    status = twin__arena_copy(&header->name, &reader->arena, field->name);
    if (status == TWIN_OK)
        status = twin__arena_copy(&header->value, &reader->arena, readable);
    twin_message_role role;
    reader->written[count] = header->value;
    if (status == TWIN_OK && needs_decoding && twin__message_names_sender(&role, field->name))
        status = twin__arena_copy(&reader->written[count], &reader->arena,
                                  (twin_text){ reader->value.bytes, reader->value.length });
    if (status == TWIN_OK)
        reader->message.header_count++;
    return status;
}

/* Copies the header to `raw` without what filters wrote, and reads it. `body` becomes what comes after it. */
static twin_status read_header(twin_message_reader *reader, twin_text *body, twin_text message)
{
    struct twin__fields fields = twin__fields_of(message);
    struct twin__field field;
    const char *kept = message.bytes;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && twin__fields_next(&field, &fields)) {
        if (twin__message_is_filter_header(field.name)) {
            status = twin_buffer_append(&reader->raw, kept, (size_t)(field.lines.bytes - kept));
            kept = field.lines.bytes + field.lines.length;
        } else if (reader->message.header_count < reader->limits.max_headers) {
            status = add_header(reader, &field);
        } else {
            reader->message.flags |= TWIN_MESSAGE_MANY_HEADERS;
        }
    }
    if (status == TWIN_OK)
        status = twin_buffer_append(&reader->raw, kept, (size_t)(fields.at - kept));
    if (fields.is_malformed)
        reader->message.flags |= fields.at == message.bytes ? TWIN_MESSAGE_NO_HEADERS : TWIN_MESSAGE_MALFORMED;
    *body = (twin_text){ fields.at, (size_t)(fields.end - fields.at) };
    return status;
}

static twin_status read_addresses(twin_message_reader *reader)
{
    twin_status status = TWIN_OK;
    for (int wanted = TWIN_MESSAGE_FROM; wanted <= TWIN_MESSAGE_SENDER; wanted++)
        for (size_t i = 0; status == TWIN_OK && i < reader->message.header_count; i++) {
            twin_message_role role;
            if (twin__message_names_sender(&role, reader->headers[i].name) && (int)role == wanted)
                status = twin__message_add_addresses(reader, role, reader->written[i]);
        }
    return status;
}

static twin_text without_brackets(twin_text id)
{
    if (id.length >= 2 && id.bytes[0] == '<' && id.bytes[id.length - 1] == '>')
        return (twin_text){ id.bytes + 1, id.length - 2 };
    return id;
}

/* What some headers say; of several of a name the first counts. */
static twin_status understand_headers(twin_message_reader *reader)
{
    twin_message *message = &reader->message;
    twin_status status = TWIN_OK;
    for (size_t i = 0; status == TWIN_OK && i < message->header_count; i++) {
        twin_text name = reader->headers[i].name, value = reader->headers[i].value;
        if (twin__is_named(name, "received"))
            status = twin__message_add_hop(reader, value);
        else if (twin__is_named(name, "subject") && !message->subject.bytes)
            message->subject = value;
        else if (twin__is_named(name, "message-id") && !message->id.bytes)
            message->id = without_brackets(value);
        else if (twin__is_named(name, "date") && message->date == INT64_MIN)
            message->date = twin__mime_date(value.bytes);
    }
    return status == TWIN_OK ? read_addresses(reader) : status;
}

/* ---- the whole */

static twin_status fold_text(twin_message_reader *reader)
{
    twin_message *message = &reader->message;
    reader->value.length = 0;
    twin_status status = twin_buffer_append(&reader->value, message->subject.bytes, message->subject.length);
    if (status == TWIN_OK)
        status = twin_buffer_append(&reader->value, "\n", 1);
    if (status == TWIN_OK)
        status = twin_buffer_append(&reader->value, reader->text.bytes, reader->text.length);
    bool disguised = false;
    if (status == TWIN_OK)
        status = twin__message_fold(&reader->folded, &disguised, &reader->converted,
                                    (twin_text){ reader->value.bytes, reader->value.length });
    if (disguised)
        message->flags |= TWIN_MESSAGE_DISGUISED;
    return status;
}

static twin_text text_of(const twin_buffer *buffer)
{
    return (twin_text){ buffer->length > 0 ? buffer->bytes : "", buffer->length };
}

static void finish(twin_message_reader *reader)
{
    twin_message *message = &reader->message;
    message->raw = text_of(&reader->raw);
    message->text = text_of(&reader->text);
    message->hidden = text_of(&reader->hidden);
    message->folded = text_of(&reader->folded);
    message->headers = reader->headers;
    message->addresses = reader->addresses;
    message->hops = reader->hops;
    message->links = reader->links;
    message->parts = reader->parts;
    message->elements = (const uint64_t *)(const void *)reader->elements.bytes;
    message->element_count = reader->elements.length / sizeof message->elements[0];
    for (size_t i = 0; i < message->part_count; i++)
        reader->parts[i].text =
            (twin_text){ message->text.bytes + reader->stretches[i].begin, reader->stretches[i].length };
}

/* A message has lines that end with CR LF on its way and LF in most mailboxes: it shall be the same message. By its first line. */
static twin_status end_lines(twin_text *message, twin_message_reader *reader)
{
    const char *at = message->bytes, *end = at + message->length;
    const char *newline = message->length > 0 ? memchr(at, '\n', message->length) : NULL;
    if (!newline || newline == at || newline[-1] != '\r')
        return TWIN_OK;
    reader->lines.length = 0;
    if (twin_buffer_reserve(&reader->lines, message->length) != TWIN_OK)
        return TWIN_ENOMEM;
    char *to = reader->lines.bytes;
    for (; at < end; at = newline) {
        newline = memchr(at, '\n', (size_t)(end - at));
        newline = newline ? newline + 1 : end;
        size_t length = (size_t)(newline - at);
        memcpy(to, at, length);
        if (length >= 2 && memcmp(newline - 2, "\r\n", 2) == 0)
            to[--length - 1] = '\n';
        to += length;
    }
    *message = (twin_text){ reader->lines.bytes, (size_t)(to - reader->lines.bytes) };
    return TWIN_OK;
}

twin_status twin_message_read(const twin_message **out, twin_message_reader *reader, twin_text raw)
{
    if (!out || !reader || (!raw.bytes && raw.length > 0))
        return twin__fail_null(NULL, !out ? "out" : !reader ? "reader" : "raw");
    *out = NULL;
    start(reader);
    twin_text message = twin__without_from_line(raw.bytes ? raw : (twin_text){ "", 0 });
    if (message.length > reader->limits.max_bytes) {
        message.length = reader->limits.max_bytes;
        reader->message.flags |= TWIN_MESSAGE_LONG;
    }
    twin_text body = { message.bytes, 0 };
    twin_status status = end_lines(&message, reader);
    if (status == TWIN_OK)
        status = read_header(reader, &body, message);
    reader->message.header_length = reader->raw.length;
    if (status == TWIN_OK)
        status = twin_buffer_append(&reader->raw, body.bytes, body.length);
    if (status == TWIN_OK)
        status = understand_headers(reader);
    twin_text header = { message.bytes, (size_t)(body.bytes - message.bytes) };
    if (status == TWIN_OK)
        status = twin__message_read_parts(reader, header, body);
    if (status == TWIN_OK)
        status = fold_text(reader);
    if (status != TWIN_OK)
        return status;
    finish(reader);
    *out = &reader->message;
    return TWIN_OK;
}

int64_t twin_message_received(const twin_message *message)
{
    for (size_t i = 0; message && i < message->header_count; i++) {
        if (!twin__is_named(message->headers[i].name, "received"))
            continue;
        /* As the copy that was read, values end with a zero byte. */
        const char *date = memrchr(message->headers[i].value.bytes, ';', message->headers[i].value.length);
        return date ? twin__mime_date(date + 1) : INT64_MIN;
    }
    return INT64_MIN;
}

twin_text twin__message_registered_domain(twin_text host)
{
    return host.bytes ? twin__registered_domain(NULL, host) : (twin_text){ 0 };
}

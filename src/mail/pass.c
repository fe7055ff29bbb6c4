/* pass.c — a message passed on with headers added. */
#include <string.h>

#include "base/error.h"
#include "mail/fields.h"
#include "mail/message_private.h"

static bool equals_folded(twin_text a, twin_text b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++)
        if (twin__lower(a.bytes[i]) != twin__lower(b.bytes[i]))
            return false;
    return true;
}

static bool is_removed(twin_text name, const twin_message_header *added, size_t count)
{
    if (twin__is_named(name, "x-spam-flag") || twin__is_named(name, "x-spam-score") ||
        twin__is_named(name, "x-twinsift"))
        return true;
    for (size_t i = 0; i < count; i++)
        if (equals_folded(name, added[i].name))
            return true;
    return false;
}

static bool is_printable(twin_text text, bool may_fold)
{
    for (size_t i = 0; i < text.length; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        bool folds =
            may_fold && c == '\n' && i + 1 < text.length && (text.bytes[i + 1] == ' ' || text.bytes[i + 1] == '\t');
        if ((c < ' ' && c != '\t' && !folds) || c == 0x7f ||
            (!may_fold && (c == ' ' || c == ':' || c == '\t' || c >= 0x80)))
            return false;
    }
    return may_fold || text.length > 0;
}

/* Appends the value with the message's own line ends. */
static twin_status append_value(twin_buffer *out, twin_text value, twin_text newline)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; status == TWIN_OK && i < value.length; i++)
        status = value.bytes[i] == '\n' ? twin_buffer_append(out, newline.bytes, newline.length)
                                        : twin_buffer_append(out, value.bytes + i, 1);
    return status == TWIN_OK ? twin_buffer_append(out, newline.bytes, newline.length) : status;
}

static twin_status append_added(twin_buffer *out, const twin_message_header *added, size_t count, twin_text newline)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; status == TWIN_OK && i < count; i++) {
        status = twin_buffer_append(out, added[i].name.bytes, added[i].name.length);
        if (status == TWIN_OK)
            status = twin_buffer_append(out, ": ", 2);
        if (status == TWIN_OK)
            status = append_value(out, added[i].value, newline);
    }
    return status;
}

/* The next header, also behind lines that are none: some programs take these for the end of the headers, others skip them, and
 * nobody shall find a forged header there. Where a message begins with such a line it has no headers. */
static bool next_header(struct twin__field *out, struct twin__fields *fields, const char *first)
{
    while (!twin__fields_next(out, fields)) {
        if (!fields->is_malformed || fields->at == first)
            return false;
        const char *newline = memchr(fields->at, '\n', (size_t)(fields->end - fields->at));
        fields->at = newline ? newline + 1 : fields->end;
        fields->is_malformed = false;
    }
    return true;
}

twin_status twin_message_pass(twin_buffer *out, twin_text raw, const twin_message_header *added, size_t count)
{
    if (!out || (!raw.bytes && raw.length > 0) || (!added && count > 0))
        return twin__fail_null(NULL, !out ? "out" : "the message or a header");
    for (size_t i = 0; i < count; i++)
        if (!is_printable(added[i].name, false) || !is_printable(added[i].value, true))
            return twin__fail(NULL, TWIN_EINVAL, "header %zu has a name or value that is not printable", i + 1);
    const char *first = raw.length > 0 ? memchr(raw.bytes, '\n', raw.length) : NULL;
    bool returns = first && first > raw.bytes && first[-1] == '\r';
    twin_text newline = returns ? (twin_text){ "\r\n", 2 } : (twin_text){ "\n", 1 };
    twin_text message = twin__without_from_line(raw);
    struct twin__fields fields = twin__fields_of(message);
    struct twin__field field;
    twin_status status = twin_buffer_append(out, raw.bytes, raw.length - message.length);
    if (status == TWIN_OK)
        status = append_added(out, added, count, newline);
    const char *kept = message.bytes;
    while (status == TWIN_OK && next_header(&field, &fields, message.bytes)) {
        if (!is_removed(field.name, added, count))
            continue;
        status = twin_buffer_append(out, kept, (size_t)(field.lines.bytes - kept));
        kept = field.lines.bytes + field.lines.length;
    }
    /* A message that begins with its body needs the empty line that it lacks. */
    if (status == TWIN_OK && fields.is_malformed && count > 0)
        status = twin_buffer_append(out, newline.bytes, newline.length);
    if (status == TWIN_OK && message.length > 0)
        status = twin_buffer_append(out, kept, (size_t)(message.bytes + message.length - kept));
    return status;
}

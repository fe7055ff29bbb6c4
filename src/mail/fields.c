/* fields.c — the headers of a message or a part, line by line, in the bytes as they are. */
#include "mail/fields.h"

#include <string.h>

static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline + 1 : end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool starts_with(const char *at, const char *end, const char *start)
{
    size_t length = strlen(start);
    return (size_t)(end - at) >= length && memcmp(at, start, length) == 0;
}

twin_text twin__without_from_line(twin_text message)
{
    const char *end = message.bytes + message.length;
    if (message.length == 0 || !starts_with(message.bytes, end, "From "))
        return message;
    const char *at = line_end(message.bytes, end);
    return (twin_text){ at, (size_t)(end - at) };
}

struct twin__fields twin__fields_of(twin_text message)
{
    return (struct twin__fields){ .at = message.bytes, .end = message.bytes + message.length };
}

/* The end of the name of the header on this line, or NULL if there is none. */
static const char *name_end(const char *at, const char *end)
{
    const char *name = at;
    while (at<end && * at> ' ' && *at < 0x7f && *at != ':')
        at++;
    const char *after = at;
    while (at < end && is_blank(*at))
        at++;
    return after > name && at < end && *at == ':' ? after : NULL;
}

/* A line "From …" or ">From …" among the headers: some program stored the message twice. */
static bool is_from_line(const char *at, const char *end)
{
    return starts_with(at, end, "From ") || starts_with(at, end, ">From ");
}

bool twin__fields_next(struct twin__field *out, struct twin__fields *fields)
{
    const char *end = fields->end;
    while (fields->at < end && is_from_line(fields->at, end))
        fields->at = line_end(fields->at, end);
    const char *at = fields->at, *next = at < end ? line_end(at, end) : end;
    if (at == end)
        return false;
    if (*at == '\n' || (*at == '\r' && next - at == 2)) {
        fields->at = next;
        return false;
    }
    const char *after = name_end(at, next);
    if (!after) {
        fields->is_malformed = true;
        return false;
    }
    const char *value = after;
    while (*value != ':')
        value++;
    value++;
    while (next < end && is_blank(*next))
        next = line_end(next, end);
    fields->at = next;
    const char *last = next;
    while (last > value && (last[-1] == '\n' || last[-1] == '\r'))
        last--;
    *out = (struct twin__field){ .name = { at, (size_t)(after - at) },
                                 .value = { value, (size_t)(last - value) },
                                 .lines = { at, (size_t)(next - at) } };
    return true;
}

/* uuencode.c — files in a text, as programs sent them before MIME, and some still do: "begin 644 name", lines, "end".
 *
 * A line has the number of its bytes, then four characters for each three bytes, all as characters from blank on; a blank
 * may be a grave accent, or be missing at the end of the line. */
#include <string.h>

#include "mail/fields.h"
#include "mail/message_private.h"

enum { BLANK = ' ', LAST = '`', MASK = 63 };

/* Takes the line at *at, without its end, and moves behind it. */
static twin_text take_line(const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    twin_text line = { *at, (size_t)((newline ? newline : end) - *at) };
    *at = newline ? newline + 1 : end;
    if (line.length > 0 && line.bytes[line.length - 1] == '\r')
        line.length--;
    return line;
}

/* How many bytes a line says it has; 0: it has none, or is no such line. */
static size_t bytes_of(twin_text line)
{
    size_t bytes = line.length > 0 ? (size_t)(line.bytes[0] - BLANK) & MASK : 0, room = (bytes + 2) / 3 * 4;
    if (line.length == 0 || line.length > room + 3 || line.length + 8 < room)
        return 0;
    for (size_t i = 0; i < line.length; i++)
        if (line.bytes[i] < BLANK || line.bytes[i] > LAST)
            return 0;
    return bytes;
}

/* "begin 644 name" */
static bool read_begin(twin_text *name, twin_text line)
{
    size_t i = 6;
    while (i < line.length && line.bytes[i] >= '0' && line.bytes[i] <= '7')
        i++;
    if (i < 9 || i > 10 || i == line.length || line.bytes[i] != ' ')
        return false;
    *name = twin__trim((twin_text){ line.bytes + i, line.length - i });
    return name->length > 0;
}

static bool read_file(struct twin__uu_file *out, const char *at, const char *end)
{
    out->lines.bytes = at;
    if (!read_begin(&out->name, take_line(&at, end)))
        return false;
    out->data.bytes = at;
    const char *after = at;
    while (after < end && bytes_of(take_line(&after, end)) > 0)
        at = after;
    out->data.length = (size_t)(at - out->data.bytes);
    after = at;
    twin_text line =
        after < end ? take_line(&after, end) : (twin_text){ "end", 3 }; /* what is cut off was a file too */
    if (line.length <= 1 && after < end)
        line = take_line(&after, end);
    out->lines.length = (size_t)(after - out->lines.bytes);
    return out->data.length > 0 && line.length == 3 && memcmp(line.bytes, "end", 3) == 0;
}

bool twin__uu_find(struct twin__uu_file *out, twin_text text)
{
    const char *end = text.bytes + text.length;
    for (const char *at = text.bytes; text.length && (at = memmem(at, (size_t)(end - at), "begin ", 6)); at += 6)
        if ((at == text.bytes || at[-1] == '\n') && read_file(out, at, end))
            return true;
    return false;
}

twin_status twin__uu_decode(twin_buffer *out, twin_text data)
{
    out->length = 0;
    /* Blanks may be missing: a line of one character and its end can be three zero bytes. No line has more for its length,
     * but the last one may lack its end. */
    if (twin_buffer_reserve(out, data.length + data.length / 2 + 3) != TWIN_OK)
        return TWIN_ENOMEM;
    unsigned char *to = (unsigned char *)out->bytes;
    for (const char *at = data.bytes, *end = at + data.length; at < end;) {
        twin_text line = take_line(&at, end);
        size_t bytes = bytes_of(line), available = (line.length - 1) / 4 * 3 + 3;
        uint32_t bits = 0;
        for (size_t i = 0; i < bytes && i < available; i++) {
            size_t from = 1 + i / 3 * 4;
            for (size_t k = 0; i % 3 == 0 && k < 4; k++)
                bits = bits << 6 | (from + k < line.length ? (uint32_t)(line.bytes[from + k] - BLANK) & MASK : 0);
            *to++ = (unsigned char)(bits >> (16 - 8 * (i % 3)));
        }
    }
    out->length = (size_t)((char *)to - out->bytes);
    return TWIN_OK;
}

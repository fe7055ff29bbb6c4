/* mbox.c — messages in an mbox file.
 *
 * The file is read once from its start to its end through a window that moves forward. Only a line with a time of day
 * and a year counts as a "From " line, since mail contains sentences that begin with the word. A Content-Length is
 * believed if the file ends, or a "From " line begins, where it says that the body ends; many programs copy this
 * header without correcting it. */
#include "input/mbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "input/source.h"

enum {
    WINDOW_BYTES = 1 << 20,
    FROM_BYTES = 512,       /* of a "From " line that are looked at */
    HEADER_BYTES = 64 << 10 /* in which a Content-Length is looked for */
};

struct window {
    int fd;
    uint64_t end;   /* of the file */
    uint64_t begin; /* of the bytes in the window */
    char *bytes;
    size_t length;
};

/* The bytes at `offset`, at least `wanted` of them unless the file ends before. */
static twin_status look(twin_text *out, struct window *window, uint64_t offset, size_t wanted)
{
    if (wanted > window->end - offset)
        wanted = (size_t)(window->end - offset);
    if (offset < window->begin || offset - window->begin + wanted > window->length) {
        size_t length = window->end - offset < WINDOW_BYTES ? (size_t)(window->end - offset) : WINDOW_BYTES;
        ssize_t got = twin__read_at(window->fd, window->bytes, length, offset);
        if (got < 0)
            return TWIN_EIO;
        window->begin = offset;
        window->length = (size_t)got;
        if ((size_t)got < length)
            window->end = offset + (size_t)got; /* it has become shorter */
    }
    size_t skipped = (size_t)(offset - window->begin);
    *out = (twin_text){ window->bytes + skipped, window->length - skipped };
    return TWIN_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_time(const char *at) /* "10:" of "10:15", and the next two bytes can be read */
{
    return at[0] == ':' && is_digit(at[-1]) && is_digit(at[1]) && is_digit(at[2]);
}

static bool is_year(const char *at)
{
    return (memcmp(at, "19", 2) == 0 || memcmp(at, "20", 2) == 0) && is_digit(at[2]) && is_digit(at[3]) &&
           (at[-1] == ' ' || at[-1] == '\t');
}

/* Whether a "From " line begins here. */
static bool is_from_line(twin_text text)
{
    if (text.length < 5 || memcmp(text.bytes, "From ", 5) != 0)
        return false;
    size_t length = text.length < FROM_BYTES ? text.length : FROM_BYTES;
    const char *newline = memchr(text.bytes, '\n', length);
    if (newline)
        length = (size_t)(newline - text.bytes);
    bool has_time = false, has_year = false;
    for (size_t i = 5; i + 3 < length; i++) {
        has_time |= is_time(text.bytes + i);
        has_year |= is_year(text.bytes + i);
    }
    return has_time && has_year;
}

/* The header's number, or -1; `body` becomes the bytes before the body. */
static int64_t content_length(size_t *body, twin_text message)
{
    static const char name[] = "content-length:";
    const char *at = message.bytes, *end = at + (message.length < HEADER_BYTES ? message.length : HEADER_BYTES);
    int64_t length = -1;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline)
            return -1;
        if (newline == at || (newline == at + 1 && *at == '\r')) {
            *body = (size_t)(newline + 1 - message.bytes);
            return length;
        }
        size_t same = 0;
        while (name[same] && at + same < newline && twin__is_in_any_case(at[same], name[same]))
            same++;
        if (!name[same] && length < 0) {
            char digits[24] = "";
            size_t left = (size_t)(newline - at) - same;
            memcpy(digits, at + same, left < sizeof digits - 1 ? left : sizeof digits - 1);
            char *stop;
            long long number = strtoll(digits, &stop, 10);
            length = stop > digits && number >= 0 ? number : -1;
        }
        at = newline + 1;
    }
    return -1;
}

/* Skips line ends; true if the file ends there or a message begins. Reads only what it needs: if the window moved there
 * and back, false lengths of many short messages would make that a megabyte for each. */
static twin_status ends_at(bool *out, uint64_t *next, const struct window *window, uint64_t offset)
{
    enum { LINE_ENDS = 4 };
    char bytes[FROM_BYTES + LINE_ENDS];
    *out = false;
    if (offset > window->end)
        return TWIN_OK;
    uint64_t left = window->end - offset;
    ssize_t got = twin__read_at(window->fd, bytes, left < sizeof bytes ? (size_t)left : sizeof bytes, offset);
    if (got < 0)
        return TWIN_EIO;
    twin_text text = { bytes, (size_t)got };
    size_t blank = 0;
    while (blank < LINE_ENDS && blank < text.length && (text.bytes[blank] == '\n' || text.bytes[blank] == '\r'))
        blank++;
    *next = offset + blank;
    *out = *next >= window->end || is_from_line((twin_text){ text.bytes + blank, text.length - blank });
    return TWIN_OK;
}

/* The end of the message that begins at `offset`, by its Content-Length; 0 if that is not to be believed. */
static twin_status end_by_length(uint64_t *out, struct window *window, uint64_t offset)
{
    twin_text text;
    size_t body = 0;
    *out = 0;
    twin_status status = look(&text, window, offset, HEADER_BYTES);
    if (status != TWIN_OK)
        return status;
    int64_t length = content_length(&body, text);
    if (length < 0 || (uint64_t)length > window->end - offset - body)
        return TWIN_OK;
    bool ends;
    uint64_t next;
    status = ends_at(&ends, &next, window, offset + body + (uint64_t)length);
    if (status == TWIN_OK && ends)
        *out = next;
    return status;
}

/* The next "From " line after the start of the line at `offset`. */
static twin_status end_by_line(uint64_t *out, struct window *window, uint64_t offset)
{
    for (;;) {
        twin_text text;
        twin_status status = look(&text, window, offset, FROM_BYTES + 1);
        if (status != TWIN_OK)
            return status;
        const char *found = memmem(text.bytes, text.length, "\nFrom ", 6);
        bool is_last = offset + text.length >= window->end;
        if (!found && is_last) {
            *out = window->end;
            return TWIN_OK;
        }
        if (!found) {
            offset += text.length - 5;
            continue;
        }
        offset += (uint64_t)(found + 1 - text.bytes);
        status = look(&text, window, offset, FROM_BYTES);
        if (status != TWIN_OK || is_from_line(text)) {
            *out = offset;
            return status;
        }
    }
}

static twin_status add_message(struct twin__mbox *mbox, uint64_t offset, uint64_t end)
{
    if (!TWIN__ARRAY_GROW(&mbox->messages, &mbox->capacity, mbox->count, 1))
        return TWIN_ENOMEM;
    mbox->messages[mbox->count++] = (struct twin__mbox_message){ offset, end - offset };
    return TWIN_OK;
}

static twin_status scan(struct twin__mbox *out, struct window *window, uint64_t begin, twin_mbox mbox)
{
    bool by_length = mbox == TWIN_MBOX_AUTO || mbox == TWIN_MBOX_CL || mbox == TWIN_MBOX_CL2;
    twin_text text;
    twin_status status = look(&text, window, begin, FROM_BYTES);
    if (status == TWIN_OK && (mbox == TWIN_MBOX_NONE || !is_from_line(text)))
        return add_message(out, begin, window->end);
    for (uint64_t offset = begin; status == TWIN_OK && offset < window->end;) {
        uint64_t next = 0;
        if (by_length)
            status = end_by_length(&next, window, offset);
        if (status == TWIN_OK && next <= offset)
            status = end_by_line(&next, window, offset);
        if (status == TWIN_OK)
            status = add_message(out, offset, next);
        offset = next;
    }
    return status;
}

twin_status twin__mbox_scan(struct twin__mbox *out, int fd, uint64_t begin, uint64_t end, twin_mbox mbox,
                            twin_error *error)
{
    struct window window = { .fd = fd, .end = end, .begin = begin };
    size_t needed = end - begin < WINDOW_BYTES ? (size_t)(end - begin) : WINDOW_BYTES;
    window.bytes = malloc(needed ? needed : 1);
    twin_status status = window.bytes ? scan(out, &window, begin, mbox) : TWIN_ENOMEM;
    free(window.bytes);
    if (status == TWIN_ENOMEM)
        return twin__fail_memory(error);
    return status == TWIN_OK ? status : twin__fail(error, status, "it cannot be read: %m");
}

void twin__mbox_clear(struct twin__mbox *mbox)
{
    free(mbox->messages);
    *mbox = (struct twin__mbox){ 0 };
}

/* ---- what was sent ---- */

/* The bytes of '>' before "From " at the start of a line; 0 if it is another line. */
static size_t quotes(const char *at, const char *end)
{
    size_t count = 0;
    while (at + count < end && at[count] == '>')
        count++;
    return (size_t)(end - at) - count >= 5 && memcmp(at + count, "From ", 5) == 0 ? count : 0;
}

static twin_text without_envelope(twin_text stored)
{
    if (!is_from_line(stored))
        return stored;
    const char *end = stored.bytes + stored.length;
    const char *newline = memchr(stored.bytes, '\n', stored.length);
    const char *begin = newline ? newline + 1 : end;
    if (end - begin >= 2 && memcmp(end - 2, "\n\n", 2) == 0)
        end--;
    else if (end - begin >= 4 && memcmp(end - 4, "\r\n\r\n", 4) == 0)
        end -= 2;
    return (twin_text){ begin, (size_t)(end - begin) };
}

/* A right length of the body says that mboxcl2 wrote it, unless the caller knows better. */
static bool may_be_quoted(twin_text message, twin_mbox mbox)
{
    if (mbox != TWIN_MBOX_AUTO)
        return mbox != TWIN_MBOX_CL2;
    size_t body = 0;
    int64_t length = content_length(&body, message);
    int64_t more = (int64_t)(message.length - body) - length; /* a line end may follow the body */
    return length < 0 || more < 0 || more > 2;
}

twin_status twin__mbox_unquote(twin_text *out, twin_buffer *scratch, twin_text stored, twin_mbox mbox)
{
    twin_text message = mbox == TWIN_MBOX_NONE ? stored : without_envelope(stored);
    *out = message;
    bool was_stored = message.bytes != stored.bytes;
    const char *at = message.bytes, *end = at + message.length, *kept = at, *found;
    bool one_only = mbox == TWIN_MBOX_O || mbox == TWIN_MBOX_CL;
    if (!was_stored || message.length == 0 || !may_be_quoted(message, mbox))
        return TWIN_OK;
    scratch->length = 0;
    while ((found = memmem(at, (size_t)(end - at), "\n>", 2))) {
        at = found + 1;
        size_t count = quotes(at, end);
        if (count == 0 || (one_only && count > 1))
            continue;
        if (twin_buffer_append(scratch, kept, (size_t)(at - kept)) != TWIN_OK)
            return TWIN_ENOMEM;
        kept = at + 1;
    }
    if (kept == message.bytes)
        return TWIN_OK;
    if (twin_buffer_append(scratch, kept, (size_t)(end - kept)) != TWIN_OK)
        return TWIN_ENOMEM;
    *out = (twin_text){ scratch->bytes, scratch->length };
    return TWIN_OK;
}

/* json_in.c — objects of known fields.
 *
 * One pass, without recursion: lists are of strings or numbers only, and what is passed over is followed by a stack of
 * bits. Strings are never longer unescaped than as they are written, so that room for the whole text is reserved once
 * and what was read never moves. */
#include "json_in.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    const char *bytes;
    size_t at, length;
    twin_buffer *room;
    struct json_error *error;
};

static bool wrong(struct scan *scan, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool wrong(struct scan *scan, size_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* The analyser forgets va_start() after some paths. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(scan->error->message, sizeof scan->error->message, format, arguments);
    va_end(arguments);
    scan->error->offset = offset;
    return false;
}

/* The next byte that is not white space, or -1. */
static int peek(struct scan *scan)
{
    while (scan->at < scan->length && strchr(" \t\r\n", scan->bytes[scan->at]) && scan->bytes[scan->at])
        scan->at++;
    return scan->at < scan->length ? (unsigned char)scan->bytes[scan->at] : -1;
}

static bool expect(struct scan *scan, char c)
{
    if (peek(scan) == c) {
        scan->at++;
        return true;
    }
    return wrong(scan, scan->at, "expected '%c'", c);
}

/* ---- strings */

/* Four hexadecimal digits; -1: there are none. */
static int32_t hex4(const struct scan *scan, size_t at)
{
    int32_t value = 0;
    if (scan->length - at < 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        unsigned char c = (unsigned char)scan->bytes[i];
        if (!isxdigit(c))
            return -1;
        value = value * 16 + (isdigit(c) ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

static void put(struct scan *scan, uint32_t c)
{
    char *out = scan->room->bytes + scan->room->length;
    if (c < 0x80) {
        out[0] = (char)c;
        scan->room->length += 1;
    } else if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        scan->room->length += 2;
    } else if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        scan->room->length += 3;
    } else {
        out[0] = (char)(0xF0 | c >> 18);
        out[1] = (char)(0x80 | (c >> 12 & 63));
        out[2] = (char)(0x80 | (c >> 6 & 63));
        out[3] = (char)(0x80 | (c & 63));
        scan->room->length += 4;
    }
}

/* Behind "\u": one escape, or two that are a surrogate pair. */
static bool read_unicode(struct scan *scan)
{
    int32_t high = hex4(scan, scan->at);
    if (high < 0)
        return wrong(scan, scan->at, "expected four hexadecimal digits");
    scan->at += 4;
    if (high < 0xD800 || high > 0xDFFF) {
        put(scan, (uint32_t)high);
        return true;
    }
    bool pair = high < 0xDC00 && scan->length - scan->at >= 6 && memcmp(scan->bytes + scan->at, "\\u", 2) == 0;
    int32_t low = pair ? hex4(scan, scan->at + 2) : -1;
    if (low >= 0xDC00 && low <= 0xDFFF) {
        scan->at += 6;
        put(scan, 0x10000 + (((uint32_t)high - 0xD800) << 10) + ((uint32_t)low - 0xDC00));
    } else {
        put(scan, 0xFFFD);
    }
    return true;
}

static bool read_escape(struct scan *scan)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = scan->at < scan->length ? scan->bytes[scan->at] : 0;
    const char *name = c ? strchr(names, c) : NULL;
    scan->at++;
    if (c == 'u')
        return read_unicode(scan);
    if (!name)
        return wrong(scan, scan->at - 1, "no such escape in a string");
    put(scan, (unsigned char)values[name - names]);
    return true;
}

static bool read_text(twin_text *out, struct scan *scan)
{
    if (!expect(scan, '"'))
        return wrong(scan, scan->at, "expected a string");
    size_t begin = scan->room->length;
    while (scan->at < scan->length && scan->bytes[scan->at] != '"') {
        unsigned char c = (unsigned char)scan->bytes[scan->at++];
        if (c < 0x20)
            return wrong(scan, scan->at - 1, "a control character in a string; write \\u%04x", c);
        if (c != '\\')
            scan->room->bytes[scan->room->length++] = (char)c;
        else if (!read_escape(scan))
            return false;
    }
    if (scan->at >= scan->length)
        return wrong(scan, scan->length, "a string does not end");
    scan->at++;
    *out = (twin_text){ scan->room->bytes + begin, scan->room->length - begin };
    return true;
}

/* ---- other values */

/* The bytes of a number, which is checked by the grammar of JSON. */
static bool scan_number(twin_text *out, struct scan *scan)
{
    (void)peek(scan);
    size_t at = scan->at, begin = at;
    const char *p = scan->bytes;
    at += at < scan->length && p[at] == '-';
    size_t digits = at;
    while (at < scan->length && isdigit((unsigned char)p[at]))
        at++;
    bool good = at > digits && (p[digits] != '0' || at == digits + 1);
    if (good && at < scan->length && p[at] == '.') {
        digits = ++at;
        while (at < scan->length && isdigit((unsigned char)p[at]))
            at++;
        good = at > digits;
    }
    if (good && at < scan->length && (p[at] | 32) == 'e') {
        at++;
        at += at < scan->length && (p[at] == '+' || p[at] == '-');
        digits = at;
        while (at < scan->length && isdigit((unsigned char)p[at]))
            at++;
        good = at > digits;
    }
    if (!good || at - begin > 40)
        return wrong(scan, begin, "expected a number");
    *out = (twin_text){ p + begin, at - begin };
    scan->at = at;
    return true;
}

static bool read_number(double *out, struct scan *scan)
{
    char room[48];
    twin_text text = { "", 0 };
    size_t begin = scan->at;
    if (!scan_number(&text, scan))
        return false;
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.bytes);
    *out = strtod(room, NULL);
    return isfinite(*out) || wrong(scan, begin, "a number is too large");
}

static bool read_count(uint64_t *out, struct scan *scan)
{
    twin_text text = { "", 0 };
    char room[48];
    (void)peek(scan);
    size_t begin = scan->at;
    if (!scan_number(&text, scan))
        return false;
    snprintf(room, sizeof room, "%.*s", (int)text.length, text.bytes);
    errno = 0;
    *out = strtoull(room, NULL, 10);
    if (errno || strspn(room, "0123456789") != text.length)
        return wrong(scan, begin, "expected a whole number, 0 or more");
    return true;
}

static bool read_flag(bool *out, struct scan *scan)
{
    (void)peek(scan);
    const char *p = scan->bytes + scan->at;
    size_t left = scan->length - scan->at;
    bool yes = left >= 4 && memcmp(p, "true", 4) == 0, no = left >= 5 && memcmp(p, "false", 5) == 0;
    if (!yes && !no)
        return wrong(scan, scan->at, "expected true or false");
    scan->at += yes ? 4 : 5;
    *out = yes;
    return true;
}

static bool read_name(struct json_name *out, struct scan *scan)
{
    out->is_number = peek(scan) != '"';
    return out->is_number ? scan_number(&out->text, scan) : read_text(&out->text, scan);
}

static bool read_texts(struct json_texts *out, struct scan *scan)
{
    out->count = 0;
    if (!expect(scan, '['))
        return wrong(scan, scan->at, "expected a list of strings");
    if (peek(scan) == ']') {
        scan->at++;
        return true;
    }
    do {
        if (out->count == JSON_MOST_TEXTS)
            return wrong(scan, scan->at, "a list of more than %d strings", JSON_MOST_TEXTS);
        if (!read_text(&out->items[out->count++], scan))
            return false;
    } while (peek(scan) == ',' && ++scan->at);
    return expect(scan, ']');
}

static bool read_point(twin_plan_point *out, struct scan *scan)
{
    return expect(scan, '[') && read_number(&out->similarity, scan) && expect(scan, ',') &&
           read_number(&out->probability, scan) && expect(scan, ']');
}

/* ---- values that nobody wants */

enum { MOST_NESTED = 64 }; /* bits of a stack */

static bool skip_word(struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    if (scan->length - scan->at < length || memcmp(scan->bytes + scan->at, word, length) != 0)
        return wrong(scan, scan->at, "expected a value");
    scan->at += length;
    return true;
}

static bool skip_name(struct scan *scan)
{
    twin_text name;
    return read_text(&name, scan) && expect(scan, ':');
}

/* A value that is no list and no object. */
static bool skip_plain(struct scan *scan)
{
    twin_text text;
    switch (peek(scan)) {
    case '"': return read_text(&text, scan);
    case 't': return skip_word(scan, "true");
    case 'f': return skip_word(scan, "false");
    case 'n': return skip_word(scan, "null");
    default: return scan_number(&text, scan) || wrong(scan, scan->at, "expected a value");
    }
}

/* Any value. The bit of a depth is set where an object is open, not a list. */
static bool skip_value(struct scan *scan)
{
    uint64_t objects = 0;
    unsigned depth = 0;
    for (;;) {
        int c = peek(scan);
        if (c == '{' || c == '[') {
            if (depth == MOST_NESTED)
                return wrong(scan, scan->at, "lists and objects are nested more than %d deep", MOST_NESTED);
            objects = objects << 1 | (c == '{');
            depth++;
            scan->at++;
            if (peek(scan) != (c == '{' ? '}' : ']')) {
                if (c == '{' && !skip_name(scan))
                    return false;
                continue;
            }
        } else if (!skip_plain(scan)) {
            return false;
        }
        while (depth && peek(scan) == (objects & 1 ? '}' : ']')) {
            scan->at++;
            objects >>= 1;
            depth--;
        }
        if (depth == 0)
            return true;
        if (!expect(scan, ',') || ((objects & 1) && !skip_name(scan)))
            return false;
    }
}

/* ---- objects */

static bool read_value(const struct json_field *field, struct scan *scan)
{
    switch (field->kind) {
    case JSON_TEXT: return read_text(field->value, scan);
    case JSON_NAME: return read_name(field->value, scan);
    case JSON_NUMBER: return read_number(field->value, scan);
    case JSON_COUNT: return read_count(field->value, scan);
    case JSON_FLAG: return read_flag(field->value, scan);
    case JSON_TEXTS: return read_texts(field->value, scan);
    case JSON_POINT: return read_point(field->value, scan);
    case JSON_OTHERS: break;
    }
    return false;
}

enum { MOST_FIELDS = 32 };

static bool read_member(bool seen[MOST_FIELDS], struct scan *scan, const struct json_field *fields, size_t count)
{
    twin_text name = { "", 0 };
    (void)peek(scan);
    size_t begin = scan->at, i = 0;
    if (!read_text(&name, scan))
        return false;
    while (i < count && fields[i].kind != JSON_OTHERS &&
           (strlen(fields[i].name) != name.length || memcmp(fields[i].name, name.bytes, name.length) != 0))
        i++;
    if (i == count)
        return wrong(scan, begin, "no field of this name is known here");
    if (fields[i].kind == JSON_OTHERS)
        return expect(scan, ':') && skip_value(scan);
    if (seen[i])
        return wrong(scan, begin, "the field \"%s\" is there twice", fields[i].name);
    seen[i] = true;
    if (fields[i].given)
        *fields[i].given = true;
    return expect(scan, ':') && read_value(&fields[i], scan);
}

bool json_read(struct json_error *error, twin_buffer *room, twin_text text, const struct json_field *fields,
               size_t count)
{
    bool seen[MOST_FIELDS] = { false };
    struct scan scan = { text.bytes, 0, text.length, room, error };
    room->length = 0;
    if (twin_buffer_reserve(room, text.length + 1) != TWIN_OK)
        return wrong(&scan, 0, "out of memory");
    if (!expect(&scan, '{'))
        return wrong(&scan, scan.at, "expected a JSON object");
    if (peek(&scan) == '}') {
        scan.at++;
    } else {
        do {
            if (!read_member(seen, &scan, fields, count))
                return false;
        } while (peek(&scan) == ',' && ++scan.at);
        if (!expect(&scan, '}'))
            return wrong(&scan, scan.at, "expected ',' or '}'");
    }
    if (peek(&scan) >= 0)
        return wrong(&scan, scan.at, "something follows the object");
    for (size_t i = 0; i < count; i++)
        if (!seen[i] && !fields[i].given && fields[i].kind != JSON_OTHERS)
            return wrong(&scan, text.length, "the field \"%s\" is missing", fields[i].name);
    return true;
}

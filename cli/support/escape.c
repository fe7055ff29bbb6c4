/* escape.c — ids, names and texts from strangers, made safe to print.
 *
 * All walk over characters of UTF-8, and over maximal ill-formed sequences between them; they differ in what they
 * escape and how. */
#include "escape.h"

/* The length of the character at p if it is well-formed UTF-8 (Unicode, table 3-7). Else *valid is false, and the
 * length is that of the maximal ill-formed sequence, at least 1. */
static size_t character(bool *valid, const unsigned char *p, size_t left)
{
    unsigned char lead = p[0], low = 0x80, high = 0xBF;
    size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    switch (lead) { /* no overlong forms, no surrogates, nothing above U+10FFFF */
    case 0xE0: low = 0xA0; break;
    case 0xED: high = 0x9F; break;
    case 0xF0: low = 0x90; break;
    case 0xF4: high = 0x8F; break;
    default: break;
    }
    *valid = false;
    if (length == 0)
        return 1;
    for (size_t i = 1; i < length; i++) {
        if (i >= left || p[i] < low || p[i] > high)
            return i;
        low = 0x80;
        high = 0xBF;
    }
    *valid = true;
    return length;
}

static void escape_json_byte(FILE *out, unsigned char c)
{
    switch (c) {
    case '"': fputs("\\\"", out); break;
    case '\\': fputs("\\\\", out); break;
    case '\b': fputs("\\b", out); break;
    case '\f': fputs("\\f", out); break;
    case '\n': fputs("\\n", out); break;
    case '\r': fputs("\\r", out); break;
    case '\t': fputs("\\t", out); break;
    default: fprintf(out, "\\u%04x", c); break;
    }
}

/* Bytes that need no escape go out in runs, as in escape(). */
void escape_json(FILE *out, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)(length ? bytes : "");
    size_t written = 0;
    fputc('"', out);
    for (size_t i = 0, step; i < length; i += step) {
        bool valid;
        step = character(&valid, p + i, length - i);
        if (valid && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')
            continue;
        fwrite(p + written, 1, i - written, out);
        if (valid)
            escape_json_byte(out, p[i]);
        else
            fputs("\xEF\xBF\xBD", out);
        written = i + step;
    }
    fwrite(p + written, 1, length - written, out);
    fputc('"', out);
}

/* Whether the well-formed character of `length` bytes at p is a control character (see escape.h). */
static bool is_control(const unsigned char *p, size_t length)
{
    if (length == 1)
        return p[0] < 0x20 || p[0] == 0x7F;
    if (length == 2)
        return p[0] == 0xC2 && p[1] < 0xA0;
    bool embedding = p[1] == 0x80 && p[2] >= 0xAA && p[2] <= 0xAE; /* U+202A to U+202E */
    bool isolate = p[1] == 0x81 && p[2] >= 0xA6 && p[2] <= 0xA9;   /* U+2066 to U+2069 */
    return length == 3 && p[0] == 0xE2 && (embedding || isolate);
}

/* Writes `bytes` with the characters that are unsafe as \\xHH. Safe bytes go out in runs. */
static void escape(FILE *out, const char *bytes, size_t length, bool for_message)
{
    const unsigned char *p = (const unsigned char *)(length ? bytes : "");
    size_t written = 0;
    for (size_t i = 0, step; i < length; i += step) {
        bool valid;
        step = character(&valid, p + i, length - i);
        bool safe = valid ? !is_control(p + i, step) : !for_message;
        if (safe && (for_message || p[i] != '\\'))
            continue;
        fwrite(p + written, 1, i - written, out);
        for (size_t j = i; j < i + step; j++)
            fprintf(out, "\\x%02X", p[j]);
        written = i + step;
    }
    fwrite(p + written, 1, length - written, out);
}

void escape_tsv(FILE *out, const char *bytes, size_t length)
{
    escape(out, bytes, length, false);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t unescape_tsv(char *bytes, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < length; i++) {
        bool escape = length - i >= 4 && bytes[i] == '\\' && bytes[i + 1] == 'x';
        int high = escape ? hex_digit(bytes[i + 2]) : -1, low = escape ? hex_digit(bytes[i + 3]) : -1;
        bool whole = high >= 0 && low >= 0;
        bytes[kept++] = whole ? (char)(high * 16 + low) : bytes[i];
        i += whole ? 3 : 0;
    }
    return kept;
}

void escape_message(FILE *out, const char *bytes, size_t length)
{
    escape(out, bytes, length, true);
}

/* What stands for a byte that has a meaning in HTML; NULL: itself. */
static const char *html_entity(unsigned char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

void escape_html(FILE *out, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    for (size_t i = 0, step; i < length; i += step) {
        bool valid;
        step = character(&valid, p + i, length - i);
        bool safe = valid && (p[i] == '\n' || p[i] == '\t' || !is_control(p + i, step));
        const char *entity = safe ? html_entity(p[i]) : "\xEF\xBF\xBD";
        if (entity)
            fputs(entity, out);
        else
            fwrite(p + i, 1, step, out);
    }
}

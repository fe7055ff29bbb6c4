/* json_out.c — names of documents, safe to print. */
#include "cli.h"

/* The length of the character at p if it is well-formed UTF-8 (Unicode, table 3-7). Else *valid is false, and the
 * length is that of the maximal run that begins like a character, at least 1. */
static size_t character(bool *valid, const unsigned char *p, size_t left)
{
    unsigned char lead = p[0], low = 0x80, high = 0xBF;
    size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    switch (lead) { /* the second byte is bounded by overlong forms, surrogates and U+10FFFF */
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

static void json_escape(FILE *out, unsigned char c)
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

void json_string(FILE *out, const char *bytes, size_t length)
{
    const unsigned char *p = (const unsigned char *)bytes;
    fputc('"', out);
    for (size_t i = 0, step; i < length; i += step) {
        bool valid;
        step = character(&valid, p + i, length - i);
        if (!valid)
            fputs("\xEF\xBF\xBD", out);
        else if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
            json_escape(out, p[i]);
        else
            fwrite(p + i, 1, step, out);
    }
    fputc('"', out);
}

void tsv_field(FILE *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c < 0x20 || c == 0x7F)
            fprintf(out, "\\x%02X", c);
        else
            fputc(c, out);
    }
}

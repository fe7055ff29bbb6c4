/* slow_reader.h — a plain reader of lines {"id": "…", "text": "…"} for the programs that check the library, which share
 * none of its code. */
#ifndef SLOW_READER_H
#define SLOW_READER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *allocated(void *memory)
{
    if (memory)
        return memory;
    fputs("out of memory\n", stderr);
    exit(2);
}

static inline _Noreturn void broken(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static inline char *put_character(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/* Unescapes the string that begins at *at, behind its quotation mark, into new memory, and moves *at past it. */
static inline char *read_string(const char **at)
{
    const char *p = *at;
    char *string = allocated(malloc(strlen(p) + 1)), *out = string;
    for (; *p != '"'; p++) {
        if (*p == '\0')
            broken("a string has no end");
        if (*p != '\\') {
            *out++ = *p;
            continue;
        }
        p++;
        if (*p == 'u') {
            char digits[5] = "";
            strncpy(digits, p + 1, 4);
            if (strspn(digits, "0123456789abcdef") != 4)
                broken("\\u without digits");
            out = put_character(out, (unsigned)strtoul(digits, NULL, 16));
            p += 4;
        } else {
            *out++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
        }
    }
    *out = '\0';
    *at = p + 1;
    return string;
}

/* Lower case for ASCII, runs of white space as one blank, none at the ends: all that the texts of the tests need. */
static inline void normalise(char *text)
{
    char *out = text;
    for (const char *p = text; *p; p++) {
        bool blank = *p == ' ' || (*p >= '\t' && *p <= '\r');
        if (blank && (out == text || out[-1] == ' '))
            continue;
        *out++ = blank ? ' ' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    }
    if (out > text && out[-1] == ' ')
        out--;
    *out = '\0';
}

static inline char *read_field(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    if (!at)
        broken("a line without a field");
    at += strlen(name);
    return read_string(&at);
}

#endif

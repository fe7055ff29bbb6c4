/* terminal.c — what a terminal can show. */
#include "terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_color(int descriptor, enum color when)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    return isatty(descriptor) && !(no && *no) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

size_t terminal_columns(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col;
    return isatty(descriptor) ? 80 : 0;
}

/* The character that begins at p, roughly: what is not UTF-8 is a character of one column. */
static uint32_t character(const unsigned char *p, size_t length)
{
    size_t bytes = *p < 0xC0 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
    uint32_t c = bytes == 1 ? *p : *p & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes && i < length; i++)
        c = c << 6 | (p[i] & 0x3F);
    return c;
}

size_t text_columns(twin_text text)
{
    size_t columns = 0;
    for (size_t i = 0; i < text.length; i++) {
        const unsigned char *p = (const unsigned char *)text.bytes + i;
        if ((*p & 0xC0) == 0x80)
            continue; /* part of the one before */
        uint32_t c = character(p, text.length - i);
        bool accent = (c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F);
        bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                    (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x1F300 && c <= 0x1FAFF) ||
                    (c >= 0x20000 && c <= 0x3FFFF);
        columns += accent ? 0 : wide ? 2 : 1;
    }
    return columns;
}

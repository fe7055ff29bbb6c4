/* terminal.h — what a terminal can show. */
#ifndef TWIN_SUPPORT_TERMINAL_H
#define TWIN_SUPPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include <twinsift/text.h>

/* Whether output to this file descriptor is coloured: on a terminal that wants it, always, or never. */
enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
bool terminal_color(int descriptor, enum color when);

/* The columns of the terminal behind a file descriptor; 0 when it is none. */
size_t terminal_columns(int descriptor);

/* The columns that a text takes: two for each character of Chinese, Japanese and Korean, none for accents that are
 * characters of their own. */
size_t text_columns(twin_text text);

#endif

/* html_guard.h — keeps HTML from what takes libxml2 long. */
#ifndef TWIN_MAIL_HTML_GUARD_H
#define TWIN_MAIL_HTML_GUARD_H

#include <stddef.h>

/* Overwrites attributes past the first few hundred of a tag by blanks. */
void twin__html_guard(char *page, size_t length);

#endif

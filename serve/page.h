/* page.h — the files of the web page, which the build puts into the program (cmake/embed.cmake). */
#ifndef TWIN_SERVE_PAGE_H
#define TWIN_SERVE_PAGE_H

#include <stddef.h>

struct page_file {
    const char *name, *type;
    const unsigned char *bytes;
    size_t length;
};

extern const struct page_file page_files[]; /* ended by zeros */

#endif

/* page.h — the text of an HTML page. */
#ifndef TWIN_INPUT_PAGE_H
#define TWIN_INPUT_PAGE_H

#include "base/scratch.h"

/* What a person sees of the page, in buffers->text, where the page may be; buffers->key is used too. */
twin_status twin__page_text(twin_text *out, twin_read_buffers *buffers, twin_text page);

#endif

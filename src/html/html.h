/* html.h — the text that a person sees of an HTML page. */
#ifndef TWIN_HTML_HTML_H
#define TWIN_HTML_HTML_H

#include <twinsift/buffer.h>

/* What reads pages, one after the other. */
struct twin__html;
twin_status twin__html_create(struct twin__html **out);
void twin__html_free(struct twin__html *html);

/* Where the text of a page goes. */
struct twin__html_sink {
    twin_buffer *text, *hidden; /* what is seen, and what is not; hidden NULL: not wanted */

    /* Appends to one of the two, as much as is wanted. */
    twin_status (*append)(void *context, twin_buffer *to, twin_text text);

    /* Takes the address of a link or a picture. NULL: none is wanted. */
    twin_status (*url)(void *context, twin_text url);

    /* Takes the hash of the name of an element that begins. NULL: none is wanted. */
    twin_status (*element)(void *context, uint64_t name);
    void *context;

    bool is_hiding, is_divided; /* set where text is hidden, or a word divided by elements without text */
};

/* Appends the page, in UTF-8, to the sink. May change the page. */
twin_status twin__html_show(struct twin__html *html, struct twin__html_sink *sink, twin_buffer *page);

#endif

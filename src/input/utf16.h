/* utf16.h — UTF-16 becomes UTF-8. */
#ifndef TWIN_INPUT_UTF16_H
#define TWIN_INPUT_UTF16_H

#include <twinsift/text.h>

/* Whether the text begins with a byte order mark of UTF-16. That of UTF-32 is none. */
bool twin__is_utf16(twin_text text);

/* Appends a text that begins with such a mark to `out`, without the mark. Half a surrogate pair, and half a
 * unit at the end, become U+FFFD. */
twin_status twin__utf16_append(twin_buffer *out, twin_text text);

#endif

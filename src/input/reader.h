/* reader.h — what readers of whole inputs share. */
#ifndef TWIN_INPUT_READER_H
#define TWIN_INPUT_READER_H

#include <twinsift/input.h>

/* The id of a document that has none: its line, after the source's name if there are several. It
 * is in `buffer`. */
twin_status twin__name_by_line(twin_text *out, const twin_input *input, twin_buffer *buffer, twin_position position);

#endif

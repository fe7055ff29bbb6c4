/* documents.h — the documents of an input, chunk by chunk or one by one, with a scratch of our own. */
#ifndef TWIN_INPUT_DOCUMENTS_H
#define TWIN_INPUT_DOCUMENTS_H

#include <twinsift/input.h>

#include "base/scratch.h"

/* twin_input_read() and twin_input_field(). */
twin_status twin__input_read(uint64_t *lines, const twin_input *input, twin_read_buffers *buffers, size_t chunk,
                             twin_visitor visitor, twin_error *error);
twin_status twin__input_field(twin_text *out, const twin_input *input, twin_read_buffers *room,
                              const twin_document *document, const char *name, twin_error *error);

/* Reads one document again. Its line must be counted from the start of the input, since a
 * document without an id is named by it: alone if there is one input, else after the input's
 * name and a colon. The texts live until `buffers` is used again. TWIN_EFORMAT when the document
 * is no longer there. */
twin_status twin__input_fetch(twin_document *out, const twin_input *input, twin_read_buffers *buffers,
                              twin_position position, twin_error *error);

#endif

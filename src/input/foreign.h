/* foreign.h — files of kinds that are not read: recognised to say what to do instead. */
#ifndef TWIN_INPUT_FOREIGN_H
#define TWIN_INPUT_FOREIGN_H

#include <twinsift/input.h>

/* What to do with a file of this name, as part of a sentence; NULL when the name says nothing. */
const char *twin__foreign_name(const char *name);

/* Enough bytes to recognise each kind. */
enum { TWIN__FOREIGN_BYTES = 16 };

/* What a file that begins with these bytes is, and what to do with it: "is a PDF; …". NULL when it
 * may be lines of the format. */
const char *twin__foreign_bytes(const char *bytes, size_t length, twin_input_format format);

/* The first byte that is not white space of JSON; 0 when there is none. */
char twin__first_visible(const char *bytes, size_t length);

/* What a file that begins with these bytes is, if it is not text: "a PDF file". NULL when it may be text. */
const char *twin__foreign_file(const char *bytes, size_t length);

#endif

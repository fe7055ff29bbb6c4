/* fields.h — the headers of a message or a part, line by line, in the bytes as they are. */
#ifndef TWIN_MAIL_FIELDS_H
#define TWIN_MAIL_FIELDS_H

#include <string.h>
#include <twinsift/buffer.h>

#include "text/ascii.h"

/* A header with its folded lines. */
struct twin__field {
    twin_text name;  /* without blanks before the colon */
    twin_text value; /* after the colon, with folds, without the last line end */
    twin_text lines; /* all of it */
};

/* Where headers are read; begin with twin__fields_of(). */
struct twin__fields {
    const char *at, *end;
    bool is_malformed; /* ended by a line that is neither a header nor empty; the body begins with it */
};

struct twin__fields twin__fields_of(twin_text message);

/* False after the last header; `at` is then the start of the body. */
bool twin__fields_next(struct twin__field *out, struct twin__fields *fields);

/* The message without the line "From …" that mbox files put before it. */
twin_text twin__without_from_line(twin_text message);

#endif

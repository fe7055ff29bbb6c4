/* content_type.h — Content-Type headers as almost all mail has them, without what makes the grammar hard. */
#ifndef TWIN_MAIL_CONTENT_TYPE_H
#define TWIN_MAIL_CONTENT_TYPE_H

#include <stdbool.h>
#include <twinsift/buffer.h>

/* Borrowed from the value; `bytes` NULL: not given. */
struct twin__content_type {
    twin_text type, charset, boundary, name, delsp;
};

/* Divides a value into type and parameters. False: it is not simple, and GMime has to read it. A simple value has no
 * comments, escapes, encoded words, continued parameters or parameters given twice; it means the same to GMime. */
bool twin__content_type_read(struct twin__content_type *out, const char *value);

#endif

/* simple_fields.h — headers as almost all mail has them, without what makes their grammar hard.
 *
 * False, or TWIN_EINVAL: it is not simple, and GMime has to read it. What is simple means the same to GMime. */
#ifndef TWIN_MAIL_SIMPLE_FIELDS_H
#define TWIN_MAIL_SIMPLE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <twinsift/buffer.h>

/* Borrowed from the value; `bytes` NULL: not given. */
struct twin__content_type {
    twin_text type, charset, boundary, name, delsp;
};

/* Divides a Content-Type into type and parameters. A simple value has no comments, escapes, encoded words, continued parameters
 * or parameters given twice. */
bool twin__content_type_read(struct twin__content_type *out, const char *value);

/* Finds the file name in a Content-Disposition; `bytes` NULL: it has none. */
bool twin__disposition_read(twin_text *filename, const char *value);

/* "Tue, 1 Jul 2003 10:52:37 +0200 (CEST)": seconds since 1970. */
bool twin__date_read(int64_t *out, const char *value);

/* Appends a value with its encoded words decoded: "Re: =?utf-8?Q?gr=C3=BCn?= =?utf-8?B?ZQ==?=". TWIN_EINVAL: it is not simple;
 * all words are of UTF-8, between blanks, and the others ASCII. */
twin_status twin__words_read(twin_buffer *out, const char *value);

#endif

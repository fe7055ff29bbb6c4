/* mime.h — content types, encoded words, transfer encodings, character sets, dates: what is hard of them is left to GMime.
 *
 * With domain.c the only user of GMime and GLib. GLib ends the process when it is out of memory; what it is given here is
 * bounded. */
#ifndef TWIN_MAIL_MIME_H
#define TWIN_MAIL_MIME_H

#include "mail/arena.h"

struct twin__mime;

twin_status twin__mime_create(struct twin__mime **out);
void twin__mime_free(struct twin__mime *mime);

/* Appends a header's value with its encoded words decoded, as valid UTF-8. */
twin_status twin__mime_decode_words(twin_buffer *out, struct twin__mime *mime, const char *value);

/* What the Content headers of a part say. Texts live in the arena; those that can be compared are in lower case. */
struct twin__content {
    twin_text type; /* "text/plain" where none is given */
    twin_text charset, boundary, name, encoding;
    bool joins_lines; /* format=flowed; delsp=yes */
};

/* Reads a Content-Type; fills all but the encoding, the name if there is none yet. */
twin_status twin__mime_content_type(struct twin__content *out, struct twin__mime *mime, struct twin__arena *arena,
                                    const char *value);

/* Reads a Content-Disposition: fills name if it gives one. */
twin_status twin__mime_disposition(struct twin__content *out, struct twin__mime *mime, struct twin__arena *arena,
                                   const char *value);

/* ---- transfer.c */

/* Whether the encoding leaves the bytes as they are. */
bool twin__mime_is_plain(twin_text encoding);

/* Replaces `out` by the decoded bytes. */
twin_status twin__mime_decode(twin_buffer *out, twin_text encoding, twin_text bytes);

/* Base64 to its first "="; characters that are left of four without it are none. `to` has room for as many bytes. Returns where
 * they end. */
char *twin__base64_decode(char *to, twin_text text);

/* ---- mime.c again */

/* Replaces `out` by the bytes as valid UTF-8 without zeros. `bad` becomes true if some were not in the character set. */
twin_status twin__mime_to_utf8(twin_buffer *out, bool *bad, struct twin__mime *mime, twin_text charset,
                               twin_text bytes);

/* Seconds since 1970; INT64_MIN if it is no date, or one that only GMime reads, which cannot be loaded. */
int64_t twin__mime_date(const char *value);

#endif

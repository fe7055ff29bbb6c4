/* json.h — one JSON object on a line: its id and its text, and whether the whole of it is
 * well-formed.
 *
 * A field is a member of the object, or of an object in it. The text is that of one field, or of
 * several, joined by a line end; of these, those that are missing or null are left out.
 *
 * The line is checked against RFC 8259 in the same pass that finds its end. Bytes that are not
 * UTF-8 pass through strings unchanged; half a surrogate pair becomes U+FFFD. When a key comes
 * twice the last one counts. */
#ifndef TWIN_INPUT_JSON_H
#define TWIN_INPUT_JSON_H

#include <twinsift/input.h>

#include "base/scratch.h"
#include "input/fields.h"

enum { TWIN__JSON_MAX_DEPTH = 256 };

enum json_kind { JSON_MISSING, JSON_NULL, JSON_STRING, JSON_NUMBER, JSON_OTHER };

/* `text` is a string unescaped, or a number as it is written; otherwise empty. */
struct json_value {
    enum json_kind kind;
    twin_text text;
    const char *begin; /* its first byte in the line; NULL when it is missing */
};

struct json_line {
    struct json_value id, text;
    const char *end;   /* the newline that ends the line */
    const char *wrong; /* NULL, or what is wrong with the line: part of a sentence, never freed */
    const char *where; /* the byte at which that was found */
    bool blank;        /* nothing but white space */
};

/* Scans the line that starts at `line`; a newline stands right before `end`. Strings without
 * escapes stay where they are, others are unescaped into `room`, where they live until it is
 * used again; if room->in_place, the text of one field is where it was, and the line must be in
 * room->block. A line that is wrong is still TWIN_OK; TWIN_ENOMEM is the only failure. */
twin_status twin__json_scan(struct json_line *out, twin_read_buffers *room, const struct twin__fields *fields,
                            const char *line, const char *end);

#endif

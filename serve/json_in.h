/* json_in.h — the JSON objects of requests.
 *
 * A request is an object of known fields, whose values are strings, numbers, true and false, and lists of these. The
 * caller lists the fields it knows and where their values go; anything else is an error with its place, unless the
 * caller takes records of others, which have fields of their own. */
#ifndef TWIN_SERVE_JSON_IN_H
#define TWIN_SERVE_JSON_IN_H

#include <twinsift/twinsift.h>

enum json_kind {
    JSON_TEXT,   /* twin_text: a string */
    JSON_NAME,   /* struct json_name: a string, or a number as it is written */
    JSON_NUMBER, /* double, finite */
    JSON_COUNT,  /* uint64_t */
    JSON_FLAG,   /* bool */
    JSON_TEXTS,  /* struct json_texts: a list of strings */
    JSON_POINT,  /* twin_plan_point: a list of two numbers */
    JSON_OTHERS, /* last in the list, without a name: fields of other names, which are passed over */
};

struct json_name {
    twin_text text;
    bool is_number;
};

enum { JSON_MOST_TEXTS = 200 };
struct json_texts {
    twin_text items[JSON_MOST_TEXTS];
    size_t count;
};

struct json_field {
    const char *name;
    enum json_kind kind;
    void *value;
    bool *given; /* becomes true if the object has the field; NULL: it must */
};

struct json_error {
    size_t offset;
    char message[160];
};

/* Reads one object, with nothing but white space around it. Strings, unescaped, live in `room`, which must not change
 * as long as they are used; a \u escape that is no character becomes U+FFFD. What was given before an error is set. */
bool json_read(struct json_error *error, twin_buffer *room, twin_text text, const struct json_field *fields,
               size_t count);

#endif

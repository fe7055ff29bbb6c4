/* json_records.h — JSON arrays, and objects over several lines, become JSON lines.
 *
 * What is read may be one array, whose elements are the records, or values one after the other; it comes in pieces of any
 * length. Line ends between the tokens of a record become blanks. Whether a record is valid is left to its reader. */
#ifndef TWIN_INPUT_JSON_RECORDS_H
#define TWIN_INPUT_JSON_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Begin with {0}. */
struct twin__json_records {
    size_t nest; /* how many brackets of this record are open */
    bool in_list, in_string, is_escaped;
    bool in_scalar; /* a record without brackets */
};

/* Whether text that begins like this is an array, or an object over several lines, and not JSON lines. */
bool twin__begins_json_records(const char *bytes, size_t length);

/* Whether it is an array of objects. */
bool twin__begins_json_objects(const char *bytes, size_t length);

/* Writes lines to `out`, which has room for twice as many bytes, and returns how many bytes they have. */
size_t twin__json_records_take(struct twin__json_records *state, char *out, const char *bytes, size_t length);

/* At the end: whether all brackets and quotes are closed. */
bool twin__json_records_end(const struct twin__json_records *state);

#endif

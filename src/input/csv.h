/* csv.h — records of a table in text, as RFC 4180 has them.
 *
 * A record is a line. Its columns are separated by one byte. A column that begins with a quote ends with one, and may
 * hold separators, line ends and doubled quotes; in other columns quotes are bytes like any. */
#ifndef TWIN_INPUT_CSV_H
#define TWIN_INPUT_CSV_H

#include <twinsift/text.h>

/* Where a scan for the end of a record stands. Begin with {0}, at the start of a record. */
enum csv_state { CSV_START, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE };

/* Returns the newline that ends the record, after which the state is CSV_START again; or NULL when the record does
 * not end here, and the scan can go on with the bytes that follow. */
const char *twin__csv_find_end(enum csv_state *state, char separator, const char *p, const char *end);

/* A column of a record, between its quotes if it has some. */
struct csv_column {
    twin_text text;
    bool has_quotes;   /* in it, each of them doubled */
    const char *wrong; /* NULL, or what is wrong with it: part of a sentence, never freed */
};

/* Takes the next column of the record that ends at `end`, without its line end, and moves `*p` behind the separator, or
 * to NULL after the last column. A record that is empty has one column. */
struct csv_column twin__csv_next(const char **p, const char *end, char separator);

/* Appends the text of a column. */
twin_status twin__csv_append(twin_buffer *out, const struct csv_column *column);

#endif

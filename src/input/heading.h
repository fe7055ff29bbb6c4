/* heading.h — the header of a table, and those in the middle of one.
 *
 * Tables are put together with cat(1), and then have the header of each part among their records. Where the columns
 * are the same, such a line only is no document. Where they are others, all records below it would be read
 * wrongly. */
#ifndef TWIN_INPUT_HEADING_H
#define TWIN_INPUT_HEADING_H

#include "input/fields.h"

/* Finds the end of the header, and what separates its columns: tabs, or of comma, semicolon and tab the first that
 * does. Programs set to a language that has commas in its numbers write semicolons. NULL: the header does not end. */
const char *twin__heading_find_end(char *separator, const char *p, const char *end, bool is_tabbed);

/* The header of a table, without its line end. */
struct twin__heading {
    twin_text header;
    char separator;
    const struct twin__fields *fields;
};

enum twin__heading_kind { TWIN__HEADING_NONE, TWIN__HEADING_SAME, TWIN__HEADING_OTHER };

/* What a record is: no header; the same; or one of other columns, which has the names of the id and of the text in
 * it, or the names of the header in another order. Of a table with one column no record is a header. */
enum twin__heading_kind twin__heading_of(const struct twin__heading *heading, twin_text record);

#endif

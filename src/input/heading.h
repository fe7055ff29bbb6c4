/* heading.h — the header of a table, and those in the middle of one.
 *
 * Tables are put together with cat(1), and then have the header of each part among their records. Such a line is no
 * document. Only a record that has all names of the header, and nothing else, is one: people may fill in a form with
 * the words "id" and "text". */
#ifndef TWIN_INPUT_HEADING_H
#define TWIN_INPUT_HEADING_H

#include "input/fields.h"

/* Finds the end of the header, and what separates its columns: tabs, or of comma, semicolon and tab the first that
 * does. Programs set to a language that has commas in its numbers write semicolons. NULL: the header does not end. */
const char *twin__heading_find_end(char *separator, const char *p, const char *end, bool is_tabbed);

/* The header of a table, without its line end, and how many columns it has. */
struct twin__heading {
    twin_text header;
    size_t columns;
    char separator;
    const struct twin__fields *fields;
};

enum twin__heading_kind { TWIN__HEADING_NONE, TWIN__HEADING_SAME, TWIN__HEADING_REARRANGED };

/* What a record is that has as many columns: no header; the same; or its names in another order, so that the records
 * below it may be read wrongly. Of a table with one column no record is a header. */
enum twin__heading_kind twin__heading_of(const struct twin__heading *heading, twin_text record);

#endif

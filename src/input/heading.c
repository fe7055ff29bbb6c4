/* heading.c — the header of a table, and those in the middle of one. */
#include "input/heading.h"

#include <string.h>

#include "input/csv.h"

const char *twin__heading_find_end(char *separator, const char *p, const char *end, bool is_tabbed)
{
    static const char candidates[] = { '\t', ';', ',' };
    const char *first_end = NULL;
    for (size_t i = is_tabbed ? 1 : sizeof candidates; i-- > 0;) {
        enum csv_state state = CSV_START;
        const char *found = twin__csv_find_end(&state, candidates[i], p, end), *at = p;
        if (found)
            twin__csv_next(&at, found, candidates[i]);
        if (!first_end || (found && at)) {
            first_end = found;
            *separator = candidates[i];
        }
        if (found && at)
            break;
    }
    return first_end;
}

static bool has_cell(twin_text record, char separator, twin_text wanted)
{
    const char *p = record.bytes, *end = record.bytes + record.length;
    while (p)
        if (twin__same_text(twin__csv_next(&p, end, separator).text, wanted))
            return true;
    return false;
}

/* Compares column by column: a name may be quoted in one header and not in the other. */
static bool has_same_columns(const struct twin__heading *heading, twin_text record)
{
    const char *h = heading->header.bytes, *header_end = h + heading->header.length;
    const char *p = record.bytes, *end = p + record.length;
    while (h && p)
        if (!twin__same_text(twin__csv_next(&h, header_end, heading->separator).text,
                             twin__csv_next(&p, end, heading->separator).text))
            return false;
    return !h && !p;
}

/* Whether every cell is the name of a column. */
static bool has_only_names(const struct twin__heading *heading, twin_text record)
{
    const char *p = record.bytes, *end = record.bytes + record.length;
    while (p)
        if (!has_cell(heading->header, heading->separator, twin__csv_next(&p, end, heading->separator).text))
            return false;
    return true;
}

enum twin__heading_kind twin__heading_of(const struct twin__heading *heading, twin_text record)
{
    enum { LONGER = 1024 }; /* a header so much longer than the first is not expected */
    const struct twin__field *fields = heading->fields->items;
    twin_text text = fields[TWIN__FIELD_TEXT].name;
    if (record.length > heading->header.length + LONGER || !memchr(record.bytes, heading->separator, record.length) ||
        !memmem(record.bytes, record.length, text.bytes, text.length))
        return TWIN__HEADING_NONE; /* nearly all: without looking for columns */
    if (!has_cell(record, heading->separator, text))
        return TWIN__HEADING_NONE;
    if (has_same_columns(heading, record))
        return TWIN__HEADING_SAME;
    bool is_header =
        has_cell(record, heading->separator, fields[TWIN__FIELD_ID].name) || has_only_names(heading, record);
    return is_header ? TWIN__HEADING_OTHER : TWIN__HEADING_NONE;
}

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

/* Whether every cell of a record is one of another. */
static bool has_all_cells(twin_text record, twin_text other, char separator)
{
    const char *p = record.bytes, *end = record.bytes + record.length;
    while (p)
        if (!has_cell(other, separator, twin__csv_next(&p, end, separator).text))
            return false;
    return true;
}

/* A table that was saved with a byte order mark has it before its header, also behind another table. */
static twin_text without_mark(twin_text record, char separator)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t length = strlen(mark);
    if (record.length < length || memcmp(record.bytes, mark, length) != 0)
        return record;
    twin_text marked = { record.bytes + length, record.length - length };
    const char *p = marked.bytes;
    return twin__csv_next(&p, p + marked.length, separator).wrong ? record : marked;
}

enum twin__heading_kind twin__heading_of(const struct twin__heading *heading, twin_text record)
{
    enum {
        LONGER = 1024,     /* bytes; a header so much longer than the first is not expected */
        MOST_COLUMNS = 100 /* each is looked for among all */
    };
    twin_text text = heading->fields->items[TWIN__FIELD_TEXT].name;
    char separator = heading->separator;
    if (record.length > heading->header.length + LONGER || !memchr(record.bytes, separator, record.length) ||
        !memmem(record.bytes, record.length, text.bytes, text.length))
        return TWIN__HEADING_NONE; /* nearly all: without looking for columns */
    record = without_mark(record, separator);
    if (has_same_columns(heading, record))
        return TWIN__HEADING_SAME;
    bool is_rearranged = heading->columns <= MOST_COLUMNS && has_all_cells(record, heading->header, separator) &&
                         has_all_cells(heading->header, record, separator);
    return is_rearranged ? TWIN__HEADING_REARRANGED : TWIN__HEADING_NONE;
}

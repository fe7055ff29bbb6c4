/* table.c — files of comma- or tab-separated values with a header.
 *
 * A line end in quotes does not end a record, so where records begin is known only to who has read the file from its
 * start. Opening does that once: it looks for the first record that begins in each chunk's range of bytes, and counts
 * the lines before it. Then chunks are read in any order, as those of lines are: a chunk has the records that begin in
 * its range. A record too long to be read can only be the last of its chunk.
 *
 * A record whose last quote is never closed would have all bytes up to the end of the file. It is a problem, and its
 * line is the last one with an odd number of quotes in a row: on the lines behind, none is left open, whether they are
 * in quotes or not. So reading goes on there, and that can be so only once in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scratch.h"
#include "input/csv.h"
#include "input/file_bytes.h"
#include "input/heading.h"

enum {
    BLOCK_BYTES = 1 << 20,
    MAX_HEADER = 1 << 20, /* bytes; a file whose first line is longer is hardly a table */
    MAX_COLUMNS = 1 << 16,
    NO_COLUMN = UINT16_MAX + 1,
};

struct table {
    struct twin__source source;
    struct twin__file_bytes bytes;
    char separator;
    twin_buffer header; /* without its line end; NULL: none */
    size_t columns;
    size_t column_of[TWIN__MAX_FIELDS]; /* by field; NO_COLUMN: none */

    uint64_t begin; /* behind the header */
    struct start {
        uint64_t offset, lines; /* of the first record of a chunk; lines before it */
    } * starts;                 /* one more than there are chunks */
    uint64_t unclosed,
        resumed; /* where the record begins whose quote is not closed, and the one behind it; UINT64_MAX:
                                 * there is none */
};

static const struct table *table_of(const struct twin__source *source)
{
    return (const struct table *)source;
}

static uint64_t count_lines(const char *p, const char *end)
{
    uint64_t count = 0;
    while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        count++;
        p++;
    }
    return count;
}

/* The end of a record without the '\r' of its line end. */
static const char *without_return(const char *begin, const char *end)
{
    return end > begin && end[-1] == '\r' ? end - 1 : end;
}

/* ---- the header ---- */

static bool accepts(const struct twin__opening *opening)
{
    enum twin__content content = S_ISDIR(opening->about.st_mode) ? TWIN__CONTENT_DOCUMENT : twin__content_of(opening);
    return content == TWIN__CONTENT_CSV || content == TWIN__CONTENT_TSV;
}

static twin_status fail_column(const char *name, twin_text column, twin_text header, twin_error *error)
{
    enum { SHOWN = 80 };
    bool long_header = header.length > SHOWN;
    return twin__fail(error, TWIN_EFORMAT,
                      "%s has no column \"%.*s\" in its first line, \"%.*s%s\"; name columns with --id-field and "
                      "--text-field, or use --sets if its lines are a set and an element",
                      name, (int)column.length, column.bytes, long_header ? SHOWN : (int)header.length, header.bytes,
                      long_header ? "..." : "");
}

/* Which columns the fields are. */
static twin_status find_columns(struct table *table, const char *name, twin_text header,
                                const struct twin__input_settings *settings, twin_error *error)
{
    const struct twin__fields *fields = &settings->fields;
    const char *p = header.bytes, *end = header.bytes + header.length;
    twin_buffer words = { 0 };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < fields->count; i++)
        table->column_of[i] = NO_COLUMN;
    while (p && status == TWIN_OK && table->columns < MAX_COLUMNS) {
        struct csv_column column = twin__csv_next(&p, end, table->separator);
        words.length = 0;
        status = twin__csv_append(&words, &column);
        for (size_t i = 0; i < fields->count && status == TWIN_OK; i++)
            if (table->column_of[i] == NO_COLUMN &&
                twin__same_text(fields->items[i].name, (twin_text){ words.bytes, words.length }))
                table->column_of[i] = table->columns;
        table->columns++;
    }
    twin_buffer_clear(&words);
    if (status != TWIN_OK)
        return twin__fail_memory(error);
    if (p)
        return twin__fail(error, TWIN_EFORMAT, "%s has more than %d columns", name, MAX_COLUMNS);
    for (size_t i = settings->names_id && !settings->ignores_ids ? TWIN__FIELD_ID : TWIN__FIELD_TEXT;
         i < fields->count; i++)
        if (table->column_of[i] == NO_COLUMN)
            return fail_column(name, fields->items[i].name, header, error);
    return TWIN_OK;
}

/* An empty file has no header, and no records. */
static twin_status read_header(struct table *table, const struct twin__opening *opening, twin_error *error)
{
    struct twin__file_bytes *bytes = &table->bytes;
    uint64_t size = bytes->end - bytes->begin;
    size_t length = size < MAX_HEADER ? (size_t)size : MAX_HEADER;
    twin_buffer block = { 0 };
    twin_status status = twin__file_bytes_read(&block, bytes, opening->name, bytes->begin, length, error);
    table->begin = bytes->end;
    if (status != TWIN_OK || length == 0)
        goto done;
    if (length == size)
        block.bytes[block.length++] = '\n';
    bool is_tabbed = twin__content_of(opening) == TWIN__CONTENT_TSV;
    const char *end = twin__heading_find_end(&table->separator, block.bytes, block.bytes + block.length, is_tabbed);
    if (!end) {
        status =
            length < size
                ? twin__fail(error, TWIN_EFORMAT, "%s is no table: its first line has more than %d bytes",
                             opening->name, MAX_HEADER)
                : twin__fail(error, TWIN_EFORMAT, "%s has no header: its first line does not end", opening->name);
        goto done;
    }
    uint64_t behind = bytes->begin + (uint64_t)(end + 1 - block.bytes);
    table->begin = behind < bytes->end ? behind : bytes->end;
    twin_text header = { block.bytes, (size_t)(without_return(block.bytes, end) - block.bytes) };
    status = find_columns(table, opening->name, header, opening->settings, error);
    if (status == TWIN_OK && twin_buffer_append(&table->header, header.bytes, header.length) != TWIN_OK)
        status = twin__fail_memory(error);
    table->starts[0].lines = count_lines(block.bytes, end + 1);
done:
    twin_buffer_clear(&block);
    return status;
}

/* ---- where chunks begin ---- */

struct scan {
    struct table *table;
    uint64_t each, record,
        lines,           /* bytes per chunk; where the record begins; lines before the block's part not counted */
        record_lines;    /* lines before the record */
    size_t chunks, next; /* the chunk whose start is to be found */
    enum csv_state state;
    size_t quotes; /* in a row, and whether there was an odd number of them in the line */
    bool is_odd;
};

/* A record begins, before which there are so many lines: chunks whose range begins before it begin with it. */
static void begin_record(struct scan *scan, uint64_t offset)
{
    scan->record = offset;
    for (; scan->next < scan->chunks && offset >= scan->table->begin + scan->next * scan->each; scan->next++)
        scan->table->starts[scan->next] = (struct start){ offset, scan->lines };
}

static void scan_block(struct scan *scan, const twin_buffer *block, uint64_t offset)
{
    const char *p = block->bytes, *end = block->bytes + block->length, *counted = p, *found;
    bool begins = false;
    while ((found = twin__csv_find_end(&scan->state, scan->table->separator, p, end)) != NULL) {
        p = found + 1;
        begins = true;
        scan->record = offset + (uint64_t)(p - block->bytes);
        if (scan->next >= scan->chunks || scan->record < scan->table->begin + scan->next * scan->each)
            continue;
        scan->lines += count_lines(counted, p);
        counted = p;
        begin_record(scan, scan->record);
    }
    if (begins) {
        scan->lines += count_lines(counted, p);
        counted = p;
        scan->record_lines = scan->lines;
    }
    scan->lines += count_lines(counted, end);
}

/* Calls `visit` for each block of the file from `offset` on. */
static twin_status visit_blocks(struct scan *scan, const struct twin__opening *opening, uint64_t offset,
                                void (*visit)(struct scan *scan, const twin_buffer *block, uint64_t offset),
                                twin_error *error)
{
    const struct twin__file_bytes *bytes = &scan->table->bytes;
    twin_buffer block = { 0 };
    twin_status status = TWIN_OK;
    for (; offset < bytes->end && status == TWIN_OK; offset += block.length) {
        uint64_t left = bytes->end - offset;
        block.length = 0;
        status = twin__file_bytes_read(&block, bytes, opening->name, offset,
                                       left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES, error);
        if (status == TWIN_OK)
            visit(scan, &block, offset);
    }
    twin_buffer_clear(&block);
    return status;
}

/* Looks in an unclosed record for the last line with an odd number of quotes in a row; the record and the lines of the scan
 * become those behind it. */
static void find_resumed(struct scan *scan, const twin_buffer *block, uint64_t offset)
{
    struct table *table = scan->table;
    for (size_t i = 0; i < block->length; i++) {
        bool quote = block->bytes[i] == '"';
        if (!quote && scan->quotes % 2)
            scan->is_odd = true;
        scan->quotes = quote ? scan->quotes + 1 : 0;
        if (block->bytes[i] != '\n')
            continue;
        scan->record_lines++;
        if (scan->is_odd) {
            table->resumed = offset + i + 1;
            scan->lines = scan->record_lines;
        }
        scan->is_odd = false;
    }
}

/* The record that the scan is in has no end. */
static twin_status resume(struct scan *scan, const struct twin__opening *opening, twin_error *error)
{
    struct table *table = scan->table;
    uint64_t lines = scan->lines;
    table->unclosed = scan->record;
    table->resumed = table->bytes.end;
    twin_status status = visit_blocks(scan, opening, table->unclosed, find_resumed, error);
    if (scan->is_odd || scan->quotes % 2) { /* in the last line, which does not end */
        table->resumed = table->bytes.end;
        scan->lines = lines;
    }
    if (status != TWIN_OK || table->resumed == table->bytes.end)
        return status;
    scan->state = CSV_START;
    begin_record(scan, table->resumed);
    return visit_blocks(scan, opening, table->resumed, scan_block, error);
}

static twin_status find_starts(struct table *table, const struct twin__opening *opening, size_t chunks,
                               twin_error *error)
{
    struct scan scan = { .table = table,
                         .each = opening->settings->options.chunk_bytes,
                         .record = table->begin,
                         .lines = table->starts[0].lines,
                         .record_lines = table->starts[0].lines,
                         .chunks = chunks,
                         .next = 1 };
    table->unclosed = table->resumed = UINT64_MAX;
    twin_status status = visit_blocks(&scan, opening, table->begin, scan_block, error);
    if (status == TWIN_OK && scan.state == CSV_QUOTED)
        status = resume(&scan, opening, error);
    for (; scan.next <= chunks; scan.next++)
        table->starts[scan.next] = (struct start){ table->bytes.end, scan.lines };
    return status;
}

static twin_status open_table(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return twin__fail_memory(error);
    *out = &table->source;
    /* Any bytes that are text may be those of a table, as they may be those of a set. */
    twin_status status = twin__file_bytes_open(&table->bytes, opening, TWIN_INPUT_SETS, error);
    if (status != TWIN_OK)
        return status;
    uint64_t each = opening->settings->options.chunk_bytes;
    size_t most = (size_t)((table->bytes.end - table->bytes.begin) / each) + 1;
    table->starts = calloc(most + 1, sizeof *table->starts);
    if (!table->starts)
        return twin__fail_memory(error);
    status = read_header(table, opening, error);
    if (status != TWIN_OK)
        return status;
    uint64_t size = table->bytes.end - table->begin;
    size_t chunks = (size_t)(size / each + (size % each != 0));
    table->starts[0].offset = table->begin;
    status = find_starts(table, opening, chunks, error);
    table->source.chunks = chunks;
    return status;
}

static void close_table(struct twin__source *source)
{
    struct table *table = (struct table *)source;
    twin__file_bytes_close(&table->bytes);
    free(table->starts);
    twin_buffer_clear(&table->header);
    free(table);
}

static uint64_t chunk_size(const struct twin__source *source, size_t chunk)
{
    const struct start *start = &table_of(source)->starts[chunk];
    return start[1].offset - start[0].offset;
}

/* ---- one record ---- */

/* Appends texts, joined by line ends; one that is alone and has no quotes stays where it is. */
static twin_status take_text(twin_document *out, const struct twin__fields *fields, const struct csv_column *columns,
                             twin_read_buffers *buffers)
{
    bool alone = fields->count == TWIN__FIELD_TEXT + 1;
    twin_status status = TWIN_OK;
    out->text = columns[TWIN__FIELD_TEXT].text;
    if (alone && !columns[TWIN__FIELD_TEXT].has_quotes)
        return TWIN_OK;
    buffers->text.length = 0;
    for (size_t i = TWIN__FIELD_TEXT; i < fields->count && status == TWIN_OK; i++) {
        if (i > TWIN__FIELD_TEXT)
            status = twin_buffer_append(&buffers->text, "\n", 1);
        if (status == TWIN_OK)
            status = twin__csv_append(&buffers->text, &columns[i]);
    }
    out->text = (twin_text){ buffers->text.bytes, buffers->text.length };
    return status;
}

/* A cell that is empty is no id. */
static twin_status take_id(twin_document *out, const struct csv_column *column, twin_read_buffers *buffers)
{
    twin_status status = TWIN_OK;
    out->id = column->text;
    if (column->has_quotes) {
        buffers->id.length = 0;
        status = twin__csv_append(&buffers->id, column);
        out->id = (twin_text){ buffers->id.bytes, buffers->id.length };
    }
    if (!out->id.length)
        out->id.bytes = NULL;
    return status;
}

/* A line that is no record, but a header. */
static void skip_header(struct twin__record *out, const struct table *table)
{
    const struct twin__heading heading = { { table->header.bytes, table->header.length },
                                           table->columns,
                                           table->separator,
                                           &table->source.settings->fields };
    enum twin__heading_kind kind = twin__heading_of(&heading, out->document.record);
    if (kind == TWIN__HEADING_SAME)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "repeats the header");
    else if (kind == TWIN__HEADING_REARRANGED)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1,
                             "has the names of the header in another order, as the records below it may");
}

static twin_status record_from(struct twin__record *out, const struct twin__source *source,
                               twin_read_buffers *buffers, const char *begin, const char *end)
{
    const struct table *table = table_of(source);
    const struct twin__fields *fields = &source->settings->fields;
    struct csv_column columns[TWIN__MAX_FIELDS] = { 0 };
    size_t count = 0;
    out->document = (twin_document){ .record = { begin, (size_t)(end - begin) } };
    out->what = begin == end ? TWIN__RECORD_BLANK : TWIN__RECORD_DOCUMENT;
    if ((size_t)(end - begin) > source->settings->options.max_bytes)
        twin__record_too_long(out, source);
    for (const char *p = begin; p && out->what == TWIN__RECORD_DOCUMENT; count++) {
        uint64_t at = (uint64_t)(p - begin) + 1;
        struct csv_column column = twin__csv_next(&p, end, table->separator);
        if (column.wrong)
            twin__record_problem(out, TWIN_PROBLEM_BROKEN, at, "%s", column.wrong);
        for (size_t i = 0; i < fields->count; i++)
            if (table->column_of[i] == count)
                columns[i] = column;
    }
    if (out->what == TWIN__RECORD_DOCUMENT && count != table->columns)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "%zu column%s, and the header has %zu", count,
                             count == 1 ? "" : "s", table->columns);
    if (out->what == TWIN__RECORD_DOCUMENT)
        skip_header(out, table);
    if (out->what != TWIN__RECORD_DOCUMENT)
        return TWIN_OK;
    twin_status status = take_text(&out->document, fields, columns, buffers);
    return status == TWIN_OK ? take_id(&out->document, &columns[TWIN__FIELD_ID], buffers) : status;
}

/* ---- reading ---- */

/* Where to stop reading a chunk: in the middle of a record that is too long, the last of its chunk, if there is one. A chunk in the middle of a record has none of its own. */
static uint64_t end_to_read(const struct table *table, size_t chunk)
{
    const twin_input_options *options = &table->source.settings->options;
    uint64_t each = options->chunk_bytes, range = table->begin + chunk * each;
    uint64_t range_end = table->bytes.end - range < each ? table->bytes.end : range + each;
    uint64_t longest = range_end + options->max_bytes + 2; /* and its line end */
    uint64_t begin = table->starts[chunk].offset, end = table->starts[chunk + 1].offset;
    if (begin >= range_end || end < longest)
        return end;
    return longest;
}

/* A record with an unclosed quote, which begins in `line`. */
static twin_status visit_unclosed(const struct table *table, struct twin__chunk *chunk, uint64_t line)
{
    struct twin__record record;
    twin_position position = { table->unclosed, line, table->source.number, UINT32_MAX };
    twin__record_problem(&record, TWIN_PROBLEM_BROKEN, 1, "a quote that is not closed");
    return twin__deliver(chunk, &record, position);
}

static twin_status visit_records(const struct table *table, struct twin__chunk *chunk, const char **rest)
{
    const twin_buffer *block = &chunk->buffers->block;
    const struct start *start = &table->starts[chunk->number];
    const char *p = block->bytes, *end = block->bytes + block->length, *newline;
    uint64_t line = chunk->number ? 1 : 1 + start->lines;
    struct twin__record record;
    enum csv_state state = CSV_START;
    for (;;) {
        uint64_t offset = start->offset + (uint64_t)(p - block->bytes);
        if (offset == table->unclosed && table->resumed - offset <= (uint64_t)(end - p)) {
            const char *resumed = p + (table->resumed - offset);
            twin_status status = visit_unclosed(table, chunk, line);
            if (status != TWIN_OK)
                return status;
            line += count_lines(p, resumed);
            p = resumed;
        }
        if ((newline = twin__csv_find_end(&state, table->separator, p, end)) == NULL)
            break;
        const char *stop = without_return(p, newline);
        if (record_from(&record, &table->source, chunk->buffers, p, stop) != TWIN_OK)
            return twin__fail_memory(chunk->error);
        size_t length = (size_t)(stop - p);
        twin_position position = { start->offset + (uint64_t)(p - block->bytes), line, table->source.number,
                                   length < UINT32_MAX ? (uint32_t)length : UINT32_MAX };
        twin_status status = twin__deliver(chunk, &record, position);
        if (status != TWIN_OK)
            return status;
        line += count_lines(p, newline + 1);
        p = newline + 1;
    }
    *rest = p;
    chunk->lines = line - 1;
    return TWIN_OK;
}

/* What was not read: a record too long, be it one without an end. */
static twin_status visit_rest(const struct table *table, struct twin__chunk *chunk, uint64_t offset)
{
    struct twin__record record;
    if (offset == table->unclosed)
        return visit_unclosed(table, chunk, chunk->lines + 1);
    twin__record_too_long(&record, &table->source);
    twin_position position = { offset, chunk->lines + 1, table->source.number, UINT32_MAX };
    return twin__deliver(chunk, &record, position);
}

static twin_status read_table(const struct twin__source *source, struct twin__chunk *chunk)
{
    const struct table *table = table_of(source);
    const struct start *start = &table->starts[chunk->number];
    twin_buffer *block = &chunk->buffers->block;
    uint64_t end = end_to_read(table, chunk->number);
    const char *rest = NULL;
    block->length = 0;
    twin_status status = twin__file_bytes_read(block, &table->bytes, source->name, start->offset,
                                               (size_t)(end - start->offset), chunk->error);
    if (status == TWIN_OK && end == table->bytes.end && block->length && block->bytes[block->length - 1] != '\n')
        block->bytes[block->length++] = '\n';
    if (status == TWIN_OK)
        status = visit_records(table, chunk, &rest);
    if (status != TWIN_OK)
        return status;
    uint64_t offset = start->offset + (uint64_t)(rest - block->bytes);
    if (offset < start[1].offset)
        status = visit_rest(table, chunk, offset);
    chunk->lines = start[1].lines - (chunk->number ? start->lines : 0);
    return status;
}

/* ---- positions ---- */

static bool contains(const struct twin__source *source, twin_position position)
{
    return position.offset >= table_of(source)->begin && position.offset < table_of(source)->bytes.end;
}

static twin_status fetch(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                         twin_position position, twin_error *error)
{
    const struct table *table = table_of(source);
    twin_buffer *block = &buffers->block;
    out->what = TWIN__RECORD_BLANK;
    if (position.length > table->bytes.end - position.offset)
        return TWIN_OK;
    block->length = 0;
    twin_status status =
        twin__file_bytes_read(block, &table->bytes, source->name, position.offset, position.length, error);
    if (status != TWIN_OK)
        return status;
    block->bytes[block->length++] = '\n';
    enum csv_state state = CSV_START;
    const char *end = block->bytes + block->length;
    if (twin__csv_find_end(&state, table->separator, block->bytes, end) != end - 1)
        return TWIN_OK;
    if (record_from(out, source, buffers, block->bytes, end - 1) != TWIN_OK)
        return twin__fail_memory(error);
    out->document.position = position;
    return TWIN_OK;
}

static twin_status read_bytes(twin_buffer *out, const struct twin__source *source, uint64_t begin, uint64_t end,
                              twin_error *error)
{
    return twin__file_bytes_range(out, &table_of(source)->bytes, source->name, begin, end, error);
}

/* Column by column, in the header and in the record. */
static twin_status field(twin_text *out, const struct twin__source *source, twin_read_buffers *room, twin_text record,
                         const char *name, twin_error *error)
{
    const struct table *table = table_of(source);
    const char *p = record.bytes, *record_end = record.bytes + record.length;
    const char *h = table->header.bytes, *end = h ? h + table->header.length : NULL;
    twin_status status = TWIN_OK;
    *out = (twin_text){ 0 };
    while (h && p && status == TWIN_OK && !out->bytes) {
        struct csv_column title = twin__csv_next(&h, end, table->separator);
        struct csv_column value = twin__csv_next(&p, record_end, table->separator);
        room->key.length = room->text.length = 0;
        if (twin__csv_append(&room->key, &title) != TWIN_OK || twin__csv_append(&room->text, &value) != TWIN_OK)
            status = twin__fail_memory(error);
        else if (room->key.length == strlen(name) && memcmp(room->key.bytes, name, room->key.length) == 0)
            *out = (twin_text){ room->text.length ? room->text.bytes : "", room->text.length };
    }
    return status;
}

static twin_status header(twin_buffer *out, const struct twin__source *source, twin_error *error)
{
    const struct table *table = table_of(source);
    return read_bytes(out, source, table->bytes.begin, table->begin, error);
}

static twin_input_change change(const struct twin__source *source)
{
    return twin__file_bytes_change(&table_of(source)->bytes, source->name);
}

const struct twin__source_kind twin__table = {
    .accepts = accepts,
    .open = open_table,
    .chunk_size = chunk_size,
    .read = read_table,
    .contains = contains,
    .fetch = fetch,
    .describe = twin__describe_line,
    .bytes = read_bytes,
    .change = change,
    .field = field,
    .header = header,
    .close = close_table,
};

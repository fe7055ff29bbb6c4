/* record.c — a line becomes a document, a problem, or nothing.
 *
 * A line of JSON is searched for its id and its text by json.c; a row of a set is divided at the separator. What is
 * wrong with a line becomes a problem with the column, and the reading goes on. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/scratch.h"
#include "input/json.h"
#include "input/source.h"

void twin__record_problem(struct twin__record *record, twin_problem_kind kind, uint64_t column, const char *format,
                          ...)
{
    record->what = TWIN__RECORD_PROBLEM;
    record->problem.kind = kind;
    record->problem.column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->problem.message, sizeof record->problem.message, format, arguments);
    va_end(arguments);
}

void twin__record_too_long(struct twin__record *record, const struct twin__source *source)
{
    twin__record_problem(record, TWIN_PROBLEM_TOO_LONG, 0, "longer than %" PRIu32 " bytes",
                         source->settings->options.max_bytes);
}

/* What has no line is named by its file anyway. */
void twin__document_drop_id(twin_document *document)
{
    if (!document->position.line)
        return;
    document->id = (twin_text){ 0 };
    document->id_is_number = false;
}

twin_status twin__deliver(struct twin__chunk *chunk, struct twin__record *record, twin_position position)
{
    bool go_on = true;
    if (record->what == TWIN__RECORD_DOCUMENT) {
        record->document.position = position;
        if (chunk->ignores_ids)
            twin__document_drop_id(&record->document);
        go_on = chunk->visitor.document(chunk->visitor.context, &record->document);
    } else if (record->what == TWIN__RECORD_PROBLEM) {
        record->problem.position = position;
        go_on = chunk->visitor.problem(chunk->visitor.context, &record->problem);
    }
    return go_on ? TWIN_OK : TWIN_ESTOPPED;
}

twin_status twin__describe_line(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    char line[24];
    int length = snprintf(line, sizeof line, ":%" PRIu64, position.line);
    twin_status status = twin_buffer_append(out, source->name, strlen(source->name));
    return status == TWIN_OK ? twin_buffer_append(out, line, (size_t)length) : status;
}

/* ---- JSON ---- */

static uint64_t column_of(const struct json_value *value, const char *line)
{
    return (uint64_t)(value->begin - line) + 1;
}

static twin_status from_json(struct twin__record *out, const char **newline,
                             const struct twin__input_settings *settings, twin_read_buffers *buffers,
                             const char *line, const char *end)
{
    struct json_line json;
    bool several = settings->fields.count > TWIN__FIELD_TEXT + 1;
    twin_status status = twin__json_scan(&json, buffers, &settings->fields, line, end);
    if (status != TWIN_OK)
        return status;
    *newline = json.end;
    if (json.blank)
        out->what = TWIN__RECORD_BLANK;
    else if (json.wrong)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(json.where - line) + 1, "%s", json.wrong);
    else if (json.text.kind == JSON_MISSING)
        twin__record_problem(out, TWIN_PROBLEM_NO_TEXT, 1, several ? "none of the fields \"%s\"" : "no field \"%s\"",
                             settings->options.text_field);
    else if (json.text.kind != JSON_STRING)
        twin__record_problem(out, TWIN_PROBLEM_NO_TEXT, column_of(&json.text, line),
                             several ? "one of the fields \"%s\" is not a string"
                                     : "the field \"%s\" is not a string",
                             settings->options.text_field);
    else if (json.id.kind == JSON_OTHER && !settings->ignores_ids)
        twin__record_problem(out, TWIN_PROBLEM_BAD_ID, column_of(&json.id, line),
                             "the field \"%s\" is neither a string nor a number", settings->options.id_field);
    else
        out->what = TWIN__RECORD_DOCUMENT;
    out->document.id = json.id.text;
    out->document.id_is_number = json.id.kind == JSON_NUMBER;
    out->document.text = json.text.text;
    return TWIN_OK;
}

/* The field is looked for in the place of the id, which may be a string or a number. */
twin_status twin__json_field(twin_text *out, twin_read_buffers *room, twin_text line, const char *name,
                             twin_error *error)
{
    struct json_line json = { 0 };
    struct twin__fields fields;
    twin_status status = twin__fields_init(&fields, name, name, error);
    room->block.length = 0;
    if (status == TWIN_OK && (twin_buffer_append(&room->block, line.bytes, line.length) != TWIN_OK ||
                              twin_buffer_append(&room->block, "\n", 1) != TWIN_OK))
        status = twin__fail_memory(error);
    if (status == TWIN_OK &&
        twin__json_scan(&json, room, &fields, room->block.bytes, room->block.bytes + room->block.length) != TWIN_OK)
        status = twin__fail_memory(error);
    bool found = !json.wrong && (json.id.kind == JSON_STRING || json.id.kind == JSON_NUMBER);
    *out = found ? json.id.text : (twin_text){ 0 };
    twin__fields_clear(&fields);
    return status;
}

/* ---- rows of sets ---- */

/* The bytes of a line without its "\n" or "\r\n". */
static size_t length_of(const char *line, const char *newline)
{
    size_t length = (size_t)(newline - line);
    return length - (length && line[length - 1] == '\r');
}

static bool is_blank(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return line == end;
}

static void no_separator(struct twin__record *out, char separator)
{
    if (separator == '\t')
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "no tab in the row");
    else
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "no '%c' in the row", separator);
}

/* The digits from `first` to the next separator or the end of the line. False: they are no weight. */
static bool read_weight(uint32_t *out, const char *first, const char *stop, char separator)
{
    const char *digit = first;
    for (*out = 0; digit < stop && *digit >= '0' && *digit <= '9' && *out <= TWIN_INPUT_MOST_WEIGHT; digit++)
        *out = 10 * *out + (uint32_t)(*digit - '0');
    return digit > first && (digit == stop || *digit == separator) && *out <= TWIN_INPUT_MOST_WEIGHT;
}

static void weigh(struct twin__record *out, const char *line, const char *second, const char *stop, char separator)
{
    if (second == stop)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(stop - line) + 1, "no weight in the row");
    else if (!read_weight(&out->document.weight, second + 1, stop, separator))
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(second - line) + 2,
                             "the weight is not an integer from 0 to %d", (int)TWIN_INPUT_MOST_WEIGHT);
    else if (out->document.weight == 0)
        out->what = TWIN__RECORD_BLANK;
}

static void from_row(struct twin__record *out, const char **newline, const twin_input_options *options,
                     const char *line, const char *end)
{
    const char separator = options->separator;
    const char *found = memchr(line, '\n', (size_t)(end - 1 - line));
    *newline = found ? found : end - 1;
    const char *stop = line + length_of(line, *newline);
    const char *first = memchr(line, separator, (size_t)(stop - line));
    if (!first && is_blank(line, stop))
        out->what = TWIN__RECORD_BLANK;
    else if (!first)
        no_separator(out, separator);
    if (!first)
        return;
    const char *element = first + 1, *second = memchr(element, separator, (size_t)(stop - element));
    if (!second)
        second = stop;
    out->what = TWIN__RECORD_DOCUMENT;
    out->document.id = (twin_text){ line, (size_t)(first - line) };
    out->document.id_is_number = false;
    out->document.text = (twin_text){ element, (size_t)(second - element) };
    out->document.weight = 0;
    if (first == line)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "an empty name of a set");
    else if (second == element)
        twin__record_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(element - line) + 1, "an empty element");
    else if (options->weights)
        weigh(out, line, second, stop, separator);
}

/* ---- lines of text ---- */

static void from_text(struct twin__record *out, const char **newline, const char *line, const char *end)
{
    const char *found = memchr(line, '\n', (size_t)(end - 1 - line));
    *newline = found ? found : end - 1;
    out->document = (twin_document){ .text = { line, length_of(line, *newline) } };
    out->what = is_blank(line, line + out->document.text.length) ? TWIN__RECORD_BLANK : TWIN__RECORD_DOCUMENT;
}

/* ---- sequences ---- */

static bool is_white(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The id is the first word after '>', the text all other lines without white space. */
static twin_status from_fasta(struct twin__record *out, const char **newline, twin_read_buffers *buffers,
                              const char *line, const char *end)
{
    const char *next = memmem(line, (size_t)(end - line), "\n>", 2);
    *newline = next ? next : end - 1;
    const char *header = memchr(line, '\n', (size_t)(*newline - line)), *id = line + 1;
    header = header ? header : *newline;
    out->what = TWIN__RECORD_DOCUMENT;
    if (*line != '>') { /* what stands before the first sequence: nothing, or a comment */
        const char *first = line;
        while (first < *newline && is_white(*first))
            first++;
        if (first == *newline || *first == ';')
            out->what = TWIN__RECORD_BLANK;
        else
            twin__record_problem(out, TWIN_PROBLEM_BROKEN, 1, "a sequence begins with '>' and its name");
        return TWIN_OK;
    }
    while (id < header && is_white(*id))
        id++;
    const char *id_end = id;
    while (id_end < header && !is_white(*id_end))
        id_end++;
    buffers->text.length = 0;
    twin_status status = twin_buffer_reserve(&buffers->text, (size_t)(*newline - header) + 1);
    if (status != TWIN_OK)
        return status;
    for (const char *at = header; at < *newline; at++)
        if (!is_white(*at))
            buffers->text.bytes[buffers->text.length++] = *at;
    out->document.id = id_end > id ? (twin_text){ id, (size_t)(id_end - id) } : (twin_text){ 0 };
    out->document.id_is_number = false;
    out->document.text = (twin_text){ buffers->text.bytes, buffers->text.length };
    return TWIN_OK;
}

twin_status twin__record_from_line(struct twin__record *out, const char **newline, const struct twin__source *source,
                                   twin_read_buffers *buffers, const char *line, const char *end)
{
    const struct twin__input_settings *settings = source->settings;
    twin_status status = TWIN_OK;
    if (settings->options.format == TWIN_INPUT_SETS)
        from_row(out, newline, &settings->options, line, end);
    else if (source->is_fasta)
        status = from_fasta(out, newline, buffers, line, end);
    else if (settings->options.as == TWIN_INPUT_AS_LINES)
        from_text(out, newline, line, end);
    else
        status = from_json(out, newline, settings, buffers, line, end);
    if (status != TWIN_OK)
        return status;
    out->document.record = (twin_text){ line, length_of(line, *newline) };
    if (out->document.record.length > settings->options.max_bytes)
        twin__record_too_long(out, source);
    return TWIN_OK;
}

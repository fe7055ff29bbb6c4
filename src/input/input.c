/* input.c — where documents come from: inputs in pieces.
 *
 * A piece of lines owns those that start in its own stretch of bytes. It looks for its first line only there,
 * and reads on past its end only to finish its last line, so that one line of any length costs each of its
 * bytes two readings at most. Files are read, not mapped: one cut short while it is read is then an error and
 * not a signal. */
#include <twinsift/input.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/json.h"
#include "input/source.h"

enum {
    CHUNK_BYTES = 1 << 20,
    BYTES_PER_FILE = 16 << 10, /* a guess that makes pieces of folders about as long as those of lines */
    FIRST_STEP = 16 << 10,     /* how far a piece reads on at first to finish its last line, */
    LAST_STEP = 16 << 20,      /* and at most, after doubling */
    KEEP_BYTES = 4 << 20,      /* what a buffer may keep from one call to the next */
};

struct twin_input {
    twin_input_options options; /* without zeros; the strings are the input's own */
    twin_text id_field, text_field;
    size_t files_per_chunk;
    size_t pieces, count;
    struct source sources[];
};

/* A line or file, looked at. */
struct record {
    enum { RECORD_BLANK, RECORD_DOCUMENT, RECORD_PROBLEM } what;
    twin_document document;
    twin_problem problem;
    const char *end; /* lines: the newline */
};

struct visit {
    const twin_input *input;
    const struct source *source;
    twin_read_buffers *reading;
    twin_visitor visitor;
    twin_error *error;
    uint64_t lines;
};

/* ---- opening ---- */

static void fill_defaults(twin_input_options *options)
{
    if (!options->id_field)
        options->id_field = "id";
    if (!options->text_field)
        options->text_field = "text";
    if (!options->separator)
        options->separator = '\t';
    if (!options->temp_folder)
        options->temp_folder = "/tmp";
    if (!options->chunk_bytes)
        options->chunk_bytes = CHUNK_BYTES;
    if (!options->max_bytes)
        options->max_bytes = UINT32_MAX;
}

static twin_status check_options(const char *const *paths, size_t count, const twin_input_options *options,
                                 twin_error *error)
{
    if (options->format != TWIN_INPUT_DOCUMENTS && options->format != TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "there is no such format of inputs");
    if (options->separator == '\n' || options->separator == '\r')
        return twin__fail(error, TWIN_EINVAL, "a line end cannot separate what is on a line");
    if (count > UINT32_MAX)
        return twin__fail(error, TWIN_ELIMIT, "there are too many inputs");
    size_t standard = 0;
    for (size_t i = 0; i < count; i++)
        standard += strcmp(paths[i], "-") == 0;
    if (standard > 1)
        return twin__fail(error, TWIN_EINVAL, "standard input can be read only once");
    return TWIN_OK;
}

static twin_text text_of(const char *string)
{
    return (twin_text){ string, strlen(string) };
}

static twin_input *create(size_t count, twin_input_options options)
{
    twin_input *input = calloc(1, sizeof *input + count * sizeof input->sources[0]);
    if (!input)
        return NULL;
    input->options = options;
    input->options.temp_folder = NULL; /* borrowed, and of no use once all is unpacked */
    char *id_field = strdup(options.id_field), *text_field = strdup(options.text_field);
    input->options.id_field = id_field;
    input->options.text_field = text_field;
    if (!id_field || !text_field) {
        twin_input_free(input);
        return NULL;
    }
    input->id_field = text_of(id_field);
    input->text_field = text_of(text_field);
    input->files_per_chunk = options.chunk_bytes < 2 * BYTES_PER_FILE ? 1 : options.chunk_bytes / BYTES_PER_FILE;
    return input;
}

static uint64_t chunks_of(uint64_t total, uint64_t each)
{
    return total / each + (total % each != 0);
}

static void cut(twin_input *input, struct source *source)
{
    source->first_chunk = input->pieces;
    source->pieces = source->is_folder ? chunks_of(source->folder.count, input->files_per_chunk)
                                       : chunks_of(source->end - source->begin, input->options.chunk_bytes);
    input->pieces += source->pieces;
}

twin_status twin_input_open(twin_input **out, const char *const *paths, size_t count, twin_input_options options,
                            twin_error *error)
{
    *out = NULL;
    fill_defaults(&options);
    twin_status status = check_options(paths, count, &options, error);
    if (status != TWIN_OK)
        return status;
    twin_input *input = create(count, options);
    if (!input)
        return twin__fail_memory(error);

    for (; input->count < count; input->count++) {
        struct source *source = &input->sources[input->count];
        status = twin__source_open(source, paths[input->count], &options, error);
        if (status != TWIN_OK) {
            twin__source_close(source);
            twin_input_free(input);
            return status;
        }
        cut(input, source);
    }
    *out = input;
    return TWIN_OK;
}

void twin_input_free(twin_input *input)
{
    if (!input)
        return;
    for (size_t i = 0; i < input->count; i++)
        twin__source_close(&input->sources[i]);
    free((char *)input->options.id_field);
    free((char *)input->options.text_field);
    free(input);
}

void twin_read_buffers_clear(twin_read_buffers *reading)
{
    twin_buffer_clear(&reading->block);
    twin_buffer_clear(&reading->id);
    twin_buffer_clear(&reading->text);
    twin_buffer_clear(&reading->key);
}

/* ---- what is in there ---- */

size_t twin_input_chunks(const twin_input *input)
{
    return input->pieces;
}

/* The last input that begins at or before the piece; those without pieces begin where the next one does. */
uint32_t twin_input_chunk_source(const twin_input *input, size_t piece)
{
    size_t low = 0, high = input->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (input->sources[middle].first_chunk <= piece)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* Where a piece begins and ends: in bytes, or in files. */
static void bounds(uint64_t *begin, uint64_t *end, const twin_input *input, const struct source *source, size_t piece)
{
    uint64_t each = source->is_folder ? input->files_per_chunk : input->options.chunk_bytes;
    uint64_t first = source->is_folder ? 0 : source->begin;
    uint64_t last = source->is_folder ? source->folder.count : source->end;
    *begin = first + (piece - source->first_chunk) * each;
    *end = last - *begin < each ? last : *begin + each;
}

uint64_t twin_input_chunk_size(const twin_input *input, size_t piece)
{
    uint64_t begin, end;
    bounds(&begin, &end, input, &input->sources[twin_input_chunk_source(input, piece)], piece);
    return end - begin;
}

size_t twin_input_sources(const twin_input *input)
{
    return input->count;
}

const char *twin_input_name(const twin_input *input, uint32_t source)
{
    return input->sources[source].name;
}

static twin_status append_words(twin_buffer *out, const char *words)
{
    return twin_buffer_append(out, words, strlen(words));
}

static bool is_inside(const twin_input *input, twin_position position)
{
    if (position.source >= input->count)
        return false;
    const struct source *source = &input->sources[position.source];
    if (source->is_folder)
        return position.offset < source->folder.count;
    return position.offset >= source->begin && position.offset < source->end;
}

twin_input_format twin_input_format_of(const twin_input *input)
{
    return input->options.format;
}

/* The path of a file of a folder, behind the folder's name as it was given. */
static twin_status append_path(twin_buffer *out, const struct source *source, uint64_t number)
{
    twin_status status = append_words(out, source->name);
    if (status == TWIN_OK && out->length && out->bytes[out->length - 1] != '/')
        status = append_words(out, "/");
    return status == TWIN_OK ? append_words(out, source->folder.entries[number].path) : status;
}

twin_status twin_input_describe(twin_buffer *out, const twin_input *input, twin_position position)
{
    out->length = 0;
    if (!is_inside(input, position))
        return TWIN_EINVAL;
    const struct source *source = &input->sources[position.source];
    char line[40];
    snprintf(line, sizeof line, ": line %" PRIu64, position.line);
    twin_status status =
        source->is_folder ? append_path(out, source, position.offset) : append_words(out, source->name);
    if (status == TWIN_OK && !source->is_folder)
        status = append_words(out, line);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, "", 1);
    if (status == TWIN_OK)
        out->length--;
    return status;
}

/* ---- one record ---- */

static void is_problem(struct record *record, twin_problem_kind kind, uint64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void is_problem(struct record *record, twin_problem_kind kind, uint64_t column, const char *format, ...)
{
    record->what = RECORD_PROBLEM;
    record->problem.kind = kind;
    record->problem.column = column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->problem.message, sizeof record->problem.message, format, arguments);
    va_end(arguments);
}

static void is_too_long(struct record *record, const twin_input *input)
{
    is_problem(record, TWIN_PROBLEM_TOO_LONG, 0, "longer than %" PRIu32 " bytes", input->options.max_bytes);
}

static twin_status look_at_json(struct record *out, const twin_input *input, twin_read_buffers *reading,
                                const char *line, const char *end)
{
    struct json_line json;
    twin_status status = twin__json_scan(&json, reading, input->id_field, input->text_field, line, end);
    if (status != TWIN_OK)
        return status;
    out->end = json.end;
    if (json.blank)
        out->what = RECORD_BLANK;
    else if (json.wrong)
        is_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(json.where - line) + 1, "%s", json.wrong);
    else if (json.text.kind == JSON_MISSING)
        is_problem(out, TWIN_PROBLEM_NO_TEXT, 0, "no field \"%s\"", input->options.text_field);
    else if (json.text.kind != JSON_STRING)
        is_problem(out, TWIN_PROBLEM_NO_TEXT, 0, "the field \"%s\" is not a string", input->options.text_field);
    else if (json.id.kind == JSON_OTHER)
        is_problem(out, TWIN_PROBLEM_BAD_ID, 0, "the field \"%s\" is neither a string nor a number",
                   input->options.id_field);
    else
        out->what = RECORD_DOCUMENT;
    out->document.id = json.id.text;
    out->document.id_is_number = json.id.kind == JSON_NUMBER;
    out->document.text = json.text.text;
    return TWIN_OK;
}

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

static void look_at_row(struct record *out, const twin_input *input, const char *line, const char *end)
{
    char separator = input->options.separator;
    const char *newline = memchr(line, '\n', (size_t)(end - 1 - line));
    out->end = newline ? newline : end - 1;
    const char *stop = line + length_of(line, out->end);
    const char *first = memchr(line, separator, (size_t)(stop - line));
    if (!first && is_blank(line, stop)) {
        out->what = RECORD_BLANK;
        return;
    }
    if (!first) {
        if (separator == '\t')
            is_problem(out, TWIN_PROBLEM_BROKEN, 0, "no tab in the row");
        else
            is_problem(out, TWIN_PROBLEM_BROKEN, 0, "no '%c' in the row", separator);
        return;
    }
    const char *element = first + 1, *second = memchr(element, separator, (size_t)(stop - element));
    if (!second)
        second = stop;
    out->what = RECORD_DOCUMENT;
    out->document.id = (twin_text){ line, (size_t)(first - line) };
    out->document.id_is_number = false;
    out->document.text = (twin_text){ element, (size_t)(second - element) };
    if (first == line)
        is_problem(out, TWIN_PROBLEM_BROKEN, 1, "an empty name of a set");
    else if (second == element)
        is_problem(out, TWIN_PROBLEM_BROKEN, (uint64_t)(element - line) + 1, "an empty element");
}

/* Looks at the line that starts at `line`; a newline stands right before `end`. */
static twin_status look_at_line(struct record *out, const twin_input *input, twin_read_buffers *reading,
                                const char *line, const char *end)
{
    twin_status status = TWIN_OK;
    if (input->options.format == TWIN_INPUT_SETS)
        look_at_row(out, input, line, end);
    else
        status = look_at_json(out, input, reading, line, end);
    if (status != TWIN_OK)
        return status;
    out->document.record = (twin_text){ line, length_of(line, out->end) };
    if (out->document.record.length > input->options.max_bytes)
        is_too_long(out, input);
    return TWIN_OK;
}

/* ---- reading lines ---- */

static twin_status deliver(struct visit *v, struct record *record, twin_position position)
{
    bool go_on = true;
    if (record->what == RECORD_DOCUMENT) {
        record->document.position = position;
        go_on = v->visitor.document(v->visitor.context, &record->document);
    } else if (record->what == RECORD_PROBLEM) {
        record->problem.position = position;
        go_on = v->visitor.problem(v->visitor.context, &record->problem);
    }
    return go_on ? TWIN_OK : TWIN_ESTOPPED;
}

/* Appends `length` bytes of the file to the block, which keeps room for a line end. */
static twin_status read_more(const struct source *source, twin_buffer *block, uint64_t offset, size_t length,
                             twin_error *error)
{
    if (twin_buffer_reserve(block, length + 2) != TWIN_OK)
        return twin__fail_memory(error);
    ssize_t got = twin__read_at(source->fd, block->bytes + block->length, length, offset);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", source->name);
    if ((size_t)got < length)
        return twin__fail(error, TWIN_EIO, "%s became shorter while it was read", source->name);
    block->length += length;
    return TWIN_OK;
}

/* Reads on until the line that starts at `start` of the block is whole, and `end` is behind its newline; 0 when
 * it is too long to be had. A last line without a newline gets one. */
static twin_status finish_line(struct visit *v, size_t *end, size_t start, uint64_t offset)
{
    twin_buffer *block = &v->reading->block;
    uint64_t longest = (uint64_t)v->input->options.max_bytes + 1; /* a '\r' does not count */
    *end = 0;
    for (size_t step = FIRST_STEP; block->length - start <= longest; step = step < LAST_STEP ? 2 * step : step) {
        if (offset == v->source->end) {
            block->bytes[block->length++] = '\n';
            *end = block->length;
            return TWIN_OK;
        }
        size_t had = block->length, more = v->source->end - offset < step ? (size_t)(v->source->end - offset) : step;
        twin_status status = read_more(v->source, block, offset, more, v->error);
        if (status != TWIN_OK)
            return status;
        offset += more;
        const char *newline = memchr(block->bytes + had, '\n', more);
        if (newline) {
            *end = (size_t)(newline + 1 - block->bytes);
            return TWIN_OK;
        }
    }
    return TWIN_OK;
}

/* Visits the lines of the block from `start` to `end`, behind a newline. `offset` is that of the block. */
static twin_status visit_lines(struct visit *v, size_t start, size_t end, uint64_t offset)
{
    const char *block = v->reading->block.bytes;
    twin_position position = { .source = (uint32_t)(v->source - v->input->sources) };
    struct record record;
    for (const char *line = block + start; line < block + end; line = record.end + 1) {
        twin_status status = look_at_line(&record, v->input, v->reading, line, block + end);
        if (status != TWIN_OK)
            return twin__fail_memory(v->error);
        size_t length = record.document.record.length;
        position.offset = offset + (uint64_t)(line - block);
        position.line = ++v->lines;
        position.length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
        status = deliver(v, &record, position);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

static twin_status visit_overlong(struct visit *v, uint64_t offset)
{
    struct record record;
    is_too_long(&record, v->input);
    twin_position position = { offset, ++v->lines, (uint32_t)(v->source - v->input->sources), UINT32_MAX };
    return deliver(v, &record, position);
}

/* Where the first line of the block starts, or the block's length when none does: the block of a piece that is
 * not the first begins one byte early, where a newline would make the piece's own first byte a start. */
static size_t first_start(const twin_buffer *block, bool is_first)
{
    if (is_first)
        return 0;
    const char *newline = memchr(block->bytes, '\n', block->length);
    return newline ? (size_t)(newline + 1 - block->bytes) : block->length;
}

static twin_status read_lines(struct visit *v, uint64_t begin, uint64_t end)
{
    twin_buffer *block = &v->reading->block;
    bool is_first = begin == v->source->begin;
    uint64_t offset = is_first ? begin : begin - 1;
    block->length = 0;
    twin_status status = read_more(v->source, block, offset, (size_t)(end - offset), v->error);
    if (status != TWIN_OK)
        return status;

    size_t start = first_start(block, is_first);
    const char *newline = memrchr(block->bytes + start, '\n', block->length - start);
    size_t whole = newline ? (size_t)(newline + 1 - block->bytes) : start;
    status = visit_lines(v, start, whole, offset);
    if (status != TWIN_OK || whole == block->length)
        return status;

    size_t last;
    status = finish_line(v, &last, whole, end);
    if (status != TWIN_OK)
        return status;
    return last ? visit_lines(v, whole, last, offset) : visit_overlong(v, offset + whole);
}

/* ---- reading files ---- */

/* Appends the rest of an open file to the block; `too_long` when that passes the limit. */
static bool read_whole(twin_buffer *block, bool *too_long, twin_status *status, int fd, uint64_t size, uint64_t limit)
{
    *too_long = size > limit;
    size_t more = size < limit ? (size_t)size + 1 : FIRST_STEP; /* one more, to see that the file ends there */
    block->length = 0;
    while (!*too_long) {
        *status = twin_buffer_reserve(block, more);
        if (*status != TWIN_OK)
            return false;
        size_t room = block->capacity - block->length;
        ssize_t got = twin__read_at(fd, block->bytes + block->length, room, block->length);
        if (got < 0)
            return false;
        block->length += (size_t)got;
        *too_long = block->length > limit;
        if ((size_t)got < room)
            return true;
        more = FIRST_STEP;
    }
    return true;
}

/* What the process lacks is a failure; what a file lacks is a problem. */
static bool is_failure(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static twin_status look_at_open_file(struct record *out, const twin_input *input, twin_read_buffers *reading, int fd)
{
    struct stat about;
    bool too_long, is_known = fstat(fd, &about) == 0;
    twin_status status = TWIN_OK;
    if (is_known && !S_ISREG(about.st_mode))
        is_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "is not a regular file any more");
    else if (!is_known ||
             !read_whole(&reading->block, &too_long, &status, fd, (uint64_t)about.st_size, input->options.max_bytes))
        is_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be read: %m");
    else if (too_long)
        is_too_long(out, input);
    return status;
}

static twin_status look_at_file(struct record *out, const twin_input *input, twin_read_buffers *reading,
                                const struct source *source, uint64_t number)
{
    const struct folder_entry *entry = &source->folder.entries[number];
    out->what = RECORD_DOCUMENT;
    errno = entry->error;
    int fd = errno ? -1 : twin__folder_open(source->fd, entry->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && is_failure(errno))
        return errno == ENOMEM ? TWIN_ENOMEM : TWIN_EIO;
    if (fd < 0) {
        is_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be opened: %m");
        return TWIN_OK;
    }
    twin_status status = look_at_open_file(out, input, reading, fd);
    close(fd);
    twin_text id = text_of(entry->path);
    if (status == TWIN_OK && input->count > 1) { /* two folders may hold files of one name */
        reading->id.length = 0;
        status = append_path(&reading->id, source, number);
        id = (twin_text){ reading->id.bytes, reading->id.length };
    }
    out->document = (twin_document){ .id = id,
                                     .text = { reading->block.bytes, reading->block.length },
                                     .record = { reading->block.bytes, reading->block.length } };
    return status;
}

static twin_status fail_file(const struct source *source, twin_status status, twin_error *error)
{
    if (status == TWIN_ENOMEM)
        return twin__fail_memory(error);
    return twin__fail(error, status, "%s cannot be read on: %m", source->name);
}

static twin_status read_files(struct visit *v, uint64_t begin, uint64_t end)
{
    struct record record;
    for (uint64_t i = begin; i < end; i++) {
        twin_status status = look_at_file(&record, v->input, v->reading, v->source, i);
        if (status != TWIN_OK)
            return fail_file(v->source, status, v->error);
        twin_position position = { .offset = i, .source = (uint32_t)(v->source - v->input->sources) };
        status = deliver(v, &record, position);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* ---- reading ---- */

/* One huge document must not make every worker keep room for it. */
static void let_go(twin_read_buffers *reading, const twin_input *input)
{
    size_t piece = input->options.chunk_bytes;
    size_t keep = piece < SIZE_MAX / 2 && 2 * piece > KEEP_BYTES ? 2 * piece : KEEP_BYTES;
    twin_buffer *buffers[] = { &reading->block, &reading->id, &reading->text, &reading->key };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        if (buffers[i]->capacity > keep)
            twin_buffer_clear(buffers[i]);
}

twin_status twin_input_read(uint64_t *lines, const twin_input *input, twin_read_buffers *reading, size_t piece,
                            twin_visitor visitor, twin_error *error)
{
    uint64_t begin, end;
    struct visit v = { .input = input,
                       .source = &input->sources[twin_input_chunk_source(input, piece)],
                       .reading = reading,
                       .visitor = visitor,
                       .error = error };
    bounds(&begin, &end, input, v.source, piece);
    let_go(reading, input);
    twin_status status = v.source->is_folder ? read_files(&v, begin, end) : read_lines(&v, begin, end);
    let_go(reading, input);
    if (status == TWIN_ESTOPPED)
        twin__fail(error, status, "reading was stopped");
    if (lines)
        *lines = v.lines;
    return status;
}

/* ---- fetching ---- */

static twin_status not_there(const twin_input *input, twin_position position, twin_error *error)
{
    twin_buffer words = { 0 };
    twin_status status = twin_input_describe(&words, input, position);
    if (status == TWIN_ENOMEM)
        status = twin__fail_memory(error);
    else
        status = twin__fail(error, TWIN_EFORMAT, "%s is not the document any more that it was",
                            status == TWIN_OK ? words.bytes : "a position outside the inputs");
    twin_buffer_clear(&words);
    return status;
}

static twin_status look_again(struct record *out, const twin_input *input, twin_read_buffers *reading,
                              twin_position position, twin_error *error)
{
    const struct source *source = &input->sources[position.source];
    twin_buffer *block = &reading->block;
    twin_status status;
    if (source->is_folder) {
        status = look_at_file(out, input, reading, source, position.offset);
        return status == TWIN_OK ? status : fail_file(source, status, error);
    }
    if (position.length > source->end - position.offset)
        return not_there(input, position, error);
    block->length = 0;
    status = read_more(source, block, position.offset, position.length, error);
    if (status != TWIN_OK)
        return status;
    block->bytes[block->length++] = '\r'; /* so that one which belongs to the line is not taken off it */
    block->bytes[block->length++] = '\n';
    status = look_at_line(out, input, reading, block->bytes, block->bytes + block->length);
    return status == TWIN_OK ? status : twin__fail_memory(error);
}

twin_status twin__name_by_line(twin_text *out, const twin_input *input, twin_buffer *room, twin_position position)
{
    char line[24];
    snprintf(line, sizeof line, "%" PRIu64, position.line);
    room->length = 0;
    twin_status status = TWIN_OK;
    if (input->count > 1) {
        status = append_words(room, input->sources[position.source].name);
        if (status == TWIN_OK)
            status = append_words(room, ":");
    }
    if (status == TWIN_OK)
        status = append_words(room, line);
    *out = (twin_text){ room->bytes, room->length };
    return status;
}

twin_status twin_input_fetch(twin_document *out, const twin_input *input, twin_read_buffers *reading,
                             twin_position position, twin_error *error)
{
    if (!is_inside(input, position))
        return not_there(input, position, error);
    let_go(reading, input);
    struct record record = { 0 };
    twin_status status = look_again(&record, input, reading, position, error);
    if (status != TWIN_OK)
        return status;
    bool is_whole = input->sources[position.source].is_folder || record.document.record.length == position.length;
    if (record.what != RECORD_DOCUMENT || !is_whole)
        return not_there(input, position, error);

    if (!record.document.id.bytes &&
        twin__name_by_line(&record.document.id, input, &reading->id, position) != TWIN_OK)
        return twin__fail_memory(error);
    record.document.position = position;
    *out = record.document;
    return TWIN_OK;
}

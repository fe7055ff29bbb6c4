/* lines.c — files of lines: JSON lines, rows of sets, texts; and sequences of several lines each (FASTA).
 *
 * A chunk of lines owns those that start in its own range of bytes. It looks for its first line
 * only there, and reads past its end only to finish its last line, so that each byte of a line,
 * however long, is read twice at most. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scratch.h"
#include "input/file_bytes.h"

enum {
    FIRST_STEP = 16 << 10, /* how far a chunk reads past its end at first to finish its last line, */
    LAST_STEP = 16 << 20,  /* and at most, after doubling */
};

struct lines {
    struct twin__source source;
    struct twin__file_bytes bytes;
};

static const struct lines *lines_of(const struct twin__source *source)
{
    return (const struct lines *)source;
}

/* ---- opening ---- */

static bool accepts(const struct twin__opening *opening)
{
    enum twin__content content = twin__content_of(opening);
    return !S_ISDIR(opening->about.st_mode) && (content == TWIN__CONTENT_JSON || content == TWIN__CONTENT_JSONL ||
                                                content == TWIN__CONTENT_LINES || content == TWIN__CONTENT_FASTA);
}

static twin_status open_lines(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return twin__fail_memory(error);
    *out = &lines->source;
    lines->source.is_fasta = twin__content_of(opening) == TWIN__CONTENT_FASTA;
    bool are_texts = lines->source.is_fasta || twin__content_of(opening) == TWIN__CONTENT_LINES;
    /* texts may begin like rows, with anything */
    twin_status status = twin__file_bytes_open(
        &lines->bytes, opening, are_texts ? TWIN_INPUT_SETS : opening->settings->options.format, error);
    uint64_t bytes = lines->bytes.end - lines->bytes.begin, each = opening->settings->options.chunk_bytes;
    lines->source.chunks = bytes / each + (bytes % each != 0);
    return status;
}

static void close_lines(struct twin__source *source)
{
    struct lines *lines = (struct lines *)source;
    twin__file_bytes_close(&lines->bytes);
    free(lines);
}

/* ---- where records end ---- */

/* The newline after which the next record begins, among these bytes; NULL: there is none. */
static const char *first_end(const struct lines *lines, const char *bytes, size_t length)
{
    if (!lines->source.is_fasta)
        return memchr(bytes, '\n', length);
    return memmem(bytes, length, "\n>", 2);
}

/* The last such. */
static const char *last_end(const struct lines *lines, const char *bytes, size_t length)
{
    const char *newline = memrchr(bytes, '\n', length);
    while (lines->source.is_fasta && newline && (newline + 1 == bytes + length || newline[1] != '>'))
        newline = memrchr(bytes, '\n', (size_t)(newline - bytes));
    return newline;
}

/* ---- reading ---- */

static void bounds(uint64_t *begin, uint64_t *end, const struct twin__source *source, size_t chunk)
{
    const struct lines *lines = lines_of(source);
    uint64_t each = source->settings->options.chunk_bytes;
    *begin = lines->bytes.begin + chunk * each;
    *end = lines->bytes.end - *begin < each ? lines->bytes.end : *begin + each;
}

static uint64_t chunk_size(const struct twin__source *source, size_t chunk)
{
    uint64_t begin, end;
    bounds(&begin, &end, source, chunk);
    return end - begin;
}

static twin_status read_more(const struct lines *lines, twin_buffer *block, uint64_t offset, size_t length,
                             twin_error *error)
{
    return twin__file_bytes_read(block, &lines->bytes, lines->source.name, offset, length, error);
}

/* Reads on until the line that starts at `start` of the block is whole, and `end` is right after
 * its newline; 0 when the line is too long to be read. A last line without a newline gets one. */
static twin_status finish_line(const struct lines *lines, struct twin__chunk *chunk, size_t *end, size_t start,
                               uint64_t offset)
{
    twin_buffer *block = &chunk->buffers->block;
    uint64_t longest = (uint64_t)lines->source.settings->options.max_bytes + 1; /* a '\r' does not count */
    *end = 0;
    for (size_t step = FIRST_STEP; block->length - start <= longest; step = step < LAST_STEP ? 2 * step : step) {
        if (offset == lines->bytes.end) {
            block->bytes[block->length++] = '\n';
            *end = block->length;
            return TWIN_OK;
        }
        size_t had = lines->source.is_fasta && block->length > start ? block->length - 1 : block->length,
               more = lines->bytes.end - offset < step ? (size_t)(lines->bytes.end - offset) : step;
        twin_status status = read_more(lines, block, offset, more, chunk->error);
        if (status != TWIN_OK)
            return status;
        offset += more;
        const char *newline = first_end(lines, block->bytes + had, block->length - had);
        if (newline) {
            *end = (size_t)(newline + 1 - block->bytes);
            return TWIN_OK;
        }
    }
    return TWIN_OK;
}

/* Visits the lines of the block from `start` to `end`, which follows a newline. `offset` is that
 * of the block. */
static twin_status visit_lines(const struct lines *lines, struct twin__chunk *chunk, size_t start, size_t end,
                               uint64_t offset)
{
    const char *block = chunk->buffers->block.bytes, *newline;
    twin_position position = { .source = lines->source.number };
    struct twin__record record;
    for (const char *line = block + start; line < block + end; line = newline + 1) {
        twin_status status =
            twin__record_from_line(&record, &newline, &lines->source, chunk->buffers, line, block + end);
        if (status != TWIN_OK)
            return twin__fail_memory(chunk->error);
        size_t length = record.document.record.length;
        position.offset = offset + (uint64_t)(line - block);
        position.line = ++chunk->lines;
        for (const char *at = line; lines->source.is_fasta && (at = memchr(at, '\n', (size_t)(newline - at))); at++)
            chunk->lines++;
        position.length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
        status = twin__deliver(chunk, &record, position);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* Counts the lines of a sequence that is too long to be read, but for its first. A newline at the end of what is read at a time
 * is read again, since it is known of the next byte alone whether the sequence ends there. */
static twin_status count_lines(const struct lines *lines, struct twin__chunk *chunk, uint64_t offset)
{
    twin_buffer *block = &chunk->buffers->block;
    const char *end = NULL;
    while (offset < lines->bytes.end && !end) {
        uint64_t left = lines->bytes.end - offset;
        block->length = 0;
        twin_status status =
            read_more(lines, block, offset, left < LAST_STEP ? (size_t)left : LAST_STEP, chunk->error);
        if (status != TWIN_OK)
            return status;
        end = first_end(lines, block->bytes, block->length);
        size_t length = end ? (size_t)(end - block->bytes) : block->length;
        length -= !end && length < left && block->bytes[length - 1] == '\n';
        for (size_t i = 0; i < length; i++)
            chunk->lines += block->bytes[i] == '\n';
        offset += length;
    }
    return TWIN_OK;
}

static twin_status visit_overlong(const struct lines *lines, struct twin__chunk *chunk, uint64_t offset)
{
    struct twin__record record;
    twin__record_too_long(&record, &lines->source);
    twin_position position = { offset, ++chunk->lines, lines->source.number, UINT32_MAX };
    twin_status status = twin__deliver(chunk, &record, position);
    return status == TWIN_OK && lines->source.is_fasta ? count_lines(lines, chunk, offset) : status;
}

/* Where the first line of the block starts, or the block's length when none does: the block of a
 * chunk that is not the first begins one byte early, where a newline would make the chunk's own
 * first byte a start. */
static size_t first_start(const struct lines *lines, const twin_buffer *block, bool is_first)
{
    if (is_first)
        return 0;
    const char *newline = first_end(lines, block->bytes, block->length);
    return newline ? (size_t)(newline + 1 - block->bytes) : block->length;
}

static twin_status read_lines(const struct twin__source *source, struct twin__chunk *chunk)
{
    const struct lines *lines = lines_of(source);
    twin_buffer *block = &chunk->buffers->block;
    uint64_t begin, end;
    bounds(&begin, &end, source, chunk->number);
    bool is_first = chunk->number == 0;
    uint64_t offset = is_first ? begin : begin - 1;
    block->length = 0;
    twin_status status = read_more(lines, block, offset, (size_t)(end - offset), chunk->error);
    if (status != TWIN_OK)
        return status;

    size_t start = first_start(lines, block, is_first);
    const char *newline = last_end(lines, block->bytes + start, block->length - start);
    size_t whole = newline ? (size_t)(newline + 1 - block->bytes) : start;
    status = visit_lines(lines, chunk, start, whole, offset);
    if (status != TWIN_OK || whole == block->length)
        return status;

    size_t last;
    status = finish_line(lines, chunk, &last, whole, end);
    if (status != TWIN_OK)
        return status;
    return last ? visit_lines(lines, chunk, whole, last, offset) : visit_overlong(lines, chunk, offset + whole);
}

/* ---- positions ---- */

static bool contains(const struct twin__source *source, twin_position position)
{
    const struct lines *lines = lines_of(source);
    return position.offset >= lines->bytes.begin && position.offset < lines->bytes.end;
}

static twin_status fetch(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                         twin_position position, twin_error *error)
{
    const struct lines *lines = lines_of(source);
    twin_buffer *block = &buffers->block;
    const char *newline;
    out->what = TWIN__RECORD_BLANK;
    if (position.length > lines->bytes.end - position.offset)
        return TWIN_OK;
    block->length = 0;
    twin_status status = read_more(lines, block, position.offset, position.length, error);
    if (status != TWIN_OK)
        return status;
    block->bytes[block->length++] = '\r'; /* so that one which belongs to the line is not taken off it */
    block->bytes[block->length++] = '\n';
    status = twin__record_from_line(out, &newline, source, buffers, block->bytes, block->bytes + block->length);
    if (status != TWIN_OK)
        return twin__fail_memory(error);
    if (out->document.record.length != position.length)
        out->what = TWIN__RECORD_BLANK;
    out->document.position = position;
    return TWIN_OK;
}

static twin_status read_bytes(twin_buffer *out, const struct twin__source *source, uint64_t begin, uint64_t end,
                              twin_error *error)
{
    return twin__file_bytes_range(out, &lines_of(source)->bytes, source->name, begin, end, error);
}

static twin_status field(twin_text *out, const struct twin__source *source, twin_read_buffers *room, twin_text record,
                         const char *name, twin_error *error)
{
    (void)source;
    return twin__json_field(out, room, record, name, error);
}

static twin_input_change change(const struct twin__source *source)
{
    return twin__file_bytes_change(&lines_of(source)->bytes, source->name);
}

const struct twin__source_kind twin__lines = {
    .accepts = accepts,
    .open = open_lines,
    .chunk_size = chunk_size,
    .read = read_lines,
    .contains = contains,
    .fetch = fetch,
    .describe = twin__describe_line,
    .bytes = read_bytes,
    .change = change,
    .field = field,
    .close = close_lines,
};

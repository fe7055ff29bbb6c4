/* memory.c — documents that are in memory already: an array of them, or a function that returns them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scratch.h"
#include "input/numbered.h"

enum {
    BYTES_PER_DOCUMENT = 4 << 10, /* a guess that makes chunks about as long as those of lines */
    LEAST_CHUNKS = 256,           /* for few and long documents, so that all workers have some */
};

struct memory {
    struct twin__numbered base;
    const twin_memory_document *documents; /* NULL: `by_call` has them */
    twin_memory_source by_call;
};

static const struct memory *memory_of(const struct twin__source *source)
{
    return (const struct memory *)source;
}

/* ---- one document ---- */

static twin_status get(twin_memory_document *out, const struct memory *memory, uint64_t number, twin_error *error)
{
    *out = (twin_memory_document){ 0 };
    twin_status status = TWIN_OK;
    if (memory->documents)
        *out = memory->documents[number];
    else
        status = memory->by_call.get(memory->by_call.context, number, out);
    if (status != TWIN_OK)
        return twin__fail(error, status, "document %" PRIu64 " could not be obtained: %s", number + 1,
                          twin_status_text(status));
    if ((out->text.length && !out->text.bytes) || (out->id.length && !out->id.bytes))
        return twin__fail(error, TWIN_EINVAL, "document %" PRIu64 " has a text or an id of NULL that is not empty",
                          number + 1);
    if (!out->text.bytes)
        out->text.bytes = "";
    return TWIN_OK;
}

static void check_document(struct twin__record *record, const struct twin__source *source)
{
    const twin_document *document = &record->document;
    size_t longest = source->settings->options.max_bytes;
    bool is_row = source->settings->options.format == TWIN_INPUT_SETS;
    record->what = TWIN__RECORD_DOCUMENT;
    if (document->text.length > longest)
        twin__record_too_long(record, source);
    else if (document->id.length > longest)
        twin__record_problem(record, TWIN_PROBLEM_BAD_ID, 0, "an id longer than %zu bytes", longest);
    else if (is_row && !document->id.length)
        twin__record_problem(record, TWIN_PROBLEM_BROKEN, 0, "an empty name of a set");
    else if (is_row && !document->text.length)
        twin__record_problem(record, TWIN_PROBLEM_BROKEN, 0, "an empty element");
}

static twin_status look_at(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                           uint64_t number, twin_error *error)
{
    (void)buffers; /* nothing is copied */
    twin_memory_document given;
    twin_status status = get(&given, memory_of(source), number, error);
    if (status != TWIN_OK)
        return status;
    out->document = (twin_document){ .id = given.id,
                                     .id_is_number = given.id_is_number,
                                     .text = given.text,
                                     .record = given.text,
                                     .position = { number, number + 1, source->number, 0 } };
    check_document(out, source);
    return TWIN_OK;
}

/* ---- opening ---- */

twin_status twin__memory_open(struct twin__source **out, const twin_memory_document *documents,
                              twin_memory_source source, const struct twin__input_settings *settings,
                              twin_error *error)
{
    struct memory *memory = calloc(1, sizeof *memory);
    char *name = strdup("memory");
    if (!memory || !name) {
        free(memory);
        free(name);
        return twin__fail_memory(error);
    }
    uint64_t each = settings->options.chunk_bytes / BYTES_PER_DOCUMENT, fair = source.count / LEAST_CHUNKS;
    each = each < fair ? each : fair;
    memory->documents = documents;
    memory->by_call = source;
    memory->base = (struct twin__numbered){
        .source = { .kind = &twin__memory, .settings = settings, .name = name },
        .counts_lines = true,
        .look_at = look_at,
    };
    twin__numbered_divide(&memory->base, source.count, each);
    *out = &memory->base.source;
    return TWIN_OK;
}

static void close_memory(struct twin__source *source)
{
    free(source);
}

static twin_status describe(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    (void)source;
    char words[40];
    int length = snprintf(words, sizeof words, "document %" PRIu64, position.offset + 1);
    return twin_buffer_append(out, words, (size_t)length);
}

const struct twin__source_kind twin__memory = {
    .chunk_size = twin__numbered_chunk_size,
    .read = twin__numbered_read,
    .contains = twin__numbered_contains,
    .fetch = twin__numbered_fetch,
    .describe = describe,
    .close = close_memory,
};

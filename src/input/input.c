/* input.c — the public calls on inputs.
 *
 * An input is a list of sources (source.h), whose chunks are numbered through. Each call finds
 * the source that a chunk or a position belongs to and lets the functions of its kind do the
 * work; what is the same for all kinds is done here: options, buffers that do not stay large,
 * ids for documents that have none, and positions in messages. */
#include <twinsift/input.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "input/documents.h"
#include "input/reader.h"
#include "input/source.h"

enum {
    CHUNK_BYTES = 1 << 20,
    MEMORY_BYTES = 64 << 20,
    KEEP_BYTES = 4 << 20, /* what a buffer may keep from one call to the next */
};

struct twin_input {
    struct twin__input_settings settings;
    size_t memory_left, chunks, count;
    struct twin__source **sources;
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
    if (!options->memory_bytes)
        options->memory_bytes = MEMORY_BYTES;
}

static twin_status check_input_options(const twin_input_options *options, twin_error *error)
{
    if (options->format < TWIN_INPUT_DOCUMENTS || options->format > TWIN_INPUT_MAIL)
        return twin__fail(error, TWIN_EINVAL, "there is no such format of inputs");
    if (options->as < TWIN_INPUT_AS_NAMED || options->as > TWIN_INPUT_AS_HTML)
        return twin__fail(error, TWIN_EINVAL, "there is no such kind of files");
    if (options->mbox < TWIN_MBOX_AUTO || options->mbox > TWIN_MBOX_NONE)
        return twin__fail(error, TWIN_EINVAL, "there is no such dialect of mbox files");
    if (options->ids < TWIN_IDS_FIELD || options->ids > TWIN_IDS_PATH_AND_LINE)
        return twin__fail(error, TWIN_EINVAL, "there is no such origin of ids");
    if (options->separator == '\n' || options->separator == '\r')
        return twin__fail(error, TWIN_EINVAL, "a line end cannot separate what is on a line");
    return twin__check_reserved(error, options->reserved, "an input");
}

static twin_status check_paths(const char *const *paths, size_t count, twin_error *error)
{
    if (count == 0)
        return twin__fail(error, TWIN_EINVAL, "no input was given");
    if (!paths)
        return twin__fail_null(error, "paths");
    if (count > UINT32_MAX)
        return twin__fail(error, TWIN_ELIMIT, "there are too many inputs");
    size_t standard = 0;
    for (size_t i = 0; i < count; i++)
        if (!paths[i])
            return twin__fail(error, TWIN_EINVAL, "paths[%zu] must not be NULL", i);
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

/* A list of strings that NULL ends, as one block: the pointers, then the bytes. */
static bool copy_list(const char *const **list)
{
    size_t count = 0, bytes = 0;
    if (!*list || !**list) {
        *list = NULL;
        return true;
    }
    for (; (*list)[count]; count++)
        bytes += strlen((*list)[count]) + 1;
    char **copy = malloc((count + 1) * sizeof *copy + bytes), *end = copy ? (char *)(copy + count + 1) : NULL;
    for (size_t i = 0; copy && i < count; i++) {
        size_t size = strlen((*list)[i]) + 1;
        copy[i] = memcpy(end, (*list)[i], size);
        end += size;
    }
    if (copy)
        copy[count] = NULL;
    *list = (const char *const *)copy;
    return copy != NULL;
}

/* An input without sources, for `count` paths. */
static twin_status create_input(twin_input **out, size_t count, twin_input_options options, twin_error *error)
{
    bool names_id = options.id_field != NULL;
    fill_defaults(&options);
    twin_status status = check_input_options(&options, error);
    if (status != TWIN_OK)
        return status;
    twin_input *input = calloc(1, sizeof *input);
    if (!input)
        return twin__fail_memory(error);
    char *id_field = strdup(options.id_field), *text_field = strdup(options.text_field);
    char *temp_folder = strdup(options.temp_folder);
    bool copied = copy_list(&options.pre);
    copied = copy_list(&options.pre_globs) && copied;
    options.id_field = id_field;
    options.text_field = text_field;
    options.temp_folder = temp_folder;
    input->memory_left = options.memory_bytes;
    input->settings = (struct twin__input_settings){
        .options = options,
        .memory_left = &input->memory_left,
        .names_id = names_id,
        .full_names = count > 1 || options.ids == TWIN_IDS_PATH_AND_LINE,
        .names_lines = count > 1 || options.ids != TWIN_IDS_FIELD,
        .ignores_ids = options.ids == TWIN_IDS_PATH_AND_LINE && options.format == TWIN_INPUT_DOCUMENTS,
    };
    if (!id_field || !text_field || !temp_folder || !copied) {
        twin_input_free(input);
        return twin__fail_memory(error);
    }
    status = twin__fields_init(&input->settings.fields, id_field, text_field, error);
    if (status != TWIN_OK)
        twin_input_free(input);
    else
        *out = input;
    return status;
}

/* Takes the sources over and numbers them and their chunks. */
static void take_sources(twin_input *input, const struct twin__source_list *list)
{
    input->sources = list->items;
    input->count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        list->items[i]->number = (uint32_t)i;
        list->items[i]->first_chunk = input->chunks;
        input->chunks += list->items[i]->chunks;
    }
}

static twin_status open_input(twin_input **out, const char *const *paths, size_t count, twin_input_options options,
                              twin_error *error)
{
    if (!out)
        return twin__fail_null(error, "out");
    twin_input *input = NULL;
    twin_status status = check_paths(paths, count, error);
    if (status == TWIN_OK)
        status = create_input(&input, count, options, error);
    struct twin__source_list sources = { 0 };
    for (size_t i = 0; i < count && status == TWIN_OK; i++)
        status = twin__source_open(&sources, paths[i], &input->settings, error);
    if (input)
        take_sources(input, &sources);
    if (status == TWIN_OK && sources.count > UINT32_MAX)
        status = twin__fail(error, TWIN_ELIMIT, "there are too many inputs");
    if (status != TWIN_OK) {
        twin_input_free(input);
        return status;
    }
    input->settings.options.progress = (twin_progress){ 0 };
    input->settings.options.include = input->settings.options.exclude = NULL; /* the caller's */
    *out = input;
    return TWIN_OK;
}

twin_status twin_input_open(twin_input **out, const char *const *paths, size_t count, twin_input_options options,
                            twin_error *error)
{
    if (out)
        *out = NULL;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_opening);
    twin_status status = open_input(out, paths, count, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK && out) {
        twin_input_free(*out);
        *out = NULL;
    }
    return status;
}

static twin_status open_memory(twin_input **out, const twin_memory_document *documents, twin_memory_source source,
                               twin_input_options options, twin_error *error)
{
    twin_input *input = NULL;
    struct twin__source_list list = { .items = malloc(sizeof(void *)), .count = 1 };
    twin_status status = list.items ? create_input(&input, 1, options, error) : twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__memory_open(&list.items[0], documents, source, &input->settings, error);
    if (status != TWIN_OK) {
        free(list.items);
        twin_input_free(input);
        return status;
    }
    take_sources(input, &list);
    *out = input;
    return TWIN_OK;
}

twin_status twin_input_from_texts(twin_input **out, const twin_memory_document *documents, size_t count,
                                  twin_input_options options, twin_error *error)
{
    if (!out)
        return twin__fail_null(error, "out");
    *out = NULL;
    if (count && !documents)
        return twin__fail(error, TWIN_EINVAL, "there are documents in memory, but no array of them");
    return open_memory(out, documents, (twin_memory_source){ .count = count }, options, error);
}

twin_status twin_input_from_callback(twin_input **out, twin_memory_source source, twin_input_options options,
                                     twin_error *error)
{
    if (!out)
        return twin__fail_null(error, "out");
    *out = NULL;
    if (!source.get)
        return twin__fail(error, TWIN_EINVAL, "there is no function to get documents with");
    return open_memory(out, NULL, source, options, error);
}

void twin_input_free(twin_input *input)
{
    if (!input)
        return;
    for (size_t i = 0; i < input->count; i++)
        twin__source_close(input->sources[i]);
    free(input->sources);
    twin__fields_clear(&input->settings.fields);
    free((char *)input->settings.options.id_field);
    free((char *)input->settings.options.text_field);
    free((char *)input->settings.options.temp_folder);
    free((void *)input->settings.options.pre);
    free((void *)input->settings.options.pre_globs);
    free(input);
}

/* ---- chunks ---- */

size_t twin_input_chunks(const twin_input *input)
{
    return input ? input->chunks : 0;
}

/* The last source that begins at or before the chunk; those without chunks begin where the next
 * one does. */
static uint32_t source_of_chunk(const twin_input *input, size_t chunk)
{
    size_t low = 0, high = input->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (input->sources[middle]->first_chunk <= chunk)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

twin_input_chunk twin_input_chunk_of(const twin_input *input, size_t chunk)
{
    if (!input || chunk >= input->chunks)
        return (twin_input_chunk){ 0 };
    uint32_t number = source_of_chunk(input, chunk);
    const struct twin__source *source = input->sources[number];
    return (twin_input_chunk){ source->kind->chunk_size(source, chunk - source->first_chunk), number };
}

size_t twin_input_sources(const twin_input *input)
{
    return input ? input->count : 0;
}

const char *twin_input_name(const twin_input *input, uint32_t source)
{
    return input && source < input->count ? input->sources[source]->name : "";
}

twin_folder_info twin_input_folder_info(const twin_input *input, uint32_t source)
{
    if (!input || source >= input->count || !input->sources[source]->kind->folder_info)
        return (twin_folder_info){ 0 };
    return input->sources[source]->kind->folder_info(input->sources[source]);
}

twin_input_format twin_input_format_of(const twin_input *input)
{
    return input ? input->settings.options.format : TWIN_INPUT_DOCUMENTS;
}

/* ---- reading ---- */

/* One huge document must not make every worker keep a buffer of its size. */
static void free_large_buffers(twin_read_buffers *buffers, const twin_input *input)
{
    size_t chunk = input->settings.options.chunk_bytes;
    size_t keep = chunk < SIZE_MAX / 2 && 2 * chunk > KEEP_BYTES ? 2 * chunk : KEEP_BYTES;
    twin_buffer *all[] = { &buffers->block, &buffers->id, &buffers->text, &buffers->key };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->capacity > keep)
            twin_buffer_clear(all[i]);
}

twin_status twin__input_read(uint64_t *lines, const twin_input *input, twin_read_buffers *buffers, size_t chunk,
                             twin_visitor visitor, twin_error *error)
{
    if (!input || !buffers || !visitor.document || !visitor.problem)
        return twin__fail_null(error, !input              ? "input"
                                      : !buffers          ? "buffers"
                                      : !visitor.document ? "visitor.document"
                                                          : "visitor.problem");
    if (chunk >= input->chunks)
        return twin__fail(error, TWIN_EINVAL, "there is no chunk %zu: there are %zu", chunk, input->chunks);
    const struct twin__source *source = input->sources[source_of_chunk(input, chunk)];
    struct twin__chunk reading = { .number = chunk - source->first_chunk,
                                   .buffers = buffers,
                                   .visitor = visitor,
                                   .ignores_ids = input->settings.ignores_ids,
                                   .error = error };
    free_large_buffers(buffers, input);
    twin_status status = source->kind->read(source, &reading);
    free_large_buffers(buffers, input);
    if (status == TWIN_ESTOPPED)
        twin__fail(error, status, "reading was stopped");
    if (lines)
        *lines = reading.lines;
    return status;
}

/* ---- positions ---- */

static const struct twin__source *source_at(const twin_input *input, twin_position position)
{
    const struct twin__source *source = position.source < input->count ? input->sources[position.source] : NULL;
    return source && source->kind->contains(source, position) ? source : NULL;
}

twin_status twin_input_describe(twin_buffer *out, const twin_input *input, twin_position position, uint64_t column)
{
    if (!out || !input)
        return twin__fail_null(NULL, out ? "input" : "out");
    out->length = 0;
    const struct twin__source *source = source_at(input, position);
    if (!source)
        return twin__fail(NULL, TWIN_EINVAL, "the position is in none of the inputs");
    char byte[24] = "";
    if (column)
        snprintf(byte, sizeof byte, ":%" PRIu64, column);
    twin_status status = source->kind->describe(out, source, position);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, byte, strlen(byte) + 1);
    if (status == TWIN_OK)
        out->length--;
    return status;
}

static twin_status fail_changed(const twin_input *input, twin_position position, twin_error *error)
{
    twin_buffer words = { 0 };
    twin_status status = twin_input_describe(&words, input, position, 0);
    if (status == TWIN_ENOMEM)
        status = twin__fail_memory(error);
    else
        status = twin__fail(error, TWIN_EFORMAT, "%s has changed since it was first read",
                            status == TWIN_OK                ? words.bytes
                            : position.source < input->count ? input->sources[position.source]->name /* now shorter */
                                                             : "the list of inputs");
    twin_buffer_clear(&words);
    return status;
}

twin_status twin__name_by_line(twin_text *out, const twin_input *input, twin_buffer *buffer, twin_position position)
{
    char line[24];
    int length = snprintf(line, sizeof line, "%" PRIu64, position.line);
    buffer->length = 0;
    twin_status status = TWIN_OK;
    if (input->sources[position.source]->id_name) {
        twin_text name = text_of(input->sources[position.source]->id_name);
        status = twin_buffer_append(buffer, name.bytes, name.length);
        if (status == TWIN_OK)
            status = twin_buffer_append(buffer, ":", 1);
    }
    if (status == TWIN_OK)
        status = twin_buffer_append(buffer, line, (size_t)length);
    *out = (twin_text){ buffer->bytes, buffer->length };
    return status;
}

twin_status twin__input_fetch(twin_document *out, const twin_input *input, twin_read_buffers *buffers,
                              twin_position position, twin_error *error)
{
    if (!out || !input || !buffers)
        return twin__fail_null(error, !out ? "out" : !input ? "input" : "buffers");
    const struct twin__source *source = source_at(input, position);
    if (!source)
        return fail_changed(input, position, error);
    free_large_buffers(buffers, input);
    struct twin__record record = { 0 };
    twin_status status = source->kind->fetch(&record, source, buffers, position, error);
    if (status != TWIN_OK)
        return status;
    if (record.what != TWIN__RECORD_DOCUMENT)
        return fail_changed(input, position, error);
    twin_document *document = &record.document;
    if (input->settings.ignores_ids)
        twin__document_drop_id(document);
    if (!document->id.bytes && twin__name_by_line(&document->id, input, &buffers->id, document->position) != TWIN_OK)
        return twin__fail_memory(error);
    *out = *document;
    return TWIN_OK;
}

twin_status twin_input_bytes(twin_buffer *out, const twin_input *input, uint32_t source, uint64_t begin, uint64_t end,
                             twin_error *error)
{
    if (!out || !input)
        return twin__fail_null(error, out ? "input" : "out");
    if (source >= input->count || !input->sources[source]->kind->bytes)
        return twin__fail(error, TWIN_EINVAL, "%s is not a file of lines",
                          source < input->count ? input->sources[source]->name : "an input that does not exist");
    out->length = 0;
    return input->sources[source]->kind->bytes(out, input->sources[source], begin, end, error);
}

twin_status twin_input_header(twin_buffer *out, const twin_input *input, uint32_t source, twin_error *error)
{
    if (!out || !input)
        return twin__fail_null(error, out ? "input" : "out");
    out->length = 0;
    if (source >= input->count || !input->sources[source]->kind->header)
        return TWIN_OK;
    return input->sources[source]->kind->header(out, input->sources[source], error);
}

twin_input_change twin_input_change_of(const twin_input *input, uint32_t source)
{
    if (!input || source >= input->count || !input->sources[source]->kind->change)
        return TWIN_INPUT_UNCHANGED;
    return input->sources[source]->kind->change(input->sources[source]);
}

twin_status twin__input_field(twin_text *out, const twin_input *input, twin_read_buffers *room,
                              const twin_document *document, const char *name, twin_error *error)
{
    if (!out || !input || !room || !document || !name)
        return twin__fail_null(error, !out        ? "out"
                                      : !input    ? "input"
                                      : !room     ? "room"
                                      : !document ? "document"
                                                  : "name");
    *out = (twin_text){ 0 };
    const struct twin__source *source = source_at(input, document->position);
    if (!source || !source->kind->field || input->settings.options.format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s has no fields",
                          source ? source->name : "a position outside the inputs");
    return source->kind->field(out, source, room, document->record, name, error);
}

/* ---- with a scratch of the caller ---- */

twin_status twin_input_read(uint64_t *lines, const twin_input *input, twin_scratch **scratch, size_t chunk,
                            twin_visitor visitor, twin_error *error)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__input_read(lines, input, &(*scratch)->reading, chunk, visitor, error)
                             : twin__fail_status(error, status);
}

twin_status twin_input_field(twin_text *out, const twin_input *input, twin_scratch **scratch,
                             const twin_document *document, const char *name, twin_error *error)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__input_field(out, input, &(*scratch)->reading, document, name, error)
                             : twin__fail_status(error, status);
}

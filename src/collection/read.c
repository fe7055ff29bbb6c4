/* read.c — an input becomes a collection.
 *
 * Reading is one pass over the input by input/reader.c. Workers sign the documents of a chunk
 * into a struct twin__chunk_result of their own, and its entries are appended to the collection
 * in the order of the input: so documents are numbered as they come, whatever the number of
 * workers. Then documents whose id occurred before are dropped, and documents with equal sets
 * are joined to the first of them (exact_copies.c). */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/collection_private.h"
#include "edit/edit_characters.h"
#include "input/reader.h"
#include "sketch/long_text.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

/* ---- one document, by any worker ---- */

static bool room_for_entry(struct twin__chunk_result *result, size_t slots)
{
    return TWIN__ARRAY_GROW(&result->entries, &result->entry_capacity, result->entry_count, 1) &&
           TWIN__ARRAY_GROW(&result->signatures, &result->signature_capacity, result->entry_count * slots, slots);
}

/* Makes the items of the last entry a set to know its size. */
static twin_status measure_set(struct twin__chunk_result *result)
{
    twin_set set;
    twin_status status = twin__set_make(&set, &result->scratch.sign.items, &result->scratch.sign.spare);
    if (status == TWIN_OK)
        result->entries[result->entry_count - 1].size = set.count < UINT32_MAX ? (uint32_t)set.count : UINT32_MAX;
    return status;
}

/* The number of characters, as edits count them: of well-formed text the bytes that do not continue one. */
static uint32_t characters(const twin_buffer *text, twin_normal normal)
{
    uint32_t count = 0;
    if (normal == TWIN_NORMAL_BYTES)
        return (uint32_t)twin__edit_decode(NULL, (twin_text){ text->bytes, text->length });
    for (size_t i = 0; i < text->length; i++)
        count += ((unsigned char)text->bytes[i] & 0xC0) != 0x80;
    return count;
}

/* `entry` has what was found of the text; its position and id are those of the document. */
static twin_status add_entry(struct twin__chunk_result *result, const twin_document *document,
                             struct twin__entry entry)
{
    entry.position = document->position;
    entry.id = result->ids.length;
    entry.id_length = (uint32_t)document->id.length;
    entry.has_id = document->id.bytes != NULL;
    entry.is_number = document->id_is_number;
    twin_status status = twin_buffer_append(&result->ids, document->id.bytes, document->id.length);
    if (status != TWIN_OK)
        return status;
    result->entries[result->entry_count++] = entry;
    result->bytes += document->text.length;
    result->too_short += entry.is_short;
    result->unspaced += result->collection->by_words && twin__shingle_is_unspaced(document->text);
    return TWIN_OK;
}

static uint32_t *next_signature(const struct twin__chunk_result *result)
{
    return result->signatures + result->entry_count * result->collection->slots;
}

static twin_status add_long_document(struct twin__chunk_result *result, const twin_document *document)
{
    const twin_collection *collection = result->collection;
    twin_sign_scratch *scratch = &result->scratch.sign;
    struct twin__long_text text = twin__long_text_of(collection, document->text);
    text.is_measured = collection->sizes;
    twin_status status = twin__long_text_sign(next_signature(result), &text, collection->signer, scratch);
    result->replaced += text.replaced;
    size_t size = text.set_size;
    if (status != TWIN_OK)
        return status;
    return add_entry(result, document,
                     (struct twin__entry){ .digest = text.digest,
                                           .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                                           .is_short = text.is_short,
                                           .is_empty = text.is_empty,
                                           .is_long = true });
}

static twin_status add_document(struct twin__chunk_result *result, const twin_document *document)
{
    const twin_collection *collection = result->collection;
    twin_scratch *scratch = &result->scratch;
    if (!room_for_entry(result, collection->slots))
        return TWIN_ENOMEM;
    if (!collection->texts && twin__is_long_text(collection->signer, document->text.length))
        return add_long_document(result, document);
    twin_status status = twin__collection_shingle(collection, scratch, &result->replaced, document->text);
    if (status != TWIN_OK)
        return status;
    struct twin__entry entry = { .digest = twin__collection_digest(collection, scratch) };
    if (collection->texts) {
        entry.size = characters(&scratch->sign.text, twin_signer_scheme(collection->signer)->normal);
    } else {
        twin_signer_sign(next_signature(result), collection->signer, scratch->sign.items.items,
                         scratch->sign.items.count);
        entry.is_short = scratch->sign.is_short;
        entry.is_empty = scratch->sign.items.count == 0;
    }
    status = add_entry(result, document, entry);
    return status == TWIN_OK && collection->sizes && !collection->texts ? measure_set(result) : status;
}

/* ---- the results of a chunk, in order ---- */

/* Lines are now counted from the start of the input, and documents without an id are named by them. */
static twin_status finish_entries(struct twin__chunk_result *result, struct twin__reader *reader)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < result->entry_count && status == TWIN_OK; i++) {
        struct twin__entry *entry = &result->entries[i];
        twin_text id = { entry->has_id ? "" : NULL, 0 };
        status = twin__reader_finish(&entry->position, &id, reader);
        if (status != TWIN_OK || entry->has_id)
            continue;
        entry->id = result->ids.length;
        entry->id_length = (uint32_t)id.length;
        status = twin_buffer_append(&result->ids, id.bytes, id.length);
    }
    return status;
}

static twin_status append_documents(twin_collection *collection, struct twin__chunk_result *result,
                                    struct twin__reader *reader, twin_error *error)
{
    twin_status status = finish_entries(result, reader);
    struct twin__more_documents more = {
        result->entries, result->signatures, result->entry_count, { result->ids.bytes, result->ids.length }
    };
    return status == TWIN_OK ? twin__collection_append(collection, &more, error) : status;
}

/* ---- reading ---- */

struct reading {
    twin_collection *collection;
    struct twin__chunk_kind kind;
    struct twin__chunk_result *results; /* one per worker */
    const twin_collection_options *options;
};

static void begin_chunk(void *context, int worker)
{
    struct twin__chunk_result *result = &((struct reading *)context)->results[worker];
    result->entry_count = result->row_count = result->ids.length = 0;
    result->replaced = result->bytes = result->too_short = result->unspaced = 0;
}

static twin_status read_document(void *context, int worker, const twin_document *document, uint64_t *ill_formed,
                                 twin_error *error)
{
    struct reading *reading = context;
    struct twin__chunk_result *result = &reading->results[worker];
    uint64_t before = result->replaced;
    twin_status status = reading->kind.add(result, document);
    *ill_formed += result->replaced - before;
    if (status != TWIN_OK || !reading->options->on_document)
        return status; /* the reader has a sentence for each status */
    return reading->options->on_document(reading->options->context, document, worker, error);
}

static twin_status collect_chunk(void *context, int worker, struct twin__reader *reader, twin_error *error)
{
    struct reading *reading = context;
    struct twin__chunk_result *result = &reading->results[worker];
    twin_collection_counts *counts = &reading->collection->counts;
    counts->replaced += result->replaced;
    counts->bytes += result->bytes;
    counts->too_short += result->too_short;
    counts->unspaced += result->unspaced;
    return reading->kind.append(reading->collection, result, reader, error);
}

static void keep_problem(void *context, const twin_problem *problem)
{
    twin_collection *collection = ((struct reading *)context)->collection;
    if (problem->kind == TWIN_PROBLEM_ILL_FORMED)
        collection->ill_formed[collection->ill_formed_count++] = *problem;
    else
        collection->problems[collection->problem_count++] = *problem;
}

static void free_results(struct twin__chunk_result *results, int workers)
{
    for (int i = 0; i < workers; i++) {
        twin__scratch_clear(&results[i].scratch);
        twin_buffer_clear(&results[i].ids);
        free(results[i].entries);
        free(results[i].signatures);
        free(results[i].rows);
    }
    free(results);
}

twin_status twin__read_chunks(twin_collection *collection, struct twin__chunk_kind kind,
                              const twin_collection_options *options, twin_error *error)
{
    struct reading reading = { .collection = collection, .kind = kind, .options = options };
    reading.results = calloc((size_t)options->exec.workers, sizeof *reading.results);
    if (!reading.results)
        return twin__fail_memory(error);
    for (int i = 0; i < options->exec.workers; i++)
        reading.results[i].collection = collection;
    struct twin__reader_options reader = { .input = collection->input,
                                           .exec = options->exec,
                                           .strict = options->strict,
                                           .stage = &twin__stage_reading,
                                           .begin = begin_chunk,
                                           .document = read_document,
                                           .collect = collect_chunk,
                                           .problem = keep_problem,
                                           .context = &reading };
    struct twin__read_counts counts;
    twin_status status = twin__read_input(&counts, &reader, error);
    collection->counts.problems = counts.problems;
    collection->counts.ill_formed = counts.ill_formed;
    free_results(reading.results, options->exec.workers);
    return status;
}

/* ---- the whole ---- */

/* Gives a failure that came without a sentence the general one of its status. */
static twin_status fail_if_silent(twin_error *error, twin_status status)
{
    return error && error->status != status ? twin__fail_status(error, status) : status;
}

static twin_status read_all(twin_collection *collection, const twin_collection_options *options, twin_error *error)
{
    const struct twin__chunk_kind documents = { add_document, append_documents };
    twin_status status = twin__collection_sign_by(collection, &options->scheme, error);
    if (status == TWIN_OK)
        status = twin_input_format_of(collection->input) == TWIN_INPUT_SETS
                     ? twin__read_set_rows(collection, options, error)
                     : twin__read_chunks(collection, documents, options, error);
    if (status == TWIN_OK)
        status = twin__collection_append_end(collection, error);
    if (status == TWIN_OK && !options->ids_may_repeat)
        status = twin__drop_repeated_ids(collection, options, error);
    if (status == TWIN_OK)
        status = twin__find_exact_copies(collection, options->exec, error);
    return status;
}

static twin_status read_collection(twin_collection **out, const twin_input *input, twin_collection_options options,
                                   twin_error *error)
{
    if (!out || !input)
        return twin__fail_null(error, out ? "input" : "out");
    twin_collection *collection = NULL;
    twin_status status = twin__exec_complete(&options.exec, error);
    if (status == TWIN_OK)
        status = twin__collection_create(&collection, input, &options, error);
    if (!collection)
        return status;
    if (error)
        *error = (twin_error){ 0 };
    status = read_all(collection, &options, error);
    if (status != TWIN_OK) {
        twin_collection_free(collection);
        return fail_if_silent(error, status);
    }
    *out = collection;
    return TWIN_OK;
}

twin_status twin_collection_read(twin_collection **out, const twin_input *input, twin_collection_options options,
                                 twin_error *error)
{
    if (out)
        *out = NULL;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_reading);
    twin_status status = read_collection(out, input, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK && out) {
        twin_collection_free(*out);
        *out = NULL;
    }
    return status;
}

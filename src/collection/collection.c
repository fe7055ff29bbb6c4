/* collection.c — a collection: documents, each with its signature; sets on demand.
 *
 * Reading is one pass over the input by input/reader.c. Workers sign the documents of a chunk
 * into a struct twin__chunk_result of their own, and its entries are appended to the collection
 * in the order of the input: so documents are numbered as they come, whatever the number of
 * workers. Then documents whose id occurred before are dropped, and documents with equal sets
 * are joined to the first of them (exact_copies.c).
 *
 * Kept are the signature, the id and an entry per document. Texts and sets are not: a large
 * input has few candidate pairs, so that reading their documents again costs less than keeping
 * all sets would. A digest of each normalised text notices a document that changed in between.
 * Sets that came as rows have no text to be read again, and are kept whole (set_rows.c). */
#include <twinsift/collection.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/collection_private.h"
#include "input/reader.h"
#include "sketch/long_text.h"

void twin_scratch_clear(twin_scratch *scratch)
{
    if (!scratch)
        return;
    twin_read_buffers_clear(&scratch->reading);
    twin_sign_scratch_clear(&scratch->sign);
}

/* Gives a failure that came without a sentence the general one of its status. */
static twin_status fail_if_silent(twin_error *error, twin_status status)
{
    return error && error->status != status ? twin__fail_status(error, status) : status;
}

/* Text becomes items, in scratch->sign.items, unless it is to stay text; the text they came from
 * is scratch->sign.text. */
static twin_status shingle_text(const twin_collection *collection, twin_scratch *scratch, uint64_t *replaced,
                                twin_text raw)
{
    return collection->texts ? twin_signer_normalise(&scratch->sign, replaced, collection->signer, raw)
                             : twin_signer_shingle(&scratch->sign, replaced, collection->signer, raw);
}

static bool room_for_entry(struct twin__chunk_result *result, size_t slots)
{
    return TWIN__ARRAY_GROW(&result->entries, &result->entry_capacity, result->entry_count, 1) &&
           TWIN__ARRAY_GROW(&result->signatures, &result->signature_capacity, result->entry_count * slots, slots);
}

/* Makes the items of the last entry a set to know its size. */
static twin_status measure_set(struct twin__chunk_result *result)
{
    twin_set set;
    twin_status status = twin_set_make(&set, &result->scratch.sign.items, &result->scratch.sign.spare);
    if (status == TWIN_OK)
        result->entries[result->entry_count - 1].size = set.count < UINT32_MAX ? (uint32_t)set.count : UINT32_MAX;
    return status;
}

/* The number of characters: of bytes that do not continue one. */
static uint32_t characters(const twin_buffer *text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += ((unsigned char)text->bytes[i] & 0xC0) != 0x80;
    return count;
}

static twin_digest digest_of(const twin_collection *collection, const twin_scratch *scratch)
{
    return twin_hash_digest(twin_signer_scheme(collection->signer)->shingle.hash, scratch->sign.text.bytes,
                            scratch->sign.text.length);
}

/* ---- one document, by any worker ---- */

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
    result->unspaced += result->collection->by_words && twin_shingle_is_unspaced(document->text);
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
    if (!collection->texts && document->text.length > TWIN__LONG_TEXT)
        return add_long_document(result, document);
    twin_status status = shingle_text(collection, scratch, &result->replaced, document->text);
    if (status != TWIN_OK)
        return status;
    struct twin__entry entry = { .digest = digest_of(collection, scratch) };
    if (collection->texts) {
        entry.size = characters(&scratch->sign.text);
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
    if (status != TWIN_OK || !reading->options->examine)
        return status; /* the reader has a sentence for each status */
    return reading->options->examine(reading->options->context, document, worker, error);
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
        twin_scratch_clear(&results[i].scratch);
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
                                           .progress = options->progress,
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

twin_status twin__collection_create(twin_collection **out, const twin_input *input,
                                    const twin_collection_options *options, twin_error *error)
{
    bool rows = twin_input_format_of(input) == TWIN_INPUT_SETS; /* sets already */
    if (options->texts && rows)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to compare");
    if (options->memory_bytes && (rows || options->texts || !options->repeated_ids))
        return twin__fail(error, TWIN_EINVAL,
                          "only signed documents, with ids that may repeat, can be kept out of memory");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return twin__fail_memory(error);
    (*out)->input = input;
    (*out)->sizes = options->sizes || options->scheme.measure == TWIN_CONTAINMENT;
    (*out)->texts = options->texts;
    (*out)->memory_bytes = options->memory_bytes;
    (*out)->temp_folder = options->temp_folder ? options->temp_folder : "/tmp";
    return TWIN_OK;
}

twin_status twin__collection_sign_by(twin_collection *collection, const twin_scheme *scheme, twin_error *error)
{
    twin_status status = twin_signer_create(&collection->signer, scheme, error);
    if (status == TWIN_OK && !collection->texts) {
        twin_shingle_kind kind = twin_signer_scheme(collection->signer)->shingle.kind;
        collection->slots = twin_signer_scheme(collection->signer)->minhash.slots;
        collection->by_words = kind == TWIN_SHINGLE_WORD || kind == TWIN_SHINGLE_STOP;
    }
    return status;
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
    if (status == TWIN_OK && !options->repeated_ids)
        status = twin__drop_repeated_ids(collection, options, error);
    if (status == TWIN_OK)
        status = twin__find_exact_copies(collection, options->exec, error);
    return status;
}

twin_status twin_collection_read(twin_collection **out, const twin_input *input, twin_collection_options options,
                                 twin_error *error)
{
    if (!out || !input)
        return twin__fail_null(error, out ? "input" : "out");
    *out = NULL;
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

void twin_collection_free(twin_collection *collection)
{
    if (!collection)
        return;
    twin_signer_free(collection->signer);
    twin__collection_free_arrays(collection);
    free(collection->firsts);
    free(collection->distinct);
    twin__set_rows_free(collection->rows);
    free(collection);
}

static bool has(const twin_collection *collection, uint32_t document)
{
    return collection && document < collection->count;
}

/* The checks that come before a document is read again. */
static twin_status check_fetch(const void *out, const twin_collection *collection, const twin_scratch *scratch,
                               uint32_t document, twin_error *error)
{
    if (!out || !collection || (!scratch && !collection->rows)) /* sets of rows are in memory */
        return twin__fail_null(error, !out ? "out" : !collection ? "collection" : "scratch");
    if (!has(collection, document))
        return twin__fail(error, TWIN_EINVAL, "there is no document %" PRIu32 ": there are %zu", document,
                          (size_t)collection->count);
    return TWIN_OK;
}

twin_collection_counts twin_collection_count(const twin_collection *collection)
{
    if (!collection)
        return (twin_collection_counts){ 0 };
    twin_collection_counts counts = collection->counts;
    counts.documents = collection->count;
    return counts;
}

size_t twin_collection_problems(const twin_problem **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->problems : NULL;
    return collection ? collection->problem_count : 0;
}

size_t twin_collection_ill_formed(const twin_problem **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->ill_formed : NULL;
    return collection ? collection->ill_formed_count : 0;
}

const twin_input *twin_collection_input(const twin_collection *collection)
{
    return collection ? collection->input : NULL;
}

const twin_scheme *twin_collection_scheme(const twin_collection *collection)
{
    return collection ? twin_signer_scheme(collection->signer) : NULL;
}

const uint32_t *twin_collection_signatures(const twin_collection *collection)
{
    return collection ? collection->signatures : NULL;
}

size_t twin_collection_slots(const twin_collection *collection)
{
    return collection ? collection->slots : 0;
}

uint32_t twin_collection_size(const twin_collection *collection, uint32_t document)
{
    return has(collection, document) ? twin__entry_of(collection, document)->size : 0;
}

const uint32_t *twin_collection_firsts(const twin_collection *collection)
{
    return collection ? collection->firsts : NULL;
}

size_t twin_collection_distinct(const uint32_t **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->distinct : NULL;
    return collection ? collection->distinct_count : 0;
}

static bool is_as_before(const twin_collection *collection, const twin_scratch *scratch,
                         const struct twin__entry *entry)
{
    twin_digest now = digest_of(collection, scratch);
    return now.low == entry->digest.low && now.high == entry->digest.high;
}

twin_status twin__collection_fail_changed(twin_error *error, const twin_collection *collection,
                                          twin_position position)
{
    twin_problem problem = { .position = position,
                             .message = "changed while it was being read; run again when it is at rest" };
    return twin__fail_problem(error, collection->input, &problem);
}

twin_status twin__collection_read_again(const twin_collection *collection, twin_scratch *scratch, uint32_t document,
                                        twin_error *error)
{
    twin_document found;
    const struct twin__entry *entry = twin__entry_of(collection, document);
    twin_status status = twin_input_fetch(&found, collection->input, &scratch->reading, entry->position, error);
    if (status != TWIN_OK)
        return status;
    status = shingle_text(collection, scratch, NULL, found.text);
    if (status == TWIN_OK && !is_as_before(collection, scratch, entry))
        return twin__collection_fail_changed(error, collection, entry->position);
    return status == TWIN_OK ? TWIN_OK : fail_if_silent(error, status);
}

twin_status twin_collection_set(twin_set *out, const twin_collection *collection, twin_scratch *scratch,
                                uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->texts)
        return twin__fail(error, TWIN_EINVAL, "a collection of texts has no sets");
    if (collection->rows) {
        *out = twin__set_rows_get(collection->rows, document);
        return TWIN_OK;
    }
    status = twin__collection_read_again(collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    status = twin_set_make(out, &scratch->sign.items, &scratch->sign.spare);
    return status == TWIN_OK ? TWIN_OK : fail_if_silent(error, status);
}

twin_status twin_collection_text(twin_text *out, const twin_collection *collection, twin_scratch *scratch,
                                 uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->rows)
        return twin__fail(error, TWIN_EINVAL, "a collection of sets has no texts");
    status = twin__collection_read_again(collection, scratch, document, error);
    if (status == TWIN_OK)
        *out = (twin_text){ scratch->sign.text.bytes, scratch->sign.text.length };
    return status;
}

twin_status twin_collection_document(twin_document *out, const twin_collection *collection, twin_scratch *scratch,
                                     uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->rows)
        return twin__fail(error, TWIN_EINVAL, "a set has many rows, none of which is the document");
    return twin_input_fetch(out, collection->input, &scratch->reading, twin__entry_of(collection, document)->position,
                            error);
}

twin_position twin_collection_position(const twin_collection *collection, uint32_t document)
{
    return has(collection, document) ? twin__entry_of(collection, document)->position : (twin_position){ 0 };
}

twin_text twin_collection_id(bool *is_number, const twin_collection *collection, uint32_t document)
{
    if (is_number)
        *is_number = false;
    if (!has(collection, document))
        return (twin_text){ "", 0 };
    const struct twin__entry *entry = twin__entry_of(collection, document);
    if (is_number)
        *is_number = entry->is_number;
    if (collection->spilled)
        twin__spill_touch(&collection->spilled->ids, TWIN__SPILL_AROUND);
    return (twin_text){ collection->ids.bytes + entry->id, entry->id_length };
}

/* collection.c — a collection: documents, each with its signature; sets on demand. */
#include <twinsift/collection.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "input/reader.h"
#include "join/collection_private.h"

void twin_scratch_clear(twin_scratch *scratch)
{
    twin_read_buffers_clear(&scratch->reading);
    twin_sign_scratch_clear(&scratch->sign);
}

struct reader {
    twin_collection *collection;
    struct twin__chunk_kind kind;
    twin_progress progress;
    struct twin__chunk_result *findings; /* one a worker */
    atomic_bool stop;                    /* what follows will not be used */
    uint64_t line_base;                  /* lines of this source before the piece whose turn it is */
    uint32_t source;
    uint64_t done, total;
    twin_status status;
    twin_error *error;
};

/* Gives a failure that came without a sentence the general one of its status. */
static twin_status fail_if_silent(twin_error *error, twin_status status)
{
    return error && error->status != status ? twin__fail_status(error, status) : status;
}

/* Text becomes items, in scratch->sign.items, unless it is to stay text; the text they came from is scratch->sign.text. */
static twin_status shingle_text(const twin_collection *collection, twin_scratch *scratch, uint64_t *replaced,
                                twin_text raw)
{
    return collection->texts ? twin_signer_normalise(&scratch->sign, replaced, collection->signer, raw)
                             : twin_signer_shingle(&scratch->sign, replaced, collection->signer, raw);
}

static bool room_for_entry(struct twin__chunk_result *finding, size_t slots)
{
    return twin__array_grow(&finding->entries, &finding->entry_capacity, finding->entry_count, 1,
                            sizeof *finding->entries) &&
           twin__array_grow(&finding->signatures, &finding->signature_capacity, finding->entry_count * slots, slots,
                            sizeof *finding->signatures);
}

/* Makes the items of the last entry a set to know its size. */
static twin_status measure_set(struct twin__chunk_result *finding)
{
    twin_set set;
    twin_status status = twin_set_make(&set, &finding->scratch.sign.items, &finding->scratch.sign.spare);
    if (status == TWIN_OK)
        finding->entries[finding->entry_count - 1].size = set.count < UINT32_MAX ? (uint32_t)set.count : UINT32_MAX;
    return status;
}

/* The number of characters; a byte that goes on with one begins none. */
static uint32_t characters(const twin_buffer *text)
{
    uint32_t count = 0;
    for (size_t i = 0; i < text->length; i++)
        count += ((unsigned char)text->bytes[i] & 0xC0) != 0x80;
    return count;
}

static bool visit_document(void *context, const twin_document *document)
{
    struct twin__chunk_result *finding = context;
    const twin_collection *collection = finding->collection;
    twin_scratch *scratch = &finding->scratch;

    finding->status = TWIN_ENOMEM;
    if (!room_for_entry(finding, collection->slots))
        return false;
    finding->status = shingle_text(collection, scratch, &finding->replaced, document->text);
    if (finding->status != TWIN_OK)
        return false;
    bool too_short = !collection->texts && scratch->sign.items.count == 0;
    if (!collection->texts)
        twin_signer_sign(finding->signatures + finding->entry_count * collection->slots, collection->signer,
                         scratch->sign.items.items, scratch->sign.items.count);
    size_t id = finding->ids.length;
    finding->status = twin_buffer_append(&finding->ids, document->id.bytes, document->id.length);
    if (finding->status != TWIN_OK)
        return false;
    finding->entries[finding->entry_count++] = (struct twin__entry){
        .position = document->position,
        .digest = twin_hash_digest(twin_signer_scheme(collection->signer)->shingle.hash, scratch->sign.text.bytes,
                                   scratch->sign.text.length),
        .id = id,
        .id_length = (uint32_t)document->id.length,
        .size = collection->texts ? characters(&scratch->sign.text) : 0,
        .has_id = document->id.bytes != NULL,
        .is_number = document->id_is_number,
        .is_empty = too_short,
    };
    if (collection->sizes && !collection->texts)
        finding->status = measure_set(finding);
    finding->bytes += document->text.length;
    finding->too_short += too_short;
    return finding->status == TWIN_OK;
}

static bool visit_problem(void *context, const twin_problem *problem)
{
    struct twin__chunk_result *finding = context;
    if (!twin__array_grow(&finding->problems, &finding->problem_capacity, finding->problem_count, 1,
                          sizeof *finding->problems)) {
        finding->status = TWIN_ENOMEM;
        return false;
    }
    finding->problems[finding->problem_count++] = *problem;
    return !finding->collection->strict;
}

static void read_chunk(void *context, size_t piece, int worker)
{
    struct reader *reader = context;
    struct twin__chunk_result *finding = &reader->findings[worker];
    finding->entry_count = finding->row_count = finding->ids.length = finding->problem_count = 0;
    finding->lines = finding->replaced = finding->bytes = finding->too_short = 0;
    finding->status = TWIN_OK;
    if (atomic_load_explicit(&reader->stop, memory_order_relaxed))
        return;
    twin_visitor visitor = { reader->kind.visit, visit_problem, finding };
    twin_status status = twin_input_read(&finding->lines, reader->collection->input, &finding->scratch.reading, piece,
                                         visitor, &finding->error);
    if (finding->status == TWIN_OK)
        finding->status = status;
}

/* A document without an id is called by its line. */
static twin_status name_by_line(twin_collection *collection, struct twin__entry *entry, twin_buffer *room)
{
    twin_text name;
    twin_status status = twin__name_by_line(&name, collection->input, room, entry->position);
    entry->id = collection->ids.length;
    entry->id_length = (uint32_t)name.length;
    return status == TWIN_OK ? twin_buffer_append(&collection->ids, name.bytes, name.length) : status;
}

/* Takes over the entries of a finding: their lines and ids are now those of the whole collection. */
static twin_status join_entries(twin_collection *collection, const struct twin__chunk_result *finding,
                                uint64_t line_base)
{
    size_t ids = collection->ids.length;
    twin_buffer room = { 0 };
    twin_status status = twin_buffer_append(&collection->ids, finding->ids.bytes, finding->ids.length);
    for (size_t i = 0; i < finding->entry_count && status == TWIN_OK; i++) {
        struct twin__entry *entry = &collection->entries[collection->count + i];
        *entry = finding->entries[i];
        entry->id += ids;
        if (entry->position.line)
            entry->position.line += line_base;
        if (!entry->has_id)
            status = name_by_line(collection, entry, &room);
    }
    twin_buffer_clear(&room);
    collection->count += finding->entry_count;
    return status;
}

static twin_status join_documents(twin_collection *collection, const struct twin__chunk_result *finding,
                                  uint64_t line_base)
{
    size_t count = collection->count, more = finding->entry_count, slots = collection->slots;
    if (more > UINT32_MAX - count)
        return TWIN_ELIMIT;
    if (!twin__array_grow(&collection->entries, &collection->entry_capacity, count, more,
                          sizeof *collection->entries) ||
        !twin__array_grow(&collection->signatures, &collection->signature_capacity, count * slots, more * slots,
                          sizeof *collection->signatures))
        return TWIN_ENOMEM;
    if (more && slots)
        memcpy(collection->signatures + count * slots, finding->signatures, more * slots * sizeof(uint32_t));
    return join_entries(collection, finding, line_base);
}

twin_status twin__add_problem(twin_collection *collection, const twin_problem *problem)
{
    if (!twin__array_grow(&collection->problems, &collection->problem_capacity, collection->problem_count, 1,
                          sizeof *collection->problems))
        return TWIN_ENOMEM;
    collection->problems[collection->problem_count++] = *problem;
    return TWIN_OK;
}

static twin_status join_problems(twin_collection *collection, const struct twin__chunk_result *finding,
                                 uint64_t line_base)
{
    for (size_t i = 0; i < finding->problem_count; i++) {
        twin_problem problem = finding->problems[i];
        if (problem.position.line)
            problem.position.line += line_base;
        twin_status status = twin__add_problem(collection, &problem);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

twin_status twin__fail_problem(twin_error *error, const twin_collection *collection, const twin_problem *problem)
{
    twin_buffer where = { 0 };
    twin_status status = twin_input_describe(&where, collection->input, problem->position, problem->column);
    status = status == TWIN_OK ? twin__fail(error, TWIN_EFORMAT, "%s: %s", where.bytes, problem->message)
                               : twin__fail_memory(error);
    if (error) {
        error->line = problem->position.line;
        error->offset = problem->position.offset + problem->column;
    }
    twin_buffer_clear(&where);
    return status;
}

/* Joins what a worker found in a piece to the collection. */
static twin_status append_chunk(struct reader *reader, const struct twin__chunk_result *finding)
{
    twin_collection *collection = reader->collection;
    twin_status status = reader->kind.join(collection, finding, reader->line_base);
    if (status == TWIN_OK)
        status = join_problems(collection, finding, reader->line_base);
    reader->line_base += finding->lines;
    collection->counts.replaced += finding->replaced;
    collection->counts.bytes += finding->bytes;
    collection->counts.too_short += finding->too_short;
    if (status != TWIN_OK)
        return status;
    /* Before the status, for a piece that was stopped at a problem says no more than that. */
    if (collection->strict && collection->problem_count)
        return twin__fail_problem(reader->error, collection, &collection->problems[0]);
    if (finding->status != TWIN_OK && reader->error)
        *reader->error = finding->error;
    return finding->status;
}

static void collect_chunk(void *context, size_t piece, int worker)
{
    struct reader *reader = context;
    const twin_input *input = reader->collection->input;
    if (reader->status != TWIN_OK)
        return;
    if (twin_input_chunk_source(input, piece) != reader->source)
        reader->line_base = 0;
    reader->source = twin_input_chunk_source(input, piece);
    reader->status = append_chunk(reader, &reader->findings[worker]);
    if (reader->status != TWIN_OK)
        atomic_store_explicit(&reader->stop, true, memory_order_relaxed);
    reader->done += twin_input_chunk_size(input, piece);
    if (reader->progress.report)
        reader->progress.report(reader->progress.context, &twin__stage_reading, reader->done, reader->total);
}

static void free_findings(struct twin__chunk_result *findings, int workers)
{
    for (int i = 0; i < workers; i++) {
        twin_scratch_clear(&findings[i].scratch);
        twin_buffer_clear(&findings[i].ids);
        free(findings[i].entries);
        free(findings[i].signatures);
        free(findings[i].rows);
        free(findings[i].problems);
    }
    free(findings);
}

twin_status twin__read_chunks(twin_collection *collection, struct twin__chunk_kind kind,
                              const twin_collection_options *options, twin_error *error)
{
    struct reader reader = { .collection = collection, .kind = kind, .progress = options->progress, .error = error };
    reader.findings = calloc((size_t)options->exec.workers, sizeof *reader.findings);
    if (!reader.findings)
        return TWIN_ENOMEM;
    for (int i = 0; i < options->exec.workers; i++)
        reader.findings[i].collection = collection;
    size_t pieces = twin_input_chunks(collection->input);
    for (size_t piece = 0; piece < pieces; piece++)
        reader.total += twin_input_chunk_size(collection->input, piece);
    twin_exec_in_order(options->exec, pieces, read_chunk, collect_chunk, &reader);
    free_findings(reader.findings, options->exec.workers);
    return reader.status;
}

static twin_status prepare(twin_collection *collection, twin_collection_options options, twin_error *error)
{
    collection->strict = options.strict;
    collection->sizes = options.sizes;
    collection->texts = options.texts;
    bool rows = twin_input_format_of(collection->input) == TWIN_INPUT_SETS; /* sets already */
    if (options.texts && rows)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to compare");
    twin_status status = twin_signer_create(&collection->signer, &options.scheme, error);
    if (status == TWIN_OK && !options.texts)
        collection->slots = twin_signer_scheme(collection->signer)->minhash.slots;
    return status;
}

twin_status twin_collection_read(twin_collection **out, const twin_input *input, twin_collection_options options,
                                 twin_error *error)
{
    *out = NULL;
    twin_collection *collection = calloc(1, sizeof *collection);
    if (!collection)
        return twin__fail_memory(error);
    collection->input = input;
    if (error)
        *error = (twin_error){ 0 };
    twin_status status = prepare(collection, options, error);
    const struct twin__chunk_kind documents = { visit_document, join_documents };
    if (status == TWIN_OK)
        status = twin_input_format_of(input) == TWIN_INPUT_SETS
                     ? twin__read_set_rows(collection, &options, error)
                     : twin__read_chunks(collection, documents, &options, error);
    if (status == TWIN_OK)
        status = twin__drop_repeated_ids(collection, error);
    if (status == TWIN_OK)
        status = twin__find_exact_copies(collection, options.exec, error);
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
    free(collection->entries);
    twin_buffer_clear(&collection->ids);
    free(collection->signatures);
    free(collection->problems);
    free(collection->firsts);
    free(collection->distinct);
    twin__set_rows_free(collection->rows);
    free(collection);
}

twin_collection_counts twin_collection_count(const twin_collection *collection)
{
    twin_collection_counts counts = collection->counts;
    counts.documents = collection->count;
    counts.problems = collection->problem_count;
    return counts;
}

size_t twin_collection_problems(const twin_problem **out, const twin_collection *collection)
{
    *out = collection->problems;
    return collection->problem_count;
}

const twin_scheme *twin_collection_scheme(const twin_collection *collection)
{
    return twin_signer_scheme(collection->signer);
}

const uint32_t *twin_collection_signatures(const twin_collection *collection)
{
    return collection->signatures;
}

size_t twin_collection_slots(const twin_collection *collection)
{
    return collection->slots;
}

uint32_t twin_collection_size(const twin_collection *collection, uint32_t document)
{
    return collection->entries[document].size;
}

const uint32_t *twin_collection_firsts(const twin_collection *collection)
{
    return collection->firsts;
}

size_t twin_collection_distinct(const uint32_t **out, const twin_collection *collection)
{
    *out = collection->distinct;
    return collection->distinct_count;
}

static bool is_as_before(const twin_collection *collection, const twin_scratch *scratch,
                         const struct twin__entry *entry)
{
    twin_digest now = twin_hash_digest(twin_signer_scheme(collection->signer)->shingle.hash, scratch->sign.text.bytes,
                                       scratch->sign.text.length);
    return now.low == entry->digest.low && now.high == entry->digest.high;
}

static twin_status fail_changed(twin_error *error, const twin_collection *collection, twin_position position)
{
    twin_problem problem = { .position = position,
                             .message = "changed while it was being read; run again when it is at rest" };
    return twin__fail_problem(error, collection, &problem);
}

/* Reads a document again: its text and its items are then in `scratch`. */
static twin_status read_again(const twin_collection *collection, twin_scratch *scratch, uint32_t document,
                              twin_error *error)
{
    twin_document found;
    const struct twin__entry *entry = &collection->entries[document];
    twin_status status = twin_input_fetch(&found, collection->input, &scratch->reading, entry->position, error);
    if (status != TWIN_OK)
        return status;
    status = shingle_text(collection, scratch, NULL, found.text);
    if (status == TWIN_OK && !is_as_before(collection, scratch, entry))
        return fail_changed(error, collection, entry->position);
    return status == TWIN_OK ? TWIN_OK : fail_if_silent(error, status);
}

twin_status twin_collection_set(twin_set *out, const twin_collection *collection, twin_scratch *scratch,
                                uint32_t document, twin_error *error)
{
    if (collection->texts)
        return fail_if_silent(error, TWIN_EINVAL);
    if (collection->rows) {
        *out = twin__set_rows_get(collection->rows, document);
        return TWIN_OK;
    }
    twin_status status = read_again(collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    status = twin_set_make(out, &scratch->sign.items, &scratch->sign.spare);
    return status == TWIN_OK ? TWIN_OK : fail_if_silent(error, status);
}

twin_status twin_collection_text(twin_text *out, const twin_collection *collection, twin_scratch *scratch,
                                 uint32_t document, twin_error *error)
{
    if (collection->rows)
        return fail_if_silent(error, TWIN_EINVAL);
    twin_status status = read_again(collection, scratch, document, error);
    if (status == TWIN_OK)
        *out = (twin_text){ scratch->sign.text.bytes, scratch->sign.text.length };
    return status;
}

uint32_t twin_collection_length(const twin_collection *collection, uint32_t document)
{
    return collection->entries[document].size;
}

twin_text twin_collection_id(bool *is_number, const twin_collection *collection, uint32_t document)
{
    const struct twin__entry *entry = &collection->entries[document];
    if (is_number)
        *is_number = entry->is_number;
    return (twin_text){ collection->ids.bytes + entry->id, entry->id_length };
}

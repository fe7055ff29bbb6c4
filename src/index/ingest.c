/* ingest.c — the documents of an input, processed for an index.
 *
 * Documents go through input/reader.c, which several workers read; sets are complete only when all rows have been
 * read, so a collection is made of them first. Either way each document reaches `process` and each chunk of results
 * `collect`, in the order of the input. add_input.c and query_input.c are the two passes. */
#include "index/ingest.h"
#include "base/error.h"
#include "base/stages.h"
#include "collection/contents.h"

/* ---- documents ---- */

static void begin_chunk(void *context, int worker)
{
    const struct twin__index_ingest_options *options = context;
    options->begin(options->context, worker);
}

static twin_status process_document(void *context, int worker, const twin_document *document, uint64_t *ill_formed,
                                    twin_error *error)
{
    const struct twin__index_ingest_options *options = context;
    twin_index_document given = { .id = document->id,
                                  .id_is_number = document->id_is_number,
                                  .text = document->text };
    return options->process(options->context, worker, &given, document->position, ill_formed, error);
}

static twin_status collect_chunk(void *context, int worker, struct twin__reader *reader, twin_error *error)
{
    const struct twin__index_ingest_options *options = context;
    return options->collect(options->context, worker, reader, error);
}

static void report_problem(void *context, const twin_problem *problem)
{
    const struct twin__index_ingest_options *options = context;
    if (options->problem)
        options->problem(options->problem_context, problem);
}

static twin_status ingest_documents(struct twin__read_counts *counts, struct twin__index_ingest_options *options,
                                    twin_error *error)
{
    struct twin__reader_options reader = { .input = options->input,
                                           .exec = options->exec,
                                           .strict = options->strict,
                                           .stage = options->stage,
                                           .begin = begin_chunk,
                                           .document = process_document,
                                           .collect = collect_chunk,
                                           .problem = report_problem,
                                           .context = options };
    return twin__read_input(counts, &reader, error);
}

/* ---- sets ---- */

static twin_status ingest_set(const struct twin__index_ingest_options *options, const twin_collection *collection,
                              twin_scratch *scratch, uint32_t number, twin_error *error)
{
    twin_set set;
    twin_status status = twin__collection_set(&set, collection, scratch, number, error);
    if (status != TWIN_OK)
        return status;
    twin_index_document given = { .items = set.items, .item_count = set.count };
    twin_collection_entry entry = twin_collection_entry_of(collection, number);
    given.id = entry.id;
    given.id_is_number = entry.id_is_number;
    options->begin(options->context, 0);
    twin_error failure = { 0 };
    uint64_t ill_formed = 0; /* sets have no text */
    status = options->process(options->context, 0, &given, (twin_position){ 0 }, &ill_formed, &failure);
    if (status == TWIN_OK)
        return options->collect(options->context, 0, NULL, error);
    return failure.status == status ? twin__fail(error, status, "%s", failure.message)
                                    : twin__fail_status(error, status);
}

static twin_status ingest_sets(struct twin__read_counts *read, const struct twin__index_ingest_options *options,
                               twin_error *error)
{
    twin_collection *collection;
    twin_scratch scratch = { 0 };
    twin_collection_options reading = { .scheme = options->index->options.scheme,
                                        .exec = options->exec,
                                        .strict = options->strict };
    twin_status status = twin_collection_read(&collection, options->input, reading, error);
    if (status != TWIN_OK)
        return status;
    twin_collection_counts counts = twin_collection_count(collection);
    read->problems = counts.problems;
    const twin_problem *first;
    size_t kept = twin_collection_problems(&first, collection);
    for (size_t i = 0; i < kept && options->problem; i++)
        options->problem(options->problem_context, &first[i]);
    for (uint32_t number = 0; number < counts.documents && status == TWIN_OK; number++) {
        status = twin__poll();
        if (status == TWIN_OK)
            status = ingest_set(options, collection, &scratch, number, error);
    }
    twin__scratch_clear(&scratch);
    twin_collection_free(collection);
    return status;
}

twin_status twin__index_ingest(struct twin__read_counts *counts, struct twin__index_ingest_options *options,
                               twin_error *error)
{
    bool sets = twin_input_format_of(options->input) == TWIN_INPUT_SETS;
    if (sets != (options->index->options.format == TWIN_INPUT_SETS))
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of %s, and the input is %s", options->index->path,
                          sets ? "documents" : "sets", sets ? "sets" : "documents");
    return sets ? ingest_sets(counts, options, error) : ingest_documents(counts, options, error);
}

/* ingest.c — the documents of an input, read and worked out by many, handed on in order; and what is added that
 * way. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/background.h"
#include "base/error.h"
#include "base/stages.h"
#include "index/ingest.h"
#include "index/write.h"
#include "input/reader.h"

struct reader {
    struct feeder *feeder;
    int worker;
    twin_read_buffers reading;
    twin_problem *problems;
    size_t problem_count, problem_capacity;
    uint64_t lines;
    twin_status status;
    twin_error error;
};

struct feeder {
    const struct twin__index_ingest_options *feeding;
    struct reader *readers;
    atomic_bool stop;
    uint64_t line_base, problems, done, total;
    uint32_t source;
    twin_status status;
    twin_error *error;
};

static bool visit_document(void *context, const twin_document *document)
{
    struct reader *reader = context;
    const struct twin__index_ingest_options *feeding = reader->feeder->feeding;
    twin_index_document given = { .id = document->id,
                                  .id_is_number = document->id_is_number,
                                  .text = document->text };
    reader->status = feeding->work(feeding->context, reader->worker, &given, document->position);
    return reader->status == TWIN_OK;
}

static bool visit_problem(void *context, const twin_problem *problem)
{
    struct reader *reader = context;
    if (!twin__array_grow(&reader->problems, &reader->problem_capacity, reader->problem_count, 1,
                          sizeof *reader->problems)) {
        reader->status = TWIN_ENOMEM;
        return false;
    }
    reader->problems[reader->problem_count++] = *problem;
    return !reader->feeder->feeding->strict;
}

static void read_chunk(void *context, size_t piece, int worker)
{
    struct feeder *feeder = context;
    struct reader *reader = &feeder->readers[worker];
    reader->problem_count = 0;
    reader->lines = 0;
    reader->status = TWIN_OK;
    reader->error = (twin_error){ 0 };
    feeder->feeding->restart(feeder->feeding->context, worker);
    if (atomic_load_explicit(&feeder->stop, memory_order_relaxed))
        return;
    twin_visitor visitor = { visit_document, visit_problem, reader };
    twin_status status =
        twin_input_read(&reader->lines, feeder->feeding->input, &reader->reading, piece, visitor, &reader->error);
    if (reader->status == TWIN_OK)
        reader->status = status;
}

static twin_status fail_problem(const struct feeder *feeder, const twin_problem *problem)
{
    twin_buffer where = { 0 };
    twin_status status = twin_input_describe(&where, feeder->feeding->input, problem->position, problem->column);
    status = status == TWIN_OK ? twin__fail(feeder->error, TWIN_EFORMAT, "%s: %s", where.bytes, problem->message)
                               : twin__fail_memory(feeder->error);
    twin_buffer_clear(&where);
    return status;
}

static twin_status tell_problems(struct feeder *feeder, struct reader *reader)
{
    for (size_t i = 0; i < reader->problem_count; i++) {
        twin_problem *problem = &reader->problems[i];
        if (problem->position.line)
            problem->position.line += feeder->line_base;
        if (feeder->feeding->strict)
            return fail_problem(feeder, problem);
        feeder->problems++;
        if (feeder->feeding->problem)
            feeder->feeding->problem(feeder->feeding->problem_context, problem);
    }
    return TWIN_OK;
}

static twin_status take_over(struct feeder *feeder, struct reader *reader)
{
    twin_status status = tell_problems(feeder, reader);
    if (status == TWIN_OK && reader->status != TWIN_OK) {
        if (reader->error.status == reader->status && feeder->error)
            *feeder->error = reader->error;
        else
            twin__fail_status(feeder->error, reader->status);
        return reader->status;
    }
    if (status == TWIN_OK)
        status = feeder->feeding->hand_in(feeder->feeding->context, reader->worker, feeder->line_base, feeder->error);
    feeder->line_base += reader->lines;
    return status;
}

static void collect_chunk(void *context, size_t piece, int worker)
{
    struct feeder *feeder = context;
    const struct twin__index_ingest_options *feeding = feeder->feeding;
    if (feeder->status != TWIN_OK)
        return;
    if (twin_input_chunk_source(feeding->input, piece) != feeder->source)
        feeder->line_base = 0;
    feeder->source = twin_input_chunk_source(feeding->input, piece);
    feeder->status = take_over(feeder, &feeder->readers[worker]);
    if (feeder->status != TWIN_OK)
        atomic_store_explicit(&feeder->stop, true, memory_order_relaxed);
    feeder->done += twin_input_chunk_size(feeding->input, piece);
    if (feeding->progress.report)
        feeding->progress.report(feeding->progress.context, feeding->stage, feeder->done, feeder->total);
}

static twin_status feed_documents(struct feeder *feeder)
{
    const struct twin__index_ingest_options *feeding = feeder->feeding;
    int workers = feeding->exec.workers;
    feeder->readers = calloc((size_t)workers, sizeof *feeder->readers);
    if (!feeder->readers)
        return twin__fail_memory(feeder->error);
    for (int i = 0; i < workers; i++) {
        feeder->readers[i].feeder = feeder;
        feeder->readers[i].worker = i;
    }
    size_t pieces = twin_input_chunks(feeding->input);
    for (size_t piece = 0; piece < pieces; piece++)
        feeder->total += twin_input_chunk_size(feeding->input, piece);
    twin_exec_in_order(feeding->exec, pieces, read_chunk, collect_chunk, feeder);
    for (int i = 0; i < workers; i++) {
        twin_read_buffers_clear(&feeder->readers[i].reading);
        free(feeder->readers[i].problems);
    }
    free(feeder->readers);
    return feeder->status;
}

/* ---- rows: a set is whole only when all rows have been read */

static twin_status feed_set(struct feeder *feeder, const twin_collection *collection, twin_scratch *scratch,
                            uint32_t number)
{
    const struct twin__index_ingest_options *feeding = feeder->feeding;
    twin_set set;
    twin_status status = twin_collection_set(&set, collection, scratch, number, feeder->error);
    if (status != TWIN_OK)
        return status;
    twin_index_document given = { .items = set.items, .item_count = set.count };
    given.id = twin_collection_id(&given.id_is_number, collection, number);
    feeding->restart(feeding->context, 0);
    status = feeding->work(feeding->context, 0, &given, (twin_position){ 0 });
    if (status != TWIN_OK)
        return twin__fail_status(feeder->error, status);
    return feeding->hand_in(feeding->context, 0, 0, feeder->error);
}

static twin_status feed_rows(struct feeder *feeder)
{
    const struct twin__index_ingest_options *feeding = feeder->feeding;
    const twin_index_options *options = &feeding->index->options;
    twin_collection *collection;
    twin_scratch scratch = { 0 };
    twin_status status = twin_collection_read(&collection, feeding->input,
                                              (twin_collection_options){ .scheme = options->scheme,
                                                                         .exec = feeding->exec,
                                                                         .strict = feeding->strict,
                                                                         .progress = feeding->progress },
                                              feeder->error);
    if (status != TWIN_OK)
        return status;
    const twin_problem *problems;
    feeder->problems = twin_collection_problems(&problems, collection);
    for (size_t i = 0; i < feeder->problems && feeding->problem; i++)
        feeding->problem(feeding->problem_context, &problems[i]);
    uint64_t count = twin_collection_count(collection).documents;
    for (uint32_t number = 0; number < count && status == TWIN_OK; number++)
        status = feed_set(feeder, collection, &scratch, number);
    twin_scratch_clear(&scratch);
    twin_collection_free(collection);
    return status;
}

twin_status twin__index_ingest(uint64_t *problems, const struct twin__index_ingest_options *feeding,
                               twin_error *error)
{
    struct feeder feeder = { .feeding = feeding, .error = error };
    bool rows = twin_input_format_of(feeding->input) == TWIN_INPUT_SETS;
    if (rows != (feeding->index->options.format == TWIN_INPUT_SETS))
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of %s, and the input is %s", feeding->index->path,
                          rows ? "documents" : "rows", rows ? "rows" : "documents");
    twin_status status = rows ? feed_rows(&feeder) : feed_documents(&feeder);
    if (problems)
        *problems += feeder.problems;
    return status;
}

/* ---- adding ---- */

enum { BATCH_DOCUMENTS = 20000, BATCH_BYTES = 128 << 20 };

struct adding {
    twin_index *index;
    const twin_input *input;
    twin_index_add_options feed;
    twin_index_change *change;
    struct adder {
        struct twin__index_draft draft;
        twin_scratch scratch;
    } * adders;
    struct twin__index_batch filling, writing;
    struct twin__background beside; /* writes while others work the next documents out */
    twin_status status;             /* of what it wrote */
    twin_error error;
    twin_buffer name;
};

static void restart_adder(void *context, int worker)
{
    struct adding *adding = context;
    twin__index_draft_empty(&adding->adders[worker].draft);
}

static twin_status draft_document(void *context, int worker, const twin_index_document *given, twin_position position)
{
    struct adding *adding = context;
    struct adder *adder = &adding->adders[worker];
    twin_index_document document = *given;
    document.label = adding->feed.label;
    document.time = adding->feed.time;
    twin_status status = twin__index_draft_add(&adder->draft, adding->index, &adder->scratch, &document);
    if (status == TWIN_OK)
        adder->draft.entries[adder->draft.count - 1].position = position;
    return status;
}

/* A document without an id, or with an empty one, is called by its line. */
static twin_status name_entries(struct adding *adding, struct twin__index_draft *draft, uint64_t line_base)
{
    for (size_t i = 0; i < draft->count; i++) {
        struct twin__index_draft_entry *entry = &draft->entries[i];
        if (entry->id_length)
            continue;
        twin_text name;
        entry->position.line += line_base;
        if (twin__name_by_line(&name, adding->input, &adding->name, entry->position) != TWIN_OK)
            return TWIN_ENOMEM;
        entry->id = draft->bytes.length;
        entry->id_length = (uint32_t)name.length;
        if (twin_buffer_append(&draft->bytes, name.bytes, name.length) != TWIN_OK)
            return TWIN_ENOMEM;
    }
    return TWIN_OK;
}

static void write_batch(void *context)
{
    struct adding *adding = context;
    adding->status = twin__index_batch_write(adding->change, adding->index, &adding->writing, &adding->error);
}

/* Waits for what is being written. */
static twin_status settle(struct adding *adding, twin_error *error)
{
    twin__background_wait(&adding->beside);
    if (adding->status != TWIN_OK && error)
        *error = adding->error;
    return adding->status;
}

/* Starts to write what waits, at most a batch of it. */
static twin_status start_writing(struct adding *adding, twin_error *error)
{
    twin_status status = settle(adding, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__index_batch_move(&adding->writing, &adding->filling, adding->feed.batch_documents))
        return twin__fail_memory(error);
    twin__background_start(&adding->beside, adding->feed.exec, write_batch, adding);
    return TWIN_OK;
}

static bool is_full(const struct adding *adding)
{
    const struct twin__index_batch *filling = &adding->filling;
    return filling->count > 0 &&
           (filling->count >= adding->feed.batch_documents || filling->bytes >= adding->feed.batch_bytes);
}

static twin_status hand_in_drafts(void *context, int worker, uint64_t line_base, twin_error *error)
{
    struct adding *adding = context;
    struct twin__index_draft *draft = &adding->adders[worker].draft;
    twin_status status = name_entries(adding, draft, line_base);
    if (status != TWIN_OK || !twin__index_batch_take(&adding->filling, draft))
        return twin__fail_memory(error);
    while (status == TWIN_OK && is_full(adding))
        status = start_writing(adding, error);
    return status;
}

/* Writes what is left; after a failure only waits for what was begun before it. */
static twin_status finish_writing(struct adding *adding, twin_status status, twin_error *error)
{
    while (status == TWIN_OK && adding->filling.count > 0)
        status = start_writing(adding, error);
    twin_error *unheard = status == TWIN_OK ? error : NULL;
    twin_status last = settle(adding, unheard);
    return status == TWIN_OK ? last : status;
}

static void clear_adding(struct adding *adding)
{
    for (int i = 0; i < adding->feed.exec.workers; i++) {
        twin__index_draft_clear(&adding->adders[i].draft);
        twin_scratch_clear(&adding->adders[i].scratch);
    }
    free(adding->adders);
    twin__index_batch_clear(&adding->filling);
    twin__index_batch_clear(&adding->writing);
    twin_buffer_clear(&adding->name);
}

twin_status twin_index_add_input(twin_index_change *change, twin_index *index, const twin_input *input,
                                 twin_index_add_options feed, twin_error *error)
{
    twin_index_change unheard = { 0 };
    feed.batch_documents = feed.batch_documents ? feed.batch_documents : BATCH_DOCUMENTS;
    feed.batch_bytes = feed.batch_bytes ? feed.batch_bytes : BATCH_BYTES;
    struct adding adding = { .index = index, .input = input, .feed = feed, .change = change ? change : &unheard };
    adding.adders = calloc((size_t)feed.exec.workers, sizeof *adding.adders);
    if (!adding.adders)
        return twin__fail_memory(error);
    struct twin__index_ingest_options feeding = { .index = index,
                                                  .input = input,
                                                  .exec = feed.exec,
                                                  .strict = feed.strict,
                                                  .work = draft_document,
                                                  .restart = restart_adder,
                                                  .hand_in = hand_in_drafts,
                                                  .problem = feed.problem,
                                                  .context = &adding,
                                                  .problem_context = feed.context,
                                                  .stage = &twin__stage_adding,
                                                  .progress = feed.progress };
    twin_status status = twin__index_ingest(&adding.change->problems, &feeding, error);
    status = finish_writing(&adding, status, error);
    clear_adding(&adding);
    return status;
}

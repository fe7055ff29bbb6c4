/* reader.c — reads all documents of an input on several workers, with results in the order of
 * the input.
 *
 * twin__exec_in_order() runs two steps per chunk: read_chunk() by many workers at once, and
 * collect_chunk() by one at a time, in the order of the chunks. What depends on earlier chunks
 * belongs in the second step: line numbers counted from the start of a source, names made from
 * them, which problem is the first, and whether reading goes on at all. After a failure or, in
 * strict mode, a problem, the chunks that other workers have begun are read to the end but not
 * collected, and later chunks are not read.
 *
 * A file of another kind may consist of nothing but problems. Only the first of a chunk are
 * kept, and only the first of all are reported, so that memory does not grow with their number;
 * they are all counted. */
#include "input/reader.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "input/documents.h"
#include "input/source.h"

/* What a worker has of the chunk it reads. */
struct worker {
    struct twin__reader *reader;
    int number;
    twin_read_buffers buffers;
    struct kept_problems {
        twin_problem *items;
        size_t count, capacity;
        uint64_t all;
    } problems, ill_formed;
    uint64_t lines;
    twin_status status;
    twin_error error;
};

struct twin__reader {
    const struct twin__reader_options *options;
    struct worker *workers;
    atomic_bool stop; /* what follows will not be used */
    uint32_t source;  /* of the last chunk collected */
    uint64_t lines;   /* of this source, in the chunks before */
    struct twin__read_counts counts;
    uint64_t done, total;
    twin_buffer name;
    twin_status status;
    twin_error error; /* the first failure; the caller's may be NULL, and belongs to another thread */
};

/* ---- by many at once ---- */

static bool keep_problem_of(struct worker *worker, struct kept_problems *list, const twin_problem *problem)
{
    list->all++;
    if (list->count == TWIN_PROBLEMS_KEPT)
        return true;
    if (!TWIN__ARRAY_GROW(&list->items, &list->capacity, list->count, 1)) {
        worker->status = twin__fail_memory(&worker->error);
        return false;
    }
    list->items[list->count++] = *problem;
    return true;
}

static bool on_problem(void *context, const twin_problem *problem)
{
    struct worker *worker = context;
    return keep_problem_of(worker, &worker->problems, problem) && !worker->reader->options->strict;
}

/* In strict mode it is a problem like any. */
static bool on_ill_formed(struct worker *worker, twin_position position, uint64_t count)
{
    twin_problem problem = { .kind = TWIN_PROBLEM_ILL_FORMED, .position = position };
    snprintf(problem.message, sizeof problem.message, "%" PRIu64 " ill-formed UTF-8 sequence%s", count,
             count == 1 ? "" : "s");
    return worker->reader->options->strict ? on_problem(worker, &problem)
                                           : keep_problem_of(worker, &worker->ill_formed, &problem);
}

static bool on_document(void *context, const twin_document *document)
{
    struct worker *worker = context;
    const struct twin__reader_options *options = worker->reader->options;
    uint64_t ill_formed = 0;
    worker->status = options->document(options->context, worker->number, document, &ill_formed, &worker->error);
    if (worker->status != TWIN_OK && worker->error.status != worker->status)
        twin__fail_status(&worker->error, worker->status);
    if (worker->status == TWIN_OK)
        worker->status = twin__poll();
    if (worker->status == TWIN_OK && ill_formed)
        return on_ill_formed(worker, document->position, ill_formed);
    return worker->status == TWIN_OK;
}

static void read_chunk(void *context, size_t chunk, int number)
{
    struct twin__reader *reader = context;
    const struct twin__reader_options *options = reader->options;
    struct worker *worker = &reader->workers[number];
    worker->problems.count = worker->ill_formed.count = 0;
    worker->problems.all = worker->ill_formed.all = worker->lines = 0;
    worker->status = TWIN_OK;
    worker->error.status = TWIN_OK;
    options->begin(options->context, number);
    if (atomic_load_explicit(&reader->stop, memory_order_relaxed))
        return;
    twin_visitor visitor = { on_document, on_problem, worker };
    twin_error error = { 0 };
    twin_status status = twin__input_read(&worker->lines, options->input, &worker->buffers, chunk, visitor, &error);
    if (worker->status == TWIN_OK && status != TWIN_OK) { /* else the visitor stopped it for a reason of its own */
        worker->status = status;
        worker->error = error;
    }
}

/* ---- in order ---- */

twin_status twin__reader_finish(twin_position *position, twin_text *id, struct twin__reader *reader)
{
    if (position->line)
        position->line += reader->lines;
    return id->bytes ? TWIN_OK : twin__name_by_line(id, reader->options->input, &reader->name, *position);
}

twin_status twin__fail_problem(twin_error *error, const twin_input *input, const twin_problem *problem)
{
    twin_buffer position = { 0 };
    twin_status status = twin_input_describe(&position, input, problem->position, problem->column);
    status = status == TWIN_OK ? twin__fail(error, TWIN_EFORMAT, "%s: %s", position.bytes, problem->message)
                               : twin__fail_memory(error);
    if (error) {
        error->line = problem->position.line;
        error->offset = problem->position.offset + problem->column;
    }
    twin_buffer_clear(&position);
    return status;
}

/* Reports the first of a list, of which `before` came in earlier chunks. */
static twin_status report_list(struct twin__reader *reader, const struct kept_problems *list, uint64_t before)
{
    const struct twin__reader_options *options = reader->options;
    for (size_t i = 0; i < list->count && before + i < TWIN_PROBLEMS_KEPT; i++) {
        twin_problem *problem = &list->items[i];
        if (problem->position.line)
            problem->position.line += reader->lines;
        if (options->strict)
            return twin__fail_problem(&reader->error, options->input, problem);
        if (options->problem)
            options->problem(options->context, problem);
    }
    return TWIN_OK;
}

static twin_status collect_problems(struct twin__reader *reader, const struct worker *worker)
{
    twin_status status = report_list(reader, &worker->problems, reader->counts.problems);
    if (status == TWIN_OK)
        status = report_list(reader, &worker->ill_formed, reader->counts.ill_formed);
    reader->counts.problems += worker->problems.all;
    reader->counts.ill_formed += worker->ill_formed.all;
    return status;
}

static twin_status collect(struct twin__reader *reader, struct worker *worker)
{
    const struct twin__reader_options *options = reader->options;
    /* Before the worker's status, which says only that reading was stopped if that was at a
     * problem. */
    twin_status status = collect_problems(reader, worker);
    if (status != TWIN_OK)
        return status;
    if (worker->status != TWIN_OK) {
        reader->error = worker->error;
        return worker->status;
    }
    status = options->collect(options->context, worker->number, reader, &reader->error);
    if (status != TWIN_OK && reader->error.status != status)
        twin__fail_status(&reader->error, status);
    reader->lines += worker->lines;
    return status;
}

static void collect_chunk(void *context, size_t chunk, int number)
{
    struct twin__reader *reader = context;
    const struct twin__reader_options *options = reader->options;
    if (reader->status != TWIN_OK)
        return;
    uint32_t source = twin_input_chunk_of(options->input, chunk).source;
    if (source != reader->source)
        reader->lines = 0;
    reader->source = source;
    reader->status = collect(reader, &reader->workers[number]);
    reader->done += twin_input_chunk_of(options->input, chunk).size;
    twin_status stopped = twin__report(options->stage, reader->done, reader->total);
    if (reader->status == TWIN_OK && stopped != TWIN_OK)
        reader->status = twin__fail_status(&reader->error, stopped);
    if (reader->status != TWIN_OK)
        atomic_store_explicit(&reader->stop, true, memory_order_relaxed);
}

/* ---- the whole ---- */

static void clear(struct twin__reader *reader)
{
    for (int i = 0; reader->workers && i < reader->options->exec.workers; i++) {
        twin__read_buffers_clear(&reader->workers[i].buffers);
        free(reader->workers[i].problems.items);
        free(reader->workers[i].ill_formed.items);
    }
    free(reader->workers);
    twin_buffer_clear(&reader->name);
}

/* A worker's thread met the failure, but the caller's reports it. */
static twin_status report_progress(const struct twin__reader *reader, twin_error *error)
{
    if (reader->status == TWIN_OK)
        return TWIN_OK;
    twin__fail(NULL, reader->status, "%s", reader->error.message);
    if (error)
        *error = reader->error;
    return reader->status;
}

twin_status twin__read_input(struct twin__read_counts *counts, const struct twin__reader_options *options,
                             twin_error *error)
{
    struct twin__reader reader = { .options = options };
    int workers = options->exec.workers;
    reader.workers = calloc((size_t)workers, sizeof *reader.workers);
    if (!reader.workers)
        return twin__fail_memory(error);
    for (int i = 0; i < workers; i++) {
        reader.workers[i].reader = &reader;
        reader.workers[i].number = i;
        reader.workers[i].buffers.in_place = true; /* nobody asks for records here */
    }
    size_t chunks = twin_input_chunks(options->input);
    for (size_t chunk = 0; chunk < chunks; chunk++)
        reader.total += twin_input_chunk_of(options->input, chunk).size;
    twin__exec_in_order(options->exec, chunks, read_chunk, collect_chunk, &reader);
    twin_status status = report_progress(&reader, error);
    if (counts)
        *counts = reader.counts;
    clear(&reader);
    return status;
}

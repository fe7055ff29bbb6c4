/* query_input.c — all documents of an input as queries.
 *
 * Workers query with the documents of a chunk, each through a view of its own, and keep the answers, which are
 * reported in the order of the input when the chunk's turn has come (ingest.h). Then the first queries are also
 * audited: their texts are compared with all. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "index/edits.h"
#include "index/ingest.h"
#include "index/view.h"
#include "join/audit_private.h"
#include "join/join_private.h"
#include "sketch/set.h"

/* An answer that waits for its turn: its entries and ids are among those of the worker that found it. */
struct kept_answer {
    twin_position position;
    size_t id, id_length, entries, ids;
    size_t count;
    bool id_is_number, incomplete;
    size_t text, text_length; /* if queries are audited */
};

struct query_worker {
    twin_index_answer answer; /* of one document */
    twin_index_entry *entries;
    size_t entry_count, entry_capacity;
    struct kept_answer *kept;
    size_t kept_count, kept_capacity;
    twin_buffer bytes; /* ids of the queries and of what was found, and texts */
    twin_index_answer truth;
    twin_items found, near; /* documents that were found, and that should have been */
};

struct input_query {
    twin_index_query_input_options options;
    struct query_worker *workers;
    twin_index_view **views;
};

static void begin_chunk(void *context, int number)
{
    struct query_worker *worker = &((struct input_query *)context)->workers[number];
    worker->entry_count = worker->kept_count = worker->bytes.length = 0;
}

static twin_status keep_answer(struct query_worker *worker, const twin_index_document *given, twin_position position,
                               bool audited)
{
    const twin_index_answer *answer = &worker->answer;
    if (!TWIN__ARRAY_GROW(&worker->kept, &worker->kept_capacity, worker->kept_count, 1) ||
        !TWIN__ARRAY_GROW(&worker->entries, &worker->entry_capacity, worker->entry_count, answer->count))
        return TWIN_ENOMEM;
    struct kept_answer kept = { .position = position,
                                .id = worker->bytes.length,
                                .id_length = given->id.length,
                                .entries = worker->entry_count,
                                .ids = worker->bytes.length + given->id.length,
                                .count = answer->count,
                                .id_is_number = given->id_is_number,
                                .incomplete = answer->incomplete };
    if (twin_buffer_append(&worker->bytes, given->id.bytes, given->id.length) != TWIN_OK ||
        twin_buffer_append(&worker->bytes, answer->ids.bytes, answer->ids.length) != TWIN_OK)
        return TWIN_ENOMEM;
    kept.text = worker->bytes.length;
    kept.text_length = audited ? given->text.length : 0;
    if (twin_buffer_append(&worker->bytes, given->text.bytes, kept.text_length) != TWIN_OK)
        return TWIN_ENOMEM;
    if (answer->count)
        memcpy(worker->entries + worker->entry_count, answer->entries, answer->count * sizeof *answer->entries);
    worker->entry_count += answer->count;
    worker->kept[worker->kept_count++] = kept;
    return TWIN_OK;
}

static twin_status query_document(void *context, int number, const twin_index_document *given, twin_position position,
                                  uint64_t *ill_formed, twin_error *error)
{
    struct input_query *query = context;
    struct query_worker *worker = &query->workers[number];
    twin_status status =
        twin__index_query_run(&worker->answer, query->views[number], query->options.query, given, error);
    *ill_formed += query->views[number]->query_ill_formed;
    return status == TWIN_OK ? keep_answer(worker, given, position, query->options.audited > 0) : status;
}

/* A buffer that nothing was written to has no bytes, and NULL may not even be added to 0. */
static const char *buffer_at(const twin_buffer *buffer, size_t offset)
{
    return buffer->bytes ? buffer->bytes + offset : NULL;
}

/* ---- the audit */

static twin_status list_documents(twin_items *out, const twin_index_answer *answer)
{
    out->count = 0;
    twin_status status = twin__items_reserve(out, answer->count);
    for (size_t i = 0; i < answer->count && status == TWIN_OK; i++)
        out->items[out->count++] = answer->entries[i].document;
    return status == TWIN_OK && !twin__sort_numbers(out->items, out->count) ? TWIN_ENOMEM : status;
}

static size_t count_common(const twin_items *a, const twin_items *b)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        common += a->items[i] == b->items[j];
        uint64_t least = a->items[i] < b->items[j] ? a->items[i] : b->items[j];
        i += a->items[i] == least;
        j += b->items[j] == least;
    }
    return common;
}

static twin_status audit_answer(struct input_query *query, int number, const struct kept_answer *kept,
                                const twin_index_answer *answer, twin_error *error)
{
    struct query_worker *worker = &query->workers[number];
    twin_audit *audit = query->options.audit;
    twin_index_document document = { .text = { buffer_at(&worker->bytes, kept->text), kept->text_length } };
    if (audit->documents >= query->options.audited)
        return TWIN_OK;
    twin_status status =
        twin__index_query_all(&worker->truth, query->views[number], query->options.query, &document, error);
    if (status != TWIN_OK)
        return status;
    if (list_documents(&worker->found, answer) != TWIN_OK || list_documents(&worker->near, &worker->truth) != TWIN_OK)
        return twin__fail_memory(error);
    size_t common = count_common(&worker->found, &worker->near);
    audit->documents++;
    audit->similar += worker->near.count;
    audit->found += common;
    audit->wrong += worker->found.count - common;
    return TWIN_OK;
}

static void sum_up(twin_audit *audit)
{
    audit->recall = audit->similar ? (double)audit->found / (double)audit->similar : 1;
    twin__audit_interval(&audit->low, &audit->high, audit->found, audit->similar);
}

static twin_status check_audit(const twin_index *index, const twin_index_query_input_options *options,
                               twin_error *error)
{
    if (!options->audited)
        return TWIN_OK;
    if (!options->audit)
        return twin__fail_null(error, "audit");
    *options->audit = (twin_audit){ 0 };
    return index->options.by_edits
               ? TWIN_OK
               : twin__fail(error, TWIN_EINVAL, "%s: compares sets, and only queries by edit distance can be audited",
                            index->path);
}

/* ---- in order */

static twin_status collect_answers(void *context, int number, struct twin__reader *reader, twin_error *error)
{
    struct input_query *query = context;
    struct query_worker *worker = &query->workers[number];
    for (size_t i = 0; i < worker->kept_count; i++) {
        struct kept_answer *kept = &worker->kept[i];
        twin_text id = { buffer_at(&worker->bytes, kept->id), kept->id_length };
        if (id.length == 0) {
            id.bytes = NULL;
            twin_status status = twin__reader_finish(&kept->position, &id, reader);
            if (status != TWIN_OK)
                return status;
        }
        twin_index_answer answer = { .entries = kept->count ? worker->entries + kept->entries : NULL,
                                     .count = kept->count,
                                     .estimated = worker->answer.estimated,
                                     .incomplete = kept->incomplete };
        const char *ids = buffer_at(&worker->bytes, kept->ids);
        for (size_t j = 0; j < answer.count; j++) {
            answer.entries[j].id.bytes = ids;
            ids += answer.entries[j].id.length;
        }
        if (!query->options.answer(query->options.context, id, kept->id_is_number, &answer))
            return twin__fail_status(error, TWIN_ESTOPPED);
        twin_status status = query->options.audited ? audit_answer(query, number, kept, &answer, error) : TWIN_OK;
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

static void clear_input_query(struct input_query *query)
{
    int workers = query->options.exec.workers;
    for (int i = 0; query->workers && i < workers; i++) {
        twin_index_answer_clear(&query->workers[i].answer);
        free(query->workers[i].entries);
        free(query->workers[i].kept);
        twin_buffer_clear(&query->workers[i].bytes);
        twin_index_answer_clear(&query->workers[i].truth);
        twin__items_clear(&query->workers[i].found);
        twin__items_clear(&query->workers[i].near);
    }
    free(query->workers);
}

static twin_status query_input(uint64_t *problems, twin_index *index, const twin_input *input,
                               twin_index_query_input_options options, twin_error *error)
{
    if (!index || !input || !options.answer)
        return twin__fail_null(error, !index ? "index" : !input ? "input" : "answer");
    twin_status status = twin__check_reserved(error, options.reserved, "queries");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, error);
    if (status == TWIN_OK)
        status = check_audit(index, &options, error);
    if (status != TWIN_OK)
        return status;
    struct input_query query = { .options = options };
    struct twin__read_counts counts = { 0 };
    size_t workers = (size_t)options.exec.workers;
    query.workers = calloc(workers, sizeof *query.workers);
    struct twin__index_ingest_options ingest = { .index = index,
                                                 .input = input,
                                                 .exec = options.exec,
                                                 .strict = options.strict,
                                                 .process = query_document,
                                                 .begin = begin_chunk,
                                                 .collect = collect_answers,
                                                 .problem = options.problem,
                                                 .context = &query,
                                                 .problem_context = options.context,
                                                 .stage = &twin__stage_querying };
    status = query.workers ? twin__index_views_create(&query.views, options.exec.workers, index, error)
                           : twin__fail_memory(error);
    if (status == TWIN_OK) {
        status = twin__index_ingest(&counts, &ingest, error);
        if (problems)
            *problems = counts.problems;
        if (options.audited)
            sum_up(options.audit);
        twin__index_views_free(query.views, options.exec.workers);
    }
    clear_input_query(&query);
    return status;
}

twin_status twin_index_query_input(uint64_t *problems, twin_index *index, const twin_input *input,
                                   twin_index_query_input_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_querying);
    return twin__watch_end(&watch, query_input(problems, index, input, options, error), error);
}

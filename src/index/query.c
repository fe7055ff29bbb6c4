/* query.c — the documents of an index that are similar to a query.
 *
 * A query is signed by the scheme of the index. Its candidates are the sets that agree with it in a band, found in the
 * posting lists of every run. The signature gate (join/gate.h) drops those with too few equal slots; the rest is compared
 * exactly in the order of equal slots, and once as many as are wanted have been found, the worst of them is the threshold
 * of the others. Sets then become documents. Everything a query needs is in its view, so a worker that answers many
 * queries allocates little; many queries are shared out to workers with a view each, all of one transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "index/draft.h"
#include "index/ingest.h"
#include "index/view.h"
#include "join/gate.h"

void twin_index_answer_clear(twin_index_answer *answer)
{
    if (!answer)
        return;
    free(answer->entries);
    twin_buffer_clear(&answer->ids);
    *answer = (twin_index_answer){ 0 };
}

/* The equal slots that a candidate needs: to be worth comparing, or, with nothing kept to compare, to be reported. */
static size_t least_equal(const twin_index_options *options, double threshold)
{
    size_t slots = options->scheme.minhash.slots;
    return options->keep == TWIN_KEEP_NONE ? twin__gate_least_estimated(threshold, slots)
                                           : twin__gate_least(threshold, slots);
}

/* ---- candidates ---- */

static twin_status gather_band(twin_index_view *view, struct twin__index_run run, struct twin__index_list band,
                               uint32_t hash, twin_error *error)
{
    size_t begin, end;
    if (!twin__index_list_search(&begin, &end, band, hash))
        return twin__index_fail_damaged(error, view->index, "a list does not fit its checksum");
    if (begin < end && twin_items_reserve(&view->candidates, end - begin) != TWIN_OK)
        return twin__fail_memory(error);
    for (size_t i = begin; i < end; i++)
        view->candidates.items[view->candidates.count++] = run.first + (uint32_t)twin__index_list_entry(band, i);
    return TWIN_OK;
}

/* Fills view->candidates with the sets that share a band with the query, each once, in increasing order. */
static twin_status find_candidates(twin_index_view *view, twin_error *error)
{
    const twin_index_options *options = &view->index->options;
    size_t bands = options->scheme.plan.bands;
    view->candidates.count = 0;
    twin_status status = TWIN_OK;
    for (size_t band = 0; band < bands && status == TWIN_OK; band++) {
        uint32_t hash = twin__index_band_hash(options, view->query_signature, band);
        for (size_t run = 0; run < view->bands.run_count && status == TWIN_OK; run++)
            status = gather_band(view, view->bands.runs[run], view->bands.lists[run * bands + band], hash, error);
    }
    if (status != TWIN_OK)
        return status;
    twin_set each_once;
    status = twin_set_make(&each_once, &view->candidates, &view->spare);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* A set that is in a list but not there was removed, and then it has no members either. */
static twin_status expect_removed(struct twin__store_cursor *members, const twin_index_view *view, uint64_t set,
                                  twin_error *error)
{
    struct twin__store_record member = { 0 };
    twin_status status =
        members->txn ? TWIN_OK : twin__store_cursor_open(members, view->txn, TWIN__INDEX_MEMBERS, error);
    if (status == TWIN_OK)
        status = twin__store_seek(&member, members, set, TWIN__STORE_AT, error);
    return status == TWIN_OK && member.value.at
               ? twin__index_fail_damaged(error, view->index, "a set that has documents is missing")
               : status;
}

/* Makes hits of the candidates that have not been removed and agree with the query in enough slots. */
static twin_status gate_candidates(twin_index_view *view, size_t least, struct twin__store_cursor *members,
                                   twin_error *error)
{
    size_t slots = view->index->options.scheme.minhash.slots;
    view->hit_count = 0;
    for (size_t i = 0; i < view->candidates.count; i++) {
        struct twin__index_set_record set;
        bool found;
        twin_status status =
            twin__index_view_set(&set, &found, view->signature, view, view->candidates.items[i], error);
        if (status == TWIN_OK && !found)
            status = expect_removed(members, view, view->candidates.items[i], error);
        if (status != TWIN_OK)
            return status;
        size_t equal = found ? twin_minhash_agreement(view->query_signature, view->signature, slots) : 0;
        if (!found || equal < least)
            continue;
        if (!TWIN__ARRAY_GROW(&view->hits, &view->hit_capacity, view->hit_count, 1))
            return twin__fail_memory(error);
        view->hits[view->hit_count++] = (struct twin__index_hit){ .set = view->candidates.items[i],
                                                                  .size = set.size,
                                                                  .members = set.members,
                                                                  .equal = equal,
                                                                  .similarity = (double)equal / (double)slots };
    }
    return TWIN_OK;
}

static twin_status pass_gate(twin_index_view *view, size_t least, twin_error *error)
{
    struct twin__store_cursor members = { 0 };
    twin_status status = gate_candidates(view, least, &members, error);
    twin__store_cursor_close(&members);
    return status;
}

/* ---- the best of them ---- */

static int by_similarity(const void *a, const void *b)
{
    const struct twin__index_hit *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->set > y->set) - (x->set < y->set);
}

/* Inserts a hit in order among the best so far, of which at most `most` are kept. */
static size_t insert(struct twin__index_hit *best, size_t count, size_t most, struct twin__index_hit hit)
{
    size_t position = count < most ? count : most - 1;
    if (count == most && by_similarity(&hit, &best[position]) >= 0)
        return count;
    for (; position > 0 && by_similarity(&hit, &best[position - 1]) < 0; position--)
        best[position] = best[position - 1];
    best[position] = hit;
    return count < most ? count + 1 : most;
}

/* Compares the hits exactly and keeps the similar ones, the best first if `most` is not 0: then at most that many. */
static twin_status compare(twin_index_view *view, double threshold, size_t most, twin_set query, twin_error *error)
{
    const twin_index_options *options = &view->index->options;
    struct twin__index_hit *hits = view->hits;
    size_t best = 0, least = 0;
    for (size_t i = 0; i < view->hit_count; i++) {
        struct twin__index_hit hit = hits[i];
        if (hit.equal < least)
            break; /* they are sorted by their equal slots */
        twin_set set;
        twin_status status = twin__index_view_items(&set, view, hit.set, hit.size, error);
        if (status != TWIN_OK)
            return status;
        hit.similarity = twin_set_similarity_at_least(query, set, TWIN_JACCARD, threshold);
        if (hit.similarity < 0)
            continue;
        if (!most) {
            hits[best++] = hit;
            continue;
        }
        best = insert(hits, best, most, hit);
        if (best == most && hits[most - 1].similarity > threshold) {
            threshold = hits[most - 1].similarity;
            least = least_equal(options, threshold);
        }
    }
    view->hit_count = best;
    return TWIN_OK;
}

/* ---- documents of the sets that were found ---- */

/* How many documents of each label have been reported. */
struct label_counts {
    struct label_count {
        uint32_t label;
        size_t count;
    } * items;
    size_t count, capacity;
};

static size_t *count_of(struct label_counts *labels, uint32_t label)
{
    for (size_t i = 0; i < labels->count; i++)
        if (labels->items[i].label == label)
            return &labels->items[i].count;
    if (!TWIN__ARRAY_GROW(&labels->items, &labels->capacity, labels->count, 1))
        return NULL;
    labels->items[labels->count] = (struct label_count){ label, 0 };
    return &labels->items[labels->count++].count;
}

/* The buffer of ids may move while it grows, so ids get their pointers when the answer is complete. */
static twin_status add_document(twin_index_answer *out, twin_index_view *view, const struct twin__index_hit *hit,
                                uint64_t number, twin_error *error)
{
    struct twin__index_document_record document;
    twin_status status = twin__index_view_document(&document, NULL, view, number, error);
    if (status != TWIN_OK)
        return status;
    if (document.set != hit->set)
        return twin__index_fail_damaged(error, view->index, "a set has a member that belongs to another");
    if (!TWIN__ARRAY_GROW(&out->entries, &out->capacity, out->count, 1) ||
        twin_buffer_append(&out->ids, document.id.bytes, document.id.length) != TWIN_OK)
        return twin__fail_memory(error);
    twin_index_entry *entry = &out->entries[out->count++];
    *entry = twin__index_entry_of(number, &document, hit->size);
    entry->id.bytes = NULL;
    entry->similarity = hit->similarity;
    return TWIN_OK;
}

struct report {
    twin_index_answer *out;
    twin_index_view *view;
    twin_index_query_options options;
    struct twin__store_cursor members;
    struct label_counts labels;
};

/* Adds the documents of a set while more are wanted; of a label that has enough all further ones are skipped at once. */
static twin_status add_members(struct report *report, const struct twin__index_hit *hit, twin_error *error)
{
    twin_index_view *view = report->view;
    size_t top = report->options.top;
    bool per_label = report->options.per_label;
    struct twin__store_record member;
    twin_status status = twin__store_seek(&member, &report->members, hit->set, TWIN__STORE_AT, error);
    if (status == TWIN_OK && (!member.value.at || twin__store_list_length(&report->members) != hit->members))
        return twin__index_fail_damaged(error, view->index, "a set has another number of documents than it says");
    while (status == TWIN_OK && member.value.at && (per_label || !top || report->out->count < top)) {
        uint32_t label;
        uint64_t number;
        if (!twin__index_member_decode(&label, &number, member.value))
            return twin__index_fail_damaged(error, view->index, "a member of a set is not what it should be");
        size_t *count = per_label ? count_of(&report->labels, label) : NULL;
        if (per_label && !count)
            return twin__fail_memory(error);
        if (count && *count >= (top ? top : 1)) {
            unsigned char next[TWIN__INDEX_MEMBER_BYTES];
            if (label == UINT32_MAX)
                return TWIN_OK;
            twin__index_member_encode(next, label + 1, 0);
            status = twin__store_seek_value(&member, &report->members, hit->set,
                                            (struct twin__bytes){ next, sizeof next }, error);
            continue;
        }
        status = add_document(report->out, view, hit, number, error);
        if (status != TWIN_OK)
            return status;
        if (count)
            ++*count;
        status = twin__store_move(&member, &report->members, TWIN__STORE_NEXT_IN_LIST, error);
    }
    return status;
}

static twin_status add_documents(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                 twin_error *error)
{
    struct report report = { .out = out, .view = view, .options = options };
    twin_status status = twin__store_cursor_open(&report.members, view->txn, TWIN__INDEX_MEMBERS, error);
    for (size_t i = 0; i < view->hit_count && status == TWIN_OK; i++)
        status = add_members(&report, &view->hits[i], error);
    twin__store_cursor_close(&report.members);
    free(report.labels.items);
    size_t position = 0;
    for (size_t i = 0; i < out->count; i++) {
        out->entries[i].id.bytes = out->ids.bytes + position;
        position += out->entries[i].id.length;
    }
    return status;
}

static twin_status run_query(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                             const twin_index_document *document, twin_error *error)
{
    const twin_index_options *own = &view->index->options;
    double threshold = options.threshold > 0 ? options.threshold : own->scheme.threshold;
    twin_set set;
    out->count = out->ids.length = 0;
    view->query_ill_formed = 0;
    out->estimated = own->keep == TWIN_KEEP_NONE;
    if (!view->txn || !(options.threshold >= 0 && options.threshold <= 1))
        return twin__fail_status(error, TWIN_EINVAL);
    twin_status status = twin__index_sketch(&set, view->query_signature, view->index, &view->scratch,
                                            &view->query_ill_formed, document);
    if (status == TWIN_OK && set.count == 0)
        return TWIN_OK;
    if (status == TWIN_OK)
        status = find_candidates(view, error);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = pass_gate(view, least_equal(own, threshold), error);
    if (status == TWIN_OK && view->hit_count)
        qsort(view->hits, view->hit_count, sizeof *view->hits, by_similarity);
    if (status == TWIN_OK && !out->estimated)
        status = compare(view, threshold, options.per_label ? 0 : options.top, set, error);
    if (status == TWIN_OK && view->hit_count)
        qsort(view->hits, view->hit_count, sizeof *view->hits, by_similarity);
    return status == TWIN_OK ? add_documents(out, view, options, error) : status;
}

twin_status twin_index_query(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                             twin_text text, twin_error *error)
{
    if (!out || !view || (!text.bytes && text.length))
        return twin__fail_null(error, !out ? "out" : !view ? "view" : "text.bytes");
    if (view->index->options.format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of sets; query it with a set, not with a text",
                          view->index->path);
    return run_query(out, view, options, &(twin_index_document){ .text = text }, error);
}

twin_status twin_index_query_items(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                   const uint64_t *items, size_t count, twin_error *error)
{
    if (!out || !view || (!items && count))
        return twin__fail_null(error, !out ? "out" : !view ? "view" : "items");
    if (view->index->options.format != TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of documents; query it with a text, not with a set",
                          view->index->path);
    return run_query(out, view, options, &(twin_index_document){ .items = items, .item_count = count }, error);
}

/* ---- many texts ---- */

struct batch {
    twin_index_answer *out;
    twin_index_query_options options;
    const twin_text *texts;
    twin_index_view **views;
    struct twin__first_failure failure;
};

static void query_range(void *context, size_t begin, size_t end, int worker)
{
    struct batch *batch = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (twin_index_query(&batch->out[i], batch->views[worker], batch->options, batch->texts[i], &error) !=
            TWIN_OK)
            twin__keep_first_failure(&batch->failure, i, &error);
    }
}

twin_status twin_index_query_many(twin_index_answer *out, twin_index *index, twin_index_query_many_options options,
                                  const twin_text *texts, size_t count, twin_error *error)
{
    if (!index || (count && (!out || !texts)))
        return twin__fail_null(error, !index ? "index" : !out ? "out" : "texts");
    twin_status status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    struct batch batch = { .out = out, .options = options.query, .texts = texts, .failure = TWIN__NO_FAILURE };
    status = twin__index_views_create(&batch.views, options.exec.workers, index, error);
    if (status != TWIN_OK)
        return status;
    twin_exec_for(options.exec, count, 1, query_range, &batch);
    twin__index_views_free(batch.views, options.exec.workers);
    return twin__first_failure(error, &batch.failure);
}

/* ---- all documents of an input ---- */

/* An answer that waits for its turn: its entries and ids are among those of the worker that found it. */
struct kept_answer {
    twin_position position;
    size_t id, id_length, entries, ids, ids_length;
    size_t count;
    bool id_is_number;
};

struct query_worker {
    twin_index_answer answer; /* of one document */
    twin_index_entry *entries;
    size_t entry_count, entry_capacity;
    struct kept_answer *kept;
    size_t kept_count, kept_capacity;
    twin_buffer bytes; /* ids of the queries and of what was found */
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

static twin_status keep_answer(struct query_worker *worker, const twin_index_document *given, twin_position position)
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
                                .id_is_number = given->id_is_number };
    if (twin_buffer_append(&worker->bytes, given->id.bytes, given->id.length) != TWIN_OK ||
        twin_buffer_append(&worker->bytes, answer->ids.bytes, answer->ids.length) != TWIN_OK)
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
    twin_status status = run_query(&worker->answer, query->views[number], query->options.query, given, error);
    *ill_formed += query->views[number]->query_ill_formed;
    return status == TWIN_OK ? keep_answer(worker, given, position) : status;
}

/* A buffer that nothing was written to has no bytes, and NULL may not even be added to 0. */
static const char *buffer_at(const twin_buffer *buffer, size_t offset)
{
    return buffer->bytes ? buffer->bytes + offset : NULL;
}

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
                                     .estimated = worker->answer.estimated };
        const char *ids = buffer_at(&worker->bytes, kept->ids);
        for (size_t j = 0; j < answer.count; j++) {
            answer.entries[j].id.bytes = ids;
            ids += answer.entries[j].id.length;
        }
        if (!query->options.answer(query->options.context, id, kept->id_is_number, &answer))
            return twin__fail_status(error, TWIN_ESTOPPED);
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
    }
    free(query->workers);
}

twin_status twin_index_query_input(uint64_t *problems, twin_index *index, const twin_input *input,
                                   twin_index_query_input_options options, twin_error *error)
{
    if (!index || !input || !options.answer)
        return twin__fail_null(error, !index ? "index" : !input ? "input" : "answer");
    twin_status status = twin__exec_complete(&options.exec, error);
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
                                                 .stage = &twin__stage_querying,
                                                 .progress = options.progress };
    status = query.workers ? twin__index_views_create(&query.views, options.exec.workers, index, error)
                           : twin__fail_memory(error);
    if (status == TWIN_OK) {
        status = twin__index_ingest(&counts, &ingest, error);
        if (problems)
            *problems = counts.problems;
        twin__index_views_free(query.views, options.exec.workers);
    }
    clear_input_query(&query);
    return status;
}

/* query.c — the documents of an index that are similar to a query.
 *
 * A query is signed by the scheme of the index. Its candidates are the sets that agree with it in a band, found in
 * the posting lists of every run. They are verified as those of a collection are (hits.h). Sets then become
 * documents (answer.c). Everything a query needs is in its view, so a worker that answers many queries allocates
 * little; many queries are shared out to workers with a view each, all of one transaction. */
#include "index/view.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "index/draft.h"
#include "index/edits.h"
#include "sketch/set.h"

/* ---- candidates ---- */

static twin_status gather_band(twin_index_view *view, struct twin__index_run run, struct twin__index_list band,
                               uint32_t hash, twin_error *error)
{
    size_t begin, end;
    if (!twin__index_list_search(&begin, &end, band, hash))
        return twin__index_fail_damaged(error, view->index, "a list does not fit its checksum");
    if (begin < end && twin__items_reserve(&view->candidates, end - begin) != TWIN_OK)
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
    status = twin__set_make(&each_once, &view->candidates, &view->spare);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__index_expect_removed(struct twin__store_cursor *members, const twin_index_view *view, uint64_t set,
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

/* Proposes the candidates that have not been removed; view->found lists the ones that pass the gate. */
static twin_status propose_candidates(twin_index_view *view, const struct twin__query *query,
                                      struct twin__store_cursor *members, twin_error *error)
{
    for (size_t i = 0; i < view->candidates.count; i++) {
        uint64_t number = view->candidates.items[i];
        struct twin__index_set_record set;
        bool found;
        twin_status status = twin__index_view_set(&set, &found, view->signature, view, number, error);
        if (status == TWIN_OK && !found)
            status = twin__index_expect_removed(members, view, number, error);
        if (status != TWIN_OK)
            return status;
        size_t hit = view->hits.count;
        if (!found)
            continue;
        if (twin__query_propose(&view->hits, query, hit, view->signature) != TWIN_OK ||
            !TWIN__ARRAY_GROW(&view->found, &view->found_capacity, hit, 1))
            return twin__fail_memory(error);
        view->found[hit] = (struct twin__index_found){ number, set.size, set.members };
    }
    return TWIN_OK;
}

/* Finds the candidates and leaves the ones that pass the gate in view->hits. */
static twin_status gather_candidates(twin_index_view *view, struct twin__query *query, twin_error *error)
{
    struct twin__store_cursor members = { 0 };
    twin_status status = find_candidates(view, error);
    if (status != TWIN_OK)
        return status;
    twin__query_begin(&view->hits, query);
    status = propose_candidates(view, query, &members, error);
    twin__store_cursor_close(&members);
    return status;
}

static twin_status fetch_set(twin_set *out, void *context, uint64_t hit, twin_error *error)
{
    twin_index_view *view = context;
    return twin__index_view_items(out, view, view->found[hit].set, view->found[hit].size, error);
}

twin_status twin__index_query_run(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error)
{
    const twin_index_options *own = &view->index->options;
    out->count = out->ids.length = 0;
    view->query_ill_formed = 0;
    out->incomplete = false;
    out->estimated = own->keep == TWIN_KEEP_NONE;
    if (!(options.threshold >= 0 && options.threshold <= 1))
        return twin__fail(error, TWIN_EINVAL, "threshold must be 0 to 1, not %g", options.threshold);
    twin_status status = twin__check_reserved(error, options.reserved, "a query");
    if (status != TWIN_OK)
        return status;
    if (own->by_edits)
        return twin__index_query_edits(out, view, options, document, error);
    struct twin__query query = { .signature = view->query_signature,
                                 .slots = own->scheme.minhash.slots,
                                 .measure = TWIN_JACCARD,
                                 .threshold = options.threshold > 0 ? options.threshold : own->scheme.threshold,
                                 .verify = out->estimated ? TWIN_VERIFY_ESTIMATE : TWIN_VERIFY_EXACT,
                                 .most = options.per_label ? 0 : options.top,
                                 .most_compared =
                                     options.most_compared ? options.most_compared : TWIN_INDEX_MOST_COMPARED,
                                 .fetch = fetch_set,
                                 .context = view };
    status = twin__index_sketch(&query.set, view->query_signature, view->index, &view->scratch,
                                &view->query_ill_formed, document);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    if (query.set.count == 0)
        return TWIN_OK;
    status = gather_candidates(view, &query, error);
    if (status == TWIN_OK)
        status = twin__query_verify(&view->hits, &query, error);
    out->incomplete = view->hits.incomplete;
    return status == TWIN_OK ? twin__index_answer_fill(out, view, options, error) : status;
}

twin_status twin_index_query(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                             twin_text text, twin_error *error)
{
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    if (!text.bytes && text.length)
        return twin__fail_null(error, "text.bytes");
    if (view->index->options.format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of sets; query it with a set, not with a text",
                          view->index->path);
    return twin__index_query_run(out, view, options, &(twin_index_document){ .text = text }, error);
}

twin_status twin_index_query_items(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                   const uint64_t *items, size_t count, twin_error *error)
{
    twin_status status = twin__index_view_check(out, view, error);
    if (status != TWIN_OK)
        return status;
    if (!items && count)
        return twin__fail_null(error, "items");
    if (view->index->options.format != TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s: is an index of documents; query it with a text, not with a set",
                          view->index->path);
    return twin__index_query_run(out, view, options, &(twin_index_document){ .items = items, .item_count = count },
                                 error);
}

/* ---- many texts ---- */

struct batch {
    twin_index_answer *out;
    twin_index_query_options options;
    const twin_text *texts;
    twin_index_view **views;
    size_t count;
    atomic_size_t done;
};

static twin_status query_range(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct batch *batch = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = twin_index_query(&batch->out[i], batch->views[worker], batch->options, batch->texts[i], error);
    size_t done = atomic_fetch_add(&batch->done, end - begin) + end - begin;
    return status == TWIN_OK ? twin__report(&twin__stage_querying_texts, done, batch->count) : status;
}

twin_status twin_index_query_many(twin_index_answer *out, twin_index *index, twin_index_query_many_options options,
                                  const twin_text *texts, size_t count, twin_error *error)
{
    if (!index || (count && (!out || !texts)))
        return twin__fail_null(error, !index ? "index" : !out ? "out" : "texts");
    twin_status status = twin__check_reserved(error, options.reserved, "queries");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    struct batch batch = { .out = out, .options = options.query, .texts = texts, .count = count };
    status = twin__index_views_create(&batch.views, options.exec.workers, index, error);
    if (status != TWIN_OK)
        return status;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_querying_texts);
    status = twin__exec_try(options.exec, count, 1, query_range, &batch, error);
    status = twin__watch_end(&watch, status, error);
    twin__index_views_free(batch.views, options.exec.workers);
    return status;
}

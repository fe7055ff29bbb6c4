/* pairs.c — all similar pairs of an index.
 *
 * The sets of the index are a provider (view_provider.c), and the engine that joins a collection joins them too
 * (join/engine.c): bands over the signatures in memory, the gate, and tile by tile the exact similarity of sets
 * fetched from the file. The provider's sets are in the order of their first documents, and the engine visits pairs
 * of sets in that order, from a temporary file if there are many: each is the pair of the first documents that have
 * them. Each further document of a set is a pair with the first. These are listed before, and visited in between. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "index/view_provider.h"
#include "join/similar_private.h"

/* A pair of documents by their numbers, a < b. */
struct document_pair {
    uint64_t a, b;
    double similarity;
};

struct pair_list {
    struct document_pair *items;
    size_t count, capacity;
};

static twin_status add_pair(struct pair_list *pairs, uint64_t a, uint64_t b, double similarity, twin_error *error)
{
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, 1))
        return twin__fail_memory(error);
    pairs->items[pairs->count++] = (struct document_pair){ a < b ? a : b, a < b ? b : a, similarity };
    return TWIN_OK;
}

/* ---- what is wanted ---- */

/* What the engine is to do: nothing kept means nothing to compare, so the estimate decides. */
static twin_similar_options engine_options(const twin_index *index, const twin_index_pairs_options *options)
{
    const twin_index_options *own = &index->options;
    return (twin_similar_options){ .measure = TWIN_JACCARD,
                                   .verify = own->keep == TWIN_KEEP_NONE ? TWIN_VERIFY_ESTIMATE : TWIN_VERIFY_EXACT,
                                   .threshold = options->threshold > 0 ? options->threshold : own->scheme.threshold,
                                   .bands = { .plan = own->scheme.plan },
                                   .spill_after = options->spill_after,
                                   .temp_folder = options->temp_folder,
                                   .exec = options->exec,
                                   .progress = options->progress };
}

/* ---- equal sets ---- */

static twin_status add_copies_of(struct pair_list *out, const twin_index *index, struct twin__store_cursor *cursor,
                                 const struct twin__index_provided_set *set, twin_error *error)
{
    struct twin__store_record member;
    uint64_t visited = 0;
    twin_status status = twin__store_seek(&member, cursor, set->number, TWIN__STORE_AT, error);
    for (; status == TWIN_OK && member.value.at; visited++) {
        uint32_t label;
        uint64_t document;
        if (!twin__index_member_decode(&label, &document, member.value))
            return twin__index_fail_damaged(error, index, "a member of a set is not what it should be");
        if (document != set->first)
            status = add_pair(out, set->first, document, 1, error);
        if (status == TWIN_OK)
            status = twin__store_move(&member, cursor, TWIN__STORE_NEXT_IN_LIST, error);
    }
    return status == TWIN_OK && visited != set->members
               ? twin__index_fail_damaged(error, index, "a set has another number of documents than it says")
               : status;
}

static twin_status add_copies(struct pair_list *out, const struct twin__index_provider *sets, twin_error *error)
{
    const twin_index_view *view = sets->views[0];
    struct twin__store_cursor cursor;
    twin_status status = twin__store_cursor_open(&cursor, view->txn, TWIN__INDEX_MEMBERS, error);
    for (size_t i = 0; i < sets->count && status == TWIN_OK; i++)
        status = add_copies_of(out, view->index, &cursor, &sets->sets[i], error);
    twin__store_cursor_close(&cursor);
    return status;
}

/* ---- reporting ---- */

static int by_documents(const void *a, const void *b)
{
    const struct document_pair *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* What the visits need. */
struct report {
    const struct twin__index_provider *sets;
    struct pair_list copies; /* sorted */
    size_t next;             /* of the copies */
    twin_index_pair_visit *visit;
    void *context;
    twin_status status;
    twin_error *error;
};

/* The records of the documents must agree with why they are a pair: because they have the same set, or not. */
static bool report_pair(struct report *report, struct document_pair pair, bool copies)
{
    twin_index_view *view = report->sets->views[0];
    struct twin__index_document_record a, b;
    report->status = twin__index_view_document(&a, NULL, view, pair.a, report->error);
    if (report->status == TWIN_OK)
        report->status = twin__index_view_document(&b, NULL, view, pair.b, report->error);
    if (report->status == TWIN_OK && (a.set == b.set) != copies)
        report->status =
            twin__index_fail_damaged(report->error, view->index, "a document has another set than its members say");
    if (report->status != TWIN_OK)
        return false;
    twin_index_entry first = twin__index_entry_of(pair.a, &a, 0), second = twin__index_entry_of(pair.b, &b, 0);
    if (!report->visit(report->context, &first, &second, pair.similarity))
        report->status = TWIN_ESTOPPED;
    return report->status == TWIN_OK;
}

/* Reports the copies before a pair; all that are left if it is NULL. */
static bool report_copies(struct report *report, const struct document_pair *before)
{
    const struct pair_list *copies = &report->copies;
    while (report->next < copies->count && (!before || by_documents(&copies->items[report->next], before) < 0))
        if (!report_pair(report, copies->items[report->next++], true))
            return false;
    return true;
}

static bool report_match(void *context, twin_match match)
{
    struct report *report = context;
    const struct twin__index_provided_set *sets = report->sets->sets;
    struct document_pair pair = { sets[match.a].first, sets[match.b].first, match.similarity };
    return report_copies(report, &pair) && report_pair(report, pair, false);
}

static twin_status find_pairs(struct report *report, const twin_index *index, const twin_index_pairs_options *options,
                              twin_error *error)
{
    const struct twin__index_provider *sets = report->sets;
    struct pair_list *copies = &report->copies;
    twin_similar_options join = engine_options(index, options);
    twin_similar_counts counts = { 0 };
    twin_status status = options->copies == TWIN_COPIES_NONE ? TWIN_OK : add_copies(copies, sets, error);
    if (status == TWIN_OK && copies->count)
        qsort(copies->items, copies->count, sizeof *copies->items, by_documents);
    if (status == TWIN_OK)
        status = twin__engine_each(&counts, &sets->provider, &join, report_match, report, error);
    if (status == TWIN_OK)
        (void)report_copies(report, NULL);
    return report->status != TWIN_OK ? report->status : status;
}

static twin_status report_pairs(twin_index_view **views, const twin_index_pairs_options *options,
                                twin_index_pair_visit *visit, void *context, twin_error *error)
{
    struct twin__index_provider sets;
    struct report report = { .sets = &sets, .visit = visit, .context = context, .error = error };
    twin_status status = twin__index_provider_init(&sets, views, error);
    if (status != TWIN_OK)
        return status;
    status = find_pairs(&report, views[0]->index, options, error);
    twin__index_provider_clear(&sets);
    free(report.copies.items);
    return status;
}

static twin_status find_similar(twin_index *index, twin_index_pairs_options options, twin_index_pair_visit *visit,
                                void *context, twin_error *error)
{
    twin_index_view **views;
    if (!index || !visit)
        return twin__fail_null(error, index ? "visit" : "index");
    if (!(options.threshold >= 0 && options.threshold <= 1))
        return twin__fail(error, TWIN_EINVAL, "threshold must be 0 to 1, not %g", options.threshold);
    if (options.copies != TWIN_COPIES_FIRST && options.copies != TWIN_COPIES_NONE)
        return twin__fail(error, TWIN_EINVAL, "copies must be TWIN_COPIES_FIRST or TWIN_COPIES_NONE");
    if (index->options.by_edits)
        return twin__fail(error, TWIN_EINVAL,
                          "%s: compares texts by edit distance, and is queried for one after the other; "
                          "twin_edit_join_find() finds all pairs of a collection",
                          index->path);
    twin_status status = twin__check_reserved(error, options.reserved, "the search");
    if (status == TWIN_OK)
        status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_views_create(&views, options.exec.workers, index, error);
    if (status != TWIN_OK)
        return status;
    status = report_pairs(views, &options, visit, context, error);
    twin__index_views_free(views, options.exec.workers);
    return status;
}

twin_status twin_index_pairs(twin_index *index, twin_index_pairs_options options, twin_index_pair_visit *visit,
                             void *context, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_pairing);
    return twin__watch_end(&watch, find_similar(index, options, visit, context, error), error);
}

/* pairs.c — all similar pairs of an index.
 *
 * The sets of the index are a provider (view_provider.c), and the engine that joins a collection joins them too
 * (join/engine.c): bands over the signatures in memory, the gate, and tile by tile the exact similarity of sets fetched
 * from the file. Each pair of sets then becomes the pair of the first documents that have them, each further document
 * of a set a pair with the first, and all are reported in the order of their documents. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "index/view_provider.h"
#include "join/engine.h"

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

/* ---- different sets ---- */

/* What the engine is to do: nothing kept means nothing to compare, so the estimate decides. */
static twin_similar_options engine_options(const twin_index *index, const twin_index_pairs_options *options)
{
    const twin_index_options *own = &index->options;
    return (twin_similar_options){ .measure = TWIN_JACCARD,
                                   .verify = own->keep == TWIN_KEEP_NONE ? TWIN_VERIFY_ESTIMATE : TWIN_VERIFY_EXACT,
                                   .threshold = options->threshold > 0 ? options->threshold : own->scheme.threshold,
                                   .bands = { .plan = own->scheme.plan },
                                   .exec = options->exec,
                                   .progress = options->progress };
}

static twin_status add_similar(struct pair_list *out, const struct twin__index_provider *sets,
                               const twin_index *index, const twin_index_pairs_options *options, twin_error *error)
{
    twin_similar_options join = engine_options(index, options);
    twin_matches matches = { 0 };
    twin_similar_counts counts = { 0 };
    twin_status status = twin__engine_find(&matches, &counts, &sets->provider, &join, error);
    for (size_t i = 0; i < matches.count && status == TWIN_OK; i++) {
        twin_match match = matches.items[i];
        status = add_pair(out, sets->sets[match.a].first, sets->sets[match.b].first, match.similarity, error);
    }
    twin_matches_clear(&matches);
    return status;
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

static twin_status report(struct pair_list *pairs, twin_index_view *view, twin_index_pair_visit *visit, void *context,
                          twin_error *error)
{
    if (pairs->count)
        qsort(pairs->items, pairs->count, sizeof *pairs->items, by_documents);
    for (size_t i = 0; i < pairs->count; i++) {
        struct document_pair pair = pairs->items[i];
        struct twin__index_document_record a, b;
        twin_status status = twin__index_view_document(&a, NULL, view, pair.a, error);
        if (status == TWIN_OK)
            status = twin__index_view_document(&b, NULL, view, pair.b, error);
        if (status != TWIN_OK)
            return status;
        twin_index_entry first = twin__index_entry_of(pair.a, &a, 0), second = twin__index_entry_of(pair.b, &b, 0);
        if (!visit(context, &first, &second, pair.similarity))
            return TWIN_ESTOPPED;
    }
    return TWIN_OK;
}

static twin_status find_pairs(struct pair_list *out, twin_index_view **views, const twin_index_pairs_options *options,
                              twin_error *error)
{
    struct twin__index_provider sets;
    twin_status status = twin__index_provider_init(&sets, views, error);
    if (status != TWIN_OK)
        return status;
    status = add_similar(out, &sets, views[0]->index, options, error);
    if (status == TWIN_OK && options->copies != TWIN_COPIES_NONE)
        status = add_copies(out, &sets, error);
    twin__index_provider_clear(&sets);
    return status;
}

twin_status twin_index_pairs(twin_index *index, twin_index_pairs_options options, twin_index_pair_visit *visit,
                             void *context, twin_error *error)
{
    twin_index_view **views;
    struct pair_list pairs = { 0 };
    if (!index || !visit)
        return twin__fail_null(error, index ? "visit" : "index");
    if (!(options.threshold >= 0 && options.threshold <= 1))
        return twin__fail(error, TWIN_EINVAL, "threshold must be 0 to 1, not %g", options.threshold);
    if (options.copies != TWIN_COPIES_FIRST && options.copies != TWIN_COPIES_NONE)
        return twin__fail(error, TWIN_EINVAL, "copies must be TWIN_COPIES_FIRST or TWIN_COPIES_NONE");
    twin_status status = twin__exec_complete(&options.exec, error);
    if (status != TWIN_OK)
        return status;
    status = twin__index_views_create(&views, options.exec.workers, index, error);
    if (status != TWIN_OK)
        return status;
    status = find_pairs(&pairs, views, &options, error);
    if (status == TWIN_OK)
        status = report(&pairs, views[0], visit, context, error);
    twin__index_views_free(views, options.exec.workers);
    free(pairs.items);
    return status;
}

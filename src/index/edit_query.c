/* edit_query.c — the texts of an index that are near to a query by edit distance.
 *
 * All that are within the edits of the index share a segment with the query, and are found by it, whatever their length
 * (Pass-Join). When more edits are allowed, or a ratio that may be more, short texts are all compared (edit_scan.c), and
 * of long ones the forest proposes further ones: all trees are climbed in step, from the leaf towards the root, as long
 * as the candidates are not too many. They are compared in the order of their equal slots, in rounds that double while at
 * least a sixteenth of a round is near. Every text that is reported has been compared exactly.
 *
 * Short texts are also all compared where very many share a segment, once as many were read for the queries of a view as
 * it would take to read all. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "edit_join/edit_join_private.h"
#include "edit_join/segments.h"
#include "index/edits.h"
#include "index/view.h"
#include "sketch/set.h"
#include "sketch/signer.h"

struct search {
    twin_index_view *view;
    const twin_index_options *own;
    struct twin__index_text text; /* the query */
    twin_text normalised;
    twin_edit_join_options near; /* when another text is */
    size_t within;               /* edits that its segments allow for */
    size_t most;                 /* candidates of the forest that are compared */
    bool scanned;                /* all short texts were compared */
    twin_edit_scratch scratch;
    struct ranked *ranked;
    size_t ranked_capacity;
};

/* A candidate of the forest. */
struct ranked {
    struct twin__index_found set;
    size_t equal;
};

static twin_status damaged(const struct search *search, twin_error *error)
{
    return twin__index_fail_damaged(error, search->view->index, "a list does not fit its checksum");
}

static twin_status add_candidates(twin_index_view *view, size_t run, struct twin__index_list list, size_t begin,
                                  size_t end, twin_error *error)
{
    if (begin < end && twin__items_reserve(&view->candidates, end - begin) != TWIN_OK)
        return twin__fail_memory(error);
    for (size_t i = begin; i < end; i++)
        view->candidates.items[view->candidates.count++] =
            view->bands.runs[run].first + (uint32_t)twin__index_list_entry(list, i);
    return TWIN_OK;
}

/* Sorts the candidates and drops repeats. */
static twin_status each_once(twin_index_view *view, twin_error *error)
{
    twin_set set;
    twin_status status = twin__set_make(&set, &view->candidates, &view->spare);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* ---- by segments ---- */

/* An edit changes two letters at most, and the insertions and deletions among the edits, of which there are at least as
 * many as the lengths differ by, one. */
static bool letters_allow(uint32_t a, uint32_t b, size_t edits, size_t apart)
{
    return (size_t)__builtin_popcount((a ^ b) & 0xFFFF) <= 2 * edits - apart;
}

/* The texts of a length whose segment is the one of `number`, and whose letters allow it. */
static twin_status look_up_segment(struct search *search, size_t segment, uint32_t number, size_t apart,
                                   twin_error *error)
{
    twin_index_view *view = search->view;
    for (size_t run = 0; run < view->bands.run_count; run++) {
        struct twin__index_list list = view->bands.lists[run * view->bands.stride + segment];
        size_t begin, end;
        if (!twin__index_list_range(&begin, &end, list, number & 0xFFFF0000u, number | 0xFFFFu))
            return damaged(search, error);
        for (size_t i = begin; i < end; i++) {
            uint32_t found = (uint32_t)(twin__index_list_entry(list, i) >> 32);
            if (!letters_allow(found, number, search->within, apart))
                continue;
            twin_status status = add_candidates(view, run, list, i, i + 1, error);
            if (status != TWIN_OK)
                return status;
        }
    }
    return TWIN_OK;
}

static twin_status look_up_length(struct search *search, size_t length, twin_error *error)
{
    const size_t count = search->text.count, apart = length < count ? count - length : length - count;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i <= search->own->edits; i++) {
        struct twin__segment_window window;
        if (!twin__segment_window(&window, search->own->edits, count, length, i))
            continue;
        for (size_t at = window.first; at <= window.last && status == TWIN_OK; at++) {
            uint32_t number = twin__index_segment(search->view->index, &search->text, at, window.size, length, i);
            status = look_up_segment(search, i, number, apart, error);
        }
    }
    return status;
}

static twin_status find_by_segments(struct search *search, twin_error *error)
{
    const size_t count = search->text.count, within = search->within;
    twin_status status = TWIN_OK;
    for (size_t length = count > within ? count - within : 1; length <= count + within && status == TWIN_OK; length++)
        status = look_up_length(search, length, error);
    return status;
}

/* ---- by the forest ---- */

/* Of a tree of a run, the entries that have the first labels of the path in common with the query. */
static bool find_branch(size_t *begin, size_t *end, const struct search *search, size_t run, size_t tree,
                        size_t level)
{
    const twin_index_view *view = search->view;
    const size_t segments = twin__index_segments(search->own);
    const uint32_t *slots = view->query_signature + segments + tree * TWIN__INDEX_LEVELS;
    uint32_t below = level == TWIN__INDEX_LEVELS ? 0 : UINT32_MAX >> 8 * level, path = twin__index_tree_label(slots);
    return twin__index_list_range(begin, end, view->bands.lists[run * view->bands.stride + segments + tree],
                                  path & ~below, path | below);
}

/* The candidates of a level of all trees, at most `most`; their number, before repeats are dropped, is added up. */
static twin_status take_level(struct search *search, size_t level, bool count_only, size_t *sum, twin_error *error)
{
    twin_index_view *view = search->view;
    *sum = 0;
    for (size_t tree = 0; tree < search->own->scheme.plan.bands; tree++)
        for (size_t run = 0; run < view->bands.run_count; run++) {
            size_t begin, end, segments = twin__index_segments(search->own);
            if (!find_branch(&begin, &end, search, run, tree, level))
                return damaged(search, error);
            if (!count_only && end - begin > search->most - *sum)
                end = begin + (search->most - *sum);
            *sum += end - begin;
            struct twin__index_list list = view->bands.lists[run * view->bands.stride + segments + tree];
            twin_status status = count_only ? TWIN_OK : add_candidates(view, run, list, begin, end, error);
            if (status != TWIN_OK)
                return status;
        }
    return TWIN_OK;
}

/* The lowest level that has not too many, and all above it; the leaves in any case. */
static twin_status find_by_forest(bool *incomplete, struct search *search, twin_error *error)
{
    size_t sum, level = TWIN__INDEX_LEVELS;
    twin_status status = take_level(search, level, true, &sum, error);
    *incomplete = sum > search->most;
    while (status == TWIN_OK && level > 1 && sum <= search->most) {
        status = take_level(search, level - 1, true, &sum, error);
        if (sum > search->most)
            break;
        level--;
    }
    search->view->candidates.count = 0;
    if (status == TWIN_OK)
        status = take_level(search, level, false, &sum, error);
    return status == TWIN_OK ? each_once(search->view, error) : status;
}

static int by_agreement(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->equal != y->equal)
        return x->equal > y->equal ? -1 : 1;
    return (x->set.set > y->set.set) - (x->set.set < y->set.set);
}

/* ---- comparing ---- */

/* Of a candidate that has not been removed, and whose length allows it, what is needed; found->size is 0 otherwise. */
static twin_status read_set(struct twin__index_found *out, struct search *search, uint64_t number,
                            uint32_t *signature, struct twin__store_cursor *members, twin_error *error)
{
    struct twin__index_set_record set;
    bool found;
    *out = (struct twin__index_found){ .set = number };
    twin_status status = twin__index_view_set(&set, &found, signature, search->view, number, error);
    if (status != TWIN_OK || !found)
        return status == TWIN_OK ? twin__index_expect_removed(members, search->view, number, error) : status;
    size_t n = search->text.count, m = set.size;
    if (twin__edit_join_reach(search->near, n < m ? n : m) >= (n < m ? m : n))
        *out = (struct twin__index_found){ number, m, set.members };
    return TWIN_OK;
}

/* Adds the text to the hits if it is near. */
static twin_status compare_set(bool *is_near, struct search *search, struct twin__index_found set, twin_error *error)
{
    twin_index_view *view = search->view;
    twin_text text;
    double ratio = -1;
    twin_status status = twin__index_view_text(&text, view, set.set, error);
    if (status != TWIN_OK)
        return status;
    status = twin__edit_join_compare(&ratio, &search->scratch, search->normalised, text, search->near);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    *is_near = ratio >= 0;
    if (ratio < 0)
        return TWIN_OK;
    struct twin__query_hits *hits = &view->hits;
    if (!TWIN__ARRAY_GROW(&hits->items, &hits->capacity, hits->count, 1) ||
        !TWIN__ARRAY_GROW(&view->found, &view->found_capacity, hits->count, 1))
        return twin__fail_memory(error);
    view->found[hits->count] = set;
    hits->items[hits->count] = (struct twin__query_hit){ .document = hits->count, .similarity = ratio };
    hits->count++;
    return TWIN_OK;
}

static twin_status compare_all(struct search *search, struct twin__store_cursor *members, twin_error *error)
{
    const twin_items *candidates = &search->view->candidates;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < candidates->count && status == TWIN_OK; i++) {
        struct twin__index_found set;
        bool is_near;
        status = read_set(&set, search, candidates->items[i], NULL, members, error);
        if (status == TWIN_OK && set.size)
            status = compare_set(&is_near, search, set, error);
    }
    return status;
}

/* The texts that have not been compared, neither as the first `hits` nor as short texts, with their equal slots. */
static twin_status rank(size_t *out, struct search *search, size_t hits, struct twin__store_cursor *members,
                        twin_error *error)
{
    twin_index_view *view = search->view;
    const size_t segments = twin__index_segments(search->own);
    size_t count = 0, hit = 0;
    for (size_t i = 0; i < view->candidates.count; i++) {
        uint64_t number = view->candidates.items[i];
        struct twin__index_found set;
        while (hit < hits && view->found[hit].set < number)
            hit++;
        if (hit < hits && view->found[hit].set == number)
            continue;
        twin_status status = read_set(&set, search, number, view->signature, members, error);
        if (status != TWIN_OK)
            return status;
        if (!set.size || (search->scanned && set.size <= TWIN__EDIT64))
            continue;
        if (!TWIN__ARRAY_GROW(&search->ranked, &search->ranked_capacity, count, 1))
            return twin__fail_memory(error);
        size_t equal = twin_minhash_agreement(view->query_signature + segments, view->signature + segments,
                                              search->own->scheme.minhash.slots);
        search->ranked[count++] = (struct ranked){ set, equal };
    }
    if (count)
        qsort(search->ranked, count, sizeof *search->ranked, by_agreement);
    *out = count;
    return TWIN_OK;
}

/* The candidates of the first round, and the share of them that must be near for another, twice as large. */
enum { FIRST_ROUND = 64, WORTH = 16 };

static twin_status compare_ranked(struct search *search, size_t count, twin_error *error)
{
    size_t end = FIRST_ROUND, found = 0;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        bool is_near = false;
        if (i == end) {
            if (found * WORTH < end)
                break;
            end *= 2;
        }
        status = compare_set(&is_near, search, search->ranked[i].set, error);
        found += is_near;
    }
    return status;
}

/* ---- a query ---- */

/* The most edits of a near text, or more. */
static size_t most_edits(const struct search *search)
{
    size_t count = search->text.count;
    size_t indels = twin__edit_most_indels(search->near.ratio, count + twin__edit_join_reach(search->near, count));
    return indels < search->near.edits ? indels : search->near.edits;
}

static int by_similarity(const void *a, const void *b)
{
    const struct twin__query_hit *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->equal > y->equal) - (x->equal < y->equal);
}

/* The most similar first; of equally similar ones the older set. */
static void sort_hits(twin_index_view *view)
{
    struct twin__query_hits *hits = &view->hits;
    for (size_t i = 0; i < hits->count; i++)
        hits->items[i].equal = view->found[hits->items[i].document].set;
    if (hits->count)
        qsort(hits->items, hits->count, sizeof *hits->items, by_similarity);
}

/* Reading a text that shares a segment takes as long as comparing this many short ones in memory. */
enum { PER_READ = 32 };

/* Whether the candidates, which share a segment, are better not read: all short texts are then compared, which costs as
 * much as reading each of them the first time. */
static bool are_too_many(struct search *search)
{
    twin_index_view *view = search->view;
    if (view->candidates.count <= view->counts.sets / PER_READ)
        return false;
    bool before = view->read >= view->counts.sets;
    view->read += view->candidates.count;
    return before;
}

/* Compares what shares a segment, or all short texts; *done: no other text can be near. */
static twin_status find_surely(bool *done, struct search *search, struct twin__store_cursor *members,
                               twin_error *error)
{
    twin_index_view *view = search->view;
    const size_t count = search->text.count, most = most_edits(search);
    const bool beyond = most > search->own->edits;
    const bool all_short = twin__edit_join_reach(search->near, count) <= TWIN__EDIT64;
    twin_status status = TWIN_OK;
    search->within = beyond ? search->own->edits : most;
    view->candidates.count = view->hits.count = 0;
    if (beyond && count <= TWIN__EDIT64)
        status = twin__index_scan(&search->scanned, view, &search->text, search->near, error);
    if (status == TWIN_OK && !(search->scanned && all_short))
        status = find_by_segments(search, error);
    if (status == TWIN_OK && !search->scanned && all_short && are_too_many(search)) {
        view->candidates.count = 0;
        status = twin__index_scan(&search->scanned, view, &search->text, search->near, error);
        if (status == TWIN_OK && !search->scanned)
            status = find_by_segments(search, error);
    }
    *done = !beyond || (search->scanned && all_short);
    if (status == TWIN_OK)
        status = each_once(view, error);
    return status == TWIN_OK ? compare_all(search, members, error) : status;
}

static twin_status find_near(bool *incomplete, struct search *search, struct twin__store_cursor *members,
                             twin_error *error)
{
    bool done;
    size_t count;
    twin_status status = find_surely(&done, search, members, error);
    if (status != TWIN_OK || done)
        return status;
    size_t hits = search->view->hits.count; /* in the order of their sets */
    status = find_by_forest(incomplete, search, error);
    if (status == TWIN_OK)
        status = rank(&count, search, hits, members, error);
    return status == TWIN_OK ? compare_ranked(search, count, error) : status;
}

static twin_status compare_everything(bool *incomplete, struct search *search, struct twin__store_cursor *members,
                                      twin_error *error)
{
    struct twin__index_found *texts;
    size_t count, n = search->text.count;
    (void)incomplete;
    (void)members;
    search->view->hits.count = 0;
    twin_status status = twin__index_list_texts(&texts, &count, search->view, SIZE_MAX, error);
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        size_t m = texts[i].size;
        bool is_near;
        if (twin__edit_join_reach(search->near, n < m ? n : m) >= (n < m ? m : n))
            status = compare_set(&is_near, search, texts[i], error);
        if (status == TWIN_OK)
            status = twin__poll();
    }
    free(texts);
    return status;
}

/* Candidates of the forest, unless the caller says how many. */
enum { MOST_RANKED = 4096 };

static struct search search_of(twin_index_view *view, twin_index_query_options options)
{
    const twin_index_options *own = &view->index->options;
    bool by_ratio = options.threshold > 0, by_default = !by_ratio && !options.limit_edits;
    size_t edits = options.limit_edits ? options.edits : own->edits;
    return (struct search){ .view = view,
                            .own = own,
                            .near = { .ratio = options.threshold,
                                      .edits = by_ratio && !options.limit_edits ? TWIN_EDIT_FAR : edits,
                                      .limit_edits = options.limit_edits || by_default },
                            .most = options.most_compared ? options.most_compared : MOST_RANKED };
}

typedef twin_status search_texts(bool *incomplete, struct search *search, struct twin__store_cursor *members,
                                 twin_error *error);

static twin_status run(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                       const twin_index_document *document, search_texts *find, twin_error *error)
{
    struct search search = search_of(view, options);
    struct twin__store_cursor members = { 0 };
    twin_status status =
        twin__signer_normalise(&view->scratch.sign, &view->query_ill_formed, view->index->signer, document->text);
    search.normalised = (twin_text){ view->scratch.sign.text.bytes, view->scratch.sign.text.length };
    if (status == TWIN_OK && search.normalised.length)
        status = twin__index_text_read(&search.text, search.normalised);
    if (status == TWIN_OK && search.text.count)
        status = twin__index_text_sign(view->query_signature, &search.text, view->index, &view->scratch.sign,
                                       search.normalised);
    if (status != TWIN_OK)
        status = twin__fail_status(error, status);
    else if (search.text.count)
        status = find(&out->incomplete, &search, &members, error);
    if (status == TWIN_OK && search.text.count) {
        sort_hits(view);
        status = twin__index_answer_fill(out, view, options, error);
    }
    twin__store_cursor_close(&members);
    twin__index_text_clear(&search.text);
    twin__edit_scratch_clear(&search.scratch);
    free(search.ranked);
    return status;
}

twin_status twin__index_query_edits(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                    const twin_index_document *document, twin_error *error)
{
    return run(out, view, options, document, find_near, error);
}

twin_status twin__index_query_all(twin_index_answer *out, twin_index_view *view, twin_index_query_options options,
                                  const twin_index_document *document, twin_error *error)
{
    out->count = out->ids.length = 0;
    return run(out, view, options, document, compare_everything, error);
}

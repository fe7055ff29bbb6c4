/* between.c — what differs between two collections: which documents of the first have any similar one in the second, and
 * copies in both.
 *
 * All pairs of a template group that both collections have are as many as the product of its two parts. Where it is only
 * wanted which documents of the first have any (`existence_only`), they are fewer:
 *
 *   1. In a group, those of the second collection are kept, and each of the first is compared with them up to the first
 *      that is similar (set_join.h); texts that contain each other, likewise.
 *   2. That one need not be the most similar. If the second collection has the same set, it is: equal sets have equal
 *      signatures, and documents with equal ones are compared.
 *
 * Outside groups all pairs are found. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "lsh/bands.h"

struct once {
    const struct twin__provider *provider;
    const twin_similar_options *options;
    uint32_t *order;
};

/* ---- one match of each document: copies ---- */

/* The keys of documents with equal signatures are adjacent, in the order of the documents. */
static bool sort_signatures(uint64_t *keys, const struct twin__provider *provider)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    const twin_signatures *signatures = &provider->signatures;
    for (size_t i = 0; i < signatures->count; i++) {
        const uint32_t *row = signatures->rows + (size_t)signatures->documents[i] * signatures->slots;
        twin__spill_touch(provider->spill, signatures->slots * sizeof *row);
        uint64_t hash = twin_hash_bytes(plain, row, signatures->slots * sizeof *row);
        keys[i] = (hash & ~(uint64_t)UINT32_MAX) | signatures->documents[i];
    }
    return twin__sort_numbers(keys, signatures->count);
}

/* Documents with the same key: those of the first collection from `begin` on, and those of the second from `second` on. */
struct run {
    size_t begin, second, end;
};

static struct run run_at(const uint64_t *keys, size_t begin, size_t count, uint32_t split)
{
    struct run run = { begin, begin, begin };
    while (run.end < count && keys[run.end] >> 32 == keys[begin] >> 32) {
        run.second += (uint32_t)keys[run.end] < split;
        run.end++;
    }
    return run;
}

/* Pairs a document of the first collection with the first of the second that has the same signature. Different sets can have
 * equal signatures, and different signatures equal keys, if somebody wants that; so only a few are looked at. */
static bool pair_with_copy(struct twin__pairs *out, const struct twin__provider *provider, const uint64_t *keys,
                           size_t at, struct run run)
{
    enum { FEW = 4 };
    for (size_t i = run.second; i < run.end && i < run.second + FEW; i++) {
        uint32_t document = (uint32_t)keys[at], other = (uint32_t)keys[i];
        if (twin__provider_agreement(provider, document, other) == provider->signatures.slots)
            return twin__pairs_add(out, twin__pair(document, other));
    }
    return true;
}

static bool pair_equal_signatures(struct twin__pairs *out, const struct twin__provider *provider)
{
    size_t count = provider->signatures.count;
    uint64_t *keys = malloc((count + 1) * sizeof *keys);
    bool good = keys && sort_signatures(keys, provider);
    for (size_t begin = 0; begin < count && good;) {
        struct run run = run_at(keys, begin, count, provider->split);
        for (size_t i = run.begin; i < run.second && good; i++)
            good = pair_with_copy(out, provider, keys, i, run);
        begin = run.end;
    }
    free(keys);
    return good;
}

static twin_status find_copies(twin_matches *out, const struct once *once, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_JACCARD, 1 };
    struct twin__verify_options verify = { twin__compare_sets(&rule), once->options->exec, once->options->progress };
    struct twin__pairs pairs = { 0 };
    twin_status status = pair_equal_signatures(&pairs, once->provider)
                             ? twin__verify_pairs(out, once->provider, &pairs, verify, error)
                             : twin__fail_memory(error);
    free(pairs.items);
    return status;
}

/* ---- one match of each document: all of it ---- */

/* Those of the second collection come first. */
static twin_status order_sides(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                               twin_error *error)
{
    struct once *once = context;
    uint32_t split = once->provider->split, all = (uint32_t)once->provider->count;
    (void)documents, (void)count, (void)error;
    for (uint32_t i = 0; i < all; i++)
        once->order[i] = i < all - split ? split + i : i - (all - split);
    *out = once->order;
    return TWIN_OK;
}

static void drop_repeats(twin_matches *matches)
{
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++)
        if (kept == 0 || matches->items[kept - 1].a != matches->items[i].a ||
            matches->items[kept - 1].b != matches->items[i].b)
            matches->items[kept++] = matches->items[i];
    matches->count = kept;
}

twin_status twin__between_any(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_error *error)
{
    struct once once = { provider, options, malloc((provider->count + 1) * sizeof *once.order) };
    struct twin__deciding_options deciding = { .search = options, .order = order_sides, .context = &once };
    twin_matches copies = { 0 };
    twin_status status = TWIN_OK;
    if (!once.order)
        status = twin__fail_memory(error);
    else
        status = twin__engine_find_part(out, counts, provider, &deciding, (struct twin__engine_part){ 0 }, error);
    if (status == TWIN_OK && counts->template_groups && options->measure == TWIN_JACCARD)
        status = find_copies(&copies, &once, error);
    if (status == TWIN_OK && !twin__matches_move(out, &copies))
        status = twin__fail_memory(error);
    if (status == TWIN_OK) {
        twin__matches_sort(out);
        drop_repeats(out);
        counts->similar = out->count;
    }
    twin__matches_clear(&copies);
    free(once.order);
    return status;
}

/* ---- pairs of documents from pairs of distinct ones ---- */

struct expansion {
    const twin_similar *similar;
    twin_copies copies;
    struct twin__copies second; /* of the second collection */
    twin_matches partners;      /* of the document in hand */
};

static twin_status list_copies(struct twin__copies *out, const twin_collection *collection)
{
    return twin__copies_list(out, twin_collection_firsts(collection), twin_collection_count(collection).documents);
}

/* Whether the two documents of a match have equal sets. */
static twin_status are_copies(bool *out, const twin_similar *similar, twin_match match)
{
    *out = match.similarity == 1;
    if (!*out || similar->measure == TWIN_JACCARD)
        return TWIN_OK;
    twin_scratch scratches[2] = { 0 };
    twin_set a = { 0 }, b = { 0 };
    twin_status status = twin__collection_set(&a, similar->collection, &scratches[0], match.a, NULL);
    if (status == TWIN_OK)
        status = twin__collection_set(&b, similar->other, &scratches[1], match.b, NULL);
    *out = status == TWIN_OK && a.count == b.count; /* the smaller is contained in the other */
    twin__scratch_clear(&scratches[0]);
    twin__scratch_clear(&scratches[1]);
    return status;
}

/* The partners that document `a` has by a match of its first. */
static twin_status add_across(struct expansion *expansion, uint32_t a, twin_match match)
{
    twin_status status = TWIN_OK;
    bool is_first = match.a == a, same = false;
    if (expansion->copies == TWIN_COPIES_NONE) {
        if (is_first)
            status = are_copies(&same, expansion->similar, match);
        return !is_first || same || status != TWIN_OK ? status : twin__matches_add(&expansion->partners, match);
    }
    match.a = a;
    if (expansion->copies == TWIN_COPIES_FIRST && !is_first)
        return twin__matches_add(&expansion->partners, match);
    const struct twin__copies *second = &expansion->second;
    for (size_t i = second->begins[match.b]; i < second->begins[match.b + 1] && status == TWIN_OK; i++)
        status = twin__matches_add(&expansion->partners, (twin_match){ a, second->same[i], match.similarity });
    return status;
}

/* Matches have the numbers of the provider: of the second collection, behind the first. */
static twin_status next_match(twin_match *out, bool *found, struct twin__match_cursor *cursor,
                              const twin_similar *similar)
{
    twin_status status = twin__match_cursor_next(out, found, cursor);
    if (status == TWIN_OK && *found)
        out->b -= (uint32_t)twin_collection_count(similar->collection).documents;
    return status;
}

/* If the first collection has no copies, its documents have their matches in order. */
static twin_status visit_in_order(struct expansion *expansion, struct twin__match_cursor *cursor,
                                  twin_match_visit *visit, void *context)
{
    uint32_t a = 0;
    twin_status status = TWIN_OK;
    for (bool found = true; status == TWIN_OK && found;) {
        twin_match match = { 0 };
        status = next_match(&match, &found, cursor, expansion->similar);
        if (status == TWIN_OK && (!found || match.a != a))
            status = twin__similar_visit_partners(&expansion->partners, visit, context);
        a = match.a;
        if (status == TWIN_OK && found)
            status = add_across(expansion, a, match);
    }
    return status;
}

/* Lists the partners of all copies of the first document of each match. */
static twin_status list_partners(struct expansion *expansion, struct twin__match_cursor *cursor,
                                 const struct twin__copies *first)
{
    twin_status status = TWIN_OK;
    for (bool found = true; status == TWIN_OK && found;) {
        twin_match match = { 0 };
        status = next_match(&match, &found, cursor, expansion->similar);
        size_t end = found ? first->begins[match.a + 1] : 0;
        for (size_t i = first->begins[match.a]; i < end && status == TWIN_OK; i++)
            status = add_across(expansion, first->same[i], match);
    }
    return status;
}

/* Lists all pairs of documents, in runs of their own if the matches may be, and visits them in order. */
static twin_status visit_sorted(struct expansion *expansion, struct twin__match_cursor *cursor,
                                twin_match_visit *visit, void *context)
{
    const struct twin__match_runs *runs = expansion->similar->matches.runs;
    struct twin__copies first = { 0 };
    twin_status status = list_copies(&first, expansion->similar->collection);
    if (status == TWIN_OK && runs)
        status = twin__match_runs_create(&expansion->partners, runs->most, runs->folder);
    if (status == TWIN_OK)
        status = list_partners(expansion, cursor, &first);
    if (status == TWIN_OK)
        status = twin__matches_visit_sorted(&expansion->partners, visit, context);
    twin__copies_clear(&first);
    return status;
}

static twin_status visit_between(struct expansion *expansion, twin_match_visit *visit, void *context)
{
    const twin_collection *first = expansion->similar->collection;
    const uint32_t *distinct;
    bool has_copies = twin__collection_distinct(&distinct, first) < twin_collection_count(first).documents;
    struct twin__match_cursor cursor;
    twin_status status = twin__match_cursor_init(&cursor, &expansion->similar->matches);
    if (status == TWIN_OK)
        status = (has_copies ? visit_sorted : visit_in_order)(expansion, &cursor, visit, context);
    twin__match_cursor_clear(&cursor);
    return status;
}

twin_status twin__between_each(const twin_similar *similar, twin_copies copies, twin_match_visit *visit,
                               void *context)
{
    struct expansion expansion = { .similar = similar, .copies = copies };
    twin_status status = list_copies(&expansion.second, similar->other);
    if (status == TWIN_OK)
        status = visit_between(&expansion, visit, context);
    twin__copies_clear(&expansion.second);
    twin__matches_clear(&expansion.partners);
    return status;
}

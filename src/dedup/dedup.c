/* dedup.c — which documents of a collection are kept when its near-duplicates are dropped.
 *
 * Documents with equal sets are one node of a graph whose edges are the similar pairs. Nodes are taken in the order of
 * preference of their best documents: a node is kept unless an earlier kept one is similar to it; then it is dropped for
 * the first such node (twin__cluster_keepers). Of a kept node the best document is kept, and its copies are dropped.
 *
 * Only nodes with an edge or a copy need to be ordered, so only their documents are read again for that. The search is
 * given the order once it knows which these are, so that among near-copies it need not compare all pairs.
 * Of texts, compared by edits, edit_rounds.c finds the pairs that decide.
 * dedup_result.c makes documents and groups of what was decided about nodes. */
#include <twinsift/dedup.h>

#include <stdlib.h>
#include <twinsift/similar.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "dedup/decision.h"
#include "dedup/preference.h"
#include "dedup/step_file.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "lsh/bands.h"

/* ---- the order ---- */

/* Lists the documents of all nodes that are marked or have a copy; returns how many. */
static size_t list_involved(uint32_t *out, bool *is_involved, const struct twin__decision *decision)
{
    size_t count = 0;
    for (size_t i = 0; i < decision->documents; i++)
        if (decision->firsts[i] != i)
            is_involved[decision->firsts[i]] = true;
    for (size_t i = 0; i < decision->documents; i++)
        if (is_involved[decision->firsts[i]])
            out[count++] = (uint32_t)i;
    return count;
}

/* From documents in the order of preference to nodes, each in the place of its best. */
static void order_nodes(struct twin__decision *decision, const uint32_t *sorted, size_t count)
{
    size_t placed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = decision->firsts[sorted[i]];
        if (decision->best[node] != TWIN__NOBODY)
            continue;
        decision->best[node] = sorted[i];
        decision->order[placed++] = node;
    }
    for (size_t i = 0; i < decision->documents; i++)
        if (decision->best[i] == TWIN__NOBODY)
            decision->order[placed++] = (uint32_t)i;
}

/* The nodes marked, and those with a copy, are put in order. */
static twin_status make_order(struct twin__decision *decision, bool *is_involved, twin_error *error)
{
    const twin_similar_options *search = &decision->options->search;
    uint32_t *sorted = malloc((decision->documents + 1) * sizeof *sorted);
    if (!sorted)
        return twin__fail_memory(error);
    for (size_t i = 0; i < decision->documents; i++)
        decision->best[i] = TWIN__NOBODY;
    size_t count = list_involved(sorted, is_involved, decision);
    struct twin__preference preference = { .rule = decision->options->preference,
                                           .field = decision->options->field,
                                           .progress = search->progress,
                                           .without_field = &decision->without_field,
                                           .memory_bytes = search->memory_bytes,
                                           .folder = search->temp_folder,
                                           .ranks = decision->options->ranks };
    decision->without_field = 0;
    twin_status status = twin__preference_sort(sorted, count, decision->collection, preference, search->exec, error);
    if (status == TWIN_OK)
        order_nodes(decision, sorted, count);
    decision->is_ordered = status == TWIN_OK;
    free(sorted);
    return status;
}

/* Called by the search when it needs the order of these nodes, among which are all that it will match. */
static twin_status order_documents(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                                   twin_error *error)
{
    struct twin__decision *decision = context;
    bool *is_involved = calloc(decision->documents + 1, sizeof *is_involved);
    if (!is_involved)
        return twin__fail_memory(error);
    for (size_t i = 0; i < count; i++)
        is_involved[documents[i]] = true;
    twin_status status = make_order(decision, is_involved, error);
    free(is_involved);
    *out = decision->order;
    return status;
}

static twin_status order_matched(struct twin__decision *decision, twin_error *error)
{
    bool *is_involved = calloc(decision->documents + 1, sizeof *is_involved);
    if (!is_involved)
        return twin__fail_memory(error);
    for (size_t i = 0; i < decision->matches.count; i++)
        is_involved[decision->matches.items[i].a] = is_involved[decision->matches.items[i].b] = true;
    twin_status status = make_order(decision, is_involved, error);
    free(is_involved);
    return status;
}

/* ---- the search ---- */

/* Marks the nodes of excluded documents. */
static twin_status mark_excluded(struct twin__decision *decision, twin_error *error)
{
    const bool *excluded = decision->options->excluded;
    if (!excluded)
        return TWIN_OK;
    decision->is_excluded = calloc(decision->documents + 1, sizeof *decision->is_excluded);
    if (!decision->is_excluded)
        return twin__fail_memory(error);
    for (size_t i = 0; i < decision->documents; i++)
        decision->is_excluded[decision->firsts[i]] |= excluded[i];
    return TWIN_OK;
}

/* Takes excluded nodes from those to be joined. *list is then what the caller must free. */
static bool exclude(uint32_t **list, struct twin__provider *provider, const struct twin__decision *decision)
{
    twin_signatures *signatures = &provider->signatures;
    size_t count = 0;
    *list = NULL;
    if (!decision->is_excluded)
        return true;
    *list = malloc((signatures->count + 1) * sizeof **list);
    for (size_t i = 0; *list && i < signatures->count; i++)
        if (!decision->is_excluded[signatures->documents[i]])
            (*list)[count++] = signatures->documents[i];
    signatures->documents = *list;
    signatures->count = count;
    return *list != NULL;
}

static twin_status search(struct twin__decision *decision, twin_similar_counts *counts, twin_error *error)
{
    const twin_dedup_options *options = decision->options;
    struct twin__provider provider = { 0 };
    struct twin__deciding_options deciding = { .search = &options->search,
                                               .chain = options->chain,
                                               .order = order_documents,
                                               .context = decision,
                                               .by_number =
                                                   options->preference == TWIN_PREFER_FIRST && !options->ranks };
    if (options->by_edits)
        return twin__find_edits(decision, counts, &deciding, error);
    int workers = options->search.exec.workers;
    if (twin__collection_provider(&provider, decision->collection, NULL, workers) != TWIN_OK)
        return twin__fail_memory(error);
    uint32_t *list;
    twin_status status =
        exclude(&list, &provider, decision)
            ? twin__engine_find_part(&decision->matches, counts, &provider, &deciding, decision->part, error)
            : twin__fail_memory(error);
    free(list);
    twin__collection_provider_clear(&provider);
    return status;
}

/* ---- what is kept ---- */

/* The node of each component that comes first in the order is kept for all of it. */
static twin_status keep_components(struct twin__decision *decision)
{
    uint32_t *kept = decision->node_kept;
    twin_status status =
        twin__cluster_components(kept, decision->documents, decision->matches.items, decision->matches.count);
    uint32_t *first = malloc((decision->documents + 1) * sizeof *first);
    if (status == TWIN_OK && !first)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK) {
        for (size_t i = decision->documents; i-- > 0;)
            first[kept[decision->order[i]]] = decision->order[i];
        for (size_t i = 0; i < decision->documents; i++)
            kept[i] = first[kept[i]];
    }
    free(first);
    return status;
}

static twin_status decide_all(struct twin__decision *decision, twin_error *error)
{
    twin_status status = decision->is_ordered ? TWIN_OK : order_matched(decision, error);
    if (status != TWIN_OK)
        return status;
    if (!decision->options->chain)
        status = twin__cluster_keepers(decision->node_kept, decision->node_similarity, decision->documents,
                                       decision->matches.items, decision->matches.count, decision->order);
    else
        status = keep_components(decision);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    return decision->options->chain ? twin__measure_chains(decision, error) : TWIN_OK;
}

/* ---- all of it ---- */

static twin_status check_dedup_options(const twin_dedup_options *options, twin_error *error)
{
    if ((unsigned)options->preference > TWIN_PREFER_LAST)
        return twin__fail(error, TWIN_EINVAL, "unknown preference %d", (int)options->preference);
    bool by_field = options->preference == TWIN_PREFER_MOST || options->preference == TWIN_PREFER_LEAST;
    if (by_field != (options->field != NULL))
        return twin__fail(error, TWIN_EINVAL,
                          "the most and the least need the name of a field, and nothing else does");
    if (options->search.verify != TWIN_VERIFY_EXACT || options->search.method != TWIN_METHOD_BANDS)
        return twin__fail(
            error, TWIN_EINVAL,
            "what is dropped must be verified exactly, and all pairs are needed: no estimates, no forest");
    twin_status status = twin__check_reserved(error, options->search.reserved, "the search");
    return status == TWIN_OK ? twin__check_reserved(error, options->reserved, "dedup") : status;
}

/* Checks and completes the options; end with decision_clear(), also if it fails. */
static twin_status decision_init(struct twin__decision *out, const twin_collection *collection,
                                 twin_dedup_options *options, twin_error *error)
{
    *out = (struct twin__decision){ .collection = collection,
                                    .options = options,
                                    .documents = twin_collection_count(collection).documents,
                                    .firsts = twin_collection_firsts(collection) };
    twin_status status = check_dedup_options(options, error);
    bool are_texts = twin__collection_slots(collection) == 0;
    if (status == TWIN_OK && are_texts != (options->by_edits != NULL))
        status = twin__fail(error, TWIN_EINVAL,
                            are_texts ? "a collection of texts has no sets to compare; see `by_edits`"
                                      : "a collection of sets has no texts to compare by edits");
    if (status == TWIN_OK)
        status = are_texts ? twin__exec_complete(&options->search.exec, error)
                           : twin__similar_complete(&options->search, twin__collection_scheme(collection), error);
    if (status != TWIN_OK)
        return status;
    out->best = malloc((out->documents + 1) * sizeof *out->best);
    out->order = malloc((out->documents + 1) * sizeof *out->order);
    return out->best && out->order ? mark_excluded(out, error) : twin__fail_memory(error);
}

static void decision_clear(struct twin__decision *decision)
{
    free(decision->best);
    free(decision->order);
    free(decision->node_kept);
    free(decision->node_similarity);
    free(decision->is_excluded);
}

/* From matches to the result. */
static twin_status conclude(twin_dedup **out, struct twin__decision *decision, twin_error *error)
{
    size_t documents = decision->documents;
    decision->node_kept = malloc((documents + 1) * sizeof *decision->node_kept);
    decision->node_similarity = malloc((documents + 1) * sizeof *decision->node_similarity);
    if (!decision->node_kept || !decision->node_similarity)
        return twin__fail_memory(error);
    twin_status status = decide_all(decision, error);
    return status == TWIN_OK ? twin__dedup_create(out, decision, error) : status;
}

static twin_status find_duplicates(twin_dedup **out, const twin_collection *collection, twin_dedup_options options,
                                   twin_error *error)
{
    if (!out || !collection)
        return twin__fail_null(error, out ? "collection" : "out");
    struct twin__decision decision;
    twin_similar_counts counts = { 0 };
    twin_status status = decision_init(&decision, collection, &options, error);
    if (status == TWIN_OK)
        status = search(&decision, &counts, error);
    if (status == TWIN_OK)
        status = conclude(out, &decision, error);
    if (status == TWIN_OK)
        (*out)->counts.search = counts;
    twin__matches_clear(&decision.matches);
    decision_clear(&decision);
    return status;
}

twin_status twin_dedup_find(twin_dedup **out, const twin_collection *collection, twin_dedup_options options,
                            twin_error *error)
{
    if (out)
        *out = NULL;
    struct twin__watch watch;
    twin__watch_begin(&watch, options.search.progress, &twin__stage_pairing);
    twin_status status = find_duplicates(out, collection, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK && out) {
        twin_dedup_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- step by step ---- */

/* The steps go by the scheme of the collection. */
twin_status twin__step_check(const twin_collection *collection, const twin_dedup_options *options, twin_error *error)
{
    if (options->excluded || options->search.threshold != 0)
        return twin__fail(error, TWIN_EINVAL, "steps go by the scheme of the collection, and exclude no documents");
    if (twin__collection_slots(collection) == 0 || twin__collection_scheme(collection)->measure != TWIN_JACCARD)
        return twin__fail(error, TWIN_EINVAL, "only Jaccard similarities can be searched step by step");
    return TWIN_OK;
}

static twin_status match(twin_matches *out, const twin_collection *collection,
                         struct twin__step_candidates *candidates, const twin_dedup_options *options, twin_part part,
                         twin_error *error)
{
    twin_dedup_options complete = *options;
    twin_similar_counts counts = { 0 };
    struct twin__decision decision;
    twin_status status = decision_init(&decision, collection, &complete, error);
    decision.part = (struct twin__engine_part){ &candidates->found, part };
    if (status == TWIN_OK)
        status = search(&decision, &counts, error);
    if (status == TWIN_OK) {
        *out = decision.matches;
        out->candidates = counts.candidates;
        out->verified = counts.verified;
    } else {
        twin__matches_clear(&decision.matches);
    }
    decision_clear(&decision);
    return status;
}

twin_status twin__step_match(twin_matches **out, const twin_collection *collection,
                             struct twin__step_candidates *candidates, const twin_dedup_options *options,
                             twin_part part, twin_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return twin__fail_memory(error);
    struct twin__watch watch;
    twin__watch_begin(&watch, options->search.progress, &twin__stage_pairing);
    twin_status status = twin__watch_end(&watch, match(*out, collection, candidates, options, part, error), error);
    if (status != TWIN_OK) {
        twin__step_matches_free(*out);
        *out = NULL;
    }
    return status;
}

static twin_status decide_by(twin_dedup **out, const twin_collection *collection, const twin_matches *matches,
                             const twin_dedup_options *options, twin_error *error)
{
    twin_dedup_options complete = *options;
    struct twin__decision decision;
    twin_status status = decision_init(&decision, collection, &complete, error);
    decision.matches = *matches;
    if (status == TWIN_OK)
        status = conclude(out, &decision, error);
    decision_clear(&decision);
    return status;
}

twin_status twin__step_decide(twin_dedup **out, const twin_collection *collection, const twin_matches *matches,
                              const twin_dedup_options *options, twin_error *error)
{
    struct twin__watch watch;
    *out = NULL;
    twin__watch_begin(&watch, options->search.progress, &twin__stage_deciding);
    twin_status status = decide_by(out, collection, matches, options, error);
    status = twin__watch_end(&watch, status, error);
    if (status != TWIN_OK) {
        twin_dedup_free(*out);
        *out = NULL;
    }
    return status;
}

/* similar.c — the similar pairs of a collection, and what is similar to one more document.
 *
 * The pairs come from the engine (engine.c), to which the collection is a provider of signatures and sets. One query
 * goes the same way for a single signature: its candidates are those in its buckets (twin_bands), the gate drops
 * what has too few equal slots, and the rest is compared exactly or taken at its estimate. */
#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/engine.h"
#include "join/gate.h"
#include "join/match_runs.h"
#include "join/similar_private.h"
#include "join/verify.h"

enum { DEFAULT_TOP = 10 };

twin_status twin__similar_complete(twin_similar_options *options, const twin_scheme *own, twin_error *error)
{
    twin_scheme scheme = *own;
    if (options->threshold != 0) {
        scheme.threshold = options->threshold;
        scheme.measure = options->measure;
        scheme.plan = options->bands.plan;
        twin_status status = twin_scheme_complete(&scheme, error);
        if (status != TWIN_OK)
            return status;
    }
    options->threshold = scheme.threshold;
    options->measure = scheme.measure;
    options->bands.plan = scheme.plan;
    if (options->top == 0)
        options->top = DEFAULT_TOP;
    twin_status status = twin__exec_complete(&options->exec, error);
    return status == TWIN_OK ? twin__engine_accepts(options, error) : status;
}

static twin_status find_matches(twin_similar *similar, const struct twin__provider *provider,
                                const twin_similar_options *options, twin_error *error)
{
    twin_matches *matches = &similar->matches;
    if (options->matches_in_memory && options->method == TWIN_METHOD_BANDS &&
        twin__match_runs_create(matches, options->matches_in_memory, options->temp_folder) != TWIN_OK)
        return twin__fail_memory(error);
    twin_status status = twin__engine_find(matches, &similar->counts, provider, options, error);
    return status == TWIN_OK ? twin__match_runs_failure(error, matches->runs) : status;
}

twin_status twin_similar_find(twin_similar **out, const twin_collection *collection, twin_similar_options options,
                              twin_error *error)
{
    if (!out || !collection)
        return twin__fail_null(error, out ? "collection" : "out");
    *out = NULL;
    if (twin_collection_slots(collection) == 0)
        return twin__fail(error, TWIN_EINVAL,
                          "a collection of texts has no sets to compare; see twin_edit_join_find()");
    twin_status status = twin__similar_complete(&options, twin_collection_scheme(collection), error);
    if (status != TWIN_OK)
        return status;
    twin_similar *similar = calloc(1, sizeof *similar);
    struct twin__provider provider = { 0 };
    status = similar ? twin__collection_provider(&provider, collection, options.exec.workers) : TWIN_ENOMEM;
    if (status != TWIN_OK) {
        free(similar);
        return twin__fail_memory(error);
    }
    similar->collection = collection;
    similar->measure = options.measure;
    similar->threshold = options.threshold;
    status = find_matches(similar, &provider, &options, error);
    twin__collection_provider_clear(&provider);
    if (status != TWIN_OK) {
        twin_similar_free(similar);
        return status;
    }
    *out = similar;
    return TWIN_OK;
}

void twin_similar_free(twin_similar *similar)
{
    if (!similar)
        return;
    twin_matches_clear(&similar->matches);
    free(similar->near_pairs.items);
    free(similar);
}

twin_similar_counts twin_similar_count(const twin_similar *similar)
{
    return similar ? similar->counts : (twin_similar_counts){ 0 };
}

size_t twin_similar_matches(const twin_match **out, const twin_similar *similar)
{
    bool all = similar && !similar->matches.runs;
    if (out)
        *out = all ? similar->matches.items : NULL;
    return all ? similar->matches.count : 0;
}

void twin_matches_clear(twin_matches *matches)
{
    if (!matches)
        return;
    free(matches->items);
    twin__match_runs_free(matches->runs);
    *matches = (twin_matches){ 0 };
}

/* ---- one query ---- */

struct query_run {
    twin_matches *out;
    const twin_collection *collection;
    const twin_similar_options *options;
    const twin_similar_query *query;
    size_t least; /* equal slots of what is worth comparing */
    twin_scratch *scratch;
    twin_status status;
    twin_error *error;
};

/* The similarity of a candidate that passed the gate; negative when it is not enough. */
static twin_status compare_candidate(double *out, const struct query_run *run, uint32_t document)
{
    twin_set set;
    twin_status status = twin_collection_set(&set, run->collection, run->scratch, document, run->error);
    if (status == TWIN_OK)
        *out = twin_set_similarity_at_least(run->query->set, set, run->options->measure, run->options->threshold);
    return status;
}

static bool visit_candidate(void *context, uint32_t document)
{
    struct query_run *run = context;
    size_t slots = twin_collection_slots(run->collection);
    const uint32_t *signature = twin_collection_signatures(run->collection) + document * slots;
    size_t equal = twin_minhash_agreement(run->query->signature, signature, slots);
    if (equal < run->least)
        return true;
    double similarity = (double)equal / (double)slots;
    if (run->options->verify == TWIN_VERIFY_EXACT)
        run->status = compare_candidate(&similarity, run, document);
    if (run->status == TWIN_OK && similarity >= 0 &&
        twin__matches_add(run->out, (twin_match){ 0, document, similarity }) != TWIN_OK)
        run->status = twin__fail_memory(run->error);
    return run->status == TWIN_OK;
}

static int by_similarity(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

twin_status twin_similar_to(twin_matches *out, const twin_collection *collection, twin_similar_options options,
                            twin_similar_query query, twin_scratch *scratch, twin_error *error)
{
    if (!out || !collection || !query.bands || !query.signature || !scratch)
        return twin__fail_null(error, !out               ? "out"
                                      : !collection      ? "collection"
                                      : !query.bands     ? "query.bands"
                                      : !query.signature ? "query.signature"
                                                         : "scratch");
    out->count = 0;
    twin_status status = twin__similar_complete(&options, twin_collection_scheme(collection), error);
    if (status != TWIN_OK || query.set.count == 0)
        return status;
    size_t slots = twin_collection_slots(collection);
    struct twin__gate gate = twin__gate_make(options.measure, options.threshold, options.verify, slots);
    struct query_run run = { .out = out,
                             .collection = collection,
                             .options = &options,
                             .query = &query,
                             .least = gate.least,
                             .scratch = scratch,
                             .error = error };
    twin_bands_query(query.bands, query.signature, visit_candidate, &run);
    if (run.status == TWIN_OK && out->count)
        qsort(out->items, out->count, sizeof *out->items, by_similarity);
    return run.status;
}

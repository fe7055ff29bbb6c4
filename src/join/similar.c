/* similar.c — the similar pairs of a collection, or between two.
 *
 * The pairs come from the engine (engine.c), to which the collection is a provider of signatures and sets. Two are one
 * provider: documents of the second are numbered after those of the first, and only pairs of one document of each are
 * wanted. */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/contents.h"
#include "edit/edit_characters.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "sketch/signer.h"

enum { DEFAULT_TOP = 10 };

twin_status twin__similar_complete(twin_similar_options *options, const twin_scheme *own, twin_error *error)
{
    twin_scheme scheme = *own;
    twin_status status = twin__check_reserved(error, options->reserved, "the search");
    if (status == TWIN_OK)
        status = twin__check_reserved(error, options->bands.reserved, "bands");
    if (status == TWIN_OK && options->threshold != 0) {
        scheme.threshold = options->threshold;
        scheme.measure = options->measure;
        scheme.plan = options->bands.plan;
        status = twin_scheme_complete(&scheme, error);
    }
    if (status != TWIN_OK)
        return status;
    options->threshold = scheme.threshold;
    options->measure = scheme.measure;
    options->bands.plan = scheme.plan;
    if (options->top == 0)
        options->top = DEFAULT_TOP;
    status = twin__exec_complete(&options->exec, error);
    return status == TWIN_OK ? twin__engine_accepts(options, error) : status;
}

/* ---- pairs of a collection, or between two ---- */

static twin_status check_collections(const twin_collection *first, const twin_collection *second, twin_error *error)
{
    if (twin__collection_slots(first) == 0 || (second && twin__collection_slots(second) == 0))
        return twin__fail(error, TWIN_EINVAL,
                          "a collection of texts has no sets to compare; see twin_edit_join_find()");
    if (second && !twin__scheme_equal(twin__collection_scheme(first), twin__collection_scheme(second)))
        return twin__fail(error, TWIN_EINVAL, "the two collections were read by different schemes");
    if (second && twin_collection_count(first).documents + twin_collection_count(second).documents > UINT32_MAX)
        return twin__fail(error, TWIN_ELIMIT, "the two collections have too many documents together");
    return TWIN_OK;
}

/* Fills the matches of a result, in runs if the options want that, and the counts. */
static twin_status find_matches(twin_similar *similar, const struct twin__provider *provider,
                                const twin_similar_options *options, twin_error *error)
{
    twin_matches *matches = &similar->matches;
    if (similar->other && options->existence_only)
        return twin__between_any(matches, &similar->counts, provider, options, error);
    if (options->spill_after && options->method == TWIN_METHOD_BANDS &&
        twin__match_runs_create(matches, options->spill_after, options->temp_folder) != TWIN_OK)
        return twin__fail_memory(error);
    twin_status status = twin__engine_find(matches, &similar->counts, provider, options, error);
    return status == TWIN_OK ? twin__match_runs_failure(error, matches->runs) : status;
}

static twin_status find_pairs(twin_similar *similar, const twin_similar_options *options, twin_error *error)
{
    struct twin__provider provider;
    if (similar->other && twin_collection_count(similar->collection).documents == 0)
        return TWIN_OK;
    twin_status status =
        twin__collection_provider(&provider, similar->collection, similar->other, options->exec.workers);
    if (status == TWIN_EIO)
        return twin__fail(error, status, "signatures cannot be kept in the temporary folder: %m");
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = find_matches(similar, &provider, options, error);
    twin__collection_provider_clear(&provider);
    return status;
}

static twin_status find_similar(twin_similar **out, const twin_collection *first, const twin_collection *second,
                                twin_similar_options options, twin_error *error)
{
    twin_status status = check_collections(first, second, error);
    if (status == TWIN_OK)
        status = twin__similar_complete(&options, twin__collection_scheme(first), error);
    if (status == TWIN_OK && second && options.existence_only &&
        (options.method != TWIN_METHOD_BANDS || options.verify != TWIN_VERIFY_EXACT))
        status = twin__fail(error, TWIN_EINVAL, "existence_only needs bands and exact verification");
    if (status != TWIN_OK)
        return status;
    twin_similar *similar = *out = calloc(1, sizeof *similar);
    if (!similar)
        return twin__fail_memory(error);
    *similar = (twin_similar){
        .collection = first, .other = second, .measure = options.measure, .threshold = options.threshold
    };
    return find_pairs(similar, &options, error);
}

static twin_status watch_similar(twin_similar **out, const twin_collection *first, const twin_collection *second,
                                 twin_similar_options options, twin_error *error)
{
    struct twin__watch watch;
    twin__watch_begin(&watch, options.progress, &twin__stage_pairing);
    twin_status status = twin__watch_end(&watch, find_similar(out, first, second, options, error), error);
    if (status != TWIN_OK) {
        twin_similar_free(*out);
        *out = NULL;
    }
    return status;
}

twin_status twin_similar_find(twin_similar **out, const twin_collection *collection, twin_similar_options options,
                              twin_error *error)
{
    if (out)
        *out = NULL;
    if (!out || !collection)
        return twin__fail_null(error, out ? "collection" : "out");
    return watch_similar(out, collection, NULL, options, error);
}

twin_status twin_similar_between(twin_similar **out, const twin_collection *first, const twin_collection *second,
                                 twin_similar_options options, twin_error *error)
{
    if (out)
        *out = NULL;
    if (!out || !first || !second)
        return twin__fail_null(error, !out ? "out" : !first ? "first" : "second");
    return watch_similar(out, first, second, options, error);
}

/* ---- the result ---- */

void twin_similar_free(twin_similar *similar)
{
    if (!similar)
        return;
    twin__matches_clear(&similar->matches);
    free(similar->packed.items);
    free(similar);
}

twin_similar_counts twin_similar_count(const twin_similar *similar)
{
    return similar ? similar->counts : (twin_similar_counts){ 0 };
}

size_t twin__similar_matches(const twin_match **out, const twin_similar *similar)
{
    bool all = similar && !similar->matches.runs;
    if (out)
        *out = all ? similar->matches.items : NULL;
    return all ? similar->matches.count : 0;
}

/* ---- pairs by edit distance ---- */

twin_match twin__packed_match(uint64_t pair, const twin_collection *collection)
{
    uint32_t a = twin__packed_a(pair), b = twin__packed_b(pair);
    size_t total =
        (size_t)twin_collection_entry_of(collection, a).size + twin_collection_entry_of(collection, b).size;
    return (twin_match){ a, b, twin__edit_ratio_of(twin__packed_indels(pair), total) };
}

twin_status twin__packed_pairs_unpack(twin_matches *out, struct twin__packed_pairs pairs,
                                      const twin_collection *collection)
{
    if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, pairs.count))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < pairs.count; i++)
        out->items[out->count++] = twin__packed_match(pairs.items[i], collection);
    return TWIN_OK;
}

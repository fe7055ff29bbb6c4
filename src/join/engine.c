/* engine.c — from the documents of a provider to their similar pairs.
 *
 * Five steps, each over the provider alone, so that a collection and an index go the same way:
 *   1. candidates: all pairs that share a band, or for each document its best through a forest of MinHash trees. The
 *      signature gate (gate.c) drops those with too few equal slots as they are found;
 *   2. documents that large buckets connect are groups (groups.c); of each it is chosen whether its pairs are listed too, or
 *      an index of sets joins it;
 *   3. candidates are compared exactly (verify.c), or taken at their estimates;
 *   4. groups are joined (set_join.c);
 *   5. of each document the best are left, where only these are wanted, and all are sorted.
 * Containment needs no signatures: all documents are joined by their rare shingles (containment_join.c).
 * Where it is only to be decided what is kept, or only connected components are wanted, fewer pairs are compared, in groups
 * (set_join.c) and outside of them (pair_rounds.c).
 * The options' measure, threshold and bands are read here and nowhere else below. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "join/containment.h"
#include "join/groups.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/pair_overflow.h"
#include "join/set_join.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "lsh/minhash_forest.h"

struct twin__join_switches twin__switched_off;

twin_status twin__engine_accepts(const twin_similar_options *options, twin_error *error)
{
    if ((unsigned)options->method > TWIN_METHOD_FOREST || (unsigned)options->verify > TWIN_VERIFY_NONE)
        return twin__fail(error, TWIN_EINVAL, "unknown method or way to verify");
    if (options->measure == TWIN_JACCARD)
        return TWIN_OK;
    if (options->method == TWIN_METHOD_FOREST)
        return twin__fail(error, TWIN_EINVAL, "a forest finds documents by their Jaccard similarity only");
    if (options->verify != TWIN_VERIFY_EXACT)
        return twin__fail(error, TWIN_EINVAL, "signatures estimate the Jaccard similarity only; verify exactly");
    return TWIN_OK;
}

/* The status of a step that fills no error. */
static twin_status with_sentence(twin_error *error, twin_status status)
{
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* The way from a provider to its similar pairs. */
struct run {
    const struct twin__provider *provider;
    const twin_similar_options *options;
    struct twin__gate gate;
    struct twin__band_candidates candidates;
    twin_matches *out;
    twin_similar_counts *counts;
    const struct twin__deciding_options *deciding; /* NULL: all similar pairs are wanted */
    struct twin__engine_part part;                 /* candidates that were found before, if any */
    enum twin__join_mode mode;
    uint32_t *components;                /* TWIN__JOIN_CONNECT: a union-find; else NULL */
    struct twin__pair_overflow overflow; /* of the candidates, where memory is limited */
};

/* ---- candidates ---- */

/* Candidates compared exactly for each of the `top` best wanted. A forest ranks by estimates, whose order is not quite
 * that of the true similarities: of two documents with close similarities the lower may have more equal slots. Twice as
 * many, and a few more where `top` is small, leave room for that. */
static size_t candidates_for(size_t top, size_t documents)
{
    enum { SPARE = 16 };
    return 2 * (top < documents ? top : documents) + SPARE;
}

static bool allows(const void *context, uint32_t document, uint32_t other)
{
    return twin__provider_wants(context, document, other);
}

static twin_status candidates_from_forest(struct twin__band_candidates *out, const struct twin__provider *provider,
                                          const struct twin__gate *gate, const twin_similar_options *options)
{
    struct twin__minhash_forest *forest;
    twin_status status = twin__minhash_forest_create(&forest, provider->signatures, options->bands.plan, 0);
    if (status == TWIN_OK)
        status = twin__minhash_forest_pairs(
            &out->pairs, NULL, &out->seen, forest,
            (struct twin__minhash_forest_query){ .documents = provider->signatures.documents,
                                                 .count = provider->signatures.count,
                                                 .take = candidates_for(options->top, provider->count),
                                                 .least = gate->least,
                                                 .allows = provider->split ? allows : NULL,
                                                 .context = provider,
                                                 .exec = options->exec });
    twin__minhash_forest_free(forest);
    return status;
}

/* Only Jaccard similarities, exact or estimated, can be joined another way with the same result. */
static bool may_join_groups(const struct run *run)
{
    const twin_similar_options *options = run->options;
    bool estimates = options->verify == TWIN_VERIFY_ESTIMATE && !run->deciding && run->gate.least > 0;
    return options->measure == TWIN_JACCARD && (options->verify == TWIN_VERIFY_EXACT || estimates) &&
           !twin__switched_off.large_buckets;
}

/* Where memory is limited, a sixteenth of it is for pairs while they are listed: as much again to write them, and a few
 * times as much to compare them. */
static twin_status limit_pairs(struct run *run)
{
    enum { SHARE = 16 };
    if (!run->deciding || !run->options->memory_bytes)
        return TWIN_OK;
    run->candidates.overflow = &run->overflow;
    return twin__pair_overflow_init(&run->overflow, run->options->memory_bytes / SHARE / sizeof(uint64_t),
                                    run->options->temp_folder);
}

static twin_status find_candidates(struct run *run)
{
    if (run->part.found)
        return twin__candidates_of_part(&run->candidates, run->part.found, run->part.part, run->provider);
    return run->options->method == TWIN_METHOD_FOREST
               ? candidates_from_forest(&run->candidates, run->provider, &run->gate, run->options)
               : twin__candidates_from_bands(&run->candidates, run->provider, &run->gate, run->options,
                                             may_join_groups(run));
}

/* ---- groups ---- */

/* The documents as the index of sets would have them: by their sets, or where similarities are estimated, by their signatures. */
struct indexed {
    const struct twin__provider *provider;
    double threshold;
    struct twin__provider signatures;
};

static twin_status indexed_init(struct indexed *out, const struct run *run, twin_error *error)
{
    *out = (struct indexed){ .provider = run->provider, .threshold = run->options->threshold };
    if (run->options->verify == TWIN_VERIFY_EXACT)
        return TWIN_OK;
    out->provider = &out->signatures;
    out->threshold = twin__signature_threshold(run->gate.least, run->gate.slots);
    return with_sentence(error,
                         twin__signature_provider(&out->signatures, run->provider, run->options->exec.workers));
}

static void indexed_clear(struct indexed *indexed)
{
    if (indexed->provider == &indexed->signatures)
        twin__signature_provider_clear(&indexed->signatures);
}

/* Marks the loose groups that the index of sets joins, and the dense ones that are in none of these. */
static twin_status choose_groups(bool *whole, bool *alone, struct run *run, twin_error *error)
{
    const struct twin__band_candidates *candidates = &run->candidates;
    const struct twin__groups *loose = &candidates->loose, *dense = &candidates->dense;
    struct indexed indexed;
    twin_status status = indexed_init(&indexed, run, error);
    for (size_t i = 0; i < loose->count && status == TWIN_OK; i++)
        status = twin__group_is_for_index(&whole[i], indexed.provider, loose, i, indexed.threshold, error);
    for (size_t i = 0; i < dense->count && status == TWIN_OK; i++) {
        uint32_t first = dense->documents[dense->items[i].begin];
        if (!whole[twin__groups_find(loose, candidates->loose_of[first])])
            status = twin__group_is_for_index(&alone[i], indexed.provider, dense, i, indexed.threshold, error);
    }
    indexed_clear(&indexed);
    return status;
}

/* From here on the groups that are joined are known, and the pairs of the others are candidates. */
static twin_status settle_groups(struct run *run, twin_error *error)
{
    struct twin__band_candidates *candidates = &run->candidates;
    if (candidates->loose.count == 0)
        return TWIN_OK;
    twin__deep_plans_choose(&candidates->loose, run->provider, &run->gate, run->options);
    bool *whole = calloc(candidates->loose.count, sizeof *whole);
    bool *alone = calloc(candidates->dense.count + 1, sizeof *alone);
    twin_status status = whole && alone ? choose_groups(whole, alone, run, error) : twin__fail_memory(error);
    if (status == TWIN_OK)
        status = with_sentence(
            error, twin__candidates_settle(candidates, whole, alone, run->provider, &run->gate, run->options));
    free(whole);
    free(alone);
    return status;
}

static void count_groups(twin_similar_counts *counts, const struct twin__groups *groups)
{
    enum { LARGEST = sizeof counts->largest_groups / sizeof counts->largest_groups[0] };
    counts->template_groups = groups->count;
    for (size_t i = 0; i < groups->count; i++) {
        uint64_t size = groups->items[i].count;
        for (size_t place = 0; place < LARGEST; place++)
            if (size > counts->largest_groups[place]) {
                uint64_t smaller = counts->largest_groups[place];
                counts->largest_groups[place] = size;
                size = smaller;
            }
    }
}

/* The pairs of the groups that are wanted: all, those that decide what is kept, or those that connect components. */
static twin_status join_groups(struct run *run, twin_error *error)
{
    const struct twin__deciding_options *deciding = run->deciding;
    struct twin__set_join_options options = { .mode = run->mode,
                                              .components = run->components,
                                              .threshold = run->options->threshold,
                                              .exec = run->options->exec,
                                              .progress = run->options->progress,
                                              .memory_bytes = run->options->memory_bytes };
    bool exact = run->options->verify == TWIN_VERIFY_EXACT;
    struct twin__join_counts found = { 0 };
    struct indexed indexed;
    if (run->candidates.joined.count == 0)
        return TWIN_OK;
    if (deciding) {
        options.most_room = deciding->most_room;
        options.order = deciding->order;
        options.context = deciding->context;
        twin__candidates_free_pairs(&run->candidates);
    }
    twin_status status = indexed_init(&indexed, run, error);
    options.threshold = indexed.threshold;
    options.slots = exact ? 0 : run->gate.slots;
    if (status == TWIN_OK)
        status = twin__set_join(run->out, &found, indexed.provider, &run->candidates.joined, &options, error);
    indexed_clear(&indexed);
    run->counts->candidates += found.compared;
    run->counts->verified += exact ? found.compared : 0;
    run->counts->incomplete += found.incomplete;
    return status;
}

/* ---- all of it ---- */

/* Whether pairs are compared some at a time: then all of them are in the overflow. */
static twin_status move_to_overflow(bool *in_batches, struct run *run, twin_error *error)
{
    struct twin__pairs *pairs = &run->candidates.pairs;
    *in_batches =
        run->overflow.most && (twin__matches_on_disk(&run->overflow.matches) || pairs->count > run->overflow.most);
    if (!*in_batches)
        return TWIN_OK;
    twin_status status = twin__pair_overflow_take(&run->overflow, pairs);
    free(pairs->items);
    *pairs = (struct twin__pairs){ 0 };
    return with_sentence(error, status);
}

/* Where the order of preference is not that of the documents, all pairs outside groups are compared. */
static twin_status verify_exactly(struct run *run, twin_error *error)
{
    const twin_similar_options *options = run->options;
    struct twin__set_rule rule = { options->measure, options->threshold };
    bool all = run->mode == TWIN__JOIN_KEPT && !run->deciding->by_number, in_batches;
    struct twin__pair_rounds_options rounds = {
        .mode = all ? TWIN__JOIN_ALL : run->mode,
        .joined = &run->candidates.joined,
        .components = run->components,
        .verify = { twin__compare_sets(&rule), options->exec, options->progress },
    };
    twin_status status = move_to_overflow(&in_batches, run, error);
    if (status != TWIN_OK)
        return status;
    rounds.overflow = in_batches ? &run->overflow : NULL;
    return twin__pair_rounds(run->out, &run->counts->verified, run->provider, &run->candidates.pairs, &rounds, error);
}

/* From candidates to matches. */
static twin_status verify(struct run *run, twin_error *error)
{
    twin_status status = settle_groups(run, error);
    if (status == TWIN_OK && run->options->verify == TWIN_VERIFY_EXACT)
        status = verify_exactly(run, error);
    else if (status == TWIN_OK)
        status = with_sentence(error, twin__estimate_pairs(run->out, run->provider, &run->candidates.pairs));
    if (status == TWIN_OK)
        status = join_groups(run, error);
    if (status == TWIN_OK && run->options->method == TWIN_METHOD_FOREST)
        status = with_sentence(error, twin__matches_keep_top(run->out, run->options->top));
    if (status == TWIN_OK)
        twin__matches_sort(run->out);
    return status;
}

/* A set of millions of items takes three times as much memory in an index as in the join of what remains; and of few
 * documents that lists few pairs. */
static bool is_few_and_large(const struct twin__provider *provider)
{
    enum { FEW = 2048, LARGE = 1 << 20 };
    uint64_t largest = 0;
    for (uint32_t i = 0; i < provider->count && provider->signatures.count <= FEW; i++)
        largest = provider->size(provider, i) > largest ? provider->size(provider, i) : largest;
    return largest > LARGE;
}

/* All documents are one group, of which those are dropped that are similar to what is kept; as long as these are many. */
static twin_status drop_contained(struct twin__remaining *out, struct twin__join_counts *counts, struct run *run,
                                  twin_error *error)
{
    twin_signatures signatures = run->provider->signatures;
    struct twin__group all = { .count = signatures.count };
    struct twin__groups groups = { .documents = malloc((signatures.count + 1) * sizeof *groups.documents),
                                   .items = &all,
                                   .count = 1 };
    struct twin__set_join_options options = { .mode = TWIN__JOIN_KEPT,
                                              .measure = TWIN_CONTAINMENT,
                                              .threshold = run->options->threshold,
                                              .exec = run->options->exec,
                                              .progress = run->options->progress,
                                              .order = run->deciding->order,
                                              .context = run->deciding->context,
                                              .remaining = out };
    out->documents = malloc((signatures.count + 1) * sizeof *out->documents);
    twin_status status = groups.documents && out->documents ? TWIN_OK : twin__fail_memory(error);
    bool all_remain = is_few_and_large(run->provider) || twin__switched_off.contained_first;
    if (status == TWIN_OK && signatures.count)
        memcpy(all_remain ? out->documents : groups.documents, signatures.documents,
               signatures.count * sizeof *groups.documents);
    if (status == TWIN_OK && all_remain)
        out->count = signatures.count;
    else if (status == TWIN_OK && signatures.count)
        status = twin__set_join(run->out, counts, run->provider, &groups, &options, error);
    free(groups.documents);
    return status;
}

static twin_status find_contained(struct run *run, twin_error *error)
{
    const twin_similar_options *options = run->options;
    struct twin__containment_options wanted = { .threshold = options->threshold,
                                                .exec = options->exec,
                                                .progress = options->progress };
    struct twin__join_counts found = { 0 };
    struct twin__remaining remaining = { 0 };
    struct twin__provider provider = *run->provider;
    double begun = twin__seconds();
    twin_status status = run->deciding ? drop_contained(&remaining, &found, run, error) : TWIN_OK;
    if (run->deciding) {
        provider.signatures.documents = remaining.documents;
        provider.signatures.count = remaining.count;
    }
    if (status == TWIN_OK)
        status = twin__containment_join(run->out, &found, &provider, wanted, error);
    free(remaining.documents);
    if (status == TWIN_OK)
        twin__matches_sort(run->out);
    run->counts->candidates = run->counts->verified = found.compared;
    run->counts->incomplete = found.incomplete;
    run->counts->similar = twin__matches_total(run->out);
    run->counts->verifying_seconds = twin__seconds() - begun;
    return status;
}

static twin_status find(struct run *run, twin_error *error)
{
    const twin_similar_options *options = run->options;
    twin_similar_counts *counts = run->counts;
    if (options->measure == TWIN_CONTAINMENT)
        return find_contained(run, error);
    run->gate =
        twin__gate_make(options->measure, options->threshold, options->verify, run->provider->signatures.slots);
    double begun = twin__seconds();
    twin_status status = with_sentence(error, limit_pairs(run));
    if (status == TWIN_OK)
        status = with_sentence(error, find_candidates(run));
    double paired = twin__seconds();
    if (status == TWIN_OK)
        status = verify(run, error);
    count_groups(counts, &run->candidates.joined);
    counts->candidates += run->candidates.seen;
    counts->similar = twin__matches_total(run->out);
    counts->pairing_seconds = paired - begun;
    counts->verifying_seconds = twin__seconds() - paired;
    twin__band_candidates_clear(&run->candidates);
    twin__pair_overflow_clear(&run->overflow);
    return status;
}

twin_status twin__engine_find(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_error *error)
{
    struct run run = { .provider = provider, .options = options, .out = out, .counts = counts };
    return find(&run, error);
}

twin_status twin__engine_each(twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_match_visit *visit, void *context,
                              twin_error *error)
{
    twin_matches matches = { 0 };
    twin_status status = TWIN_OK;
    if (options->spill_after &&
        twin__match_runs_create(&matches, options->spill_after, options->temp_folder) != TWIN_OK)
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__engine_find(&matches, counts, provider, options, error);
    if (status == TWIN_OK)
        status = twin__match_runs_failure(error, matches.runs);
    if (status == TWIN_OK) {
        status = twin__matches_visit_sorted(&matches, visit, context);
        if (status != TWIN_OK && status != TWIN_ESTOPPED)
            twin__fail_status(error, status);
    }
    twin__matches_clear(&matches);
    return status;
}

twin_status twin__engine_find_bands(struct twin__bands_found *out, const struct twin__provider *provider,
                                    const twin_similar_options *options, twin_part part)
{
    struct run run = { .provider = provider, .options = options };
    run.gate = twin__gate_make(options->measure, options->threshold, options->verify, provider->signatures.slots);
    return twin__bands_find(out, provider, &run.gate, options, may_join_groups(&run), part);
}

twin_status twin__engine_find_part(twin_matches *out, twin_similar_counts *counts,
                                   const struct twin__provider *provider,
                                   const struct twin__deciding_options *options, struct twin__engine_part part,
                                   twin_error *error)
{
    struct run run = { .provider = provider,
                       .options = options->search,
                       .out = out,
                       .counts = counts,
                       .deciding = options,
                       .part = part };
    if (options->chain && options->search->measure == TWIN_CONTAINMENT)
        run.deciding = NULL; /* all pairs */
    else
        run.mode = options->chain ? TWIN__JOIN_CONNECT : TWIN__JOIN_KEPT;
    if (run.mode == TWIN__JOIN_CONNECT) {
        run.components = malloc((provider->count + 1) * sizeof *run.components);
        if (!run.components)
            return twin__fail_memory(error);
        twin__union_begin(run.components, provider->count);
    }
    twin_status status = find(&run, error);
    free(run.components);
    return status;
}

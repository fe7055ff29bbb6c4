/* verify.c — candidate pairs are compared, and those that are similar enough become matches.
 *
 * Documents that pairs connect, a component, get neighbouring ranks. In a component with many pairs per document, mail of one
 * campaign or pages of one template, each set is divided once into bits and rare items, and a pair then takes little: the
 * index of sets compares the pairs that are listed (set_join.h). All other pairs are compared one by one (verify_tiles.c). */
#include "join/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/join_private.h"
#include "join/set_join.h"
#include "sketch/set.h"

enum { MOST_ROOM = 1 << 22 }; /* of the index of sets, in units of eight bytes */

/* ---- components ---- */

/* Documents of the ranks begin .. end-1 and the pairs among them. */
struct component {
    uint32_t begin, end;
    size_t pairs;
    bool is_dense; /* joined by the index of sets */
    bool has_long; /* a document too long to be fetched */
};

struct components {
    struct component *items;
    size_t count, capacity;
    uint32_t *ranks; /* of each document */
    uint32_t *of;    /* the component of each rank */
};

/* Unites the documents that pairs connect: UINT32_MAX is the group of those in no pair. Returns how many are in one. */
static size_t unite_pairs(uint32_t *group, size_t documents, const struct twin__pairs *pairs)
{
    size_t count = 0;
    memset(group, UINT8_MAX, documents * sizeof *group);
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t both[] = { twin__pair_low(pairs->items[i]), twin__pair_high(pairs->items[i]) };
        for (int k = 0; k < 2; k++)
            if (group[both[k]] == UINT32_MAX) {
                group[both[k]] = both[k];
                count++;
            }
        twin__union_join(group, both[0], both[1]);
    }
    return count;
}

/* The documents of pairs, each behind its component, in order. */
static void list_ranked(uint64_t *keys, uint64_t *spare, uint32_t *group, size_t documents)
{
    size_t count = 0;
    for (size_t d = 0; d < documents; d++)
        if (group[d] != UINT32_MAX)
            keys[count++] = (uint64_t)twin__union_root(group, (uint32_t)d) << 32 | d;
    twin__sort(keys, count, spare, count);
}

/* Makes components of the listed documents. */
static bool cut_components(struct components *out, uint32_t *by_rank, const uint64_t *keys, size_t count)
{
    for (size_t rank = 0; rank < count; rank++) {
        if (rank == 0 || keys[rank] >> 32 != keys[rank - 1] >> 32) {
            if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, 1))
                return false;
            out->items[out->count++] = (struct component){ .begin = (uint32_t)rank };
        }
        out->of[rank] = (uint32_t)(out->count - 1);
        out->items[out->count - 1].end = (uint32_t)rank + 1;
        by_rank[rank] = (uint32_t)keys[rank];
        out->ranks[by_rank[rank]] = (uint32_t)rank;
    }
    return true;
}

/* Ranks the documents of the pairs by their component, then by number. Most documents may be in no pair: of these there
 * is only a rank that is none. */
static bool rank_documents(struct components *out, struct twin__verification *verification,
                           const struct twin__pairs *pairs)
{
    size_t documents = verification->provider->count;
    out->ranks = malloc((documents + 1) * sizeof *out->ranks);
    if (!out->ranks)
        return false;
    size_t count = unite_pairs(out->ranks, documents, pairs);
    uint64_t *keys = malloc((count + 1) * sizeof *keys), *spare = malloc((count + 1) * sizeof *spare);
    out->of = malloc((count + 1) * sizeof *out->of);
    verification->documents = malloc((count + 1) * sizeof *verification->documents);
    verification->ranked = count;
    bool good = keys && spare && out->of && verification->documents;
    if (good) {
        list_ranked(keys, spare, out->ranks, documents);
        good = cut_components(out, verification->documents, keys, count);
    }
    free(keys);
    free(spare);
    return good;
}

static bool find_components(struct components *out, struct twin__verification *verification,
                            const struct twin__pairs *pairs)
{
    const struct twin__provider *provider = verification->provider;
    bool good = rank_documents(out, verification, pairs);
    for (size_t i = 0; i < pairs->count && good; i++)
        out->items[out->of[out->ranks[twin__pair_low(pairs->items[i])]]].pairs++;
    for (size_t c = 0; c < out->count && good && provider->is_long; c++)
        for (uint32_t rank = out->items[c].begin; rank < out->items[c].end; rank++)
            out->items[c].has_long |= provider->is_long(provider, verification->documents[rank]);
    return good;
}

/* In how many phases the index would join a component: as often as its rare items fill the memory. Each phase fetches all
 * documents that remain. */
static twin_status count_phases(size_t *out, const struct twin__verification *verification,
                                const struct component *component, twin_error *error)
{
    enum { ROOM_PER_ITEM = 4 };
    struct twin__set_source source = { .provider = verification->provider,
                                       .documents = verification->documents + component->begin,
                                       .count = component->end - component->begin };
    struct twin__frequent_items frequent = { 0 };
    twin_status status = twin__frequent_items_find(&frequent, &source, error);
    *out = 1 + (size_t)(frequent.rare * (double)source.count) / (MOST_ROOM / ROOM_PER_ITEM);
    twin__frequent_items_clear(&frequent);
    return status;
}

/* Encoding a set takes as long as a dozen comparisons. Where sets do not fit into the cache of a tile, it is fetching
 * that counts: tiles fetch about one document per pair, the index each document once per phase. */
static twin_status find_dense(struct components *components, const struct twin__verification *verification,
                              twin_error *error)
{
    enum { SMALL = 64, PAIRS_IN_SMALL = 12, PAIRS_PER_PHASE = 3, ONE_PHASE = 1024 };
    twin_status status = TWIN_OK;
    for (size_t c = 0; c < components->count && status == TWIN_OK; c++) {
        struct component *component = &components->items[c];
        size_t documents = component->end - component->begin, phases = 1;
        size_t least = documents <= SMALL ? PAIRS_IN_SMALL : PAIRS_PER_PHASE;
        component->is_dense = !component->has_long && component->pairs >= documents * least;
        if (!component->is_dense || documents <= ONE_PHASE)
            continue;
        status = count_phases(&phases, verification, component, error);
        component->is_dense = component->pairs >= documents * PAIRS_PER_PHASE * phases;
    }
    return status;
}

/* Pairs of ranks: those of dense as row and column, sorted, and all others. */
struct divided {
    struct twin__pairs dense, others;
};

static bool divide_pairs(struct divided *out, const struct components *components, const struct twin__pairs *pairs)
{
    size_t dense = 0;
    for (size_t c = 0; c < components->count; c++)
        dense += components->items[c].is_dense ? components->items[c].pairs : 0;
    if (!TWIN__ARRAY_GROW(&out->dense.items, &out->dense.capacity, 0, dense + 1) ||
        !TWIN__ARRAY_GROW(&out->others.items, &out->others.capacity, 0, pairs->count - dense + 1))
        return false;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = components->ranks[twin__pair_low(pairs->items[i])];
        uint32_t b = components->ranks[twin__pair_high(pairs->items[i])];
        if (components->items[components->of[a]].is_dense)
            out->dense.items[out->dense.count++] = pairs->items[i] << 32 | pairs->items[i] >> 32;
        else
            out->others.items[out->others.count++] = twin__pair(a, b);
    }
    return twin__sort_numbers(out->dense.items, dense);
}

static void components_clear(struct components *components)
{
    free(components->items);
    free(components->ranks);
    free(components->of);
}

/* ---- dense components ---- */

/* The dense components as groups. */
static bool list_dense(struct twin__groups *out, const struct components *components,
                       const struct twin__verification *verification)
{
    out->items = calloc(components->count + 1, sizeof *out->items);
    out->documents = malloc((verification->ranked + 1) * sizeof *out->documents);
    if (!out->items || !out->documents)
        return false;
    memcpy(out->documents, verification->documents, verification->ranked * sizeof *out->documents);
    for (const struct component *c = components->items; c < components->items + components->count; c++)
        if (c->is_dense)
            out->items[out->count++] = (struct twin__group){ .begin = c->begin, .count = c->end - c->begin };
    return true;
}

static twin_status join_dense(twin_matches *out, struct twin__verification *verification,
                              const struct components *components, const struct twin__pairs *pairs, twin_error *error)
{
    struct twin__groups groups = { 0 };
    struct twin__set_join_options options = { .threshold = verification->options.comparison.sets->threshold,
                                              .exec = verification->options.exec,
                                              .most_room = MOST_ROOM,
                                              .listed = pairs };
    struct twin__join_counts counts = { 0 }; /* listed pairs are counted by the caller */
    size_t before = out->count;
    twin__verification_report(verification, 0);
    twin_status status = list_dense(&groups, components, verification) ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK)
        status = twin__set_join(out, &counts, verification->provider, &groups, &options, error);
    if (status != TWIN_OK)
        out->count = before;
    twin__groups_clear(&groups);
    twin__verification_report(verification, pairs->count);
    return status;
}

/* ---- all of it ---- */

void twin__verification_report(struct twin__verification *verification, size_t pairs)
{
    size_t done = atomic_fetch_add(&verification->done, pairs) + pairs;
    if (verification->options.progress.report)
        (void)twin__report(&twin__stage_verifying, done, verification->count);
}

twin_status twin__verify_pairs(twin_matches *out, const struct twin__provider *provider,
                               const struct twin__pairs *pairs, struct twin__verify_options options,
                               twin_error *error)
{
    struct twin__verification verification = { .provider = provider, .options = options, .count = pairs->count };
    struct components components = { 0 };
    struct divided divided = { 0 };
    if (pairs->count == 0)
        return TWIN_OK;
    const struct twin__set_rule *rule = options.comparison.sets;
    twin_status status = find_components(&components, &verification, pairs) ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK && rule && rule->measure == TWIN_JACCARD && !twin__switched_off.dense_pairs)
        status = find_dense(&components, &verification, error);
    if (status == TWIN_OK && !divide_pairs(&divided, &components, pairs))
        status = twin__fail_memory(error);
    if (status == TWIN_OK && divided.dense.count)
        status = join_dense(out, &verification, &components, &divided.dense, error);
    components_clear(&components);
    free(divided.dense.items);
    if (status == TWIN_OK)
        status = twin__verify_tiles(out, &verification, &divided.others, error);
    free(divided.others.items);
    free(verification.documents);
    return status;
}

/* ---- what is compared ---- */

static twin_status compare_sets(double *out, void *context, struct twin__content a, struct twin__content b,
                                int worker)
{
    (void)worker;
    const struct twin__set_rule *rule = context;
    *out = twin__set_similarity_at_least(twin__content_set(a), twin__content_set(b), rule->measure, rule->threshold);
    return TWIN_OK;
}

struct twin__comparison twin__compare_sets(struct twin__set_rule *rule)
{
    return (struct twin__comparison){ compare_sets, rule, rule };
}

twin_status twin__estimate_pairs(twin_matches *out, const struct twin__provider *provider,
                                 const struct twin__pairs *pairs)
{
    double slots = (double)provider->signatures.slots;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < pairs->count && status == TWIN_OK; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        double equal = (double)twin__provider_agreement(provider, a, b);
        status = twin__matches_add(out, (twin_match){ a, b, equal / slots });
    }
    return status;
}

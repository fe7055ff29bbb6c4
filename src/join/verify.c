/* verify.c — candidate pairs are compared, and those that are similar enough become matches.
 *
 * Documents that pairs connect, a component, get neighbouring ranks. A component with many pairs per document is
 * a family: mail of one campaign, pages of one template. Its sets are encoded once, and a pair then takes little
 * (family.h). All other pairs are compared one by one (verify_tiles.c).
 *
 * Many small families are taken by workers each on its own, large ones by all workers together. */
#include "join/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/family.h"
#include "join/join_private.h"
#include "join/matches.h"

/* ---- components and families ---- */

/* Documents of the ranks begin .. end-1 and the pairs among them. */
struct component {
    uint32_t begin, end;
    size_t first_pair, pairs;
    bool has_long; /* a document too long to be fetched */
};

struct components {
    struct component *items;
    size_t count, capacity;
    uint32_t *ranks; /* of each document */
    uint32_t *of;    /* the component of each rank */
};

/* Encoding a set takes as long as a dozen comparisons. Where sets do not stay in the cache of a tile, it is fetching
 * that counts: a family fetches each document once or twice, tiles fetch about one per pair. */
static bool is_family(const struct component *component)
{
    enum { STAY = 64, PAIRS_OF_EACH = 12, PAIRS_OF_EACH_IN_LARGE = 3 };
    size_t documents = component->end - component->begin;
    return !component->has_long &&
           component->pairs >= documents * (documents > STAY ? PAIRS_OF_EACH_IN_LARGE : PAIRS_OF_EACH);
}

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

/* Pairs of ranks: those of families as row and column, sorted, and all others. */
struct divided {
    struct twin__pairs families, others;
};

static bool divide(struct divided *out, struct components *components, const struct twin__pairs *pairs, bool sets)
{
    size_t dense = 0;
    for (size_t c = 0; c < components->count; c++)
        dense += sets && is_family(&components->items[c]) ? components->items[c].pairs : 0;
    if (!TWIN__ARRAY_GROW(&out->families.items, &out->families.capacity, 0, dense + 1) ||
        !TWIN__ARRAY_GROW(&out->others.items, &out->others.capacity, 0, pairs->count - dense + 1))
        return false;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = components->ranks[twin__pair_low(pairs->items[i])];
        uint32_t b = components->ranks[twin__pair_high(pairs->items[i])];
        if (sets && is_family(&components->items[components->of[a]]))
            out->families.items[out->families.count++] = a < b ? (uint64_t)b << 32 | a : (uint64_t)a << 32 | b;
        else
            out->others.items[out->others.count++] = twin__pair(a, b);
    }
    return twin__sort_numbers(out->families.items, dense);
}

/* Leaves the families, those with few pairs first, and notes where the pairs of each begin. */
static int by_pairs(const void *a, const void *b)
{
    const struct component *x = a, *y = b;
    if (x->pairs != y->pairs)
        return x->pairs < y->pairs ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void keep_families(struct components *components)
{
    size_t kept = 0, first = 0;
    for (size_t c = 0; c < components->count; c++)
        if (is_family(&components->items[c])) {
            components->items[kept] = components->items[c];
            components->items[kept].first_pair = first;
            first += components->items[kept++].pairs;
        }
    components->count = kept;
    if (kept)
        qsort(components->items, kept, sizeof *components->items, by_pairs);
}

static void components_clear(struct components *components)
{
    free(components->items);
    free(components->ranks);
    free(components->of);
}

/* ---- families ---- */

struct families {
    struct twin__verification *verification;
    const struct components *components;
    const uint64_t *pairs;
    twin_matches *out, *found; /* `found` per worker */
};

struct listed {
    const uint64_t *pairs; /* of one family, row in the high half, as ranks, column in the low */
    size_t count;
    uint32_t first_rank;
};

static size_t columns_of(uint32_t *out, const void *context, uint32_t row, uint32_t begin, uint32_t end)
{
    const struct listed *listed = context;
    uint64_t from = (uint64_t)(listed->first_rank + row) << 32 | (listed->first_rank + begin);
    uint64_t to = (uint64_t)(listed->first_rank + row) << 32 | (listed->first_rank + end);
    size_t low = twin__lower_bound(listed->pairs, listed->count, from), count = 0;
    for (; low < listed->count && listed->pairs[low] < to; low++)
        out[count++] = (uint32_t)listed->pairs[low] - listed->first_rank;
    return count;
}

/* Below LARGE pairs a family is taken by one worker. */
enum { LARGE = 1 << 17, MOST_ITEMS = 1 << 20, MOST_ITEMS_IN_LARGE = 1 << 22 };

static twin_status join_family(twin_matches *out, const struct families *families, size_t i, twin_exec exec,
                               int first_worker, twin_error *error)
{
    struct twin__verification *verification = families->verification;
    const struct component *component = &families->components->items[i];
    struct listed listed = { families->pairs + component->first_pair, component->pairs, component->begin };
    struct twin__family family = {
        .source = { .provider = verification->provider,
                    .documents = verification->documents + component->begin,
                    .count = component->end - component->begin,
                    .most_items = component->pairs < LARGE ? MOST_ITEMS : MOST_ITEMS_IN_LARGE,
                    .exec = exec,
                    .first_worker = first_worker },
        .rule = *verification->options.comparison.sets,
        .columns = columns_of,
        .context = &listed,
    };
    uint64_t compared = 0;
    twin_status status = twin__family_join(out, &compared, &family, error);
    twin__verification_report(verification, component->pairs);
    return status;
}

static twin_status join_small(void *context, size_t i, int worker, twin_error *error)
{
    struct families *families = context;
    return join_family(&families->found[worker], families, i, (twin_exec){ TWIN_EXEC_SERIAL, 1 }, worker, error);
}

static twin_status hand_in(void *context, size_t i, int worker, twin_error *error)
{
    (void)i;
    struct families *families = context;
    return twin__matches_move(families->out, &families->found[worker]) ? TWIN_OK : twin__fail_memory(error);
}

static twin_status join_families(twin_matches *out, struct twin__verification *verification,
                                 const struct components *components, const struct twin__pairs *pairs,
                                 twin_error *error)
{
    twin_exec exec = verification->options.exec;
    struct families families = { verification, components, pairs->items, .out = out };
    size_t small = 0;
    while (small < components->count && components->items[small].pairs < LARGE)
        small++;
    if (components->count == 0)
        return TWIN_OK;
    families.found = calloc((size_t)exec.workers, sizeof *families.found);
    if (!families.found)
        return twin__fail_memory(error);
    twin_status status = twin__exec_try_in_order(exec, small, join_small, hand_in, &families, error);
    for (size_t i = small; i < components->count && status == TWIN_OK; i++)
        status = join_family(out, &families, i, exec, 0, error);
    for (int i = 0; i < exec.workers; i++)
        twin_matches_clear(&families.found[i]);
    free(families.found);
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
    twin_status status = TWIN_OK;
    if (!find_components(&components, &verification, pairs) ||
        !divide(&divided, &components, pairs, options.comparison.sets != NULL))
        status = twin__fail_memory(error);
    if (status == TWIN_OK && divided.families.count) {
        keep_families(&components);
        status = join_families(out, &verification, &components, &divided.families, error);
    }
    components_clear(&components);
    free(divided.families.items);
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
    *out = twin_set_similarity_at_least(twin__content_set(a), twin__content_set(b), rule->measure, rule->threshold);
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

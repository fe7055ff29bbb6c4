/* candidates.c — candidate pairs.
 *
 * Each worker gates the pairs of its bands into a list of its own, and the lists are then put together. Where
 * documents of large buckets are to be joined as crowds, a large bucket is not made pairs of: its documents are
 * united, and pairs within one of the crowds that are chosen later are dropped again.
 *
 * In a crowd of short texts the first bands may give millions of such pairs before later bands unite their documents.
 * Where memory is limited, no more pairs are listed then; when all crowds are known, all bands are gone through once
 * more, for the pairs that are in none. */
#include "join/candidates.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "join/deep_bands.h"
#include "join/join_private.h"
#include "join/pair_overflow.h"
#include "lsh/large_buckets.h"

bool twin__pairs_add(struct twin__pairs *pairs, uint64_t pair)
{
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, 1))
        return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

bool twin__pairs_append(struct twin__pairs *pairs, const struct twin__pairs *more)
{
    if (more->count == 0)
        return true;
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, more->count))
        return false;
    memcpy(pairs->items + pairs->count, more->items, more->count * sizeof *more->items);
    pairs->count += more->count;
    return true;
}

twin_status twin__pairs_sort_unique(struct twin__pairs *pairs, const struct twin__pairs *known)
{
    if (pairs->count == 0)
        return TWIN_OK;
    if (!twin__sort_numbers(pairs->items, pairs->count))
        return TWIN_ENOMEM;
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        while (known && at < known->count && known->items[at] < pair)
            at++;
        if ((known && at < known->count && known->items[at] == pair) || (kept && pairs->items[kept - 1] == pair))
            continue;
        pairs->items[kept++] = pair;
    }
    pairs->count = kept;
    return TWIN_OK;
}

/* ---- bands ---- */

struct band_worker {
    struct twin__pairs pairs;
    size_t most; /* pairs, before those of one crowd are dropped; they may be all */
    uint64_t seen;
    bool no_memory;
    char own_line[64]; /* workers count in cache lines of their own */
};

struct band_search {
    const struct twin__provider *provider;
    const struct twin__gate *gate;
    const uint32_t *within; /* unless NULL, both documents must be of one crowd of these */
    struct twin__crowd_finder *finder;
    const uint32_t *outside;              /* unless NULL, crowds are known: pairs within one are left out */
    size_t most_pairs;                    /* of a worker; 0: any number */
    struct twin__pair_overflow *overflow; /* unless NULL, takes lists that are full */
    atomic_bool is_full;                  /* a worker had more */
    struct twin__band_range range;
    const uint16_t *order; /* of bands that are drawn (deep_bands.h) */
    struct band_worker *workers;
    int worker_count;
};

/* Pairs within what has become a crowd will not be needed. They are dropped before the list grows. */
static void drop_early(struct band_search *search, struct band_worker *worker)
{
    enum { FEW = 1 << 16 };
    size_t count = worker->pairs.count;
    if (!search->finder || search->outside || count < worker->most || count < FEW)
        return;
    worker->pairs.count = twin__crowd_finder_drop(search->finder, worker->pairs.items, count);
    worker->seen -= count - worker->pairs.count;
    worker->most = 2 * worker->pairs.count;
    if (search->most_pairs && worker->most > search->most_pairs)
        atomic_store_explicit(&search->is_full, true, memory_order_relaxed);
}

/* Pairs that would not pass the gate. */
static void count_passed_over(void *context, uint64_t count, int number)
{
    struct band_search *search = context;
    search->workers[number].seen += count;
}

/* Makes room where pairs need not stay in memory. */
static bool take_full(struct band_search *search, struct band_worker *worker)
{
    struct twin__pair_overflow *overflow = search->overflow;
    if (!overflow || worker->pairs.count < overflow->most / (size_t)search->worker_count + 1)
        return true;
    return twin__pair_overflow_take(overflow, &worker->pairs) == TWIN_OK;
}

static void pass_gate(void *context, uint32_t a, uint32_t b, int number)
{
    struct band_search *search = context;
    struct band_worker *worker = &search->workers[number];
    if (atomic_load_explicit(&search->is_full, memory_order_relaxed))
        return;
    worker->seen++;
    if (!twin__gate_passes(search->gate, search->provider, a, b))
        return;
    if (search->outside && search->outside[a] == search->outside[b]) {
        worker->seen--;
        return;
    }
    drop_early(search, worker);
    if (!take_full(search, worker) || !twin__pairs_add(&worker->pairs, twin__pair(a, b)))
        worker->no_memory = true;
}

/* Whether a bucket was united to a crowd. */
static bool are_of_one(const uint32_t *group, const uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (group[(uint32_t)keys[i]] != group[(uint32_t)keys[0]])
            return false;
    return true;
}

static bool unite_bucket(void *context, const uint64_t *keys, size_t count, int worker)
{
    (void)worker;
    struct band_search *search = context;
    if (!search->outside)
        return twin__crowd_finder_add(search->finder, keys, count);
    return !search->finder->only_families || are_of_one(search->outside, keys, count);
}

static twin_status gather(struct twin__pairs *out, uint64_t *seen, struct band_search *search)
{
    struct twin__pair_overflow *overflow = search->overflow;
    bool others_are_there = overflow && twin__matches_on_disk(&overflow->matches);
    for (int i = 0; i < search->worker_count; i++) {
        struct band_worker *worker = &search->workers[i];
        if (others_are_there && twin__pair_overflow_take(overflow, &worker->pairs) != TWIN_OK)
            return TWIN_ENOMEM;
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return TWIN_ENOMEM;
        *seen += worker->seen;
        free(worker->pairs.items);
        worker->pairs = (struct twin__pairs){ 0 };
    }
    return TWIN_OK;
}

static twin_status search_bands(struct twin__pairs *out, uint64_t *seen, struct band_search *search,
                                twin_signatures signatures, const twin_similar_options *options)
{
    search->worker_count = options->exec.workers;
    search->workers = calloc((size_t)search->worker_count, sizeof *search->workers);
    if (!search->workers)
        return TWIN_ENOMEM;
    struct twin__band_visits visits = { .pair = pass_gate,
                                        .bucket = search->finder ? unite_bucket : NULL,
                                        .least = TWIN__LARGE_BUCKET,
                                        .least_equal = search->gate->least,
                                        .passed_over = count_passed_over,
                                        .within = search->within,
                                        .split = search->provider->split,
                                        .first_band = search->range.first,
                                        .end_band = search->range.end,
                                        .order = search->order,
                                        .spill = search->provider->spill,
                                        .no_pairs = &search->is_full,
                                        .memory_bytes = options->memory_bytes / 4 * 3,
                                        .context = search };
    twin_status status = twin__bands_visit(signatures, options->bands, options->exec, visits, options->progress);
    if (status == TWIN_OK && !search->is_full)
        status = gather(out, seen, search);
    for (int i = 0; i < search->worker_count; i++)
        free(search->workers[i].pairs.items);
    free(search->workers);
    return status;
}

/* Large buckets become crowds, and pairs are found. */
static twin_status search_with_crowds(struct twin__bands_found *out, struct band_search *search,
                                      const twin_similar_options *options)
{
    enum { SHARE = 8 }; /* of the memory is for pairs */
    const struct twin__provider *provider = search->provider;
    search->most_pairs = options->memory_bytes / SHARE / sizeof *out->pairs.items / (size_t)options->exec.workers;
    twin_status status = search_bands(&out->pairs, &out->seen, search, provider->signatures, options);
    if (status != TWIN_OK || !search->is_full)
        return status;
    uint32_t *group = search->finder->group;
    for (size_t i = 0; i < provider->count; i++)
        group[i] = twin__union_root(group, (uint32_t)i);
    search->outside = group;
    search->overflow = out->overflow;
    search->most_pairs = 0;
    search->is_full = false;
    return search_bands(&out->pairs, &out->seen, search, provider->signatures, options);
}

/* Drops the pairs that were found before their documents turned out to be of one crowd. */
static void drop_within(struct twin__band_candidates *candidates)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->pairs.count; i++) {
        uint64_t pair = candidates->pairs.items[i];
        if (candidates->group[twin__pair_low(pair)] != candidates->group[twin__pair_high(pair)])
            candidates->pairs.items[kept++] = pair;
    }
    candidates->seen -= candidates->pairs.count - kept;
    candidates->pairs.count = kept;
}

twin_status twin__bands_find(struct twin__bands_found *out, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options, bool crowds,
                             struct twin__band_range range)
{
    struct band_search search = { .provider = provider, .gate = gate, .range = range };
    if (!crowds) {
        search.overflow = out->overflow;
        return search_bands(&out->pairs, &out->seen, &search, provider->signatures, options);
    }
    struct twin__crowd_finder finder;
    twin_status status = twin__crowd_finder_init(&finder, provider, gate);
    finder.only_families = options->bands.plan.rows == 1;
    search.finder = &finder;
    if (status == TWIN_OK)
        status = search_with_crowds(out, &search, options);
    out->group = finder.group;
    out->buckets = finder.buckets;
    out->bucket_count = finder.count;
    out->bucket_capacity = finder.capacity;
    return status == TWIN_OK && finder.no_memory ? TWIN_ENOMEM : status;
}

void twin__bands_found_clear(struct twin__bands_found *found)
{
    free(found->pairs.items);
    free(found->group);
    free(found->buckets);
    *found = (struct twin__bands_found){ 0 };
}

twin_status twin__candidates_from_found(struct twin__band_candidates *out, struct twin__bands_found *found,
                                        const struct twin__provider *provider)
{
    struct twin__crowd_finder finder = {
        .provider = provider, .group = found->group, .buckets = found->buckets, .count = found->bucket_count
    };
    twin_status status = found->group ? twin__crowds_list(&out->crowds, &finder) : TWIN_OK;
    out->pairs = found->pairs;
    out->seen = found->seen;
    found->pairs = (struct twin__pairs){ 0 };
    if (status == TWIN_OK && found->group && out->crowds.count) {
        out->group = found->group;
        found->group = NULL;
        drop_within(out);
    }
    twin__bands_found_clear(found);
    return status;
}

twin_status twin__candidates_from_bands(struct twin__band_candidates *out, const struct twin__provider *provider,
                                        const struct twin__gate *gate, const twin_similar_options *options,
                                        bool crowds)
{
    struct twin__bands_found found = { .overflow = out->overflow };
    twin_status status = twin__bands_find(&found, provider, gate, options, crowds, (struct twin__band_range){ 0 });
    if (status == TWIN_OK)
        return twin__candidates_from_found(out, &found, provider);
    twin__bands_found_clear(&found);
    return status;
}

/* The documents of the chosen crowds that have no plan of their own, in increasing order, as bands want them. */
static size_t list_chosen(uint32_t *out, const struct twin__band_candidates *candidates, const bool *chosen,
                          twin_signatures signatures)
{
    size_t count = 0;
    for (size_t i = 0; i < signatures.count; i++) {
        uint32_t document = signatures.documents[i];
        const struct twin__crowd *crowd = twin__crowd_find(&candidates->crowds, candidates->group[document]);
        if (crowd && crowd->deep.bands == 0 && chosen[crowd - candidates->crowds.items])
            out[count++] = document;
    }
    return count;
}

static twin_status search_by_bands(struct twin__band_candidates *candidates, const bool *chosen,
                                   struct band_search *search, const twin_similar_options *options)
{
    twin_signatures signatures = search->provider->signatures;
    uint32_t *documents = malloc((signatures.count + 1) * sizeof *documents);
    if (!documents)
        return TWIN_ENOMEM;
    signatures.count = list_chosen(documents, candidates, chosen, search->provider->signatures);
    signatures.documents = documents;
    search->within = candidates->group;
    twin_status status = search_bands(&candidates->pairs, &candidates->seen, search, signatures, options);
    free(documents);
    return status;
}

static twin_status search_deeply(struct twin__band_candidates *candidates, const struct twin__crowd *crowd,
                                 struct band_search *search, const twin_similar_options *options)
{
    twin_signatures signatures = search->provider->signatures;
    twin_similar_options deep = *options;
    deep.bands = (twin_band_options){ .plan = crowd->deep };
    signatures.documents = candidates->crowds.documents + crowd->begin;
    signatures.count = crowd->count;
    uint16_t *order = twin__deep_order(crowd->deep, signatures.slots);
    if (!order)
        return TWIN_ENOMEM;
    search->order = order;
    search->within = NULL;
    twin_status status = search_bands(&candidates->pairs, &candidates->seen, search, signatures, &deep);
    free(order);
    return status;
}

twin_status twin__candidates_within_crowds(struct twin__band_candidates *candidates, const bool *chosen,
                                           const struct twin__provider *provider, const struct twin__gate *gate,
                                           const twin_similar_options *options)
{
    struct band_search search = { .provider = provider, .gate = gate, .overflow = candidates->overflow };
    twin_status status = search_by_bands(candidates, chosen, &search, options);
    for (size_t i = 0; i < candidates->crowds.count && status == TWIN_OK; i++)
        if (chosen[i] && candidates->crowds.items[i].deep.bands)
            status = search_deeply(candidates, &candidates->crowds.items[i], &search, options);
    return status;
}

void twin__candidates_free_pairs(struct twin__band_candidates *candidates)
{
    free(candidates->pairs.items);
    free(candidates->group);
    candidates->pairs = (struct twin__pairs){ 0 };
    candidates->group = NULL;
}

void twin__band_candidates_clear(struct twin__band_candidates *candidates)
{
    twin__candidates_free_pairs(candidates);
    twin__crowds_clear(&candidates->crowds);
    *candidates = (struct twin__band_candidates){ 0 };
}

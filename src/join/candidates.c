/* candidates.c — candidate pairs.
 *
 * Each worker gates the pairs of its bands into a list of its own, and the lists are then put together. Where
 * documents of large buckets are to be joined as groups, a large bucket is not made pairs of: its documents are
 * united, and pairs within a loose group are dropped again. Once it is chosen which groups are joined, the other pairs within
 * loose groups are listed.
 *
 * In a group of short texts the first bands may give millions of such pairs before later bands unite their documents.
 * Where memory is limited, no more pairs are listed then; when all groups are known, all bands are gone through once
 * more, for the pairs that are in none. */
#include "join/candidates.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "join/groups.h"
#include "join/join_private.h"
#include "join/pair_overflow.h"
#include "lsh/bands.h"
#include "lsh/large_buckets.h"

/* ---- bands ---- */

struct band_worker {
    struct twin__pairs pairs;
    size_t most; /* pairs, before those of one group are dropped; they may be all */
    uint64_t seen;
    bool no_memory;
    char own_line[64]; /* workers count in cache lines of their own */
};

struct band_search {
    const struct twin__provider *provider;
    const struct twin__gate *gate;
    const uint32_t *within; /* unless NULL, both documents must be of one group of these */
    struct twin__group_finder *finder;
    const uint32_t *outside;              /* unless NULL, groups are known: pairs within one are left out */
    size_t most_pairs;                    /* of a worker; 0: any number */
    struct twin__pair_overflow *overflow; /* unless NULL, takes lists that are full */
    atomic_bool is_full;                  /* a worker had more */
    twin_part part;                       /* of the bands */
    struct twin__listing listing;
    struct band_worker *workers;
    int worker_count;
};

/* Pairs within what has become a group are not needed, or are found again later. They are dropped before the list grows. */
static void drop_early(struct band_search *search, struct band_worker *worker)
{
    enum { FEW = 1 << 16 };
    size_t count = worker->pairs.count;
    if (!search->finder || search->outside || count < worker->most || count < FEW)
        return;
    worker->pairs.count = twin__group_finder_drop(search->finder, worker->pairs.items, count);
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

/* Whether the documents of a bucket are of one group. */
static bool are_of_one(const uint32_t *group, const uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (group[(uint32_t)keys[i]] != group[(uint32_t)keys[0]])
            return false;
    return true;
}

static bool take_bucket(void *context, const uint64_t *keys, size_t count, int worker)
{
    (void)worker;
    struct band_search *search = context;
    return search->outside ? are_of_one(search->outside, keys, count)
                           : twin__group_finder_add(search->finder, keys, count);
}

static twin_status gather_pairs(struct twin__pairs *out, uint64_t *seen, struct band_search *search)
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

/* The first band of a part: each has as many as any other, or one more. */
static size_t first_band(const struct band_search *search, uint32_t part)
{
    return search->listing.plan.bands * part / search->part.of;
}

static twin_status search_bands(struct twin__pairs *out, uint64_t *seen, struct band_search *search,
                                twin_signatures signatures, const twin_similar_options *options)
{
    twin_part part = search->part;
    if (part.of && first_band(search, part.number) == first_band(search, part.number + 1))
        return TWIN_OK; /* there may be more parts than bands */
    twin_band_options bands = options->bands;
    bands.plan = search->listing.plan;
    search->worker_count = options->exec.workers;
    search->workers = calloc((size_t)search->worker_count, sizeof *search->workers);
    if (!search->workers)
        return TWIN_ENOMEM;
    struct twin__band_visits visits = { .pair = pass_gate,
                                        .bucket = search->finder || search->outside ? take_bucket : NULL,
                                        .least = TWIN__LARGE_BUCKET,
                                        .least_equal = twin__switched_off.bucket_bits ? 0 : search->gate->least,
                                        .passed_over = count_passed_over,
                                        .within = search->within,
                                        .split = search->provider->split,
                                        .first_band = part.of ? first_band(search, part.number) : 0,
                                        .end_band = part.of ? first_band(search, part.number + 1) : 0,
                                        .order = search->listing.order,
                                        .spill = search->provider->spill,
                                        .no_pairs = &search->is_full,
                                        .memory_bytes = options->memory_bytes / 4 * 3,
                                        .context = search };
    twin_status status = twin__bands_visit(signatures, bands, options->exec, visits, options->progress);
    if (status == TWIN_OK && !search->is_full)
        status = gather_pairs(out, seen, search);
    for (int i = 0; i < search->worker_count; i++)
        free(search->workers[i].pairs.items);
    free(search->workers);
    return status;
}

/* Large buckets become groups, and pairs are found. */
static twin_status search_around_groups(struct twin__bands_found *out, struct band_search *search,
                                        const twin_similar_options *options)
{
    enum { SHARE = 8 }; /* of the memory is for pairs */
    const struct twin__provider *provider = search->provider;
    search->most_pairs = options->memory_bytes / SHARE / sizeof *out->pairs.items / (size_t)options->exec.workers;
    twin_status status = search_bands(&out->pairs, &out->seen, search, provider->signatures, options);
    if (status != TWIN_OK || !search->is_full)
        return status;
    uint32_t *loose = search->finder->loose;
    for (size_t i = 0; i < provider->count; i++)
        loose[i] = twin__union_root(loose, (uint32_t)i);
    search->outside = loose;
    search->overflow = out->overflow;
    search->most_pairs = 0;
    search->is_full = false;
    return search_bands(&out->pairs, &out->seen, search, provider->signatures, options);
}

/* Drops the pairs that were found before their documents turned out to be of one group. */
static void drop_within(struct twin__band_candidates *candidates)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->pairs.count; i++) {
        uint64_t pair = candidates->pairs.items[i];
        if (candidates->loose_of[twin__pair_low(pair)] != candidates->loose_of[twin__pair_high(pair)])
            candidates->pairs.items[kept++] = pair;
    }
    candidates->seen -= candidates->pairs.count - kept;
    candidates->pairs.count = kept;
}

static twin_status search_with_groups(struct twin__bands_found *out, const struct band_search *all,
                                      const twin_similar_options *options)
{
    struct twin__group_finder finder;
    struct band_search search = *all;
    twin_status status = twin__group_finder_init(&finder, all->provider, all->gate, all->listing.plan);
    search.finder = &finder;
    search.overflow = NULL;
    if (status == TWIN_OK)
        status = search_around_groups(out, &search, options);
    out->loose = finder.loose;
    out->dense = finder.dense;
    out->buckets = finder.buckets;
    out->bucket_count = finder.count;
    out->bucket_capacity = finder.capacity;
    return status == TWIN_OK && finder.no_memory ? TWIN_ENOMEM : status;
}

twin_status twin__bands_find(struct twin__bands_found *out, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options, bool groups,
                             twin_part part)
{
    struct band_search search = { .provider = provider, .gate = gate, .part = part, .overflow = out->overflow };
    twin_status status = twin__listing_init(&search.listing, gate, options);
    if (status == TWIN_OK && groups)
        status = search_with_groups(out, &search, options);
    else if (status == TWIN_OK)
        status = search_bands(&out->pairs, &out->seen, &search, provider->signatures, options);
    twin__listing_clear(&search.listing);
    return status;
}

void twin__bands_found_clear(struct twin__bands_found *found)
{
    free(found->pairs.items);
    free(found->loose);
    free(found->dense);
    free(found->buckets);
    *found = (struct twin__bands_found){ 0 };
}

static twin_status list_groups(struct twin__band_candidates *out, struct twin__bands_found *found, size_t documents)
{
    twin__large_buckets_sort(found->buckets, found->bucket_count); /* sums depend on the order */
    twin_status status =
        twin__groups_list(&out->loose, found->loose, documents, found->buckets, found->bucket_count, false);
    if (status == TWIN_OK)
        status = twin__groups_list(&out->dense, found->dense, documents, found->buckets, found->bucket_count, true);
    if (status != TWIN_OK || out->loose.count == 0)
        return status;
    out->loose_of = found->loose;
    out->dense_of = found->dense;
    found->loose = found->dense = NULL;
    drop_within(out);
    return TWIN_OK;
}

/* From what all bands gave, which is used up, to groups and the pairs that are in none. */
static twin_status candidates_from_found(struct twin__band_candidates *out, struct twin__bands_found *found,
                                         const struct twin__provider *provider)
{
    out->pairs = found->pairs;
    out->seen = found->seen;
    found->pairs = (struct twin__pairs){ 0 };
    twin_status status = found->bucket_count ? list_groups(out, found, provider->count) : TWIN_OK;
    twin__bands_found_clear(found);
    return status;
}

twin_status twin__candidates_from_bands(struct twin__band_candidates *out, const struct twin__provider *provider,
                                        const struct twin__gate *gate, const twin_similar_options *options,
                                        bool groups)
{
    struct twin__bands_found found = { .overflow = out->overflow };
    twin_status status = twin__bands_find(&found, provider, gate, options, groups, (twin_part){ 0 });
    if (status == TWIN_OK)
        return candidates_from_found(out, &found, provider);
    twin__bands_found_clear(&found);
    return status;
}

/* ---- parts of the documents ---- */

/* Unites documents that are candidates or in one group. */
static void unite_candidates(uint32_t *group, const struct twin__band_candidates *candidates)
{
    for (size_t i = 0; i < candidates->pairs.count; i++)
        twin__union_join(group, twin__pair_low(candidates->pairs.items[i]),
                         twin__pair_high(candidates->pairs.items[i]));
    const struct twin__groups *loose = &candidates->loose; /* each dense group is in one of them */
    for (size_t i = 0; i < loose->count; i++)
        for (size_t k = 1; k < loose->items[i].count; k++)
            twin__union_join(group, loose->documents[loose->items[i].begin],
                             loose->documents[loose->items[i].begin + k]);
}

/* Which part a document is in depends on the first of those it is united with. */
static bool is_of_part(uint32_t *group, twin_part part, uint32_t document)
{
    uint64_t seed = twin__union_root(group, document);
    return part.of == 0 || twin__random_below(&seed, part.of) == part.number;
}

static void keep_groups(struct twin__groups *groups, uint32_t *group, twin_part part)
{
    size_t kept = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (is_of_part(group, part, groups->documents[groups->items[i].begin]))
            groups->items[kept++] = groups->items[i];
    groups->count = kept;
}

static void keep_part(struct twin__band_candidates *candidates, uint32_t *group, twin_part part)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->pairs.count; i++)
        if (is_of_part(group, part, twin__pair_low(candidates->pairs.items[i])))
            candidates->pairs.items[kept++] = candidates->pairs.items[i];
    candidates->pairs.count = kept;
    keep_groups(&candidates->loose, group, part);
    keep_groups(&candidates->dense, group, part);
}

twin_status twin__candidates_of_part(struct twin__band_candidates *out, struct twin__bands_found *found,
                                     twin_part part, const struct twin__provider *provider)
{
    twin_status status = candidates_from_found(out, found, provider);
    uint32_t *group = malloc((provider->count + 1) * sizeof *group);
    if (status == TWIN_OK && group) {
        twin__union_begin(group, provider->count);
        unite_candidates(group, out);
        keep_part(out, group, part);
        if (part.number > 0)
            out->seen = 0; /* all parts have the same, and their counts are added */
    }
    free(group);
    return status == TWIN_OK && !group ? TWIN_ENOMEM : status;
}

/* ---- which groups are joined ---- */

/* Adds the groups that are marked to those that are joined; joined_of[d] becomes the first document of the group of d. */
static void add_joined(struct twin__groups *joined, uint32_t *joined_of, const struct twin__groups *groups,
                       const bool *marked)
{
    size_t at = joined->count ? joined->items[joined->count - 1].begin + joined->items[joined->count - 1].count : 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct twin__group *group = &groups->items[i];
        const uint32_t *documents = groups->documents + group->begin;
        if (!marked[i])
            continue;
        memcpy(joined->documents + at, documents, group->count * sizeof *documents);
        for (size_t k = 0; k < group->count; k++)
            joined_of[documents[k]] = documents[0];
        joined->items[joined->count++] = (struct twin__group){ .begin = at, .count = group->count };
        at += group->count;
    }
}

static size_t count_documents(const struct twin__groups *groups)
{
    size_t documents = 0;
    for (size_t i = 0; i < groups->count; i++)
        documents += groups->items[i].count;
    return documents;
}

/* Lists which groups are joined. Returns of each document its group, by the first document of it, and itself if it is in
 * none; NULL when out of memory. */
static uint32_t *list_joined(struct twin__band_candidates *candidates, const bool *whole, const bool *alone,
                             size_t documents)
{
    struct twin__groups *joined = &candidates->joined;
    uint32_t *joined_of = malloc((documents + 1) * sizeof *joined_of);
    joined->documents = malloc((count_documents(&candidates->loose) + 1) * sizeof *joined->documents);
    joined->items = calloc(candidates->loose.count + candidates->dense.count + 1, sizeof *joined->items);
    if (!joined_of || !joined->documents || !joined->items) {
        free(joined_of);
        return NULL;
    }
    twin__union_begin(joined_of, documents);
    add_joined(joined, joined_of, &candidates->loose, whole);
    add_joined(joined, joined_of, &candidates->dense, alone);
    return joined_of;
}

/* The documents of the loose groups that are not joined and have no plan of their own, in increasing order, as bands want
 * them. */
static size_t list_loose(uint32_t *out, const struct twin__band_candidates *candidates, const bool *whole,
                         twin_signatures signatures)
{
    const struct twin__groups *loose = &candidates->loose;
    size_t count = 0;
    for (size_t i = 0; i < signatures.count; i++) {
        uint32_t document = signatures.documents[i];
        size_t number = twin__groups_find(loose, candidates->loose_of[document]);
        if (number < loose->count && loose->items[number].deep.bands == 0 && !whole[number])
            out[count++] = document;
    }
    return count;
}

static twin_status search_by_bands(struct twin__band_candidates *candidates, const bool *whole,
                                   struct band_search *search, const twin_similar_options *options)
{
    twin_signatures signatures = search->provider->signatures;
    uint32_t *documents = malloc((signatures.count + 1) * sizeof *documents);
    if (!documents)
        return TWIN_ENOMEM;
    signatures.count = list_loose(documents, candidates, whole, search->provider->signatures);
    signatures.documents = documents;
    search->within = candidates->loose_of;
    twin_status status = search_bands(&candidates->pairs, &candidates->seen, search, signatures, options);
    free(documents);
    return status;
}

static twin_status search_deeply(struct twin__band_candidates *candidates, const struct twin__group *group,
                                 struct band_search *search, const twin_similar_options *options)
{
    twin_signatures signatures = search->provider->signatures;
    signatures.documents = candidates->loose.documents + group->begin;
    signatures.count = group->count;
    struct twin__listing listing = { group->deep, twin__deep_order(group->deep, signatures.slots) };
    if (!listing.order)
        return TWIN_ENOMEM;
    struct band_search deep = *search;
    deep.listing = listing;
    deep.within = NULL;
    twin_status status = search_bands(&candidates->pairs, &candidates->seen, &deep, signatures, options);
    twin__listing_clear(&listing);
    return status;
}

twin_status twin__candidates_settle(struct twin__band_candidates *candidates, const bool *whole, const bool *alone,
                                    const struct twin__provider *provider, const struct twin__gate *gate,
                                    const twin_similar_options *options)
{
    uint32_t *joined_of = list_joined(candidates, whole, alone, provider->count);
    if (!joined_of)
        return TWIN_ENOMEM;
    struct band_search search = {
        .provider = provider, .gate = gate, .overflow = candidates->overflow, .outside = joined_of
    };
    twin_status status = twin__listing_init(&search.listing, gate, options);
    if (status == TWIN_OK)
        status = search_by_bands(candidates, whole, &search, options);
    for (size_t i = 0; i < candidates->loose.count && status == TWIN_OK; i++)
        if (!whole[i] && candidates->loose.items[i].deep.bands)
            status = search_deeply(candidates, &candidates->loose.items[i], &search, options);
    twin__listing_clear(&search.listing);
    free(joined_of);
    return status;
}

void twin__candidates_free_pairs(struct twin__band_candidates *candidates)
{
    free(candidates->pairs.items);
    free(candidates->loose_of);
    free(candidates->dense_of);
    twin__groups_clear(&candidates->loose);
    twin__groups_clear(&candidates->dense);
    candidates->pairs = (struct twin__pairs){ 0 };
    candidates->loose_of = candidates->dense_of = NULL;
}

void twin__band_candidates_clear(struct twin__band_candidates *candidates)
{
    twin__candidates_free_pairs(candidates);
    twin__groups_clear(&candidates->joined);
    *candidates = (struct twin__band_candidates){ 0 };
}

/* verify.c — candidate pairs are compared, each document being fetched as seldom as possible.
 *
 * To fetch a set may mean to read and shingle a document again, or to decode it, which takes far longer than a
 * comparison. So the documents of all pairs are ranked such that those connected by pairs have neighbouring ranks, and
 * pairs are taken tile by tile, a tile being TILE ranks by TILE ranks: 2·TILE contents serve up to TILE² pairs, and a
 * large family of near-duplicates costs comparing, not fetching. Workers take runs of pairs in that order, each with
 * the contents of its current tile in a cache of its own. Every pair has its place in an array of similarities, so the
 * result does not depend on who compared what.
 *
 * A tile with many pairs is part of a family: mail of one campaign, pages of one template. There each set is compared once
 * with a base, what most sets of its kind have that the worker met first, and pairs by their differences from it
 * (difference.h), which are short. */
#include "join/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "base/union_find.h"
#include "join/difference.h"
#include "kernels/sort.h"

/* ---- matches ---- */

twin_status twin__matches_add(twin_matches *matches, twin_match match)
{
    if (!TWIN__ARRAY_GROW(&matches->items, &matches->capacity, matches->count, 1))
        return TWIN_ENOMEM;
    matches->items[matches->count++] = match;
    return TWIN_OK;
}

static int by_documents(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

void twin__matches_sort(twin_matches *matches)
{
    if (matches->count)
        qsort(matches->items, matches->count, sizeof *matches->items, by_documents);
}

/* ---- an order that needs few contents at a time ---- */

enum { TILE_BITS = 7, TILE = 1 << TILE_BITS };

struct tiling {
    uint32_t *documents; /* by rank */
    uint64_t *tiled;     /* pairs of ranks, in the order to take them */
    size_t count;
};

/* A pair of ranks as one number that sorts by tiles: tile of a, tile of b, a in its tile, b in its tile. */
static uint64_t tiled_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)(a >> TILE_BITS) << (32 + TILE_BITS) | (uint64_t)(b >> TILE_BITS) << (2 * TILE_BITS) |
           (a & (TILE - 1)) << TILE_BITS | (b & (TILE - 1));
}

static uint32_t tiled_a(uint64_t pair)
{
    return (uint32_t)(pair >> (32 + TILE_BITS)) << TILE_BITS | (pair >> TILE_BITS & (TILE - 1));
}

static uint32_t tiled_b(uint64_t pair)
{
    return (uint32_t)(pair >> (2 * TILE_BITS) << TILE_BITS) | (pair & (TILE - 1));
}

/* Ranks the documents of the pairs by their component, then by number. group[d] holds d's parent, then its rank; `keys`
 * and `spare` have room for all documents. */
static void rank_documents(struct tiling *tiling, uint32_t *group, uint64_t *keys, uint64_t *spare, size_t documents,
                           const struct twin__pairs *pairs)
{
    for (size_t d = 0; d < documents; d++) {
        group[d] = (uint32_t)d;
        keys[d] = UINT64_MAX; /* of no pair */
    }
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t low = twin__pair_low(pairs->items[i]), high = twin__pair_high(pairs->items[i]);
        twin__union_join(group, low, high);
        keys[low] = keys[high] = 0;
    }
    size_t count = 0;
    for (size_t d = 0; d < documents; d++)
        if (keys[d] == 0)
            keys[count++] = (uint64_t)twin__union_root(group, (uint32_t)d) << 32 | d;
    twin__sort(keys, spare, count);
    for (size_t rank = 0; rank < count; rank++) {
        tiling->documents[rank] = (uint32_t)keys[rank];
        group[(uint32_t)keys[rank]] = (uint32_t)rank;
    }
}

static twin_status tile(struct tiling *out, const struct twin__pairs *pairs, size_t documents)
{
    size_t room = documents > pairs->count ? documents : pairs->count;
    uint32_t *group = malloc((documents + 1) * sizeof *group);
    uint64_t *spare = malloc((room + 1) * sizeof *spare);
    out->documents = malloc((documents + 1) * sizeof *out->documents);
    out->tiled = malloc((room + 1) * sizeof *out->tiled);
    out->count = pairs->count;
    twin_status status = group && spare && out->documents && out->tiled ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        rank_documents(out, group, out->tiled, spare, documents, pairs);
        for (size_t i = 0; i < pairs->count; i++)
            out->tiled[i] =
                tiled_pair(group[twin__pair_low(pairs->items[i])], group[twin__pair_high(pairs->items[i])]);
        twin__sort(out->tiled, spare, out->count);
    }
    free(group);
    free(spare);
    return status;
}

static void tiling_clear(struct tiling *tiling)
{
    free(tiling->documents);
    free(tiling->tiled);
}

/* ---- comparing ---- */

/* The content of the document of one rank. */
struct cached {
    uint64_t *words; /* aligned as sets want it */
    size_t size, capacity;
    uint32_t rank;
    bool filled;
    size_t base;          /* what `difference` is from: the worker's base of this slot, if it still has this number */
    uint64_t base_number; /* 0: from none */
    struct twin__difference difference;
};

enum { BASES = 4 };

struct verify_worker {
    struct cached rows[TILE], columns[TILE]; /* the two sides of the current tile */
    struct base {
        uint64_t *items;
        size_t count, capacity;
        uint32_t document;
        uint64_t number; /* 0: empty */
        size_t uses;     /* sets compared with it */
    } bases[BASES];
    size_t next_base;
    uint64_t last_number;
    size_t new_bases; /* that the current tile may still add: a tile of strangers would add one for each document */
};

struct verification {
    const struct twin__provider *provider;
    const struct tiling *tiling;
    struct twin__verify_options options;
    double *similarities; /* one per pair; -1: not similar */
    struct verify_worker *workers;
    struct twin__first_failure failure;
    atomic_size_t done;
};

static bool holds(const struct cached *cached, uint32_t rank)
{
    return cached->filled && cached->rank == rank;
}

static struct twin__content content_of(const struct cached *cached)
{
    return (struct twin__content){ cached->words, cached->size };
}

static twin_status store(struct cached *cached, uint32_t rank, struct twin__content content, twin_error *error)
{
    cached->filled = false;
    cached->base_number = 0;
    if (!TWIN__ARRAY_GROW(&cached->words, &cached->capacity, 0, content.size / sizeof *cached->words + 1))
        return twin__fail_memory(error);
    if (content.size)
        memcpy(cached->words, content.bytes, content.size);
    cached->size = content.size;
    cached->rank = rank;
    cached->filled = true;
    return TWIN_OK;
}

/* Fills `cached` with the content of `rank`, from the other side of the tile if it is there. */
static twin_status load(struct cached *cached, const struct cached *other, struct verification *verification,
                        int worker, uint32_t rank, twin_error *error)
{
    if (holds(cached, rank))
        return TWIN_OK;
    const struct twin__provider *provider = verification->provider;
    struct twin__content content = content_of(other);
    twin_status status = TWIN_OK;
    if (!holds(other, rank))
        status = provider->fetch(&content, provider, verification->tiling->documents[rank], worker, error);
    return status == TWIN_OK ? store(cached, rank, content, error) : status;
}

/* Contents of more words than this, a quarter of a megabyte, are dropped after each comparison: a tile of books would not fit
 * into memory. */
enum { MOST_CACHED_WORDS = 1 << 15 };

static void drop(struct cached *cached)
{
    free(cached->words);
    free(cached->difference.items);
    *cached = (struct cached){ 0 };
}

static void drop_if_large(struct cached *cached)
{
    if (cached->capacity > MOST_CACHED_WORDS)
        drop(cached);
}

/* ---- differences ---- */

/* The slot of a base that half of the document's signature agrees with; BASES when there is none. */
static size_t find_base(const struct verify_worker *worker, const struct twin__provider *provider, uint32_t document)
{
    for (size_t i = 0; i < BASES; i++)
        if (worker->bases[i].number &&
            2 * twin__provider_agreement(provider, worker->bases[i].document, document) >= provider->signatures.slots)
            return i;
    return BASES;
}

/* The document becomes a base; the oldest makes room for it. */
static size_t add_base(struct verify_worker *worker, uint32_t document, twin_set set)
{
    size_t slot = worker->next_base++ % BASES;
    struct base *base = &worker->bases[slot];
    base->number = 0;
    if (!TWIN__ARRAY_GROW(&base->items, &base->capacity, 0, set.count + 1))
        return BASES;
    if (set.count)
        memcpy(base->items, set.items, set.count * sizeof *set.items);
    base->count = set.count;
    base->document = document;
    base->uses = 0;
    base->number = ++worker->last_number;
    return slot;
}

enum { REFINED_BY = 15 };

/* The words of up to REFINED_BY cached sets that use the base, sorted; returns how many sets. */
static size_t gather_sets(twin_items *out, const struct cached *side, const struct base *base, size_t sets)
{
    for (size_t i = 0; i < TILE && sets < REFINED_BY; i++) {
        twin_set set = twin__content_set(content_of(&side[i]));
        if (!side[i].filled || side[i].base_number != base->number || twin_items_reserve(out, set.count) != TWIN_OK)
            continue;
        if (set.count)
            memcpy(out->items + out->count, set.items, set.count * sizeof *set.items);
        out->count += set.count;
        sets++;
    }
    return sets;
}

/* Replaces a base by what most of the sets that use it have: each of them then differs by what is its own only. Where
 * there is no memory for that, the base stays as it is. */
static void refine_base(struct verify_worker *worker, struct base *base)
{
    twin_items items = { 0 }, spare = { 0 };
    size_t kept = 0, sets = gather_sets(&items, worker->rows, base, 0);
    sets = gather_sets(&items, worker->columns, base, sets);
    if (items.count && twin_items_reserve(&spare, items.count) == TWIN_OK) {
        twin__sort(items.items, spare.items, items.count);
        for (size_t begin = 0, end; begin < items.count; begin = end) {
            for (end = begin + 1; end < items.count && items.items[end] == items.items[begin]; end++)
                ;
            if (2 * (end - begin) > sets)
                items.items[kept++] = items.items[begin];
        }
        if (TWIN__ARRAY_GROW(&base->items, &base->capacity, 0, kept + 1)) {
            memcpy(base->items, items.items, kept * sizeof *items.items);
            base->count = kept;
            base->number = ++worker->last_number;
        }
    }
    twin_items_clear(&items);
    twin_items_clear(&spare);
}

/* Fills the difference from a base, unless it is known. False when there is none: sets are then compared as they are. */
static bool differ(struct cached *cached, struct verify_worker *worker, const struct verification *verification)
{
    uint32_t document = verification->tiling->documents[cached->rank];
    if (cached->base_number && worker->bases[cached->base].number == cached->base_number)
        return true;
    if (cached->capacity > MOST_CACHED_WORDS)
        return false;
    twin_set set = twin__content_set(content_of(cached));
    size_t slot = find_base(worker, verification->provider, document);
    if (slot == BASES && worker->new_bases > 0) {
        worker->new_bases--;
        slot = add_base(worker, document, set);
    }
    if (slot == BASES)
        return false;
    struct base *base = &worker->bases[slot];
    if (base->uses++ == REFINED_BY)
        refine_base(worker, base);
    if (!twin__difference_make(&cached->difference, (twin_set){ base->items, base->count }, set))
        return false;
    cached->base = slot;
    cached->base_number = base->number;
    return true;
}

static double similarity_of(size_t a, size_t b, size_t common, const struct twin__set_rule *rule)
{
    size_t smaller = a < b ? a : b;
    if (smaller == 0)
        return -1;
    double similarity = (double)common / (double)(rule->measure == TWIN_JACCARD ? a + b - common : smaller);
    return similarity >= rule->threshold ? similarity : -1;
}

/* Compares by differences where both sets have the same base. */
static bool compare_differences(double *out, struct cached *a, struct cached *b, struct verify_worker *worker,
                                const struct verification *verification)
{
    if (!differ(a, worker, verification) || !differ(b, worker, verification) || a->base_number != b->base_number ||
        worker->bases[a->base].number != a->base_number)
        return false;
    size_t common = twin__difference_common(&a->difference, &b->difference, worker->bases[a->base].count);
    *out = similarity_of(a->size / sizeof *a->words, b->size / sizeof *b->words, common,
                         verification->options.comparison.sets);
    return true;
}

/* ---- pairs ---- */

static twin_status verify_pair(struct verification *verification, int number, size_t i, bool dense, twin_error *error)
{
    struct verify_worker *worker = &verification->workers[number];
    const struct twin__comparison *comparison = &verification->options.comparison;
    uint32_t a = tiled_a(verification->tiling->tiled[i]), b = tiled_b(verification->tiling->tiled[i]);
    struct cached *row = &worker->rows[a % TILE], *column = &worker->columns[b % TILE];
    twin_status status = load(row, &worker->columns[a % TILE], verification, number, a, error);
    if (status == TWIN_OK)
        status = load(column, &worker->rows[b % TILE], verification, number, b, error);
    double *out = &verification->similarities[i];
    if (status == TWIN_OK && !(dense && compare_differences(out, row, column, worker, verification))) {
        status = comparison->compare(out, comparison->context, content_of(row), content_of(column), number);
        if (status != TWIN_OK)
            twin__fail_status(error, status);
    }
    drop_if_large(row);
    drop_if_large(column);
    return status;
}

/* Pairs that a worker takes at a time: enough to use what it has fetched more than once, few enough that the last
 * worker does not keep the others waiting. */
enum { FEWEST_AT_A_TIME = 64, MOST_AT_A_TIME = TILE * TILE, TURNS = 16 };

static size_t pairs_at_a_time(size_t count, int workers)
{
    size_t share = count / TURNS / (size_t)workers;
    if (share < FEWEST_AT_A_TIME)
        return FEWEST_AT_A_TIME;
    return share < MOST_AT_A_TIME ? share : MOST_AT_A_TIME;
}

/* Where the tile of a pair ends, at `end` at the latest. */
static size_t tile_end(const struct tiling *tiling, size_t i, size_t end)
{
    uint64_t tile = tiling->tiled[i] >> (2 * TILE_BITS);
    while (i < end && tiling->tiled[i] >> (2 * TILE_BITS) == tile)
        i++;
    return i;
}

static void verify_range(void *context, size_t begin, size_t end, int worker)
{
    enum { DENSE = 2 * TILE }; /* pairs of a tile that make it worth finding differences of its documents */
    struct verification *verification = context;
    twin_progress progress = verification->options.progress;
    bool sets = verification->options.comparison.sets && verification->provider->signatures.rows, dense = false;
    for (size_t i = begin, last = begin; i < end; i++) {
        twin_error error = { 0 };
        if (i == last) {
            last = tile_end(verification->tiling, i, end);
            dense = sets && last - i >= DENSE;
            verification->workers[worker].new_bases = BASES;
        }
        if (verify_pair(verification, worker, i, dense, &error) != TWIN_OK) {
            twin__keep_first_failure(&verification->failure, i, &error);
            return;
        }
    }
    size_t done = atomic_fetch_add(&verification->done, end - begin) + end - begin;
    if (progress.report)
        progress.report(progress.context, &twin__stage_verifying, done, verification->tiling->count);
}

static void free_workers(struct verify_worker *workers, int count)
{
    for (int i = 0; workers && i < count; i++) {
        for (size_t entry = 0; entry < TILE; entry++) {
            drop(&workers[i].rows[entry]);
            drop(&workers[i].columns[entry]);
        }
        for (size_t base = 0; base < BASES; base++)
            free(workers[i].bases[base].items);
    }
    free(workers);
}

static twin_status add_similar(twin_matches *out, const struct verification *verification)
{
    const struct tiling *tiling = verification->tiling;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < tiling->count && status == TWIN_OK; i++)
        if (verification->similarities[i] >= 0) {
            uint32_t a = tiling->documents[tiled_a(tiling->tiled[i])];
            uint32_t b = tiling->documents[tiled_b(tiling->tiled[i])];
            status =
                twin__matches_add(out, (twin_match){ a < b ? a : b, a < b ? b : a, verification->similarities[i] });
        }
    return status;
}

twin_status twin__verify_pairs(twin_matches *out, const struct twin__provider *provider,
                               const struct twin__pairs *pairs, struct twin__verify_options options,
                               twin_error *error)
{
    struct tiling tiling = { 0 };
    struct verification verification = {
        .provider = provider, .tiling = &tiling, .options = options, .failure = TWIN__NO_FAILURE
    };
    twin_status status = tile(&tiling, pairs, provider->count), failed = TWIN_OK;
    verification.similarities = malloc((pairs->count + 1) * sizeof *verification.similarities);
    verification.workers = calloc((size_t)options.exec.workers, sizeof *verification.workers);
    if (!verification.similarities || !verification.workers)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK) {
        twin_exec_for(options.exec, tiling.count, pairs_at_a_time(tiling.count, options.exec.workers), verify_range,
                      &verification);
        failed = twin__first_failure(error, &verification.failure);
        status = failed == TWIN_OK ? add_similar(out, &verification) : failed;
    }
    free_workers(verification.workers, options.exec.workers);
    free(verification.similarities);
    tiling_clear(&tiling);
    return status == TWIN_OK || failed != TWIN_OK ? status : twin__fail_memory(error);
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

/* verify.c — candidate pairs are compared, each document being fetched as seldom as possible.
 *
 * To fetch a set may mean to read and shingle a document again, or to decode it, which takes far longer than a
 * comparison. So the documents of all pairs are ranked such that those connected by pairs have neighbouring ranks, and
 * pairs are taken tile by tile, a tile being TILE ranks by TILE ranks: 2·TILE contents serve up to TILE² pairs, and a
 * large family of near-duplicates costs comparing, not fetching. Workers take runs of pairs in that order, each with
 * the contents of its current tile in a cache of its own. Every pair has its place in an array of similarities, so the
 * result does not depend on who compared what. */
#include "join/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "base/union_find.h"
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

enum { TILE_BITS = 5, TILE = 1 << TILE_BITS };

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

/* Ranks the documents of the pairs by their component, then by number. group[d] holds d's parent, then its rank. */
static void rank_documents(struct tiling *tiling, uint32_t *group, uint64_t *keys, uint64_t *spare, size_t documents,
                           const struct twin__pairs *pairs)
{
    for (size_t d = 0; d < documents; d++)
        group[d] = (uint32_t)d;
    for (size_t i = 0; i < pairs->count; i++)
        twin__union_join(group, twin__pair_low(pairs->items[i]), twin__pair_high(pairs->items[i]));
    size_t count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t ends[2] = { twin__pair_low(pairs->items[i]), twin__pair_high(pairs->items[i]) };
        for (int end = 0; end < 2; end++)
            keys[count++] = (uint64_t)twin__union_root(group, ends[end]) << 32 | ends[end];
    }
    twin__sort(keys, spare, count);
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) {
            tiling->documents[rank] = (uint32_t)keys[i];
            group[(uint32_t)keys[i]] = rank++;
        }
}

static twin_status tile(struct tiling *out, const struct twin__pairs *pairs, size_t documents)
{
    uint32_t *group = malloc((documents + 1) * sizeof *group);
    uint64_t *keys = malloc((2 * pairs->count + 1) * sizeof *keys);
    uint64_t *spare = malloc((2 * pairs->count + 1) * sizeof *spare);
    out->documents = malloc((2 * pairs->count + 1) * sizeof *out->documents);
    out->tiled = malloc((pairs->count + 1) * sizeof *out->tiled);
    out->count = pairs->count;
    twin_status status = group && keys && spare && out->documents && out->tiled ? TWIN_OK : TWIN_ENOMEM;
    if (status == TWIN_OK) {
        rank_documents(out, group, keys, spare, documents, pairs);
        for (size_t i = 0; i < pairs->count; i++)
            out->tiled[i] =
                tiled_pair(group[twin__pair_low(pairs->items[i])], group[twin__pair_high(pairs->items[i])]);
        twin__sort(out->tiled, spare, out->count);
    }
    free(group);
    free(keys);
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
};

struct verify_worker {
    struct cached rows[TILE], columns[TILE]; /* the two sides of the current tile */
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

/* Contents of more words than this, half a megabyte, are dropped after each comparison: a tile of books would not fit
 * into memory. */
enum { MOST_CACHED_WORDS = 1 << 16 };

static void drop_if_large(struct cached *cached)
{
    if (cached->capacity <= MOST_CACHED_WORDS)
        return;
    free(cached->words);
    *cached = (struct cached){ 0 };
}

static twin_status verify_pair(struct verification *verification, int number, size_t i, twin_error *error)
{
    struct verify_worker *worker = &verification->workers[number];
    const struct twin__comparison *comparison = &verification->options.comparison;
    uint32_t a = tiled_a(verification->tiling->tiled[i]), b = tiled_b(verification->tiling->tiled[i]);
    struct cached *row = &worker->rows[a % TILE], *column = &worker->columns[b % TILE];
    twin_status status = load(row, &worker->columns[a % TILE], verification, number, a, error);
    if (status == TWIN_OK)
        status = load(column, &worker->rows[b % TILE], verification, number, b, error);
    if (status == TWIN_OK) {
        status = comparison->compare(&verification->similarities[i], comparison->context, content_of(row),
                                     content_of(column), number);
        if (status != TWIN_OK)
            twin__fail_status(error, status);
    }
    drop_if_large(row);
    drop_if_large(column);
    return status;
}

/* Pairs that a worker takes at a time: enough to use what it has fetched more than once, few enough that the last
 * worker does not keep the others waiting. */
enum { PAIRS_AT_A_TIME = 64 };

static void verify_range(void *context, size_t begin, size_t end, int worker)
{
    struct verification *verification = context;
    twin_progress progress = verification->options.progress;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (verify_pair(verification, worker, i, &error) != TWIN_OK) {
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
    for (int i = 0; workers && i < count; i++)
        for (size_t entry = 0; entry < TILE; entry++) {
            free(workers[i].rows[entry].words);
            free(workers[i].columns[entry].words);
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
        twin_exec_for(options.exec, tiling.count, PAIRS_AT_A_TIME, verify_range, &verification);
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
    return (struct twin__comparison){ compare_sets, rule };
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

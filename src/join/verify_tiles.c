/* verify_tiles.c — pairs are compared one by one, each document being fetched as seldom as possible.
 *
 * To fetch a set may mean to read and shingle a document again, or to decode it, which takes far longer than a
 * comparison. Documents connected by pairs have neighbouring ranks (verify.c), and pairs are taken tile by tile, a
 * tile being TILE ranks by TILE ranks: 2·TILE contents serve up to TILE² pairs. Workers take runs of pairs in that
 * order, each with the contents of its current tile in a cache of its own. Sets that a provider has to make are not
 * made: the items of a row go into a table, in which those of the columns are looked up (items.h). Every pair
 * has its place in an array of similarities, so the result does not depend on who compared what. */
#include "join/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/items.h"
#include "join/join_private.h"
#include "join/matches.h"

/* ---- an order that needs few contents at a time ---- */

enum { TILE_BITS = 5, TILE = 1 << TILE_BITS };

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

/* ---- comparing ---- */

/* The content of the document of one rank. */
struct cached {
    uint64_t *words; /* aligned as sets want it */
    size_t size, capacity;
    uint32_t rank;
    bool filled;
};

/* The two sides of the current tile; and a document that is in one pair only, which need not take the place of one that
 * will be used again, nor the cache of the processor. */
struct worker {
    struct cached rows[TILE], columns[TILE], alone;
    struct twin__item_table table;
    uint32_t in_table; /* the rank of its document */
    bool has_table;
};

typedef twin_status fetch_fn(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                             int worker, twin_error *error);

struct tiles {
    struct twin__verification *verification;
    fetch_fn *fetch;
    bool by_table;         /* contents are items, not sets */
    const uint64_t *pairs; /* of ranks, in the order to take them */
    size_t count;
    double *similarities; /* one per pair; -1: not similar */
    uint8_t *uses;        /* of each rank: pairs, 2 for more */
    struct worker *workers;
};

static bool holds(const struct cached *cached, uint32_t rank)
{
    return cached->filled && cached->rank == rank && !twin__switched_off.tile_cache;
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
static twin_status load(struct cached *cached, const struct cached *other, const struct tiles *tiles, int worker,
                        uint32_t rank, twin_error *error)
{
    if (holds(cached, rank))
        return TWIN_OK;
    const struct twin__provider *provider = tiles->verification->provider;
    struct twin__content content = content_of(other);
    twin_status status = TWIN_OK;
    if (!holds(other, rank))
        status = tiles->fetch(&content, provider, tiles->verification->documents[rank], worker, error);
    return status == TWIN_OK ? store(cached, rank, content, error) : status;
}

/* Contents of more words than this, a quarter of a megabyte, are dropped after each comparison: a tile of books would
 * not fit into memory. */
enum { MOST_CACHED_WORDS = 1 << 15 };

static void drop_cached(struct cached *cached)
{
    free(cached->words);
    *cached = (struct cached){ 0 };
}

static void drop_if_large(struct cached *cached)
{
    if (cached->capacity > MOST_CACHED_WORDS)
        drop_cached(cached);
}

/* ---- pairs ---- */

/* Documents too long to be fetched are compared by the provider. False: neither is. */
static bool compare_long(twin_status *status, const struct tiles *tiles, int number, size_t i, twin_error *error)
{
    const struct twin__verification *verification = tiles->verification;
    const struct twin__provider *provider = verification->provider;
    const struct twin__set_rule *rule = verification->options.comparison.sets;
    if (!provider->is_long || !rule)
        return false;
    const uint32_t documents[] = { verification->documents[tiled_a(tiles->pairs[i])],
                                   verification->documents[tiled_b(tiles->pairs[i])] };
    if (!provider->is_long(provider, documents[0]) && !provider->is_long(provider, documents[1]))
        return false;
    double *out = &tiles->similarities[i];
    *status = provider->compare_long(out, provider, documents, rule->measure, number, error);
    if (*status == TWIN_OK && *out < rule->threshold)
        *out = -1;
    return true;
}

/* The content of the second document of a pair. If it is in no other pair, it is used where it was fetched. */
static twin_status load_second(struct twin__content *out, struct cached *column, const struct cached *other,
                               const struct tiles *tiles, int number, uint32_t rank, twin_error *error)
{
    const struct twin__provider *provider = tiles->verification->provider;
    if (tiles->uses[rank] == 1)
        return tiles->fetch(out, provider, tiles->verification->documents[rank], number, error);
    twin_status status = load(column, other, tiles, number, rank, error);
    *out = content_of(column);
    return status;
}

/* The items of rank `a`: from the cache, or fetched, and kept if they will be needed again. */
static twin_status take_items(struct twin__content *out, struct tiles *tiles, int number, uint32_t a,
                              twin_error *error)
{
    struct worker *worker = &tiles->workers[number];
    struct cached *row = &worker->rows[a % TILE], *column = &worker->columns[a % TILE];
    const struct twin__verification *verification = tiles->verification;
    if (holds(row, a) || holds(column, a)) {
        *out = content_of(holds(row, a) ? row : column);
        return TWIN_OK;
    }
    twin_status status = tiles->fetch(out, verification->provider, verification->documents[a], number, error);
    return status == TWIN_OK && tiles->uses[a] > 1 ? store(row, a, *out, error) : status;
}

/* Puts the items of rank `a` into the worker's table. */
static twin_status fill_table(struct tiles *tiles, int number, uint32_t a, twin_error *error)
{
    struct worker *worker = &tiles->workers[number];
    struct twin__content content;
    if (worker->has_table && worker->in_table == a)
        return TWIN_OK;
    twin_status status = take_items(&content, tiles, number, a, error);
    if (status != TWIN_OK)
        return status;
    twin_set items = twin__content_set(content);
    worker->has_table = twin__item_table_fill(&worker->table, items.items, items.count);
    worker->in_table = a;
    return worker->has_table ? TWIN_OK : twin__fail_memory(error);
}

static twin_status compare_with_table(double *out, struct worker *worker, struct twin__content second,
                                      const struct twin__set_rule *rule, twin_error *error)
{
    twin_set items = twin__content_set(second);
    double similarity = twin__item_table_similarity(&worker->table, items.items, items.count, rule->measure);
    *out = similarity >= rule->threshold ? similarity : -1;
    return similarity >= 0 ? TWIN_OK : twin__fail_memory(error);
}

static twin_status compare_contents(double *out, const struct tiles *tiles, struct twin__content a,
                                    struct twin__content b, int number, twin_error *error)
{
    const struct twin__comparison *comparison = &tiles->verification->options.comparison;
    if (tiles->by_table)
        return compare_with_table(out, &tiles->workers[number], b, comparison->sets, error);
    twin_status status = comparison->compare(out, comparison->context, a, b, number);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* Contents of more words than MOST_CACHED_WORDS, and a table of them, are not kept. */
static void drop_large(struct worker *worker, struct cached *row, struct cached *column)
{
    drop_if_large(row);
    drop_if_large(column);
    if (worker->table.size > MOST_CACHED_WORDS || worker->table.marks.missed.capacity > MOST_CACHED_WORDS) {
        twin__item_table_clear(&worker->table);
        worker->has_table = false;
    }
}

static twin_status compare_pair(struct tiles *tiles, int number, size_t i, twin_error *error)
{
    struct worker *worker = &tiles->workers[number];
    uint32_t a = tiled_a(tiles->pairs[i]), b = tiled_b(tiles->pairs[i]);
    struct cached *row = tiles->uses[a] == 1 ? &worker->alone : &worker->rows[a % TILE];
    struct cached *column = &worker->columns[b % TILE];
    struct twin__content second;
    twin_status status;
    if (compare_long(&status, tiles, number, i, error))
        return status;
    status = tiles->by_table ? fill_table(tiles, number, a, error)
                             : load(row, &worker->columns[a % TILE], tiles, number, a, error);
    if (status == TWIN_OK)
        status = load_second(&second, column, &worker->rows[b % TILE], tiles, number, b, error);
    if (status == TWIN_OK)
        status = compare_contents(&tiles->similarities[i], tiles, content_of(row), second, number, error);
    drop_large(worker, row, column);
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

static twin_status compare_pairs(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct tiles *tiles = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        status = i % 16 ? TWIN_OK : twin__poll();
        if (status == TWIN_OK)
            status = compare_pair(tiles, worker, i, error);
    }
    if (status == TWIN_OK)
        twin__verification_report(tiles->verification, end - begin);
    return status;
}

static void free_workers(struct worker *workers, int count)
{
    for (int i = 0; workers && i < count; i++)
        for (size_t entry = 0; entry < TILE; entry++) {
            drop_cached(&workers[i].rows[entry]);
            drop_cached(&workers[i].columns[entry]);
        }
    for (int i = 0; workers && i < count; i++) {
        drop_cached(&workers[i].alone);
        twin__item_table_clear(&workers[i].table);
    }
    free(workers);
}

static twin_status add_similar(twin_matches *out, const struct tiles *tiles)
{
    const uint32_t *documents = tiles->verification->documents;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < tiles->count && status == TWIN_OK; i++)
        if (tiles->similarities[i] >= 0) {
            uint32_t a = documents[tiled_a(tiles->pairs[i])], b = documents[tiled_b(tiles->pairs[i])];
            status = twin__matches_add(out, (twin_match){ a < b ? a : b, a < b ? b : a, tiles->similarities[i] });
        }
    return status;
}

/* Puts pairs into the order of tiles, and counts how often each rank is used. */
static bool order_pairs(uint8_t *uses, struct twin__pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        uses[a] = uses[a] ? 2 : 1;
        uses[b] = uses[b] ? 2 : 1;
        pairs->items[i] = tiled_pair(a, b);
    }
    return twin__sort_numbers(pairs->items, pairs->count);
}

twin_status twin__verify_tiles(twin_matches *out, struct twin__verification *verification, struct twin__pairs *pairs,
                               twin_error *error)
{
    twin_exec exec = verification->options.exec;
    struct tiles tiles = {
        .verification = verification,
        .fetch = verification->provider->fetch,
        .pairs = pairs->items,
        .count = pairs->count,
    };
    if (pairs->count == 0)
        return TWIN_OK;
    if (verification->options.comparison.sets && verification->provider->fetch_items &&
        !twin__switched_off.item_tables) {
        tiles.fetch = verification->provider->fetch_items;
        tiles.by_table = true;
    }
    tiles.similarities = malloc(pairs->count * sizeof *tiles.similarities);
    tiles.workers = calloc((size_t)exec.workers, sizeof *tiles.workers);
    tiles.uses = calloc(verification->ranked, sizeof *tiles.uses);
    bool there = tiles.similarities && tiles.workers && tiles.uses && order_pairs(tiles.uses, pairs);
    twin_status status = there ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK) {
        size_t some = pairs_at_a_time(tiles.count, exec.workers);
        status = twin__exec_try(exec, tiles.count, some, compare_pairs, &tiles, error);
    }
    if (status == TWIN_OK && add_similar(out, &tiles) != TWIN_OK)
        status = twin__fail_memory(error);
    free_workers(tiles.workers, exec.workers);
    free(tiles.similarities);
    free(tiles.uses);
    return status;
}

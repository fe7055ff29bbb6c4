/* verify.c — pairs are judged, each document being read again as seldom as can be. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "base/union_find.h"
#include "join/similar_private.h"
#include "kernels/sort.h"

/* ---- an order that needs few sets at a time ---- */

/* Documents are ranked so that those tied by candidate pairs stand together, and pairs are taken tile by tile, a
 * tile being TILE ranks by TILE ranks: 2·TILE sets serve TILE² pairs. A large family of lookalikes then costs
 * comparing, not reading. A pair in this order is one number: tile of a, tile of b, a in its tile, b in its tile. */
enum { TILE_BITS = 5, TILE = 1 << TILE_BITS };

struct tiling {
    uint32_t *documents; /* by rank */
    uint64_t *tiled;     /* pairs of ranks, in the order to take them */
    size_t count;
};

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

/* Ranks the documents of the pairs by their group, then by number. group[d] holds d's parent, then its rank. */
static void rank_documents(struct tiling *tiling, uint32_t *group, uint64_t *keys, uint64_t *spare, size_t documents,
                           const struct twin__pairs *pairs)
{
    for (size_t d = 0; d < documents; d++)
        group[d] = (uint32_t)d;
    for (size_t i = 0; i < pairs->count; i++)
        twin__union_join(group, (uint32_t)(pairs->items[i] >> 32), (uint32_t)pairs->items[i]);
    size_t count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t ends[2] = { (uint32_t)(pairs->items[i] >> 32), (uint32_t)pairs->items[i] };
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
            out->tiled[i] = tiled_pair(group[pairs->items[i] >> 32], group[(uint32_t)pairs->items[i]]);
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

/* ---- checking ---- */

/* The pieces of one tile: a side of rows and one of columns. */
struct shelf {
    uint64_t *bytes; /* aligned as sets want it */
    size_t size, capacity;
    uint32_t rank;
    bool filled;
};

struct checker {
    twin_scratch scratch;
    struct shelf rows[TILE], columns[TILE];
};

struct checking {
    const twin_collection *collection;
    const struct tiling *tiling;
    struct twin__comparison judge;
    twin_progress progress;
    double *similarity; /* one a pair; -1: not similar */
    struct checker *checkers;
    struct twin__first_failure failure;
    atomic_size_t done;
};

static bool holds(const struct shelf *shelf, uint32_t rank)
{
    return shelf->filled && shelf->rank == rank;
}

static twin_status fill_shelf(struct shelf *shelf, uint32_t rank, struct twin__blob piece, twin_error *error)
{
    shelf->filled = false;
    if (!twin__array_grow(&shelf->bytes, &shelf->capacity, 0, piece.size / sizeof *shelf->bytes + 1,
                          sizeof *shelf->bytes))
        return twin__fail_memory(error);
    if (piece.size)
        memcpy(shelf->bytes, piece.bytes, piece.size);
    shelf->size = piece.size;
    shelf->rank = rank;
    shelf->filled = true;
    return TWIN_OK;
}

/* Brings the piece of `rank` to `shelf`, from the other side of the tile if it is there. */
static twin_status bring(struct shelf *shelf, const struct shelf *other, struct checking *checking,
                         twin_scratch *scratch, uint32_t rank, twin_error *error)
{
    if (holds(shelf, rank))
        return TWIN_OK;
    struct twin__blob piece = { other->bytes, other->size };
    twin_status status = TWIN_OK;
    if (!holds(other, rank))
        status =
            checking->judge.fetch(&piece, checking->collection, scratch, checking->tiling->documents[rank], error);
    return status == TWIN_OK ? fill_shelf(shelf, rank, piece, error) : status;
}

/* Books are not kept on the shelf: a tile of them would not fit into memory. */
enum { MOST_KEPT = 1 << 16 };

static void tidy(struct shelf *shelf)
{
    if (shelf->capacity <= MOST_KEPT)
        return;
    free(shelf->bytes);
    *shelf = (struct shelf){ 0 };
}

static twin_status check_pair(struct checking *checking, int worker, size_t i, twin_error *error)
{
    struct checker *checker = &checking->checkers[worker];
    uint32_t a = tiled_a(checking->tiling->tiled[i]), b = tiled_b(checking->tiling->tiled[i]);
    struct shelf *row = &checker->rows[a % TILE], *column = &checker->columns[b % TILE];
    twin_status status = bring(row, &checker->columns[a % TILE], checking, &checker->scratch, a, error);
    if (status == TWIN_OK)
        status = bring(column, &checker->rows[b % TILE], checking, &checker->scratch, b, error);
    if (status == TWIN_OK) {
        status = checking->judge.compare(&checking->similarity[i], checking->judge.context,
                                         (struct twin__blob){ row->bytes, row->size },
                                         (struct twin__blob){ column->bytes, column->size }, worker);
        if (status != TWIN_OK)
            twin__fail_status(error, status);
    }
    tidy(row);
    tidy(column);
    return status;
}

static void check_pairs(void *context, size_t begin, size_t end, int worker)
{
    struct checking *checking = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (check_pair(checking, worker, i, &error) != TWIN_OK) {
            twin__keep_first_failure(&checking->failure, i, &error);
            return;
        }
    }
    size_t done = atomic_fetch_add(&checking->done, end - begin) + end - begin;
    if (checking->progress.report)
        checking->progress.report(checking->progress.context, &twin__stage_verifying, done, checking->tiling->count);
}

static void free_checkers(struct checker *checkers, int workers)
{
    for (int i = 0; checkers && i < workers; i++) {
        twin_scratch_clear(&checkers[i].scratch);
        for (size_t shelf = 0; shelf < TILE; shelf++) {
            free(checkers[i].rows[shelf].bytes);
            free(checkers[i].columns[shelf].bytes);
        }
    }
    free(checkers);
}

static int by_documents(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

twin_status twin__keep_match(twin_similar *similar, uint32_t a, uint32_t b, double similarity)
{
    if (!twin__array_grow(&similar->matches, &similar->capacity, similar->count, 1, sizeof *similar->matches))
        return TWIN_ENOMEM;
    similar->matches[similar->count++] = (twin_match){ a, b, similarity };
    return TWIN_OK;
}

static twin_status keep_checked(twin_similar *similar, const struct checking *checking)
{
    const struct tiling *tiling = checking->tiling;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < tiling->count && status == TWIN_OK; i++)
        if (checking->similarity[i] >= 0) {
            uint32_t a = tiling->documents[tiled_a(tiling->tiled[i])],
                     b = tiling->documents[tiled_b(tiling->tiled[i])];
            status = twin__keep_match(similar, a < b ? a : b, a < b ? b : a, checking->similarity[i]);
        }
    return status;
}

twin_status twin__verify_pairs(twin_similar *similar, const struct twin__pairs *pairs, struct twin__comparison judge,
                               twin_exec exec, twin_progress progress, twin_error *error)
{
    struct tiling tiling = { 0 };
    struct checking checking = { .collection = similar->collection,
                                 .tiling = &tiling,
                                 .judge = judge,
                                 .progress = progress,
                                 .failure = TWIN__NO_FAILURE };
    twin_status status = tile(&tiling, pairs, twin_collection_count(similar->collection).documents);
    checking.similarity = malloc((pairs->count + 1) * sizeof *checking.similarity);
    checking.checkers = calloc((size_t)exec.workers, sizeof *checking.checkers);
    if (!checking.similarity || !checking.checkers)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK) {
        twin_exec_for(exec, tiling.count, 64, check_pairs, &checking);
        status = twin__first_failure(error, &checking.failure);
    }
    if (status == TWIN_OK)
        status = keep_checked(similar, &checking);
    similar->counts.verified += pairs->count;
    free_checkers(checking.checkers, exec.workers);
    free(checking.similarity);
    tiling_clear(&tiling);
    return status;
}

void twin__sort_matches(twin_similar *similar)
{
    if (similar->count)
        qsort(similar->matches, similar->count, sizeof *similar->matches, by_documents);
}

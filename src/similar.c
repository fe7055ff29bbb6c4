/* similar.c — candidates are checked, and the similar stay. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fail.h"
#include "grow.h"
#include "similar_parts.h"
#include "sort.h"
#include "union_find.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the first gate: enough equal slots ---- */

/* A pair as one number, a above b. */
struct pairs {
    uint64_t *items;
    size_t count, capacity;
};

struct gate {
    const twin_collection *collection;
    twin_similar_options options;
    const uint32_t *signatures;
    size_t slots, least;
    struct worker {
        struct pairs pairs;
        uint64_t candidates;
        bool no_memory;
        char own_line[64]; /* workers count in cache lines of their own */
    } * workers;
};

/* The number of equal slots below which a pair is not worth its exact similarity. The share of equal slots is J
 * with variance at most J(1-J)/k; four standard errors below the threshold lie 3 pairs in 100,000. */
static size_t least_for(double similarity, size_t slots)
{
    double k = (double)slots, bound = similarity * k - 4 * sqrt(k * similarity * (1 - similarity));
    return bound > 0 ? (size_t)bound : 0;
}

static size_t least_agreement(twin_similar_options options, size_t slots)
{
    if (options.verify == TWIN_VERIFY_NONE || options.measure == TWIN_CONTAINMENT)
        return 0;
    if (options.verify == TWIN_VERIFY_ESTIMATE)
        return (size_t)ceil(options.threshold * (double)slots - 1e-9);
    return least_for(options.threshold, slots);
}

/* Containment t of sets of sizes a <= b means a Jaccard similarity of at least t·a / (a + b - t·a). */
static size_t least_contained(double t, size_t a, size_t b, size_t slots)
{
    double smaller = (double)(a < b ? a : b), larger = (double)(a < b ? b : a);
    return least_for(t * smaller / (smaller + larger - t * smaller), slots);
}

static bool agree_enough(const struct gate *gate, uint32_t a, uint32_t b)
{
    size_t least = gate->least;
    if (gate->options.measure == TWIN_CONTAINMENT)
        least = least_contained(gate->options.threshold, twin_collection_size(gate->collection, a),
                                twin_collection_size(gate->collection, b), gate->slots);
    return least == 0 || twin_minhash_agreement(gate->signatures + a * gate->slots,
                                                gate->signatures + b * gate->slots, gate->slots) >= least;
}

static void pass_gate(void *context, uint32_t a, uint32_t b, int number)
{
    struct gate *gate = context;
    struct worker *worker = &gate->workers[number];
    worker->candidates++;
    if (!agree_enough(gate, a, b))
        return;
    if (!twin__grow(&worker->pairs.items, &worker->pairs.capacity, worker->pairs.count, 1, sizeof(uint64_t)))
        worker->no_memory = true;
    else
        worker->pairs.items[worker->pairs.count++] = (uint64_t)a << 32 | b;
}

/* Brings the workers' pairs together. */
static twin_status gather(struct pairs *out, struct gate *gate, int workers, twin_similar_counts *counts)
{
    size_t total = 0;
    for (int i = 0; i < workers; i++) {
        if (gate->workers[i].no_memory)
            return TWIN_ENOMEM;
        total += gate->workers[i].pairs.count;
        counts->candidates += gate->workers[i].candidates;
    }
    if (!twin__grow(&out->items, &out->capacity, 0, total + 1, sizeof(uint64_t)))
        return TWIN_ENOMEM;
    for (int i = 0; i < workers; i++) {
        const struct pairs *pairs = &gate->workers[i].pairs;
        if (pairs->count)
            memcpy(out->items + out->count, pairs->items, pairs->count * sizeof(uint64_t));
        out->count += pairs->count;
    }
    return TWIN_OK;
}

static twin_status find_pairs(struct pairs *out, const twin_collection *collection, twin_similar_options options,
                              twin_similar_counts *counts)
{
    twin_signatures signatures = { .rows = twin_collection_signatures(collection),
                                   .slots = twin_collection_slots(collection) };
    signatures.count = twin_collection_distinct(&signatures.documents, collection);
    struct gate gate = {
        .collection = collection, .options = options, .signatures = signatures.rows, .slots = signatures.slots
    };
    gate.least = least_agreement(options, signatures.slots);
    gate.workers = calloc((size_t)options.exec.workers, sizeof *gate.workers);
    if (!gate.workers)
        return TWIN_ENOMEM;
    twin_status status =
        twin_bands_pairs(signatures, options.bands, options.exec, pass_gate, &gate, options.progress);
    if (status == TWIN_OK)
        status = gather(out, &gate, options.exec.workers, counts);
    for (int i = 0; i < options.exec.workers; i++)
        free(gate.workers[i].pairs.items);
    free(gate.workers);
    return status;
}

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
                           const struct pairs *pairs)
{
    for (size_t d = 0; d < documents; d++)
        group[d] = (uint32_t)d;
    for (size_t i = 0; i < pairs->count; i++)
        twin__join(group, (uint32_t)(pairs->items[i] >> 32), (uint32_t)pairs->items[i]);
    size_t count = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t ends[2] = { (uint32_t)(pairs->items[i] >> 32), (uint32_t)pairs->items[i] };
        for (int end = 0; end < 2; end++)
            keys[count++] = (uint64_t)twin__root(group, ends[end]) << 32 | ends[end];
    }
    twin__sort(keys, spare, count);
    uint32_t rank = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) {
            tiling->documents[rank] = (uint32_t)keys[i];
            group[(uint32_t)keys[i]] = rank++;
        }
}

static twin_status tile(struct tiling *out, const struct pairs *pairs, size_t documents)
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

/* ---- the other gates: sizes, and the exact similarity ---- */

/* The sets of one tile: a side of rows and one of columns. */
struct shelf {
    uint64_t *items;
    size_t count, capacity;
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
    twin_similar_options options;
    double *similarity; /* one a pair; -1: not similar */
    struct checker *checkers;
    struct twin__first_failure failure;
    atomic_size_t done;
};

static bool holds(const struct shelf *shelf, uint32_t rank)
{
    return shelf->filled && shelf->rank == rank;
}

static twin_status fill_shelf(struct shelf *shelf, uint32_t rank, twin_set set, twin_error *error)
{
    shelf->filled = false;
    if (!twin__grow(&shelf->items, &shelf->capacity, 0, set.count + 1, sizeof *shelf->items))
        return twin__fail_memory(error);
    memcpy(shelf->items, set.items, set.count * sizeof *set.items);
    shelf->count = set.count;
    shelf->rank = rank;
    shelf->filled = true;
    return TWIN_OK;
}

/* Brings the set of `rank` to `shelf`, from the other side of the tile if it is there. */
static twin_status bring(struct shelf *shelf, const struct shelf *other, struct checking *checking,
                         twin_scratch *scratch, uint32_t rank, twin_error *error)
{
    if (holds(shelf, rank))
        return TWIN_OK;
    twin_set set = { other->items, other->count };
    twin_status status = TWIN_OK;
    if (!holds(other, rank))
        status = twin_collection_set(&set, checking->collection, scratch, checking->tiling->documents[rank], error);
    return status == TWIN_OK ? fill_shelf(shelf, rank, set, error) : status;
}

/* Books are not kept on the shelf: a tile of them would not fit into memory. */
enum { MOST_KEPT = 1 << 16 };

static void tidy(struct shelf *shelf)
{
    if (shelf->capacity <= MOST_KEPT)
        return;
    free(shelf->items);
    *shelf = (struct shelf){ 0 };
}

static twin_status check_pair(struct checking *checking, struct checker *checker, size_t i, twin_error *error)
{
    uint32_t a = tiled_a(checking->tiling->tiled[i]), b = tiled_b(checking->tiling->tiled[i]);
    struct shelf *row = &checker->rows[a % TILE], *column = &checker->columns[b % TILE];
    twin_status status = bring(row, &checker->columns[a % TILE], checking, &checker->scratch, a, error);
    if (status == TWIN_OK)
        status = bring(column, &checker->rows[b % TILE], checking, &checker->scratch, b, error);
    if (status == TWIN_OK)
        checking->similarity[i] = twin_set_similarity_at_least(
            (twin_set){ row->items, row->count }, (twin_set){ column->items, column->count },
            checking->options.measure, checking->options.threshold);
    tidy(row);
    tidy(column);
    return status;
}

static void check_pairs(void *context, size_t begin, size_t end, int worker)
{
    struct checking *checking = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        if (check_pair(checking, &checking->checkers[worker], i, &error) != TWIN_OK) {
            twin__keep_first_failure(&checking->failure, i, &error);
            return;
        }
    }
    size_t done = atomic_fetch_add(&checking->done, end - begin) + end - begin;
    if (checking->options.progress.tell)
        checking->options.progress.tell(checking->options.progress.context, "verifying", done,
                                        checking->tiling->count);
}

static void free_checkers(struct checker *checkers, int workers)
{
    for (int i = 0; checkers && i < workers; i++) {
        twin_scratch_clear(&checkers[i].scratch);
        for (size_t shelf = 0; shelf < TILE; shelf++) {
            free(checkers[i].rows[shelf].items);
            free(checkers[i].columns[shelf].items);
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

static twin_status keep_match(twin_similar *similar, uint32_t a, uint32_t b, double similarity)
{
    if (!twin__grow(&similar->matches, &similar->capacity, similar->count, 1, sizeof *similar->matches))
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
            status = keep_match(similar, a < b ? a : b, a < b ? b : a, checking->similarity[i]);
        }
    return status;
}

static twin_status verify_exact(twin_similar *similar, const struct pairs *pairs, twin_similar_options options,
                                twin_error *error)
{
    struct tiling tiling = { 0 };
    struct checking checking = {
        .collection = similar->collection, .tiling = &tiling, .options = options, .failure = TWIN__NO_FAILURE
    };
    twin_status status = tile(&tiling, pairs, twin_collection_count(similar->collection).documents);
    checking.similarity = malloc((pairs->count + 1) * sizeof *checking.similarity);
    checking.checkers = calloc((size_t)options.exec.workers, sizeof *checking.checkers);
    if (!checking.similarity || !checking.checkers)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK) {
        twin_exec_for(options.exec, tiling.count, 64, check_pairs, &checking);
        status = twin__first_failure(error, &checking.failure);
    }
    if (status == TWIN_OK)
        status = keep_checked(similar, &checking);
    similar->counts.verified = pairs->count;
    free_checkers(checking.checkers, options.exec.workers);
    free(checking.similarity);
    tiling_clear(&tiling);
    return status;
}

static twin_status take_estimates(twin_similar *similar, const struct pairs *pairs)
{
    const uint32_t *signatures = twin_collection_signatures(similar->collection);
    size_t slots = twin_collection_slots(similar->collection);
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < pairs->count && status == TWIN_OK; i++) {
        uint32_t a = (uint32_t)(pairs->items[i] >> 32), b = (uint32_t)pairs->items[i];
        size_t equal = twin_minhash_agreement(signatures + a * slots, signatures + b * slots, slots);
        status = keep_match(similar, a, b, (double)equal / (double)slots);
    }
    return status;
}

static bool options_are_good(twin_similar_options options)
{
    if (!(options.threshold > 0 && options.threshold <= 1))
        return false;
    return options.verify == TWIN_VERIFY_EXACT || options.measure == TWIN_JACCARD;
}

static twin_status find(twin_similar *similar, twin_similar_options options, twin_error *error)
{
    struct pairs pairs = { 0 };
    double begun = seconds();
    twin_status status = find_pairs(&pairs, similar->collection, options, &similar->counts);
    double paired = seconds();
    if (status == TWIN_OK && options.verify == TWIN_VERIFY_EXACT)
        status = verify_exact(similar, &pairs, options, error);
    else if (status == TWIN_OK)
        status = take_estimates(similar, &pairs);
    if (status == TWIN_OK && similar->count)
        qsort(similar->matches, similar->count, sizeof *similar->matches, by_documents);
    free(pairs.items);
    similar->counts.similar = similar->count;
    similar->counts.pairing_seconds = paired - begun;
    similar->counts.verifying_seconds = seconds() - paired;
    return status;
}

twin_status twin_similar_find(twin_similar **out, const twin_collection *collection, twin_similar_options options,
                              twin_error *error)
{
    *out = NULL;
    if (!options_are_good(options))
        return twin__fail(error, TWIN_EINVAL, "%s", twin_status_text(TWIN_EINVAL));
    twin_similar *similar = calloc(1, sizeof *similar);
    if (!similar)
        return twin__fail_memory(error);
    similar->collection = collection;
    if (error)
        error->status = TWIN_OK;
    twin_status status = find(similar, options, error);
    if (status != TWIN_OK) {
        twin_similar_free(similar);
        return error && error->status == TWIN_OK ? twin__fail(error, status, "%s", twin_status_text(status)) : status;
    }
    *out = similar;
    return TWIN_OK;
}

void twin_similar_free(twin_similar *similar)
{
    if (!similar)
        return;
    free(similar->matches);
    free(similar);
}

twin_similar_counts twin_similar_count(const twin_similar *similar)
{
    return similar->counts;
}

size_t twin_similar_matches(const twin_match **out, const twin_similar *similar)
{
    *out = similar->matches;
    return similar->count;
}

void twin_matches_clear(twin_matches *matches)
{
    free(matches->items);
    *matches = (twin_matches){ 0 };
}

/* ---- one query ---- */

struct asking {
    twin_matches *out;
    const twin_collection *collection;
    twin_similar_options options;
    const uint32_t *signature;
    twin_set set;
    size_t least;
    twin_scratch *scratch;
    twin_status status;
    twin_error *error;
};

static bool ask_candidate(void *context, uint32_t document)
{
    struct asking *asking = context;
    size_t slots = twin_collection_slots(asking->collection);
    const uint32_t *signature = twin_collection_signatures(asking->collection) + document * slots;
    size_t equal = twin_minhash_agreement(asking->signature, signature, slots);
    if (equal < asking->least)
        return true;
    double similarity = (double)equal / (double)slots;
    if (asking->options.verify == TWIN_VERIFY_EXACT) {
        twin_set set;
        asking->status = twin_collection_set(&set, asking->collection, asking->scratch, document, asking->error);
        if (asking->status != TWIN_OK)
            return false;
        similarity =
            twin_set_similarity_at_least(asking->set, set, asking->options.measure, asking->options.threshold);
    }
    if (similarity < 0)
        return true;
    if (!twin__grow(&asking->out->items, &asking->out->capacity, asking->out->count, 1, sizeof *asking->out->items)) {
        asking->status = twin__fail_memory(asking->error);
        return false;
    }
    asking->out->items[asking->out->count++] = (twin_match){ 0, document, similarity };
    return true;
}

static int by_similarity(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

twin_status twin_similar_to(twin_matches *out, const twin_collection *collection, const twin_bands *bands,
                            twin_similar_options options, const uint32_t *signature, twin_set set,
                            twin_scratch *scratch, twin_error *error)
{
    out->count = 0;
    if (!options_are_good(options))
        return twin__fail(error, TWIN_EINVAL, "%s", twin_status_text(TWIN_EINVAL));
    if (set.count == 0)
        return TWIN_OK;
    struct asking asking = { .out = out,
                             .collection = collection,
                             .options = options,
                             .signature = signature,
                             .set = set,
                             .least = least_agreement(options, twin_collection_slots(collection)),
                             .scratch = scratch,
                             .error = error };
    twin_bands_query(bands, signature, ask_candidate, &asking);
    if (asking.status == TWIN_OK && out->count)
        qsort(out->items, out->count, sizeof *out->items, by_similarity);
    return asking.status;
}

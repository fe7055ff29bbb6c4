/* similar.c — candidates are checked, and the similar stay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "join/similar_private.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the first gate: enough equal slots ---- */

struct gate {
    const twin_collection *collection;
    twin_similar_options options;
    const uint32_t *signatures;
    size_t slots, least;
    struct worker {
        struct twin__pairs pairs;
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
    if (!twin__array_grow(&worker->pairs.items, &worker->pairs.capacity, worker->pairs.count, 1, sizeof(uint64_t)))
        worker->no_memory = true;
    else
        worker->pairs.items[worker->pairs.count++] = (uint64_t)a << 32 | b;
}

/* Brings the workers' pairs together. */
static twin_status gather(struct twin__pairs *out, struct gate *gate, int workers, twin_similar_counts *counts)
{
    size_t total = 0;
    for (int i = 0; i < workers; i++) {
        if (gate->workers[i].no_memory)
            return TWIN_ENOMEM;
        total += gate->workers[i].pairs.count;
        counts->candidates += gate->workers[i].candidates;
    }
    if (!twin__array_grow(&out->items, &out->capacity, 0, total + 1, sizeof(uint64_t)))
        return TWIN_ENOMEM;
    for (int i = 0; i < workers; i++) {
        const struct twin__pairs *pairs = &gate->workers[i].pairs;
        if (pairs->count)
            memcpy(out->items + out->count, pairs->items, pairs->count * sizeof(uint64_t));
        out->count += pairs->count;
    }
    return TWIN_OK;
}

static twin_status find_pairs(struct twin__pairs *out, const twin_collection *collection,
                              twin_similar_options options, twin_similar_counts *counts)
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

/* ---- or the best of each document ---- */

/* A forest's order is that of estimates: so many more than asked for are compared exactly. */
static size_t taken_for(size_t top)
{
    return 2 * top + 16;
}

static twin_status find_best_pairs(struct twin__pairs *out, const twin_collection *collection,
                                   twin_similar_options options, twin_similar_counts *counts)
{
    twin_signatures signatures = { .rows = twin_collection_signatures(collection),
                                   .slots = twin_collection_slots(collection) };
    signatures.count = twin_collection_distinct(&signatures.documents, collection);
    struct twin__minhash_forest *grove;
    twin_status status = twin__minhash_forest_create(&grove, signatures, options.bands.plan, 0);
    if (status == TWIN_OK)
        status = twin__minhash_forest_pairs(
            out, NULL, &counts->candidates, grove,
            (struct twin__minhash_forest_query){ .documents = signatures.documents,
                                                 .count = signatures.count,
                                                 .take = taken_for(options.top),
                                                 .least = least_agreement(options, signatures.slots),
                                                 .exec = options.exec });
    twin__minhash_forest_free(grove);
    return status;
}

/* A match as one of its documents sees it. */
struct view {
    uint32_t document, other;
    double similarity;
    size_t match;
};

static int by_rank(const void *a, const void *b)
{
    const struct view *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->other > y->other) - (x->other < y->other);
}

/* Keeps the matches that are among the best of either document. */
static twin_status keep_top(twin_similar *similar, size_t top)
{
    size_t count = similar->count, kept = 0;
    struct view *views = malloc((2 * count + 1) * sizeof *views);
    bool *keep = calloc(count + 1, sizeof *keep);
    for (size_t i = 0; views && i < count; i++) {
        twin_match match = similar->matches[i];
        views[2 * i] = (struct view){ match.a, match.b, match.similarity, i };
        views[2 * i + 1] = (struct view){ match.b, match.a, match.similarity, i };
    }
    if (views && keep && count) {
        qsort(views, 2 * count, sizeof *views, by_rank);
        for (size_t i = 0, rank = 0; i < 2 * count; i++) {
            rank = i > 0 && views[i].document == views[i - 1].document ? rank + 1 : 0;
            keep[views[i].match] |= rank < top;
        }
        for (size_t i = 0; i < count; i++)
            if (keep[i])
                similar->matches[kept++] = similar->matches[i];
        similar->count = kept;
    }
    bool done = views && keep;
    free(views);
    free(keep);
    return done ? TWIN_OK : TWIN_ENOMEM;
}

/* ---- the other gates: sizes, and the exact similarity ---- */

static twin_status fetch_set(struct twin__blob *out, const twin_collection *collection, twin_scratch *scratch,
                             uint32_t document, twin_error *error)
{
    twin_set set;
    twin_status status = twin_collection_set(&set, collection, scratch, document, error);
    if (status == TWIN_OK)
        *out = (struct twin__blob){ set.items, set.count * sizeof *set.items };
    return status;
}

static twin_status compare_sets(double *out, void *context, struct twin__blob a, struct twin__blob b, int worker)
{
    (void)worker;
    const twin_similar_options *options = context;
    *out = twin_set_similarity_at_least((twin_set){ a.bytes, a.size / sizeof(uint64_t) },
                                        (twin_set){ b.bytes, b.size / sizeof(uint64_t) }, options->measure,
                                        options->threshold);
    return TWIN_OK;
}

static twin_status verify_exact(twin_similar *similar, const struct twin__pairs *pairs, twin_similar_options options,
                                twin_error *error)
{
    struct twin__comparison judge = { fetch_set, compare_sets, &options };
    return twin__verify_pairs(similar, pairs, judge, options.exec, options.progress, error);
}

static twin_status take_estimates(twin_similar *similar, const struct twin__pairs *pairs)
{
    const uint32_t *signatures = twin_collection_signatures(similar->collection);
    size_t slots = twin_collection_slots(similar->collection);
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < pairs->count && status == TWIN_OK; i++) {
        uint32_t a = (uint32_t)(pairs->items[i] >> 32), b = (uint32_t)pairs->items[i];
        size_t equal = twin_minhash_agreement(signatures + a * slots, signatures + b * slots, slots);
        status = twin__keep_match(similar, a, b, (double)equal / (double)slots);
    }
    return status;
}

static bool options_are_good(twin_similar_options options)
{
    if (!(options.threshold > 0 && options.threshold <= 1))
        return false;
    if (options.method == TWIN_METHOD_FOREST && (options.measure != TWIN_JACCARD || options.top == 0))
        return false;
    return options.verify == TWIN_VERIFY_EXACT || options.measure == TWIN_JACCARD;
}

static twin_status find(twin_similar *similar, twin_similar_options options, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    double begun = seconds();
    bool forest = options.method == TWIN_METHOD_FOREST;
    twin_status status = forest ? find_best_pairs(&pairs, similar->collection, options, &similar->counts)
                                : find_pairs(&pairs, similar->collection, options, &similar->counts);
    double paired = seconds();
    if (status == TWIN_OK && options.verify == TWIN_VERIFY_EXACT)
        status = verify_exact(similar, &pairs, options, error);
    else if (status == TWIN_OK)
        status = take_estimates(similar, &pairs);
    if (status == TWIN_OK && forest)
        status = keep_top(similar, options.top);
    if (status == TWIN_OK)
        twin__sort_matches(similar);
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
        return twin__fail_status(error, TWIN_EINVAL);
    twin_similar *similar = calloc(1, sizeof *similar);
    if (!similar)
        return twin__fail_memory(error);
    similar->collection = collection;
    if (error)
        error->status = TWIN_OK;
    twin_status status = find(similar, options, error);
    if (status != TWIN_OK) {
        twin_similar_free(similar);
        return error && error->status == TWIN_OK ? twin__fail_status(error, status) : status;
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
    if (!twin__array_grow(&asking->out->items, &asking->out->capacity, asking->out->count, 1,
                          sizeof *asking->out->items)) {
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
        return twin__fail_status(error, TWIN_EINVAL);
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

/* exact_copies.c — what came before: ids that repeat, and documents whose sets are equal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "join/collection_private.h"
#include "kernels/sort.h"

static const twin_hash plain = { .family = TWIN_HASH_XXH3 };

uint64_t twin__id_hash(twin_text id)
{
    return twin_hash_bytes(plain, id.bytes, id.length);
}

/* Documents by a hash of theirs: its high half above the number, sorted, so that equal ones stand together and
 * in the order of the collection. */
struct order {
    uint64_t *keys, *spare;
    size_t count;
};

static twin_status order_init(struct order *order, size_t most)
{
    *order = (struct order){ .keys = malloc((most + 1) * sizeof(uint64_t)),
                             .spare = malloc((most + 1) * sizeof(uint64_t)) };
    return order->keys && order->spare ? TWIN_OK : TWIN_ENOMEM;
}

static void order_clear(struct order *order)
{
    free(order->keys);
    free(order->spare);
}

static void order_add(struct order *order, uint64_t hash, size_t document)
{
    order->keys[order->count++] = (hash & ~(uint64_t)UINT32_MAX) | document;
}

static uint32_t order_document(const struct order *order, size_t i)
{
    return (uint32_t)order->keys[i];
}

/* Where the run of equal keys that begins at `begin` ends. */
static size_t run_end(const struct order *order, size_t begin)
{
    size_t end = begin + 1;
    while (end < order->count && order->keys[end] >> 32 == order->keys[begin] >> 32)
        end++;
    return end;
}

/* ---- ids that repeat ---- */

static bool same_id(const twin_collection *collection, uint32_t a, uint32_t b)
{
    twin_text x = twin_collection_id(NULL, collection, a), y = twin_collection_id(NULL, collection, b);
    return x.length == y.length && memcmp(x.bytes, y.bytes, x.length) == 0;
}

static twin_status report_repeat(twin_collection *collection, uint32_t first, uint32_t again)
{
    twin_position before = collection->entries[first].position;
    twin_problem problem = { .kind = TWIN_PROBLEM_REPEATED_ID, .position = collection->entries[again].position };
    twin_text id = twin_collection_id(NULL, collection, again);
    int shown = id.length > 60 ? 60 : (int)id.length;
    if (before.source == problem.position.source && before.line)
        snprintf(problem.message, sizeof problem.message, "the id \"%.*s\" repeats that of line %" PRIu64, shown,
                 id.bytes, before.line);
    else
        snprintf(problem.message, sizeof problem.message, "the id \"%.*s\" repeats that of an earlier input", shown,
                 id.bytes);
    return twin__add_problem(collection, &problem);
}

/* Within a run of equal hash halves, each document is compared with those before it that were kept. */
static twin_status check_run(twin_collection *collection, bool *dropped, const struct order *order, size_t begin,
                             size_t end)
{
    for (size_t i = begin + 1; i < end; i++)
        for (size_t j = begin; j < i; j++) {
            uint32_t a = order_document(order, j), b = order_document(order, i);
            if (dropped[a] || !same_id(collection, a, b))
                continue;
            dropped[b] = true;
            twin_status status = report_repeat(collection, a, b);
            if (status != TWIN_OK)
                return status;
            break;
        }
    return TWIN_OK;
}

static int by_place(const void *a, const void *b)
{
    const twin_position *p = &((const twin_problem *)a)->position, *q = &((const twin_problem *)b)->position;
    if (p->source != q->source)
        return p->source < q->source ? -1 : 1;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->offset > q->offset) - (p->offset < q->offset);
}

static void close_ranks(twin_collection *collection, const bool *dropped)
{
    size_t kept = 0, slots = collection->slots;
    for (size_t i = 0; i < collection->count; i++) {
        if (dropped[i]) {
            collection->counts.too_short -= collection->entries[i].is_empty;
            continue;
        }
        if (kept != i) {
            collection->entries[kept] = collection->entries[i];
            if (slots)
                memcpy(collection->signatures + kept * slots, collection->signatures + i * slots,
                       slots * sizeof(uint32_t));
        }
        kept++;
    }
    collection->count = kept;
    qsort(collection->problems, collection->problem_count, sizeof *collection->problems, by_place);
}

static twin_status find_repeats(twin_collection *collection, bool *dropped, struct order *order)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < collection->count; i++)
        order_add(order, twin__id_hash(twin_collection_id(NULL, collection, (uint32_t)i)), i);
    twin__sort_by_high_half(order->keys, order->spare, order->count);
    for (size_t begin = 0, end; begin < order->count && status == TWIN_OK; begin = end) {
        end = run_end(order, begin);
        status = check_run(collection, dropped, order, begin, end);
    }
    return status;
}

twin_status twin__drop_repeated_ids(twin_collection *collection, twin_error *error)
{
    if (collection->rows)
        return TWIN_OK; /* a name that repeats is the same set */
    struct order order = { 0 };
    size_t problems = collection->problem_count;
    bool *dropped = calloc(collection->count + 1, sizeof *dropped);
    twin_status status = order_init(&order, collection->count);
    if (!dropped)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = find_repeats(collection, dropped, &order);
    if (status == TWIN_OK && collection->problem_count > problems) {
        close_ranks(collection, dropped);
        if (collection->strict)
            status = twin__fail_problem(error, collection, &collection->problems[0]);
    }
    order_clear(&order);
    free(dropped);
    return status;
}

/* ---- equal sets ---- */

/* Documents, in increasing order, and a digest for each. */
struct digests {
    uint32_t *documents;
    twin_digest *digests;
    size_t count;
};

static twin_status digests_init(struct digests *list, size_t most)
{
    *list = (struct digests){ .documents = malloc((most + 1) * sizeof(uint32_t)),
                              .digests = malloc((most + 1) * sizeof(twin_digest)) };
    return list->documents && list->digests ? TWIN_OK : TWIN_ENOMEM;
}

static void digests_clear(struct digests *list)
{
    free(list->documents);
    free(list->digests);
}

/* Points every document to the first with the same digest. */
static void fold_equal(uint32_t *firsts, struct order *order, const struct digests *list)
{
    order->count = 0;
    for (size_t i = 0; i < list->count; i++)
        order_add(order, list->digests[i].low, i);
    twin__sort_by_high_half(order->keys, order->spare, order->count);
    for (size_t begin = 0, end; begin < order->count; begin = end) {
        end = run_end(order, begin);
        for (size_t i = begin + 1; i < end; i++)
            for (size_t j = begin; j < i; j++) {
                uint32_t a = order_document(order, j), b = order_document(order, i);
                uint32_t first = list->documents[a];
                if (firsts[first] == first && list->digests[a].low == list->digests[b].low &&
                    list->digests[a].high == list->digests[b].high) {
                    firsts[list->documents[b]] = first;
                    break;
                }
            }
    }
}

/* Equal texts have equal sets. */
static void fold_texts(twin_collection *collection, struct order *order, struct digests *list)
{
    list->count = 0;
    for (size_t i = 0; i < collection->count; i++)
        if (!collection->entries[i].is_empty) {
            list->documents[list->count] = (uint32_t)i;
            list->digests[list->count++] = collection->entries[i].digest;
        }
    fold_equal(collection->firsts, order, list);
}

/* Different texts with equal sets have equal signatures; the few documents that share a signature are suspects. */
static void find_suspects(struct digests *out, struct order *order, const twin_collection *collection)
{
    size_t bytes = collection->slots * sizeof(uint32_t);
    order->count = out->count = 0;
    for (size_t i = 0; i < collection->count; i++)
        if (!collection->entries[i].is_empty && collection->firsts[i] == i)
            order_add(order, twin_hash_bytes(plain, collection->signatures + i * collection->slots, bytes), i);
    twin__sort_by_high_half(order->keys, order->spare, order->count);
    for (size_t begin = 0, end; begin < order->count; begin = end) {
        end = run_end(order, begin);
        for (size_t i = begin; i < end && end - begin > 1; i++)
            out->documents[out->count++] = order_document(order, i);
    }
}

struct digesting {
    const twin_collection *collection;
    const struct digests *list;
    twin_scratch *scratch; /* one a worker */
    struct twin__first_failure failure;
};

/* Equal signatures may hide a difference, so the sets of suspects are read again. */
static void digest_sets(void *context, size_t begin, size_t end, int worker)
{
    struct digesting *digesting = context;
    for (size_t i = begin; i < end; i++) {
        twin_set set;
        twin_error error = { 0 };
        twin_status status = twin_collection_set(&set, digesting->collection, &digesting->scratch[worker],
                                                 digesting->list->documents[i], &error);
        if (status != TWIN_OK) {
            twin__keep_first_failure(&digesting->failure, i, &error);
            return;
        }
        digesting->list->digests[i] = twin_set_digest(set);
    }
}

static twin_status fold_sets(twin_collection *collection, struct order *order, struct digests *list, twin_exec exec,
                             twin_error *error)
{
    find_suspects(list, order, collection);
    struct digesting digesting = { .collection = collection, .list = list, .failure = TWIN__NO_FAILURE };
    digesting.scratch = calloc((size_t)exec.workers, sizeof *digesting.scratch);
    if (!digesting.scratch)
        return TWIN_ENOMEM;
    twin_exec_for(exec, list->count, 16, digest_sets, &digesting);
    for (int i = 0; i < exec.workers; i++)
        twin_scratch_clear(&digesting.scratch[i]);
    free(digesting.scratch);
    twin_status status = twin__first_failure(error, &digesting.failure);
    if (status == TWIN_OK)
        fold_equal(collection->firsts, order, list);
    return status;
}

/* A copy of a copy points to the first of all. */
static void finish_firsts(twin_collection *collection)
{
    collection->distinct_count = 0;
    for (size_t i = 0; i < collection->count; i++) {
        uint32_t first = collection->firsts[i];
        collection->firsts[i] = collection->firsts[first];
        collection->counts.copies += first != i;
        if (first == i && !collection->entries[i].is_empty)
            collection->distinct[collection->distinct_count++] = (uint32_t)i;
    }
}

twin_status twin__find_exact_copies(twin_collection *collection, twin_exec exec, twin_error *error)
{
    size_t count = collection->count;
    struct order order = { 0 };
    struct digests list = { 0 };
    twin_status status = TWIN_ENOMEM;
    collection->firsts = malloc((count + 1) * sizeof *collection->firsts);
    collection->distinct = malloc((count + 1) * sizeof *collection->distinct);
    if (!collection->firsts || !collection->distinct || order_init(&order, count) != TWIN_OK ||
        digests_init(&list, count) != TWIN_OK)
        goto done;
    for (size_t i = 0; i < count; i++)
        collection->firsts[i] = (uint32_t)i;
    fold_texts(collection, &order, &list);
    status = collection->rows || collection->texts ? TWIN_OK : fold_sets(collection, &order, &list, exec, error);
    if (status == TWIN_OK)
        finish_firsts(collection);
done:
    order_clear(&order);
    digests_clear(&list);
    return status;
}

/* exact_copies.c — what came before: ids that repeat, and documents whose sets are equal.
 *
 * Both are found by sorting: documents in the order of a hash, so that equal ones are adjacent. Ids with equal hashes
 * are compared as they are. Equal sets have equal signatures, so that most documents are known to have no copy by their
 * first slots alone. Of the others, equal texts are found by their digests. Different texts may still have equal sets: the
 * few documents that share a whole signature with another text are read again, and the digests of their sets decide. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "collection/collection_private.h"
#include "collection/contents.h"
#include "kernels/sort.h"
#include "sketch/set.h"

static const twin_hash plain = { .family = TWIN_HASH_XXH3 };

uint64_t twin__id_hash(twin_text id)
{
    return twin_hash_bytes(plain, id.bytes, id.length);
}

/* Documents by a hash of theirs: its high half above the number, sorted, so that equal ones are adjacent and
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

static uint64_t key_of(uint64_t hash, size_t document)
{
    return (hash & ~(uint64_t)UINT32_MAX) | document;
}

static void order_add(struct order *order, uint64_t hash, size_t document)
{
    order->keys[order->count++] = key_of(hash, document);
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
    twin_text x = twin_collection_entry_of(collection, a).id, y = twin_collection_entry_of(collection, b).id;
    return x.length == y.length && memcmp(x.bytes, y.bytes, x.length) == 0;
}

static twin_problem repeat_problem(const twin_collection *collection, uint32_t first, uint32_t again)
{
    twin_position position = collection->entries[again].position;
    twin_problem problem = { .kind = TWIN_PROBLEM_REPEATED_ID, .position = position, .column = position.line > 0 };
    twin_text id = twin_collection_entry_of(collection, again).id;
    twin_buffer where = { 0 };
    bool known = twin_input_describe(&where, collection->input, collection->entries[first].position, 0) == TWIN_OK;
    snprintf(problem.message, sizeof problem.message, "the id \"%.*s\" repeats that of %s",
             id.length > 60 ? 60 : (int)id.length, id.bytes, known ? where.bytes : "an earlier document");
    twin_buffer_clear(&where);
    return problem;
}

static void order_ids(struct order *order, const twin_collection *collection)
{
    order->count = 0;
    for (size_t i = 0; i < collection->count; i++)
        order_add(order, twin__id_hash(twin_collection_entry_of(collection, (uint32_t)i).id), i);
    twin__sort_by_high_half(order->keys, order->spare, order->count);
}

/* A document without an id is named by its line, and that may be the id of another. Then all such names get a colon in
 * front, or two, or four, until none is an id: doubling, lest ids be made that take as many rounds as there are. */
static bool is_taken(const twin_collection *collection, const struct order *order)
{
    for (size_t begin = 0, end; begin < order->count; begin = end) {
        end = run_end(order, begin);
        for (size_t i = begin; i < end; i++)
            for (size_t j = begin; j < end && !collection->entries[order_document(order, i)].has_id; j++) {
                uint32_t a = order_document(order, i), b = order_document(order, j);
                if (collection->entries[b].has_id && same_id(collection, a, b))
                    return true;
            }
    }
    return false;
}

/* Puts `colons` more before the names. */
static twin_status rename_unnamed(twin_collection *collection, size_t colons)
{
    twin_buffer *ids = &collection->ids;
    for (size_t i = 0; i < collection->count; i++) {
        struct twin__entry *entry = &collection->entries[i];
        if (entry->has_id)
            continue;
        if (entry->id_length > UINT32_MAX - colons)
            return TWIN_ELIMIT;
        if (twin_buffer_reserve(ids, colons + entry->id_length) != TWIN_OK)
            return TWIN_ENOMEM;
        memset(ids->bytes + ids->length, ':', colons);
        memcpy(ids->bytes + ids->length + colons, ids->bytes + entry->id, entry->id_length);
        entry->id = ids->length;
        entry->id_length += (uint32_t)colons;
        ids->length += entry->id_length;
    }
    return TWIN_OK;
}

/* Sorts the ids, and changes names until none is an id. */
static twin_status make_names_unique(twin_collection *collection, struct order *order)
{
    twin_status status = TWIN_OK;
    order_ids(order, collection);
    for (size_t colons = 0; status == TWIN_OK && is_taken(collection, order);) {
        size_t more = colons ? colons : 1;
        status = rename_unnamed(collection, more);
        colons += more;
        order_ids(order, collection);
    }
    return status;
}

/* Within a run of equal hash halves, each document is compared with those before it that were kept. `repeated` is one
 * more than the document that has the id, or 0. */
static void check_run(uint32_t *repeated, const twin_collection *collection, const struct order *order, size_t begin,
                      size_t end)
{
    for (size_t i = begin + 1; i < end; i++)
        for (size_t j = begin; j < i; j++) {
            uint32_t a = order_document(order, j), b = order_document(order, i);
            if (repeated[a] || !same_id(collection, a, b))
                continue;
            repeated[b] = a + 1;
            break;
        }
}

static void find_repeats(uint32_t *repeated, const twin_collection *collection, const struct order *order)
{
    for (size_t begin = 0, end, run = 0; begin < order->count && twin__poll_at(run++) == TWIN_OK; begin = end) {
        end = run_end(order, begin);
        check_run(repeated, collection, order, begin, end);
    }
}

static int by_position(const void *a, const void *b)
{
    const twin_position *p = &((const twin_problem *)a)->position, *q = &((const twin_problem *)b)->position;
    if (p->source != q->source)
        return p->source < q->source ? -1 : 1;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->offset > q->offset) - (p->offset < q->offset);
}

/* Adds the repeats to the problems, of which the first in the order of the input are kept. */
static twin_status report_repeats(twin_collection *collection, const uint32_t *repeated)
{
    twin_problem *problems = malloc(2 * TWIN_PROBLEMS_KEPT * sizeof *problems);
    size_t kept = collection->problem_count, most = kept + TWIN_PROBLEMS_KEPT, count = 0;
    if (!problems)
        return TWIN_ENOMEM;
    memcpy(problems, collection->problems, kept * sizeof *problems);
    for (uint32_t i = 0; i < collection->count; i++) {
        if (!repeated[i])
            continue;
        count++;
        if (kept < most)
            problems[kept++] = repeat_problem(collection, repeated[i] - 1, i);
    }
    qsort(problems, kept, sizeof *problems, by_position);
    collection->problem_count = kept < TWIN_PROBLEMS_KEPT ? kept : TWIN_PROBLEMS_KEPT;
    memcpy(collection->problems, problems, collection->problem_count * sizeof *problems);
    collection->counts.problems += count;
    collection->counts.repeated_ids = count;
    free(problems);
    return TWIN_OK;
}

static void drop_repeats(twin_collection *collection, const uint32_t *repeated)
{
    size_t kept = 0, slots = collection->slots;
    for (size_t i = 0; i < collection->count; i++) {
        if (repeated[i]) {
            collection->counts.too_short -= collection->entries[i].is_short;
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
}

twin_status twin__drop_repeated_ids(twin_collection *collection, const twin_collection_options *options,
                                    twin_error *error)
{
    if (collection->rows)
        return TWIN_OK; /* a name that repeats is the same set */
    struct order order = { 0 };
    uint32_t *repeated = calloc(collection->count + 1, sizeof *repeated);
    twin_status status = order_init(&order, collection->count);
    if (!repeated)
        status = TWIN_ENOMEM;
    if (status == TWIN_OK)
        status = make_names_unique(collection, &order);
    if (status == TWIN_OK) {
        find_repeats(repeated, collection, &order);
        status = twin__poll();
    }
    if (status == TWIN_OK) {
        status = report_repeats(collection, repeated);
    }
    if (status == TWIN_OK && collection->counts.repeated_ids)
        drop_repeats(collection, repeated);
    if (status == TWIN_OK && options->strict && collection->problem_count)
        status = twin__fail_problem(error, collection->input, &collection->problems[0]);
    order_clear(&order);
    free(repeated);
    return status;
}

/* ---- equal sets ---- */

/* Documents, in increasing order, and a digest for each. Arrays have room for all documents; most of it is never
 * touched. */
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

static bool same_digest(twin_digest a, twin_digest b)
{
    return a.low == b.low && a.high == b.high;
}

/* Sorts the order, and points every document to the first with the same digest. The order is of numbers in the list,
 * or, without one, of documents by the digests of their texts. */
static void fold_equal(twin_collection *collection, struct order *order, const struct digests *list)
{
    uint32_t *firsts = collection->firsts;
    twin__sort_by_high_half(order->keys, order->spare, order->count);
    for (size_t begin = 0, end, run = 0; begin < order->count && twin__poll_at(run++) == TWIN_OK; begin = end) {
        end = run_end(order, begin);
        for (size_t i = begin + 1; i < end; i++) {
            uint32_t b = order_document(order, i);
            twin_digest digest = list ? list->digests[b] : twin__entry_of(collection, b)->digest;
            for (size_t j = begin; j < i; j++) {
                uint32_t a = order_document(order, j), first = list ? list->documents[a] : a;
                if (firsts[first] == first &&
                    same_digest(digest, list ? list->digests[a] : twin__entry_of(collection, a)->digest)) {
                    firsts[list ? list->documents[b] : b] = first;
                    break;
                }
            }
        }
    }
}

/* The first slots of signatures, which are far apart in memory, are hashed. */
struct slot_hashing {
    struct order *order;
    const twin_collection *collection;
    size_t slots;
};

static void hash_slots(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    enum { AHEAD = 16 }; /* documents whose signatures are fetched in advance */
    const struct slot_hashing *hashing = context;
    const twin_collection *collection = hashing->collection;
    const struct order *order = hashing->order;
    uint32_t next = order_document(order, begin);
    for (size_t i = begin; i < end; i++) {
        uint32_t document = order_document(order, i);
        if (i + AHEAD < end)
            __builtin_prefetch(collection->signatures + (size_t)order_document(order, i + AHEAD) * collection->slots);
        twin__signatures_pass(collection, document - next);
        const uint32_t *signature = twin__signature_of(collection, document);
        next = document + 1;
        order->keys[i] = key_of(twin_hash_bytes(plain, signature, hashing->slots * sizeof *signature), document);
    }
}

/* Leaves those of the documents, which come in increasing order, whose signatures have the same first slots as another's. */
static void leave_alike(struct order *order, const twin_collection *collection, size_t slots, twin_exec exec)
{
    enum { PIECE = 4096 };
    size_t count = order->count, left = 0;
    struct slot_hashing hashing = { order, collection, slots };
    twin_exec_for(exec, count, PIECE, hash_slots, &hashing);
    twin__sort_by_high_half(order->keys, order->spare, count);
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = run_end(order, begin);
        for (size_t i = begin; i < end && end - begin > 1; i++)
            order->keys[left++] = order->keys[i];
    }
    order->count = left;
}

/* So that files are read from front to back. */
static void sort_by_number(struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        order->keys[i] = (uint64_t)order_document(order, i) << 32 | order_document(order, i);
    twin__sort_by_high_half(order->keys, order->spare, order->count);
}

/* Lists the documents of which another may have the same set. Equal sets have equal signatures, and most signatures differ
 * from all others in the first slots. */
static void find_suspects(struct order *order, const twin_collection *collection, twin_exec exec)
{
    enum { FIRST_SLOTS = 4 };
    order->count = 0;
    for (size_t i = 0; i < collection->count; i++)
        if (!twin__entry_of(collection, (uint32_t)i)->is_empty)
            order_add(order, 0, i);
    if (collection->slots == 0)
        return;
    leave_alike(order, collection, collection->slots < FIRST_SLOTS ? collection->slots : FIRST_SLOTS, exec);
    sort_by_number(order);
}

/* Equal texts have equal sets. */
static void fold_texts(twin_collection *collection, struct order *order)
{
    size_t count = order->count;
    order->count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t document = order_document(order, i);
        order_add(order, twin__entry_of(collection, document)->digest.low, document);
    }
    fold_equal(collection, order, NULL);
}

/* Lists the documents whose whole signatures are those of another text. */
static void list_doubtful(struct digests *out, struct order *order, const twin_collection *collection, twin_exec exec)
{
    size_t count = order->count;
    order->count = out->count = 0;
    for (size_t i = 0; i < count; i++)
        if (collection->firsts[order_document(order, i)] == order_document(order, i))
            order->keys[order->count++] = order->keys[i];
    sort_by_number(order);
    leave_alike(order, collection, collection->slots, exec);
    sort_by_number(order);
    for (size_t i = 0; i < order->count; i++)
        out->documents[out->count++] = order_document(order, i);
}

struct digesting {
    const twin_collection *collection;
    const struct digests *list;
    twin_scratch *scratch; /* one per worker */
};

static twin_status digest_set(const struct digesting *digesting, size_t i, twin_scratch *scratch, twin_error *error)
{
    const twin_collection *collection = digesting->collection;
    uint32_t document = digesting->list->documents[i];
    twin_digest *digest = &digesting->list->digests[i];
    if (twin__entry_of(collection, document)->is_long)
        return twin__long_document_digest(digest, collection, scratch, document, error);
    twin_set set;
    twin_status status = twin__collection_set(&set, collection, scratch, document, error);
    if (status == TWIN_OK)
        *digest = twin__set_digest(set);
    return status;
}

/* Equal signatures may hide a difference, so the sets of suspects are read again. */
static twin_status digest_sets(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct digesting *digesting = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = digest_set(digesting, i, &digesting->scratch[worker], error);
    return status;
}

static twin_status fold_sets(twin_collection *collection, struct order *order, struct digests *list, twin_exec exec,
                             twin_error *error)
{
    list_doubtful(list, order, collection, exec);
    struct digesting digesting = { .collection = collection, .list = list };
    digesting.scratch = calloc((size_t)exec.workers, sizeof *digesting.scratch);
    if (!digesting.scratch)
        return TWIN_ENOMEM;
    twin_status status = twin__exec_try(exec, list->count, 16, digest_sets, &digesting, error);
    for (int i = 0; i < exec.workers; i++)
        twin__scratch_clear(&digesting.scratch[i]);
    free(digesting.scratch);
    order->count = 0;
    for (size_t i = 0; i < list->count; i++)
        order_add(order, list->digests[i].low, i);
    if (status == TWIN_OK)
        fold_equal(collection, order, list);
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
        if (first == i && !twin__entry_of(collection, (uint32_t)i)->is_empty)
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
    find_suspects(&order, collection, exec);
    fold_texts(collection, &order);
    status = twin__poll();
    if (status != TWIN_OK)
        goto done;
    status = collection->rows || collection->texts ? TWIN_OK : fold_sets(collection, &order, &list, exec, error);
    if (status == TWIN_OK)
        finish_firsts(collection);
done:
    order_clear(&order);
    digests_clear(&list);
    return status;
}

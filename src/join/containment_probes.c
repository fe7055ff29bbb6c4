/* containment_probes.c — which documents may be contained in a larger one, and by which shingles that is found.
 *
 * Documents are taken from the largest to the smallest, some thousand shingles of a batch at a time. Each shingle is
 * looked up in the marks of all larger documents (shingle_marks.h) and then marked with the colour of its own. A
 * document that lacks more marks of a colour than the threshold leaves room for is contained in no document of that
 * colour; if that is so for all colours, as for most documents, it needs no probes. Shingles without a mark of the
 * colours that are left are absent from whatever contains the document. Of the others the rarest become probes: as
 * many as the threshold still leaves room for, and some more.
 *
 * The sets of a batch are fetched into one array. The table of marks is divided by the leading bits of shingles, and
 * so is each sorted set: workers take parts, and within a part documents are marked in order. So the marks, and what
 * is found, do not depend on the workers. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "join/containment_private.h"
#include "kernels/sort.h"

enum { CLASSES = 1024 }; /* counts that are distinguished before sorting; the last has all others */
enum { BATCH_DOCUMENTS = 4096 };

struct worker {
    uint64_t *tokens, *spare; /* of a set: the count of each item in the high 16 bits, its place in the others */
    size_t capacity, spare_capacity;
    uint32_t classes[CLASSES];
    struct twin__pairs entries; /* of the index, with the place of a document in its batch */
};

/* The sets of some documents of consecutive ranks, the largest first. */
struct batch {
    size_t last, count; /* the rank of the first document, and documents */
    uint64_t *items;
    uint64_t *marks; /* of each item, the colours of larger documents that may have it */
    size_t item_capacity, mark_capacity;
    size_t starts[BATCH_DOCUMENTS + 1];
    uint32_t parts[BATCH_DOCUMENTS][TWIN__MARK_PARTS + 1]; /* where the parts of a set begin, and the last ends */
    struct twin__probe_member found[BATCH_DOCUMENTS];      /* wanted is 0: it is contained in no other */
    uint32_t members[BATCH_DOCUMENTS];                     /* its number in the block */
};

struct twin__prober {
    struct twin__containment *join;
    struct twin__shingle_marks marks;
    size_t left;
    struct batch *batch;
    struct worker *workers;
};

/* ---- fetching ---- */

/* Where the parts of a sorted set begin. */
static void divide_set(uint32_t begins[TWIN__MARK_PARTS + 1], const uint64_t *items, size_t count)
{
    size_t at = 0;
    for (uint64_t part = 0; part < TWIN__MARK_PARTS; part++) {
        if (at < count)
            at += twin__lower_bound(items + at, count - at, part << (64 - TWIN__MARK_PART_BITS));
        begins[part] = (uint32_t)at;
    }
    begins[TWIN__MARK_PARTS] = (uint32_t)count;
}

static twin_status fetch_document(struct batch *batch, const struct twin__containment *join, size_t i, int worker,
                                  twin_error *error)
{
    twin_set set;
    uint32_t document = twin__containment_document(join, batch->last - i);
    twin_status status = twin__provider_set(&set, join->provider, document, worker, error);
    if (status != TWIN_OK)
        return status;
    if (set.count != batch->starts[i + 1] - batch->starts[i])
        return twin__fail(error, TWIN_EIO, "document %u has another size than when it was first read", document);
    if (set.count)
        memcpy(batch->items + batch->starts[i], set.items, set.count * sizeof *set.items);
    divide_set(batch->parts[i], set.items, set.count);
    return TWIN_OK;
}

static twin_status fetch_documents(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__prober *prober = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = fetch_document(prober->batch, prober->join, i, worker, error);
    return status;
}

/* As many of the documents that are left as fit, at least one. */
static bool size_batch(struct twin__prober *prober)
{
    struct batch *batch = prober->batch;
    batch->last = prober->left - 1;
    batch->count = batch->starts[0] = 0;
    while (batch->count < BATCH_DOCUMENTS && batch->count < prober->left) {
        size_t size = twin__containment_size(prober->join, batch->last - batch->count);
        size_t items = batch->starts[batch->count];
        if (batch->count > 0 && items + size > prober->join->options.items_at_a_time)
            break;
        batch->starts[++batch->count] = items + size;
    }
    size_t items = batch->starts[batch->count];
    return TWIN__ARRAY_GROW(&batch->items, &batch->item_capacity, 0, items + 1) &&
           TWIN__ARRAY_GROW(&batch->marks, &batch->mark_capacity, 0, items + 1);
}

/* ---- marking ---- */

static void mark_parts(void *context, size_t begin, size_t end, int worker)
{
    struct twin__prober *prober = context;
    struct batch *batch = prober->batch;
    (void)worker;
    for (size_t part = begin; part < end; part++)
        for (size_t i = 0; i < batch->count; i++) {
            size_t first = batch->starts[i] + batch->parts[i][part];
            twin_set set = { batch->items + first, batch->parts[i][part + 1] - batch->parts[i][part] };
            twin__shingle_marks_add(batch->marks + first, &prober->marks, set,
                                    twin__containment_colour(prober->join, batch->last - i));
        }
}

/* The colours of larger documents that may contain document i of the batch. */
static uint64_t possible_colours(const struct twin__prober *prober, size_t i, size_t needed)
{
    const struct batch *batch = prober->batch;
    uint32_t split = prober->join->provider->split, has[TWIN__COLOURS];
    uint64_t all = 0, first_side = UINT64_MAX >> TWIN__COLOURS / 2;
    twin__count_colours(has, batch->marks + batch->starts[i], batch->starts[i + 1] - batch->starts[i]);
    for (unsigned c = 0; c < TWIN__COLOURS; c++)
        all |= (uint64_t)(has[c] >= needed) << c;
    if (split)
        all &= twin__containment_document(prober->join, batch->last - i) < split ? ~first_side : first_side;
    return all;
}

/* ---- probes ---- */

static unsigned class_of(uint64_t count)
{
    return count < CLASSES ? (unsigned)count : CLASSES - 1;
}

/* Lists the items with a mark of the colours as tokens, and counts them by their classes. Returns how many it
 * listed. */
static size_t list_tokens(struct worker *worker, const struct twin__prober *prober, size_t document, uint64_t colours)
{
    const struct batch *batch = prober->batch;
    size_t begin = batch->starts[document], end = batch->starts[document + 1], listed = 0;
    memset(worker->classes, 0, sizeof worker->classes);
    for (size_t i = begin; i < end; i++) {
        if (!(batch->marks[i] & colours))
            continue;
        uint64_t documents = twin__shingle_marks_count(&prober->marks, batch->items[i], batch->marks[i]);
        documents = documents < UINT16_MAX ? documents : UINT16_MAX;
        worker->classes[class_of(documents)]++;
        worker->tokens[listed++] = documents << 48 | (i - begin);
    }
    return listed;
}

/* How many of the rarest tokens become probes: `least`, and some more that together cost no more to meet. Every probe
 * more is one more that must be met, which leaves fewer pairs to be compared; with all items of a set, just the
 * similar ones. */
static size_t probe_count(const struct worker *worker, size_t least)
{
    enum { MOST_MORE = 128 }; /* by then few pairs are left but similar ones */
    size_t count = 0, budget = 0;
    for (size_t level = 1; level < CLASSES; level++) {
        size_t cost = level < CLASSES - 1 ? level : 4 * CLASSES, first = count < least ? least - count : 0;
        if (first > worker->classes[level])
            first = worker->classes[level];
        size_t more = worker->classes[level] - first;
        budget += first * cost;
        if (more > budget / cost) {
            count += first + budget / cost;
            break;
        }
        count += first + more;
        budget -= more * cost;
    }
    return count < least + MOST_MORE ? count : least + MOST_MORE;
}

/* Leaves the `most` tokens with the least counts, and of equal counts the first; the last class has to be sorted. */
static void keep_rarest(struct worker *worker, size_t count, size_t most)
{
    size_t below = 0, kept = 0;
    unsigned level = 1;
    while (level < CLASSES - 1 && below + worker->classes[level] < most)
        below += worker->classes[level++];
    bool last = level == CLASSES - 1;
    size_t left = last ? count : most - below;
    for (size_t i = 0; i < count; i++) {
        unsigned own = class_of(worker->tokens[i] >> 48);
        bool takes = own < level || (own == level && left > 0);
        left -= own == level && left > 0;
        worker->tokens[kept] = worker->tokens[i];
        kept += takes;
    }
    if (last && kept > most)
        twin__sort(worker->tokens, kept, worker->spare, worker->spare_capacity);
}

/* Makes entries of the probes of document i of the batch, unless it is contained in no other. */
static twin_status add_probes(struct worker *worker, const struct twin__prober *prober, size_t i, twin_error *error)
{
    struct batch *batch = prober->batch;
    const uint64_t *items = batch->items + batch->starts[i];
    size_t count = batch->starts[i + 1] - batch->starts[i], needed = twin__containment_needed(prober->join, count);
    uint64_t colours = count ? possible_colours(prober, i, needed) : 0;
    batch->found[i] = (struct twin__probe_member){ .rank = (uint32_t)(batch->last - i), .colours = colours };
    if (!colours)
        return TWIN_OK;
    struct twin__pairs *entries = &worker->entries;
    if (!TWIN__ARRAY_GROW(&worker->tokens, &worker->capacity, 0, count + 1) ||
        !TWIN__ARRAY_GROW(&worker->spare, &worker->spare_capacity, 0, twin__sort_room(count) + 1))
        return twin__fail_memory(error);
    size_t listed = list_tokens(worker, prober, i, colours);
    size_t kept = probe_count(worker, listed - needed + 1), wanted = kept - (listed - needed);
    batch->found[i].wanted = wanted < UINT16_MAX ? (uint16_t)wanted : UINT16_MAX;
    keep_rarest(worker, listed, kept);
    if (!TWIN__ARRAY_GROW(&entries->items, &entries->capacity, entries->count, kept))
        return twin__fail_memory(error);
    for (size_t k = 0; k < kept; k++)
        entries->items[entries->count++] = twin__probe_hash(items[worker->tokens[k] & (((uint64_t)1 << 48) - 1)]) | i;
    return TWIN_OK;
}

static twin_status probe_documents(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct twin__prober *prober = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = add_probes(&prober->workers[number], prober, i, error);
    return status;
}

/* ---- blocks ---- */

static void number_members(struct twin__probe_block *block, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->found[i].wanted) {
            batch->members[i] = (uint32_t)block->count;
            block->members[block->count++] = batch->found[i];
        }
}

static bool move_entries(struct twin__probe_block *block, struct twin__pairs *entries, const struct batch *batch)
{
    struct twin__sorted_entries *to = &block->index.entries;
    if (!TWIN__ARRAY_GROW(&to->items, &to->capacity, to->count, entries->count))
        return false;
    for (size_t i = 0; i < entries->count; i++) {
        uint64_t place = entries->items[i] & TWIN__PROBE_DOCUMENTS;
        to->items[to->count++] = entries->items[i] - place + batch->members[place];
    }
    entries->count = 0;
    return true;
}

/* Adds the next batch to the block. */
static twin_status take_batch(struct twin__probe_block *block, struct twin__prober *prober, twin_error *error)
{
    enum { DOCUMENTS_AT_A_TIME = 8 };
    struct batch *batch = prober->batch;
    struct twin__containment *join = prober->join;
    twin_exec exec = join->options.exec;
    if (!size_batch(prober) || !TWIN__ARRAY_GROW(&block->members, &block->capacity, block->count, batch->count))
        return twin__fail_memory(error);
    twin_status status = twin__exec_try(exec, batch->count, DOCUMENTS_AT_A_TIME, fetch_documents, prober, error);
    if (status != TWIN_OK)
        return status;
    twin_exec_for(exec, TWIN__MARK_PARTS, 1, mark_parts, prober);
    status = twin__exec_try(exec, batch->count, DOCUMENTS_AT_A_TIME, probe_documents, prober, error);
    if (status != TWIN_OK)
        return status;
    number_members(block, batch);
    for (int i = 0; i < exec.workers && status == TWIN_OK; i++)
        status = move_entries(block, &prober->workers[i].entries, batch) ? TWIN_OK : twin__fail_memory(error);
    prober->left -= batch->count;
    return status;
}

twin_status twin__prober_fill(struct twin__probe_block *block, struct twin__prober *prober, twin_error *error)
{
    enum { MOST_DOCUMENTS = TWIN__PROBE_DOCUMENTS - BATCH_DOCUMENTS };
    block->count = block->index.entries.count = 0;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && prober->left > 0 && block->count < MOST_DOCUMENTS &&
           block->index.entries.count < prober->join->options.index_entries)
        status = take_batch(block, prober, error);
    if (status == TWIN_OK && twin__probe_index_finish(&block->index) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

void twin__probe_block_clear(struct twin__probe_block *block)
{
    free(block->members);
    twin__probe_index_clear(&block->index);
    *block = (struct twin__probe_block){ 0 };
}

/* ---- the prober ---- */

static size_t items_of_all(const struct twin__containment *join)
{
    size_t sum = 0;
    for (size_t rank = 0; rank < join->count; rank++)
        sum += twin__containment_size(join, rank);
    return sum;
}

twin_status twin__prober_create(struct twin__prober **out, struct twin__containment *join)
{
    struct twin__prober *prober = *out = calloc(1, sizeof *prober);
    if (!prober)
        return TWIN_ENOMEM;
    prober->join = join;
    prober->left = join->count;
    prober->batch = calloc(1, sizeof *prober->batch);
    prober->workers = calloc((size_t)join->options.exec.workers, sizeof *prober->workers);
    if (prober->batch && prober->workers)
        return twin__shingle_marks_init(&prober->marks, join->count, items_of_all(join));
    return TWIN_ENOMEM;
}

void twin__prober_free(struct twin__prober *prober)
{
    if (!prober)
        return;
    for (int i = 0; prober->workers && i < prober->join->options.exec.workers; i++) {
        free(prober->workers[i].tokens);
        free(prober->workers[i].spare);
        free(prober->workers[i].entries.items);
    }
    if (prober->batch) {
        free(prober->batch->items);
        free(prober->batch->marks);
    }
    free(prober->batch);
    free(prober->workers);
    twin__shingle_marks_clear(&prober->marks);
    free(prober);
}

size_t twin__prober_left(const struct twin__prober *prober)
{
    return prober->left;
}

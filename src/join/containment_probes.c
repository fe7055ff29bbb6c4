/* containment_probes.c — which documents may be contained in a larger one, and by which shingles that is found.
 *
 * Documents are taken from the largest to the smallest, some thousand shingles of a batch at a time. Each shingle is
 * looked up in the marks of all larger documents (containment.h) and then marked with the colour of its own. A
 * document that lacks more marks of a colour than the threshold leaves room for is contained in no document of that
 * colour; if that is so for all colours, as for most documents, it needs no probes. Shingles without a mark of the
 * colours that are left are absent from whatever contains the document. Of the others the rarest become probes, which
 * the index lists: as many as the threshold still leaves room for, and some more. Frequent items are bits of the index.
 *
 * The sets of a batch are fetched into one array. The table of marks is divided by the leading bits of shingles, and
 * so is each sorted set: workers take parts, and within a part documents are marked in order. So the marks, and what
 * is found, do not depend on the workers.
 *
 * A document that is larger than a batch is taken alone and not copied. Of so long ones there are few, and with fewer than
 * there are colours the marks say nearly exactly which larger document contains it: that pair is compared. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "join/containment.h"
#include "join/join_private.h"

/* ---- marks ---- */

twin_status twin__shingle_marks_init(struct twin__shingle_marks *out, size_t documents, size_t items)
{
    enum { FEWEST_BITS = 10, LARGE_BITS = 23, WORDS_PER_DOCUMENT = 32, MOST_BITS = 36, SHARING = 4 };
    unsigned most = twin__bits_for(WORDS_PER_DOCUMENT * documents, LARGE_BITS, MOST_BITS);
    unsigned bits = twin__bits_for(items / SHARING, FEWEST_BITS, most);
    out->shift = 64 - bits;
    out->marks = calloc((size_t)1 << bits, sizeof *out->marks);
    return out->marks ? TWIN_OK : TWIN_ENOMEM;
}

void twin__shingle_marks_clear(struct twin__shingle_marks *marks)
{
    free(marks->marks);
    *marks = (struct twin__shingle_marks){ 0 };
}

void twin__shingle_marks_add(uint64_t *before, struct twin__shingle_marks *marks, twin_set part, uint64_t colour)
{
    for (size_t i = 0; i < part.count; i++) {
        uint64_t *own = &marks->marks[part.items[i] >> marks->shift];
        before[i] = *own;
        *own |= colour;
    }
}

void twin__count_colours(uint32_t counts[TWIN__COLOURS], const uint64_t *words, size_t count)
{
    memset(counts, 0, TWIN__COLOURS * sizeof *counts);
    while (count > 0) {
        size_t some = count < UINT8_MAX ? count : UINT8_MAX;
        uint64_t sums[8] = { 0 }; /* byte k of word s counts colour 8·k + s */
        for (size_t i = 0; i < some; i++)
            for (unsigned s = 0; s < 8; s++)
                sums[s] += words[i] >> s & 0x0101010101010101;
        for (unsigned c = 0; c < TWIN__COLOURS; c++)
            counts[c] += (uint32_t)(sums[c % 8] >> c / 8 * 8 & UINT8_MAX);
        words += some;
        count -= some;
    }
}

/* ---- the prober ---- */

enum { BATCH_DOCUMENTS = 4096 };

struct worker {
    uint64_t *tokens; /* of a set: how many colours each item has in the high 16 bits, its place in the others */
    size_t capacity;
    uint32_t classes[TWIN__COLOURS + 1]; /* tokens of so many colours */
    struct twin__index_worker divider;
    uint64_t *store; /* bits and rare items of the members that it has found in the batch */
    size_t stored, store_capacity;
};

/* A document of a batch. */
struct taken {
    bool is_member;
    int worker;
    size_t at; /* in the store of the worker */
    struct twin__divided_set set;
};

/* The sets of some documents of consecutive ranks, the largest first. */
struct batch {
    size_t last, count; /* the rank of the first document, and documents */
    uint64_t *items;
    uint64_t *marks; /* of each item, the colours of larger documents that may have it */
    size_t item_capacity, mark_capacity;
    size_t starts[BATCH_DOCUMENTS + 1];
    uint32_t parts[BATCH_DOCUMENTS][TWIN__MARK_PARTS + 1]; /* where the parts of a set begin, and the last ends */
    struct taken taken[BATCH_DOCUMENTS];
};

struct twin__prober {
    struct twin__containment *join;
    struct twin__shingle_marks marks;
    size_t left;
    struct batch *batch;
    struct worker *workers;
    const struct twin__frequent_items *frequent; /* of the index that is filled */
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

/* The colours that so many of the items of a document have as it needs, of larger documents that are wanted with it. */
static uint64_t possible_colours(const struct twin__containment *join, size_t rank, const uint32_t has[TWIN__COLOURS])
{
    uint32_t split = join->provider->split;
    uint64_t all = 0, first_side = UINT64_MAX >> TWIN__COLOURS / 2;
    size_t needed = twin__containment_needed(join, twin__containment_size(join, rank));
    for (unsigned c = 0; c < TWIN__COLOURS; c++)
        all |= (uint64_t)(has[c] >= needed || twin__switched_off.colours) << c;
    if (split)
        all &= twin__containment_document(join, rank) < split ? ~first_side : first_side;
    return all;
}

/* ---- probes ---- */

/* Lists those of the rare items of a document that have a mark of the colours as tokens, and counts them by how many they have.
 * Returns how many it listed. */
static size_t list_tokens(struct worker *worker, const struct twin__prober *prober, size_t document, twin_set rare,
                          uint64_t colours)
{
    const struct batch *batch = prober->batch;
    size_t at = batch->starts[document], listed = 0;
    memset(worker->classes, 0, sizeof worker->classes);
    for (size_t i = 0; i < rare.count; i++, at++) {
        while (batch->items[at] != rare.items[i])
            at++; /* a frequent one */
        if (!(batch->marks[at] & colours))
            continue;
        uint64_t count = (uint64_t)__builtin_popcountll(batch->marks[at]);
        worker->classes[count]++;
        worker->tokens[listed++] = count << 48 | i;
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
    for (size_t level = 1; level <= TWIN__COLOURS; level++) { /* to meet such a probe costs as much */
        size_t first = count < least ? least - count : 0;
        if (first > worker->classes[level])
            first = worker->classes[level];
        size_t more = worker->classes[level] - first;
        budget += first * level;
        if (more > budget / level) {
            count += first + budget / level;
            break;
        }
        count += first + more;
        budget -= more * level;
    }
    return count < least + MOST_MORE ? count : least + MOST_MORE;
}

/* Writes the items of the tokens: first the `most` that have the fewest colours. Of those with as many some of all are taken, spread
 * over the table of the index, in which the items of a set are in their order. */
static void write_rarest(uint64_t *out, struct worker *worker, size_t count, size_t most, const uint64_t *rare)
{
    const uint64_t place = ((uint64_t)1 << 48) - 1;
    size_t below = 0, front = 0, back = most, turn = 0;
    unsigned level = 1;
    while (level < TWIN__COLOURS && below + worker->classes[level] < most)
        below += worker->classes[level++];
    for (size_t i = 0; i < count; i++) {
        unsigned own = (unsigned)(worker->tokens[i] >> 48);
        bool takes = own < level;
        if (own == level) {
            turn += most - below;
            takes = turn >= worker->classes[level];
            turn -= takes ? worker->classes[level] : 0;
        }
        out[takes ? front++ : back++] = rare[worker->tokens[i] & place];
    }
}

/* Writes a document to the worker's store as a member of the index, unless it is contained in no other. Where most of its
 * items are bits or probes the index has all of them, and compares it by itself. */
static twin_status add_member(struct worker *worker, const struct twin__prober *prober, size_t i, uint64_t colours,
                              twin_error *error)
{
    struct batch *batch = prober->batch;
    struct taken *taken = &batch->taken[i];
    twin_set items = { batch->items + batch->starts[i], batch->starts[i + 1] - batch->starts[i] };
    size_t words = prober->frequent->words, needed = twin__containment_needed(prober->join, items.count);
    if (!twin__index_divide(&taken->set, &worker->divider, prober->frequent, items) ||
        !TWIN__ARRAY_GROW(&worker->tokens, &worker->capacity, 0, items.count + 1) ||
        !TWIN__ARRAY_GROW(&worker->store, &worker->store_capacity, worker->stored, words + items.count))
        return twin__fail_memory(error);
    twin_set rare = { taken->set.rare, taken->set.rare_count };
    size_t count = list_tokens(worker, prober, i, rare, colours), may_lack = taken->set.frequent + count;
    if (may_lack < needed)
        return TWIN_OK;
    may_lack -= needed;
    taken->set.listed = twin__switched_off.probes ? count : may_lack < count ? probe_count(worker, may_lack + 1) : 0;
    bool is_cheap = count - taken->set.listed <= taken->set.frequent;
    taken->set.rare_count = is_cheap ? count : taken->set.listed;
    taken->set.unknown = count - taken->set.rare_count;
    taken->at = worker->stored;
    memcpy(worker->store + taken->at, taken->set.bits, words * sizeof *worker->store);
    write_rarest(worker->store + taken->at + words, worker, count, taken->set.listed, rare.items);
    worker->stored += words + taken->set.rare_count;
    taken->is_member = true;
    return TWIN_OK;
}

static twin_status probe_documents(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct twin__prober *prober = context;
    struct batch *batch = prober->batch;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        uint32_t has[TWIN__COLOURS];
        size_t count = batch->starts[i + 1] - batch->starts[i];
        batch->taken[i] = (struct taken){ .worker = number };
        twin__count_colours(has, batch->marks + batch->starts[i], count);
        uint64_t colours = count ? possible_colours(prober->join, batch->last - i, has) : 0;
        if (colours)
            status = add_member(&prober->workers[number], prober, i, colours, error);
    }
    return status;
}

static bool add_members(struct twin__set_index *index, const struct twin__prober *prober)
{
    const struct batch *batch = prober->batch;
    for (size_t i = 0; i < batch->count; i++) {
        if (!batch->taken[i].is_member)
            continue;
        struct twin__divided_set set = batch->taken[i].set;
        set.bits = prober->workers[batch->taken[i].worker].store + batch->taken[i].at;
        set.rare = set.bits + prober->frequent->words;
        if (!twin__set_index_add(index, (uint32_t)(batch->last - i), set))
            return false;
    }
    return true;
}

/* ---- batches ---- */

/* Adds the members among the next documents to the index. */
static twin_status take_batch(struct twin__set_index *index, struct twin__prober *prober, twin_error *error)
{
    struct batch *batch = prober->batch;
    twin_exec exec = prober->join->options.exec;
    if (!size_batch(prober))
        return twin__fail_memory(error);
    for (int i = 0; i < exec.workers; i++)
        prober->workers[i].stored = 0;
    twin_status status = twin__exec_try(exec, batch->count, TWIN__SETS_AT_A_TIME, fetch_documents, prober, error);
    if (status != TWIN_OK)
        return status;
    twin_exec_for(exec, TWIN__MARK_PARTS, 1, mark_parts, prober);
    status = twin__exec_try(exec, batch->count, TWIN__SETS_AT_A_TIME, probe_documents, prober, error);
    if (status == TWIN_OK && !add_members(index, prober))
        status = twin__fail_memory(error);
    prober->left -= batch->count;
    return status;
}

/* ---- long documents ---- */

static bool is_long(const struct twin__prober *prober, size_t rank)
{
    return twin__containment_size(prober->join, rank) > prober->join->options.items_at_a_time;
}

/* Marks the items of a set, part by part, and counts the colours that they had. */
static twin_status mark_long(uint32_t has[TWIN__COLOURS], struct twin__prober *prober, twin_set set, uint64_t colour)
{
    struct batch *batch = prober->batch;
    uint32_t begins[TWIN__MARK_PARTS + 1], more[TWIN__COLOURS];
    divide_set(begins, set.items, set.count);
    memset(has, 0, TWIN__COLOURS * sizeof *has);
    for (size_t part = 0; part < TWIN__MARK_PARTS; part++) {
        twin_set items = { set.items + begins[part], begins[part + 1] - begins[part] };
        if (!TWIN__ARRAY_GROW(&batch->marks, &batch->mark_capacity, 0, items.count + 1))
            return TWIN_ENOMEM;
        twin__shingle_marks_add(batch->marks, &prober->marks, items, colour);
        twin__count_colours(more, batch->marks, items.count);
        for (unsigned c = 0; c < TWIN__COLOURS; c++)
            has[c] += more[c];
    }
    return TWIN_OK;
}

/* Pairs a long document with the larger ones of the colours that may contain it. */
static twin_status take_long(struct twin__pairs *pairs, struct twin__prober *prober, twin_error *error)
{
    const struct twin__containment *join = prober->join;
    size_t rank = --prober->left;
    uint32_t document = twin__containment_document(join, rank), has[TWIN__COLOURS];
    twin_set set;
    twin_status status = twin__provider_set(&set, join->provider, document, 0, error);
    if (status != TWIN_OK)
        return status;
    if (mark_long(has, prober, set, twin__containment_colour(join, rank)) != TWIN_OK)
        return twin__fail_memory(error);
    uint64_t colours = possible_colours(join, rank, has);
    for (size_t other = rank + 1; other < join->count; other++)
        if (colours & twin__containment_colour(join, other) &&
            !twin__pairs_add(pairs, twin__pair(document, twin__containment_document(join, other))))
            return twin__fail_memory(error);
    return TWIN_OK;
}

twin_status twin__prober_fill(struct twin__set_index *index, struct twin__pairs *pairs, struct twin__prober *prober,
                              twin_error *error)
{
    twin_status status = TWIN_OK;
    prober->frequent = &index->frequent;
    while (status == TWIN_OK && prober->left > 0 && is_long(prober, prober->left - 1))
        status = take_long(pairs, prober, error);
    while (status == TWIN_OK && prober->left > 0 &&
           (index->count == 0 || twin__set_index_room(index) < prober->join->options.most_room))
        status = take_batch(index, prober, error);
    return status;
}

/* ---- all of it ---- */

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
        free(prober->workers[i].store);
        twin__index_worker_clear(&prober->workers[i].divider);
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

/* containment_join.c — all pairs of documents of which the smaller set is mostly contained in the larger.
 *
 * A text inside a much longer one has a small Jaccard similarity with it, so bands do not find it. An inverted index
 * does, and most of it is not needed: if t of the items of a set A are in B, n = ⌈t·|A|⌉ are, and at most n - k of them
 * are outside any |A| - n + k items of A. So B has at least k of those, whichever they are. They are chosen to be the
 * rarest of A:
 *
 *   1. Each set is fetched once to count its shingles, in a table of counters that shingles share by chance, and to learn
 *      its size. Documents are sorted by size.
 *   2. A block of documents is indexed by these rare shingles, the probes of a document. A counter of one is a shingle
 *      that no other document has: it is a probe, but needs no entry. A document with more of them than the threshold
 *      leaves room for is contained in no other and is not indexed at all; in ordinary texts these are nearly all.
 *   3. Every document from the first of the block on looks up all its shingles and counts how many probes it has of each
 *      document that is not larger. Pairs with enough of them are compared exactly, some millions at a time.
 *
 * Nothing depends on counters being right, so chance and their upper limit cost only speed. The text of a template is not
 * among the probes as long as the document has enough that is rarer. If it has not, the document is nearly all template,
 * and most of these pairs are similar indeed. Memory: the counters, one block, and one batch of pairs; documents that do
 * not fit into a block go into the next, for which larger documents are fetched once more. */
#include "join/containment_join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "join/engine.h"
#include "join/probe_index.h"
#include "join/shingle_counts.h"
#include "kernels/sort.h"

enum { CLASSES = 1024 }; /* counts that are told apart before sorting; the last has all others */

struct worker {
    uint64_t *tokens, *spare; /* of a set: the count of each item in the high 16 bits, its place in the others */
    size_t capacity, spare_capacity;
    uint32_t classes[CLASSES];
    struct twin__pairs entries, pairs;
    uint16_t *hits; /* probes met so far, one number per document of the block */
    uint32_t *met;  /* documents of the block with hits */
    size_t met_count;
    bool no_memory;
};

struct block {
    size_t begin, end; /* ranks of its documents */
    struct twin__probe_index index;
    uint16_t *wanted; /* probes of each document that must be met */
    size_t wanted_capacity;
};

struct join {
    const struct twin__provider *provider;
    struct twin__containment_options options;
    double threshold; /* less what arithmetic may err */
    uint64_t *order;  /* by rank: the size of a set in the high half, its document in the low */
    size_t count;
    struct twin__shingle_counts counts;
    size_t first_rank; /* where the current loop begins */
    struct block block;
    struct worker *workers;
    struct twin__first_failure failure;
};

static uint32_t document_at(const struct join *join, size_t rank)
{
    return (uint32_t)join->order[rank];
}

/* The items of a set that a set not smaller must have. */
static size_t needed(const struct join *join, size_t size)
{
    size_t items = (size_t)ceil(join->threshold * (double)size);
    return items > 0 ? items : 1;
}

/* Items that may be absent from the other set. */
static size_t spared(const struct join *join, size_t size)
{
    return size - needed(join, size);
}

static twin_status fetch_set(twin_set *out, const struct join *join, uint32_t document, int worker, twin_error *error)
{
    struct twin__content content;
    twin_status status = join->provider->fetch(&content, join->provider, document, worker, error);
    if (status == TWIN_OK)
        *out = twin__content_set(content);
    return status;
}

/* ---- counting ---- */

/* Also puts the size of each set above its document. */
static void count_sets(void *context, size_t begin, size_t end, int worker)
{
    struct join *join = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        twin_set set;
        if (fetch_set(&set, join, document_at(join, i), worker, &error) != TWIN_OK) {
            twin__keep_first_failure(&join->failure, i, &error);
            return;
        }
        twin__shingle_counts_add(&join->counts, set);
        join->order[i] |= (uint64_t)set.count << 32;
    }
}

enum { SETS_AT_A_TIME = 8 };

static twin_status count_shingles(struct join *join, twin_error *error)
{
    uint64_t *spare = malloc((join->count + 1) * sizeof *spare);
    if (!spare)
        return twin__fail_memory(error);
    twin_exec_for(join->options.exec, join->count, SETS_AT_A_TIME, count_sets, join);
    twin_status status = twin__first_failure(error, &join->failure);
    if (status == TWIN_OK)
        twin__sort(join->order, spare, join->count);
    free(spare);
    return status;
}

/* ---- probes ---- */

static unsigned class_of(uint64_t count)
{
    return count < CLASSES ? (unsigned)count : CLASSES - 1;
}

/* Counters are far apart in memory: those of later items are asked for early. */
enum { AHEAD = 12 };

/* Lists the items of a set with a count above one as tokens, and counts all by their classes. Returns how many it listed. */
static size_t list_tokens(struct worker *worker, const struct join *join, twin_set set)
{
    size_t listed = 0;
    memset(worker->classes, 0, sizeof worker->classes);
    for (size_t i = 0; i < set.count; i++) {
        if (i + AHEAD < set.count)
            twin__shingle_count_prefetch(&join->counts, set.items[i + AHEAD]);
        uint64_t count = twin__shingle_count(&join->counts, set.items[i]);
        worker->classes[class_of(count)]++;
        worker->tokens[listed] = count << 48 | i;
        listed += count > 1;
    }
    return listed;
}

/* How many of the rarest tokens become probes: `least`, and some more that together cost no more to meet. Every probe more
 * is one more that must be met, which leaves fewer pairs to be compared; with all items of a set, just the similar ones. */
static size_t probe_count(const struct worker *worker, size_t least)
{
    enum { MOST_MORE = 128 }; /* by then few pairs are left but similar ones */
    size_t count = 0, budget = 0;
    for (size_t level = 2; level < CLASSES; level++) {
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
    unsigned level = 2;
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
        twin__sort(worker->tokens, worker->spare, kept);
}

/* Adds the entries of a document, unless it is contained in no other. */
static twin_status add_probes(struct worker *worker, const struct join *join, size_t rank, twin_set set,
                              twin_error *error)
{
    if (!TWIN__ARRAY_GROW(&worker->tokens, &worker->capacity, 0, set.count + 1) ||
        !TWIN__ARRAY_GROW(&worker->spare, &worker->spare_capacity, 0, set.count + 1))
        return twin__fail_memory(error);
    size_t listed = list_tokens(worker, join, set), own = set.count - listed;
    size_t spare = spared(join, set.count);
    uint16_t *met = &join->block.wanted[rank - join->block.begin];
    if (set.count == 0 || own > spare)
        return TWIN_OK;
    size_t kept = probe_count(worker, spare - own + 1);
    *met = kept + own - spare < UINT16_MAX ? (uint16_t)(kept + own - spare) : UINT16_MAX;
    keep_rarest(worker, listed, kept);
    struct twin__pairs *entries = &worker->entries;
    if (!TWIN__ARRAY_GROW(&entries->items, &entries->capacity, entries->count, kept))
        return twin__fail_memory(error);
    for (size_t i = 0; i < kept; i++)
        entries->items[entries->count++] =
            twin__probe_hash(set.items[worker->tokens[i] & (((uint64_t)1 << 48) - 1)]) | (rank - join->block.begin);
    return TWIN_OK;
}

static void probe_documents(void *context, size_t begin, size_t end, int number)
{
    struct join *join = context;
    for (size_t i = begin; i < end; i++) {
        twin_error error = { 0 };
        size_t rank = join->first_rank + i;
        twin_set set;
        twin_status status = fetch_set(&set, join, document_at(join, rank), number, &error);
        if (status == TWIN_OK)
            status = add_probes(&join->workers[number], join, rank, set, &error);
        if (status != TWIN_OK) {
            twin__keep_first_failure(&join->failure, rank, &error);
            return;
        }
    }
}

/* ---- the index of a block ---- */

enum { DOCUMENTS_AT_A_TIME = 512 };

/* Adds some more documents to the block. */
static twin_status extend_block(struct join *join, twin_error *error)
{
    struct block *block = &join->block;
    size_t more = join->count - block->end;
    if (more > DOCUMENTS_AT_A_TIME)
        more = DOCUMENTS_AT_A_TIME;
    if (!TWIN__ARRAY_GROW(&block->wanted, &block->wanted_capacity, block->end - block->begin, more))
        return twin__fail_memory(error);
    join->first_rank = block->end;
    twin_exec_for(join->options.exec, more, SETS_AT_A_TIME, probe_documents, join);
    block->end += more;
    twin_status status = twin__first_failure(error, &join->failure);
    for (int i = 0; i < join->options.exec.workers; i++) {
        if (status == TWIN_OK && !twin__pairs_append(&block->index.entries, &join->workers[i].entries))
            status = twin__fail_memory(error);
        join->workers[i].entries.count = 0;
    }
    return status;
}

/* The next block: as many documents as its entries allow. */
static twin_status build_block(struct join *join, twin_error *error)
{
    enum { MOST_DOCUMENTS = TWIN__PROBE_DOCUMENTS - DOCUMENTS_AT_A_TIME };
    struct block *block = &join->block;
    block->begin = block->end;
    block->index.entries.count = 0;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && block->end < join->count && block->end - block->begin < MOST_DOCUMENTS &&
           block->index.entries.count < join->options.index_entries)
        status = extend_block(join, error);
    if (status == TWIN_OK && twin__probe_index_finish(&block->index) != TWIN_OK)
        status = twin__fail_memory(error);
    return status;
}

/* ---- looking up ---- */

/* Counts a probe of each document of the block below `end` that has this one. */
static void look_up_hash(struct worker *worker, const struct block *block, uint64_t hash, size_t end)
{
    const uint64_t *entries = block->index.entries.items;
    for (size_t i = twin__probe_find(&block->index, hash);
         i < block->index.entries.count && entries[i] < (hash | end); i++) {
        uint32_t other = entries[i] & TWIN__PROBE_DOCUMENTS;
        if (worker->hits[other] == 0)
            worker->met[worker->met_count++] = other;
        if (worker->hits[other] < UINT16_MAX)
            worker->hits[other]++;
    }
}

static void look_up_set(struct worker *worker, const struct block *block, twin_set set, size_t end)
{
    for (size_t i = 0; i < set.count; i++) {
        uint64_t hash = twin__probe_hash(set.items[i]);
        if (twin__probe_may_exist(&block->index, hash))
            look_up_hash(worker, block, hash, end);
    }
}

/* Those with enough hits become pairs; all are forgotten. */
static void take_met(struct worker *worker, const struct join *join, size_t rank)
{
    for (size_t i = 0; i < worker->met_count; i++) {
        uint32_t other = worker->met[i];
        uint32_t a = document_at(join, rank), b = document_at(join, join->block.begin + other);
        if (worker->hits[other] >= join->block.wanted[other] && twin__provider_wants(join->provider, a, b) &&
            !twin__pairs_add(&worker->pairs, twin__pair(a, b)))
            worker->no_memory = true;
        worker->hits[other] = 0;
    }
    worker->met_count = 0;
}

static void look_up_documents(void *context, size_t begin, size_t end, int number)
{
    struct join *join = context;
    struct worker *worker = &join->workers[number];
    for (size_t i = begin; i < end; i++) {
        size_t rank = join->first_rank + i;
        size_t last = rank < join->block.end ? rank : join->block.end;
        twin_error error = { 0 };
        twin_set set;
        if (fetch_set(&set, join, document_at(join, rank), number, &error) != TWIN_OK) {
            twin__keep_first_failure(&join->failure, rank, &error);
            return;
        }
        look_up_set(worker, &join->block, set, last - join->block.begin);
        take_met(worker, join, rank);
    }
}

/* ---- all of it ---- */

static twin_status compare(twin_matches *out, struct twin__containment_counts *counts, const struct join *join,
                           struct twin__pairs *pairs, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_CONTAINMENT, join->options.threshold };
    struct twin__verify_options verify = { .comparison = twin__compare_sets(&rule), .exec = join->options.exec };
    double begun = twin__seconds();
    twin_status status = twin__verify_pairs(out, join->provider, pairs, verify, error);
    counts->comparing_seconds += twin__seconds() - begun;
    counts->compared += pairs->count;
    pairs->count = 0;
    return status;
}

static twin_status gather_pairs(struct twin__pairs *out, struct join *join, twin_error *error)
{
    for (int i = 0; i < join->options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return twin__fail_memory(error);
        worker->pairs.count = 0;
    }
    return TWIN_OK;
}

/* Room for the documents of the block in every worker's hits. */
static twin_status make_hits(struct join *join, twin_error *error)
{
    size_t documents = join->block.end - join->block.begin;
    for (int i = 0; i < join->options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->hits);
        free(worker->met);
        worker->hits = calloc(documents + 1, sizeof *worker->hits);
        worker->met = malloc((documents + 1) * sizeof *worker->met);
        if (!worker->hits || !worker->met)
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

static void report(const struct join *join, size_t done)
{
    twin_progress progress = join->options.progress;
    if (progress.report)
        progress.report(progress.context, &twin__stage_joining, done, join->count);
}

/* Finds the pairs of the block's documents with each other and with all larger ones, some at a time: so few that, if all of
 * them are candidates of all, memory stays bounded. */
static twin_status join_block(twin_matches *out, struct twin__containment_counts *counts, struct join *join,
                              struct twin__pairs *pairs, twin_error *error)
{
    enum { FEWEST = 64 };
    const struct block *block = &join->block;
    size_t members = block->end - block->begin, at_a_time = 4 * join->options.pairs_at_a_time / (members + 1);
    if (block->index.entries.count == 0)
        return TWIN_OK;
    if (at_a_time < FEWEST)
        at_a_time = FEWEST;
    twin_status status = make_hits(join, error);
    for (size_t rank = block->begin; rank < join->count && status == TWIN_OK; rank += at_a_time) {
        size_t count = join->count - rank < at_a_time ? join->count - rank : at_a_time;
        join->first_rank = rank;
        twin_exec_for(join->options.exec, count, SETS_AT_A_TIME, look_up_documents, join);
        status = twin__first_failure(error, &join->failure);
        if (status == TWIN_OK)
            status = gather_pairs(pairs, join, error);
        if (status == TWIN_OK && pairs->count >= join->options.pairs_at_a_time)
            status = compare(out, counts, join, pairs, error);
        if (block->end == join->count)
            report(join, rank + count);
    }
    return status;
}

static twin_status join_blocks(twin_matches *out, struct twin__containment_counts *counts, struct join *join,
                               twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_status status = TWIN_OK;
    while (join->block.end < join->count && status == TWIN_OK) {
        status = build_block(join, error);
        if (status == TWIN_OK)
            status = join_block(out, counts, join, &pairs, error);
        report(join, join->block.end);
    }
    if (status == TWIN_OK)
        status = compare(out, counts, join, &pairs, error);
    free(pairs.items);
    return status;
}

/* The number of items of all sets, guessed from some of them. */
static twin_status guess_items(size_t *out, const struct join *join, twin_error *error)
{
    enum { SAMPLE = 64 };
    size_t sets = join->count < SAMPLE ? join->count : SAMPLE, sum = 0;
    for (size_t i = 0; i < sets; i++) {
        uint32_t document = document_at(join, i * join->count / sets);
        twin_set set = { .count = join->provider->size(join->provider, document) };
        twin_status status = set.count ? TWIN_OK : fetch_set(&set, join, document, 0, error);
        if (status != TWIN_OK)
            return status;
        sum += set.count;
    }
    *out = sets ? (size_t)((double)sum / (double)sets * (double)join->count) : 0;
    return TWIN_OK;
}

static twin_status join_init(struct join *join)
{
    enum { FEWEST_ENTRIES = 1 << 23, ENTRIES_PER_DOCUMENT = 32, PAIRS_AT_A_TIME = 1 << 21 };
    twin_signatures signatures = join->provider->signatures;
    size_t count = join->count = signatures.count;
    join->threshold = join->options.threshold * (1 - 1e-12);
    if (join->options.index_entries == 0)
        join->options.index_entries =
            count > FEWEST_ENTRIES / ENTRIES_PER_DOCUMENT ? ENTRIES_PER_DOCUMENT * count : FEWEST_ENTRIES;
    if (join->options.pairs_at_a_time == 0)
        join->options.pairs_at_a_time = PAIRS_AT_A_TIME;
    join->order = malloc((count + 1) * sizeof *join->order);
    join->workers = calloc((size_t)join->options.exec.workers, sizeof *join->workers);
    if (!join->order || !join->workers)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        join->order[i] = signatures.documents[i];
    return TWIN_OK;
}

static void join_clear(struct join *join)
{
    for (int i = 0; join->workers && i < join->options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->tokens);
        free(worker->spare);
        free(worker->entries.items);
        free(worker->pairs.items);
        free(worker->hits);
        free(worker->met);
    }
    free(join->workers);
    free(join->order);
    twin__shingle_counts_clear(&join->counts);
    twin__probe_index_clear(&join->block.index);
    free(join->block.wanted);
}

twin_status twin__containment_join(twin_matches *out, struct twin__containment_counts *counts,
                                   const struct twin__provider *provider, struct twin__containment_options options,
                                   twin_error *error)
{
    struct join join = { .provider = provider, .options = options, .failure = TWIN__NO_FAILURE };
    size_t items = 0;
    *counts = (struct twin__containment_counts){ 0 };
    twin_status status = join_init(&join);
    if (status != TWIN_OK)
        twin__fail_memory(error);
    if (status == TWIN_OK)
        status = guess_items(&items, &join, error);
    if (status == TWIN_OK && twin__shingle_counts_init(&join.counts, join.count, items) != TWIN_OK)
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = count_shingles(&join, error);
    if (status == TWIN_OK)
        status = join_blocks(out, counts, &join, error);
    join_clear(&join);
    return status;
}

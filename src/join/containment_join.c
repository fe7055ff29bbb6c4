/* containment_join.c — all pairs of documents of which the smaller set is mostly contained in the larger.
 *
 * A text inside a much longer one has a small Jaccard similarity with it, so bands do not find it. An inverted index
 * does, and most of it is not needed: if t of the items of a set A are in B, n = ⌈t·|A|⌉ are, and at most n - k of them
 * are outside any |A| - n + k items of A. So B has at least k of those, whichever they are. They are the probes of A, chosen
 * to be rare:
 *
 *   1. Documents are sorted by the size of their sets; those whose size is not known are fetched for it.
 *   2. From the largest document down, a block of documents is indexed by their probes (containment_probes.c). A document
 *      that lacks more shingles than the threshold leaves room for in every part of the larger documents is contained
 *      in none of them and is not indexed at all; in ordinary texts these are nearly all.
 *   3. Every document that is larger than one of the block looks up all its shingles and counts how many probes it has of
 *      each that is not larger. Pairs with enough of them are compared exactly, some millions at a time.
 *
 * Nothing depends on rarity being right, so chance costs only speed. The text of a template is not among the probes
 * as long as the document has enough that is rarer. If it has not, the document is nearly all template, and most of
 * these pairs are similar indeed. Memory: the marks of shingles, one block, and one batch of pairs; documents that do
 * not fit into a block go into the next, for which larger documents are fetched once more. */
#include "join/containment_private.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/stages.h"
#include "join/engine.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "lsh/bands.h"

struct worker {
    struct twin__probe_hit *found; /* lists of the index to look through */
    struct twin__pairs pairs;
    uint16_t *hits; /* probes met so far, one number per member of the block */
    uint32_t *met;  /* members of the block with hits */
    size_t met_count;
    bool no_memory;
};

struct join {
    struct twin__containment base;
    size_t first_rank; /* where the current loop begins */
    struct twin__probe_block block;
    struct worker *workers;
};

/* ---- sizes ---- */

enum { SETS_AT_A_TIME = 8 };

/* Puts the size of each set above its document. */
static twin_status measure_sets(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__containment *join = context;
    for (size_t i = begin; i < end; i++) {
        uint32_t document = twin__containment_document(join, i);
        uint64_t size = join->provider->size(join->provider, document);
        twin_set set = { 0 };
        twin_status status = size ? TWIN_OK : twin__provider_set(&set, join->provider, document, worker, error);
        if (status != TWIN_OK)
            return status;
        join->order[i] |= (size ? size : set.count) << 32;
    }
    return TWIN_OK;
}

static twin_status sort_by_size(struct twin__containment *join, twin_error *error)
{
    twin_status status = twin__exec_try(join->options.exec, join->count, SETS_AT_A_TIME, measure_sets, join, error);
    if (status == TWIN_OK && !twin__sort_numbers(join->order, join->count))
        status = twin__fail_memory(error);
    return status;
}

/* ---- looking up ---- */

/* The first member of the block that is below a rank. */
static size_t first_below(const struct twin__probe_block *block, size_t rank)
{
    size_t low = 0, count = block->count;
    while (count > 0) {
        size_t half = count / 2;
        bool before = block->members[low + half].rank >= rank;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

/* Counts a probe of each member of a list from `first` on. */
static void count_list(struct worker *worker, const struct twin__probe_index *index, struct twin__probe_hit list,
                       size_t first)
{
    const uint64_t *entries = index->entries.items;
    size_t i = list.at;
    if (i < index->entries.count && entries[i] < (list.hash | first))
        i = twin__entries_find(&index->entries, list.hash | first);
    for (; i < index->entries.count && entries[i] <= (list.hash | TWIN__PROBE_DOCUMENTS); i++) {
        uint32_t other = entries[i] & TWIN__PROBE_DOCUMENTS;
        if (worker->hits[other] == 0)
            worker->met[worker->met_count++] = other;
        if (worker->hits[other] < UINT16_MAX)
            worker->hits[other]++;
    }
}

static void look_up_set(struct worker *worker, const struct twin__probe_index *index, twin_set set, size_t first)
{
    while (set.count > 0) {
        size_t some = set.count < TWIN__PROBE_AT_ONCE ? set.count : TWIN__PROBE_AT_ONCE;
        size_t found = twin__probe_find_some(worker->found, index, (twin_set){ set.items, some });
        for (size_t i = 0; i < found; i++)
            count_list(worker, index, worker->found[i], first);
        set = (twin_set){ set.items + some, set.count - some };
    }
}

/* Those with enough hits become pairs; all are forgotten. */
static void take_met(struct worker *worker, const struct join *join, size_t rank)
{
    const struct twin__containment *base = &join->base;
    uint64_t colour = twin__containment_colour(base, rank);
    uint32_t a = twin__containment_document(base, rank);
    for (size_t i = 0; i < worker->met_count; i++) {
        struct twin__probe_member other = join->block.members[worker->met[i]];
        uint32_t b = twin__containment_document(base, other.rank);
        if (worker->hits[worker->met[i]] >= other.wanted && other.colours & colour &&
            twin__provider_wants(base->provider, a, b) && !twin__pairs_add(&worker->pairs, twin__pair(a, b)))
            worker->no_memory = true;
        worker->hits[worker->met[i]] = 0;
    }
    worker->met_count = 0;
}

static twin_status look_up_documents(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct join *join = context;
    struct worker *worker = &join->workers[number];
    for (size_t i = begin; i < end; i++) {
        size_t rank = join->first_rank + i;
        twin_set set;
        twin_status status = twin__provider_set(&set, join->base.provider,
                                                twin__containment_document(&join->base, rank), number, error);
        if (status != TWIN_OK)
            return status;
        look_up_set(worker, &join->block.index, set, first_below(&join->block, rank));
        take_met(worker, join, rank);
    }
    return TWIN_OK;
}

/* ---- all of it ---- */

static twin_status compare(twin_matches *out, struct twin__containment_counts *counts,
                           const struct twin__containment *join, struct twin__pairs *pairs, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_CONTAINMENT, join->options.threshold };
    struct twin__verify_options verify = { .comparison = twin__compare_sets(&rule), .exec = join->options.exec };
    double begun = twin__seconds();
    twin_status status = twin__containment_compare_long(out, &counts->compared, join, pairs, error);
    if (status == TWIN_OK)
        status = twin__verify_pairs(out, join->provider, pairs, verify, error);
    counts->comparing_seconds += twin__seconds() - begun;
    counts->compared += pairs->count;
    pairs->count = 0;
    return status;
}

static twin_status gather_pairs(struct twin__pairs *out, struct join *join, twin_error *error)
{
    for (int i = 0; i < join->base.options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return twin__fail_memory(error);
        worker->pairs.count = 0;
    }
    return TWIN_OK;
}

/* Room for the members of the block in every worker's hits. */
static twin_status make_hits(struct join *join, twin_error *error)
{
    for (int i = 0; i < join->base.options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->hits);
        free(worker->met);
        worker->hits = calloc(join->block.count + 1, sizeof *worker->hits);
        worker->met = malloc((join->block.count + 1) * sizeof *worker->met);
        if (!worker->found)
            worker->found = malloc(TWIN__PROBE_AT_ONCE * sizeof *worker->found);
        if (!worker->hits || !worker->met || !worker->found)
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

static void report(const struct twin__containment *join, size_t done)
{
    if (join->options.progress.report)
        (void)twin__report(&twin__stage_joining, done, join->count);
}

/* Finds the pairs of the block's members with each other and with all larger documents, some at a time: so few that,
 * if all of them are candidates of all, memory stays bounded. */
static twin_status join_block(twin_matches *out, struct twin__containment_counts *counts, struct join *join,
                              struct twin__pairs *pairs, twin_error *error)
{
    enum { FEWEST = 64 };
    struct twin__containment *base = &join->base;
    const struct twin__probe_block *block = &join->block;
    size_t at_a_time = 4 * base->options.pairs_at_a_time / (block->count + 1);
    if (block->count == 0)
        return TWIN_OK;
    if (at_a_time < FEWEST)
        at_a_time = FEWEST;
    twin_status status = make_hits(join, error);
    size_t rank = block->members[block->count - 1].rank + 1;
    for (; rank < base->count && status == TWIN_OK; rank += at_a_time) {
        size_t count = base->count - rank < at_a_time ? base->count - rank : at_a_time;
        join->first_rank = rank;
        status = twin__exec_try(base->options.exec, count, SETS_AT_A_TIME, look_up_documents, join, error);
        if (status == TWIN_OK)
            status = gather_pairs(pairs, join, error);
        if (status == TWIN_OK && pairs->count >= base->options.pairs_at_a_time)
            status = compare(out, counts, base, pairs, error);
    }
    return status;
}

static twin_status join_blocks(twin_matches *out, struct twin__containment_counts *counts, struct join *join,
                               struct twin__prober *prober, twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_status status = TWIN_OK;
    while (twin__prober_left(prober) > 0 && status == TWIN_OK) {
        status = twin__prober_fill(&join->block, prober, error);
        if (status == TWIN_OK)
            status = join_block(out, counts, join, &pairs, error);
        report(&join->base, join->base.count - twin__prober_left(prober));
    }
    if (status == TWIN_OK)
        status = compare(out, counts, &join->base, &pairs, error);
    free(pairs.items);
    return status;
}

static twin_status join_init(struct join *join)
{
    enum {
        FEWEST_ENTRIES = 1 << 23,
        ENTRIES_PER_DOCUMENT = 32,
        PAIRS_AT_A_TIME = 1 << 21,
        ITEMS_AT_A_TIME = 1 << 20
    };
    struct twin__containment *base = &join->base;
    twin_signatures signatures = base->provider->signatures;
    size_t count = base->count = signatures.count;
    base->threshold = base->options.threshold * (1 - 1e-12);
    if (base->options.index_entries == 0)
        base->options.index_entries =
            count > FEWEST_ENTRIES / ENTRIES_PER_DOCUMENT ? ENTRIES_PER_DOCUMENT * count : FEWEST_ENTRIES;
    if (base->options.pairs_at_a_time == 0)
        base->options.pairs_at_a_time = PAIRS_AT_A_TIME;
    if (base->options.items_at_a_time == 0)
        base->options.items_at_a_time = ITEMS_AT_A_TIME;
    base->order = malloc((count + 1) * sizeof *base->order);
    join->workers = calloc((size_t)base->options.exec.workers, sizeof *join->workers);
    if (!base->order || !join->workers)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        base->order[i] = signatures.documents[i];
    return TWIN_OK;
}

static void join_clear(struct join *join)
{
    for (int i = 0; join->workers && i < join->base.options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        free(worker->found);
        free(worker->pairs.items);
        free(worker->hits);
        free(worker->met);
    }
    free(join->workers);
    free(join->base.order);
    twin__probe_block_clear(&join->block);
}

twin_status twin__containment_join(twin_matches *out, struct twin__containment_counts *counts,
                                   const struct twin__provider *provider, struct twin__containment_options options,
                                   twin_error *error)
{
    struct join join = {
        .base = { .provider = provider, .options = options },
    };
    struct twin__prober *prober = NULL;
    *counts = (struct twin__containment_counts){ 0 };
    twin_status status = join_init(&join);
    if (status != TWIN_OK)
        twin__fail_memory(error);
    if (status == TWIN_OK)
        status = sort_by_size(&join.base, error);
    if (status == TWIN_OK && twin__prober_create(&prober, &join.base) != TWIN_OK)
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = join_blocks(out, counts, &join, prober, error);
    twin__prober_free(prober);
    join_clear(&join);
    return status;
}

/* containment_join.c — all pairs of documents of which the smaller set is mostly contained in the larger.
 *
 * A text inside a much longer one has a small Jaccard similarity with it, so bands do not find it. An inverted index
 * does, and most of it is not needed: if t of the items of a set A are in B, n = ⌈t·|A|⌉ are, and at most n - k of them
 * are outside any |A| - n + k items of A. So B has at least k of those, whichever they are. They are the probes of A, chosen
 * to be rare:
 *
 *   1. Documents are sorted by the size of their sets; those whose size is not known are fetched for it.
 *   2. From the largest document down, a block of documents is indexed, with lists of their probes (containment_probes.c,
 *      set_index.c). A document that lacks more shingles than the threshold leaves room for in every part of the larger
 *      documents is contained in none of them and is not indexed at all; in ordinary texts these are nearly all.
 *   3. Every document that is larger than one of the block looks up all its shingles. Those that have enough probes in it
 *      are compared, by what the index has of them.
 *
 * Nothing depends on rarity being right, so chance costs only speed. The text of a template is not among the probes
 * as long as the document has enough that is rarer. If it has not, the document is nearly all template, and most of
 * these pairs are similar indeed. Memory: the marks of shingles, one block, and one batch of matches; documents that do
 * not fit into a block go into the next, for which larger documents are fetched once more.
 *
 * Texts that are made of the same phrases in other choices are met often and hardly ever similar, which would take time that
 * grows with the square of their number. So a search is bounded to some entries of lists per item of its set, the
 * shorter lists first, in all blocks together; documents for which that was not enough are counted. */
#include "join/containment.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/stages.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "kernels/kernels.h"
#include "lsh/bands.h"
#include "sketch/set.h"

struct worker {
    struct twin__index_worker divider;
    twin_matches found;
    struct twin__pairs pairs;          /* that the index does not know enough of */
    struct twin__index_worker smaller; /* divides the smaller document of such a pair */
};

struct join {
    struct twin__containment base;
    size_t first_rank; /* where the current loop begins */
    struct twin__set_index index;
    struct twin__pairs pairs; /* to be compared */
    uint32_t *sample;         /* documents that may show which items are frequent: none that are long */
    size_t sample_count;
    uint64_t *steps; /* by rank: how many its searches may still take; 0: it is incomplete */
    uint32_t *side;  /* of two collections, by rank: the least rank of the same one (union-find) */
    struct worker *workers;
};

/* ---- sizes ---- */

enum { FEWEST_ITEMS = 256 }; /* for which a search has steps */

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
    twin_status status =
        twin__exec_try(join->options.exec, join->count, TWIN__SETS_AT_A_TIME, measure_sets, join, error);
    if (status == TWIN_OK && !twin__sort_numbers(join->order, join->count))
        status = twin__fail_memory(error);
    return status;
}

/* ---- searching ---- */

static size_t count_common(twin_set large, twin_set small)
{
    enum { TIMES = 32 }; /* so much larger that searching is faster than going through */
    if (large.count / TIMES < small.count)
        return twin_set_common(large, small);
    size_t common = 0, at = 0;
    for (size_t i = 0; i < small.count && at < large.count; i++) {
        at += twin__lower_bound(large.items + at, large.count - at, small.items[i]);
        common += at < large.count && large.items[at] == small.items[i];
    }
    return common;
}

/* The first member of the index that is below a rank. */
static size_t first_below(const struct twin__set_index *index, size_t rank)
{
    size_t low = 0, count = index->count;
    while (count > 0) {
        size_t half = count / 2;
        bool before = index->members[low + half].document >= rank;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

static bool add_contained(struct worker *worker, uint32_t a, uint32_t b, double similarity)
{
    twin_match match = { a < b ? a : b, a < b ? b : a, similarity };
    return twin__matches_add(&worker->found, match) == TWIN_OK;
}

/* Compares a document with one that is too long to be fetched again, and that has been divided. */
static twin_status compare_with_long(struct worker *worker, const struct join *join, uint32_t document,
                                     uint32_t long_document, struct twin__divided_set of_long, int number,
                                     twin_error *error)
{
    const struct twin__frequent_items *frequent = &join->index.frequent;
    struct twin__divided_set set;
    twin_set items;
    twin_status status = twin__provider_items(&items, join->base.provider, document, number, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__index_divide(&set, &worker->smaller, frequent, items))
        return twin__fail_memory(error);
    size_t common =
        twin__kernels()->common_bits(set.bits, of_long.bits, frequent->words) +
        count_common((twin_set){ of_long.rare, of_long.rare_count }, (twin_set){ set.rare, set.rare_count });
    double similarity = twin__similarity_of_counts(of_long.size, set.size, common, TWIN_CONTAINMENT);
    bool good =
        similarity < join->base.options.threshold || add_contained(worker, document, long_document, similarity);
    return good ? TWIN_OK : twin__fail_memory(error);
}

/* What was found of a document. */
static twin_status take_found(struct worker *worker, const struct join *join, uint32_t document,
                              struct twin__divided_set set, int number, twin_error *error)
{
    const struct twin__provider *provider = join->base.provider;
    const struct twin__index_scratch *scratch = &worker->divider.scratch;
    bool is_long = provider->is_long && provider->is_long(provider, document);
    for (size_t i = 0; i < scratch->found_count; i++) {
        struct twin__set_found found = scratch->found[i];
        uint32_t other = twin__containment_document(&join->base, join->index.members[found.member].document);
        twin_status status = TWIN_OK;
        if (found.similarity > 1 && is_long)
            status = compare_with_long(worker, join, other, document, set, number, error);
        else if (found.similarity > 1 ? !twin__pairs_add(&worker->pairs, twin__pair(document, other))
                                      : !add_contained(worker, document, other, found.similarity))
            status = twin__fail_memory(error);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* Finds the members that a document contains. */
static twin_status search_members(struct join *join, size_t rank, twin_set items, int number, twin_error *error)
{
    struct worker *worker = &join->workers[number];
    struct twin__index_query query = { .begin = first_below(&join->index, rank),
                                       .end = join->index.count,
                                       .group = join->side,
                                       .root = join->side ? join->side[rank] : 0,
                                       .is_largest = true };
    if (!twin__index_divide(&query.set, &worker->divider, &join->index.frequent, items))
        return twin__fail_memory(error);
    struct twin__index_scratch *scratch = &worker->divider.scratch;
    uint64_t *steps = &join->steps[rank], cut = scratch->cut;
    query.most_steps = *steps;
    if (!twin__set_index_all(scratch, &join->index, &query))
        return twin__fail_memory(error);
    *steps = scratch->cut == cut && scratch->steps < *steps ? *steps - scratch->steps : 0;
    return take_found(worker, join, twin__containment_document(&join->base, rank), query.set, number, error);
}

static twin_status search_documents(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct join *join = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        size_t rank = join->first_rank + i;
        twin_set items;
        if (join->steps[rank] == 0)
            continue;
        status = twin__provider_items(&items, join->base.provider, twin__containment_document(&join->base, rank),
                                      number, error);
        if (status == TWIN_OK)
            status = search_members(join, rank, items, number, error);
    }
    return status;
}

/* ---- all of it ---- */

/* Compares the pairs by their sets. */
static twin_status compare_unknown(twin_matches *out, struct join *join, twin_error *error)
{
    const struct twin__containment *base = &join->base;
    struct twin__set_rule rule = { TWIN_CONTAINMENT, base->options.threshold };
    struct twin__verify_options verify = { .comparison = twin__compare_sets(&rule), .exec = base->options.exec };
    twin_status status = twin__verify_pairs(out, base->provider, &join->pairs, verify, error);
    join->pairs.count = 0;
    return status;
}

static twin_status gather_found(twin_matches *out, struct join *join, twin_error *error)
{
    for (int i = 0; i < join->base.options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        if (!twin__matches_move(out, &worker->found) || !twin__pairs_append(&join->pairs, &worker->pairs))
            return twin__fail_memory(error);
        worker->pairs.count = 0;
    }
    return join->pairs.count < join->base.options.pairs_at_a_time ? TWIN_OK : compare_unknown(out, join, error);
}

static void report_done(const struct twin__containment *join, size_t done)
{
    if (join->options.progress.report)
        (void)twin__report(&twin__stage_joining, done, join->count);
}

/* Finds the pairs of members with each other and with all larger documents, some at a time: so few that, if all of them
 * are similar to all, memory stays bounded. */
static twin_status search_larger(twin_matches *out, struct join *join, twin_error *error)
{
    enum { FEWEST = 64 };
    struct twin__containment *base = &join->base;
    const struct twin__set_index *index = &join->index;
    size_t at_a_time = 4 * base->options.pairs_at_a_time / (index->count + 1);
    if (index->count == 0)
        return TWIN_OK;
    if (at_a_time < FEWEST)
        at_a_time = FEWEST;
    twin_status status = TWIN_OK;
    size_t rank = (size_t)index->members[index->count - 1].document + 1;
    for (; rank < base->count && status == TWIN_OK; rank += at_a_time) {
        size_t count = base->count - rank < at_a_time ? base->count - rank : at_a_time;
        join->first_rank = rank;
        status = twin__exec_try(base->options.exec, count, TWIN__SETS_AT_A_TIME, search_documents, join, error);
        if (status == TWIN_OK)
            status = gather_found(out, join, error);
    }
    return status;
}

static twin_status join_blocks(twin_matches *out, struct join *join, struct twin__prober *prober, twin_error *error)
{
    struct twin__set_source source = { .provider = join->base.provider,
                                       .documents = join->sample,
                                       .count = join->sample_count };
    twin_status status = TWIN_OK;
    while (twin__prober_left(prober) > 0 && status == TWIN_OK) {
        twin__set_index_clear(&join->index);
        status = twin__set_index_init(&join->index, &source, TWIN_CONTAINMENT, join->base.options.threshold, error);
        if (status == TWIN_OK)
            status = twin__prober_fill(&join->index, &join->pairs, prober, error);
        if (status == TWIN_OK)
            status = search_larger(out, join, error);
        report_done(&join->base, join->base.count - twin__prober_left(prober));
    }
    return status == TWIN_OK ? compare_unknown(out, join, error) : status;
}

static void set_defaults(struct twin__containment_options *options, size_t documents)
{
    enum { FEWEST_ROOM = 3 << 22, ROOM_PER_DOCUMENT = 48, PAIRS_AT_A_TIME = 1 << 21, ITEMS_AT_A_TIME = 1 << 20 };
    enum { STEPS_PER_ITEM = 256 }; /* mail takes less than 256, news less than 64 (docs/join.md) */
    if (options->most_room == 0)
        options->most_room =
            ROOM_PER_DOCUMENT * documents > FEWEST_ROOM ? ROOM_PER_DOCUMENT * documents : FEWEST_ROOM;
    if (options->pairs_at_a_time == 0)
        options->pairs_at_a_time = PAIRS_AT_A_TIME;
    if (options->items_at_a_time == 0)
        options->items_at_a_time = ITEMS_AT_A_TIME;
    if (options->steps_per_item == 0)
        options->steps_per_item = STEPS_PER_ITEM;
}

static twin_status join_init(struct join *join)
{
    struct twin__containment *base = &join->base;
    twin_signatures signatures = base->provider->signatures;
    size_t count = base->count = signatures.count;
    base->threshold = base->options.threshold * (1 - 1e-12);
    set_defaults(&base->options, count);
    base->order = malloc((count + 1) * sizeof *base->order);
    join->sample = malloc((count + 1) * sizeof *join->sample);
    join->workers = calloc((size_t)base->options.exec.workers, sizeof *join->workers);
    if (!base->order || !join->sample || !join->workers)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        base->order[i] = signatures.documents[i];
    return TWIN_OK;
}

/* Which documents may be in the sample, what their searches may take, and on which side they are. */
static twin_status sort_sides(struct join *join)
{
    enum { MOST_ITEMS = 1 << 17 };
    const struct twin__containment *base = &join->base;
    uint32_t split = base->provider->split, first[2] = { UINT32_MAX, UINT32_MAX };
    for (size_t rank = 0; rank < base->count; rank++)
        if (twin__containment_size(base, rank) <= MOST_ITEMS)
            join->sample[join->sample_count++] = twin__containment_document(base, rank);
    join->steps = malloc((base->count + 1) * sizeof *join->steps);
    for (size_t rank = 0; rank < base->count && join->steps; rank++)
        join->steps[rank] = base->options.steps_per_item * (twin__containment_size(base, rank) + FEWEST_ITEMS);
    if (split == 0 || !join->steps)
        return join->steps ? TWIN_OK : TWIN_ENOMEM;
    join->side = malloc((base->count + 1) * sizeof *join->side);
    for (uint32_t rank = 0; rank < base->count && join->side; rank++) {
        uint32_t *least = &first[twin__containment_document(base, rank) >= split];
        *least = *least < rank ? *least : rank;
        join->side[rank] = *least;
    }
    return join->side ? TWIN_OK : TWIN_ENOMEM;
}

static void join_end(struct join *join, struct twin__join_counts *counts)
{
    for (int i = 0; join->workers && i < join->base.options.exec.workers; i++) {
        struct worker *worker = &join->workers[i];
        counts->compared += worker->divider.scratch.compared;
        twin__index_worker_clear(&worker->divider);
        twin__index_worker_clear(&worker->smaller);
        twin__matches_clear(&worker->found);
        free(worker->pairs.items);
    }
    for (size_t rank = 0; join->steps && rank < join->base.count; rank++)
        counts->incomplete += join->steps[rank] == 0;
    free(join->pairs.items);
    free(join->workers);
    free(join->base.order);
    free(join->sample);
    free(join->side);
    free(join->steps);
    twin__set_index_clear(&join->index);
}

twin_status twin__containment_join(twin_matches *out, struct twin__join_counts *counts,
                                   const struct twin__provider *provider, struct twin__containment_options options,
                                   twin_error *error)
{
    struct join join = {
        .base = { .provider = provider, .options = options },
    };
    struct twin__prober *prober = NULL;
    twin_status status = join_init(&join);
    if (status != TWIN_OK)
        twin__fail_memory(error);
    if (status == TWIN_OK)
        status = sort_by_size(&join.base, error);
    if (status == TWIN_OK && (sort_sides(&join) != TWIN_OK || twin__prober_create(&prober, &join.base) != TWIN_OK))
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status = join_blocks(out, &join, prober, error);
    twin__prober_free(prober);
    join_end(&join, counts);
    return status;
}

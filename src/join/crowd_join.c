/* crowd_join.c — all similar pairs among many documents that may share a template.
 *
 * Documents made from one template share most of their shingles, so shared bands say nothing about them, and all their
 * pairs would be compared. What distinguishes them is the rest, their rare shingles. This is a prefix-filter join
 * (AllPairs, Bayardo et al. 2007; PPJoin, Xiao et al. 2008) with shingles ordered by their frequency in the crowd:
 *
 *   1. Each set is fetched once to count its shingles, in a table of counters that shingles share by chance; those of
 *      the template, which a sample shows, are kept apart in a small table. The order is that of counters: any
 *      order is right as long as it is one for all documents, so chance costs only speed.
 *   2. Documents are sorted by the size of their sets. Jaccard similarity t of sets of sizes x and y needs an
 *      overlap of n = t/(1+t)·(x+y). Then the x - n + k first shingles of one in that order and the y - n + k first of
 *      the other have k in common: of n common ones the first k are followed by n - k more in both.
 *   3. A block of documents is indexed by its prefixes, as far as partners that are not smaller need them: every token is
 *      an entry (hash, document, position), and sorted entries are posting lists in order of size. A counter of one is a
 *      shingle that no other document has; it takes up its position but has no entry.
 *   4. Every document not smaller, up to the largest that a member of the block can be similar to, looks up its prefix,
 *      which for those of the block itself was kept. Those that have k tokens in common are compared exactly, some
 *      millions of pairs at a time.
 *
 * A template is at the end of the order, beyond the prefixes, unless the template alone nearly reaches the threshold;
 * then most pairs are similar and the output itself is quadratic. Several templates need no splitting: a shingle of
 * each is frequent. Memory: the counters, one block, and one batch of pairs; whatever does not fit into a
 * block goes into the next, for which documents are fetched once more. */
#include "join/crowd_private.h"

#include <stdlib.h>

#include "base/stages.h"

static twin_status compare(twin_matches *out, struct twin__crowd_counts *counts,
                           const struct twin__crowd_state *crowd, struct twin__pairs *pairs, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_JACCARD, crowd->options.threshold };
    struct twin__verify_options verify = { .comparison = twin__compare_sets(&rule), .exec = crowd->options.exec };
    struct twin__components *components = crowd->options.components;
    if (components)
        return twin__components_connect(out, components, &counts->compared, crowd->provider, pairs, verify, error);
    twin_status status = twin__verify_pairs(out, crowd->provider, pairs, verify, error);
    counts->compared += pairs->count;
    pairs->count = 0;
    return status;
}

/* Compares the documents of the block with each other and with all larger ones, some at a time: so few that, if all of
 * them are candidates of all, memory stays bounded. */
static twin_status join_block(twin_matches *out, struct twin__crowd_counts *counts, struct twin__crowd_state *crowd,
                              struct twin__pairs *pairs, twin_error *error)
{
    enum { FEWEST = 64 };
    const struct twin__crowd_block *block = &crowd->block;
    size_t largest = twin__crowd_size(crowd, block->end - 1);
    size_t members = block->end - block->begin, at_a_time = FEWEST;
    if (members > 0 && 4 * crowd->options.pairs_at_a_time / members > FEWEST)
        at_a_time = 4 * crowd->options.pairs_at_a_time / members;
    twin_status status = twin__crowd_make_hits(crowd, error);
    for (size_t rank = block->begin; rank < crowd->count && status == TWIN_OK; rank += at_a_time) {
        if (twin__crowd_overlap(crowd, twin__crowd_size(crowd, rank), largest) > largest)
            break;
        size_t count = crowd->count - rank < at_a_time ? crowd->count - rank : at_a_time;
        crowd->first_rank = rank;
        status =
            twin__exec_try(crowd->options.exec, count, TWIN__CROWD_SETS_AT_A_TIME, twin__crowd_look_up, crowd, error);
        if (status == TWIN_OK)
            status = twin__crowd_gather_pairs(pairs, crowd, error);
        if (status == TWIN_OK && pairs->count >= crowd->options.pairs_at_a_time)
            status = compare(out, counts, crowd, pairs, error);
    }
    return status;
}

static twin_status join_blocks(twin_matches *out, struct twin__crowd_counts *counts, struct twin__crowd_state *crowd,
                               twin_error *error)
{
    struct twin__pairs pairs = { 0 };
    twin_status status = TWIN_OK;
    while (crowd->block.end < crowd->count && status == TWIN_OK) {
        status = twin__crowd_build_block(crowd, error);
        if (status == TWIN_OK)
            status = join_block(out, counts, crowd, &pairs, error);
        if (crowd->options.progress.report)
            (void)twin__report(&twin__stage_joining, crowd->block.end, crowd->count);
    }
    if (status == TWIN_OK)
        status = compare(out, counts, crowd, &pairs, error);
    free(pairs.items);
    return status;
}

static twin_status crowd_init(struct twin__crowd_state *crowd, struct twin__crowd_documents documents)
{
    size_t count = documents.count;
    enum { FEWEST_ENTRIES = 1 << 22, ENTRIES_PER_DOCUMENT = 32, PAIRS_AT_A_TIME = 1 << 21 };
    crowd->count = count;
    double t = crowd->options.threshold;
    crowd->share = t / (1 + t) * (1 - 1e-12);
    if (crowd->options.index_entries == 0)
        crowd->options.index_entries =
            count > FEWEST_ENTRIES / ENTRIES_PER_DOCUMENT ? ENTRIES_PER_DOCUMENT * count : FEWEST_ENTRIES;
    if (crowd->options.pairs_at_a_time == 0)
        crowd->options.pairs_at_a_time = PAIRS_AT_A_TIME;
    crowd->order = malloc((count + 1) * sizeof *crowd->order);
    crowd->workers = calloc((size_t)crowd->options.exec.workers, sizeof *crowd->workers);
    if (!crowd->order || !crowd->workers)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        crowd->order[i] = documents.items[i];
    if (crowd->options.components)
        return twin__crowd_owners_init(&crowd->owners, documents, crowd->options.components);
    return TWIN_OK;
}

static void crowd_clear(struct twin__crowd_state *crowd)
{
    for (int i = 0; crowd->workers && i < crowd->options.exec.workers; i++) {
        struct twin__crowd_worker *worker = &crowd->workers[i];
        free(worker->tokens.items);
        free(worker->tokens.spare);
        free(worker->kept.items);
        free(worker->pairs.items);
        free(worker->hits);
        free(worker->met);
    }
    free(crowd->workers);
    free(crowd->order);
    free((void *)crowd->counters);
    free(crowd->common.places);
    free(crowd->block.prefixes);
    free(crowd->block.tokens.items);
    twin__entries_clear(&crowd->block.entries[0]);
    twin__entries_clear(&crowd->block.entries[1]);
    twin__crowd_owners_clear(&crowd->owners);
}

static double mean_size(const struct twin__crowd_state *crowd)
{
    double sum = 0;
    for (size_t rank = 0; rank < crowd->count; rank++)
        sum += (double)twin__crowd_size(crowd, rank);
    return sum / (double)crowd->count;
}

/* Pairs of one component are only counted. */
static double seconds_to_compare_all(const struct twin__crowd_state *crowd)
{
    static const double COUNT_PAIR = 1e-9;
    double all = twin__crowd_seconds_to_compare_all(crowd->count, mean_size(crowd));
    if (!crowd->options.components)
        return all;
    return all * crowd->owners.apart + COUNT_PAIR * (double)crowd->count * (double)crowd->count / 2;
}

/* Counts the shingles, and decides by what is expected to take less time. */
static twin_status choose_way(enum twin__crowd_way *way, bool *refused, struct twin__crowd_state *crowd,
                              twin_error *error)
{
    double by_prefixes = 0, most = crowd->options.most_seconds;
    twin_status status = twin__crowd_count_shingles(crowd, error);
    *refused = false;
    if (status != TWIN_OK || (*way == TWIN__CROWD_BY_PREFIXES && most <= 0))
        return status;
    status = twin__crowd_expected_seconds(&by_prefixes, crowd, error);
    double all_pairs = seconds_to_compare_all(crowd);
    if (*way == TWIN__CROWD_FASTEST)
        *way = all_pairs < by_prefixes ? TWIN__CROWD_ALL_PAIRS : TWIN__CROWD_BY_PREFIXES;
    *refused = most > 0 && (*way == TWIN__CROWD_ALL_PAIRS ? all_pairs : by_prefixes) > most;
    return status;
}

/* A crowd so small that comparing all of its pairs takes no longer than counting the shingles for any other way. */
static bool is_small(struct twin__crowd_documents documents, const struct twin__crowd_options *options)
{
    enum { FEW = 3072, FEW_TO_CONNECT = 256 }; /* what is connected already costs nothing, if it is counted */
    static const double SIZE = 2000;           /* of a usual set; what it is was not counted */
    return documents.count <= (options->components ? FEW_TO_CONNECT : FEW) &&
           (options->most_seconds <= 0 ||
            twin__crowd_seconds_to_compare_all(documents.count, SIZE) < options->most_seconds);
}

twin_status twin__crowd_join(twin_matches *out, struct twin__crowd_counts *counts,
                             const struct twin__provider *provider, struct twin__crowd_documents documents,
                             struct twin__crowd_options options, twin_error *error)
{
    struct twin__crowd_state crowd = { .provider = provider, .options = options };
    enum twin__crowd_way way = options.way;
    *counts = (struct twin__crowd_counts){ 0 };
    if (documents.count < 2)
        return TWIN_OK;
    twin_status status = TWIN_OK;
    if (way == TWIN__CROWD_FASTEST && is_small(documents, &options))
        way = TWIN__CROWD_ALL_PAIRS;
    if (way != TWIN__CROWD_ALL_PAIRS) {
        status = crowd_init(&crowd, documents);
        status = status == TWIN_OK ? choose_way(&way, &counts->refused, &crowd, error) : twin__fail_memory(error);
    }
    if (status == TWIN_OK && !counts->refused && way == TWIN__CROWD_BY_PREFIXES)
        status = join_blocks(out, counts, &crowd, error);
    crowd_clear(&crowd);
    if (status == TWIN_OK && !counts->refused && way == TWIN__CROWD_ALL_PAIRS)
        status = twin__crowd_compare_all(out, counts, provider, documents, &options, error);
    return status;
}

/* minhash_forest.c — candidates from a forest: for each document those that are likeliest.
 *
 * A signature becomes an entry with one label path per tree. A query walks the trees from the deepest common level up
 * and gets some times as many candidates as it will take; these are ranked by their equal slots, a finer order than
 * that of levels, and the best are taken. Each worker collects the pairs of its own documents; sorted, they do not
 * depend on who found them. */
#include "lsh/minhash_forest.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/stages.h"
#include "lsh/forest.h"
#include "sketch/minhash.h"

enum {
    DEPTH = 16, /* of a tree, at least: what has the plan's rows in common is ranked by these levels */
    SLACK = 8,  /* candidates from the forest for one that is taken: levels are a coarse order, slots a finer one */
    MOST_COPIES = 4 /* entries of one signature that are ranked, times what is taken */
};

struct twin__minhash_forest {
    twin_signatures signatures;
    size_t trees, depth, rows;
    twin__forest *forest;
};

/* Labels of tree t are the slots from t·rows on, round the signature: the first `rows` of each tree are its own. */
static void write_labels(uint32_t *out, const struct twin__minhash_forest *forest, uint32_t document)
{
    size_t slots = forest->signatures.slots;
    const uint32_t *signature = forest->signatures.rows + (size_t)document * slots;
    for (size_t tree = 0; tree < forest->trees; tree++)
        for (size_t level = 0, slot = tree * forest->rows % slots; level < forest->depth; level++) {
            *out++ = signature[slot];
            slot = slot + 1 < slots ? slot + 1 : 0;
        }
}

static twin_status plant(struct twin__minhash_forest *forest, uint64_t seed)
{
    twin__forest_options options = { forest->trees, forest->depth, seed };
    uint32_t *labels = malloc(forest->trees * forest->depth * sizeof *labels);
    twin_status status = labels ? twin__forest_create(&forest->forest, options) : TWIN_ENOMEM;
    for (size_t i = 0; i < forest->signatures.count && status == TWIN_OK; i++) {
        write_labels(labels, forest, forest->signatures.documents[i]);
        status = twin__forest_add(forest->forest, forest->signatures.documents[i], labels);
        if (status == TWIN_OK)
            status = twin__poll();
    }
    if (status == TWIN_OK)
        status = twin__forest_pack(forest->forest);
    free(labels);
    return status;
}

twin_status twin__minhash_forest_create(struct twin__minhash_forest **out, twin_signatures signatures, twin_plan plan,
                                        uint64_t seed)
{
    *out = NULL;
    if (plan.bands == 0 || plan.rows == 0 || plan.rows > signatures.slots || plan.rows > TWIN__FOREST_MAX_DEPTH)
        return twin__fail(NULL, TWIN_EINVAL, "a forest cannot have %zu trees of %zu rows: at most %d, and %zu slots",
                          plan.bands, plan.rows, (int)TWIN__FOREST_MAX_DEPTH, signatures.slots);
    struct twin__minhash_forest *forest = calloc(1, sizeof *forest);
    if (!forest)
        return TWIN_ENOMEM;
    size_t depth = plan.rows > DEPTH ? plan.rows : DEPTH;
    *forest = (struct twin__minhash_forest){ .signatures = signatures,
                                             .trees = plan.bands < TWIN__FOREST_MAX_TREES ? plan.bands
                                                                                          : TWIN__FOREST_MAX_TREES,
                                             .depth = depth < signatures.slots ? depth : signatures.slots,
                                             .rows = plan.rows };
    twin_status status = plant(forest, seed);
    if (status != TWIN_OK) {
        twin__minhash_forest_free(forest);
        return status;
    }
    *out = forest;
    return TWIN_OK;
}

void twin__minhash_forest_free(struct twin__minhash_forest *forest)
{
    if (!forest)
        return;
    twin__forest_free(forest->forest);
    free(forest);
}

/* ---- search ---- */

struct ranked {
    uint32_t agreement, document;
};

struct search_worker {
    twin__forest_scratch scratch;
    twin__forest_candidate *candidates;
    uint64_t *copies;
    uint32_t *labels;
    struct ranked *ranked;
    size_t ranked_count, ranked_capacity;
    struct twin__pairs pairs;
    uint64_t seen;
    twin_status status;
};

struct forest_search {
    const struct twin__minhash_forest *forest;
    struct twin__minhash_forest_query query;
    bool *more;
    struct search_worker *workers;
};

static int by_agreement(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->agreement != y->agreement)
        return x->agreement > y->agreement ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static twin_status rank(struct search_worker *worker, const struct forest_search *search, uint32_t document,
                        uint32_t other)
{
    const twin_signatures *signatures = &search->forest->signatures;
    const struct twin__minhash_forest_query *query = &search->query;
    if (other == document || (query->allows && !query->allows(query->context, document, other)))
        return TWIN_OK;
    worker->seen++;
    size_t equal = twin_minhash_agreement(signatures->rows + (size_t)document * signatures->slots,
                                          signatures->rows + (size_t)other * signatures->slots, signatures->slots);
    if (equal < query->least)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&worker->ranked, &worker->ranked_capacity, worker->ranked_count, 1))
        return TWIN_ENOMEM;
    worker->ranked[worker->ranked_count++] = (struct ranked){ (uint32_t)equal, other };
    return TWIN_OK;
}

/* Ranks a candidate and those that have its signature. */
static twin_status rank_copies(struct search_worker *worker, const struct forest_search *search, uint32_t document,
                               twin__forest_candidate candidate, bool *more)
{
    if (candidate.copies == 1)
        return rank(worker, search, document, (uint32_t)candidate.id);
    size_t most = MOST_COPIES * search->query.take;
    size_t count = twin__forest_copies(worker->copies, search->forest->forest, candidate.id, most);
    *more |= count > most;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && i < most && status == TWIN_OK; i++)
        status = rank(worker, search, document, (uint32_t)worker->copies[i]);
    return status;
}

static twin_status take_best(struct search_worker *worker, size_t take, uint32_t document)
{
    if (worker->ranked_count > 1)
        qsort(worker->ranked, worker->ranked_count, sizeof *worker->ranked, by_agreement);
    size_t count = worker->ranked_count < take ? worker->ranked_count : take;
    struct twin__pairs *pairs = &worker->pairs;
    if (!TWIN__ARRAY_GROW(&pairs->items, &pairs->capacity, pairs->count, count))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++)
        pairs->items[pairs->count++] = twin__pair(document, worker->ranked[i].document);
    return TWIN_OK;
}

static twin_status search_one(struct search_worker *worker, const struct forest_search *search, size_t i)
{
    uint32_t document = search->query.documents[i];
    twin__forest_query_options options = { SLACK * search->query.take + 1, search->forest->rows };
    size_t count;
    worker->ranked_count = 0;
    write_labels(worker->labels, search->forest, document);
    twin_status status = twin__forest_query(worker->candidates, &count, search->forest->forest, &worker->scratch,
                                            worker->labels, options);
    bool more = count == options.most;
    for (size_t c = 0; c < count && status == TWIN_OK; c++)
        status = rank_copies(worker, search, document, worker->candidates[c], &more);
    if (search->more)
        search->more[i] = more || worker->ranked_count > search->query.take;
    return status == TWIN_OK ? take_best(worker, search->query.take, document) : status;
}

/* Documents that a worker takes at a time: a query takes microseconds, and some take a hundred times as long. */
enum { DOCUMENTS_AT_A_TIME = 16 };

static void search_range(void *context, size_t begin, size_t end, int number)
{
    const struct forest_search *search = context;
    struct search_worker *worker = &search->workers[number];
    for (size_t i = begin; i < end && worker->status == TWIN_OK; i++)
        worker->status = search_one(worker, search, i);
}

static twin_status make_workers(struct forest_search *search)
{
    const struct twin__minhash_forest *forest = search->forest;
    size_t take = search->query.take;
    search->workers = calloc((size_t)search->query.exec.workers, sizeof *search->workers);
    for (int i = 0; search->workers && i < search->query.exec.workers; i++) {
        struct search_worker *worker = &search->workers[i];
        worker->candidates = malloc((SLACK * take + 1) * sizeof *worker->candidates);
        worker->copies = malloc(MOST_COPIES * take * sizeof *worker->copies);
        worker->labels = malloc(forest->trees * forest->depth * sizeof *worker->labels);
        if (!worker->candidates || !worker->copies || !worker->labels)
            return TWIN_ENOMEM;
    }
    return search->workers ? TWIN_OK : TWIN_ENOMEM;
}

static void free_searchers(struct forest_search *search)
{
    for (int i = 0; search->workers && i < search->query.exec.workers; i++) {
        struct search_worker *worker = &search->workers[i];
        twin__forest_scratch_clear(&worker->scratch);
        free(worker->candidates);
        free(worker->copies);
        free(worker->labels);
        free(worker->ranked);
        free(worker->pairs.items);
    }
    free(search->workers);
}

static twin_status gather_ranked(struct twin__pairs *out, uint64_t *seen, const struct forest_search *search)
{
    for (int i = 0; i < search->query.exec.workers; i++) {
        const struct search_worker *worker = &search->workers[i];
        if (worker->status != TWIN_OK)
            return worker->status;
        if (!twin__pairs_append(out, &worker->pairs))
            return TWIN_ENOMEM;
        *seen += worker->seen;
    }
    return twin__pairs_sort_unique(out, NULL);
}

twin_status twin__minhash_forest_pairs(struct twin__pairs *out, bool *more, uint64_t *seen,
                                       const struct twin__minhash_forest *forest,
                                       struct twin__minhash_forest_query query)
{
    struct forest_search search = { .forest = forest, .query = query, .more = more };
    twin_status status = make_workers(&search);
    if (status == TWIN_OK) {
        twin_exec_for(query.exec, query.count, DOCUMENTS_AT_A_TIME, search_range, &search);
        status = gather_ranked(out, seen, &search);
    }
    free_searchers(&search);
    return status;
}

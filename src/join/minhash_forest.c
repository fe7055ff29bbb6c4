/* minhash_forest.c — signatures become candidates through a forest: for each document those that are likeliest. */
#include <stdlib.h>
#include <string.h>
#include <twinsift/forest.h>

#include "base/array.h"
#include "join/similar_private.h"
#include "kernels/sort.h"

enum {
    DEPTH = 16, /* of a tree, at least: what has the plan's rows in common is told apart by these levels */
    SLACK = 8,  /* candidates asked of the forest for one that is taken: levels are a coarse order, slots a finer */
    MOST_COPIES = 4 /* times as many entries of one signature are looked at as are taken */
};

struct twin__minhash_forest {
    twin_signatures signatures;
    size_t trees, depth, rows;
    twin_forest *forest;
};

/* Labels of tree t are the slots from t·rows on, round the signature: the first `rows` of each tree are its own. */
static void write_labels(uint32_t *out, const struct twin__minhash_forest *grove, uint32_t document)
{
    size_t slots = grove->signatures.slots;
    const uint32_t *signature = grove->signatures.rows + (size_t)document * slots;
    for (size_t tree = 0; tree < grove->trees; tree++)
        for (size_t level = 0, slot = tree * grove->rows % slots; level < grove->depth; level++) {
            *out++ = signature[slot];
            slot = slot + 1 < slots ? slot + 1 : 0;
        }
}

static twin_status plant(struct twin__minhash_forest *grove, uint64_t seed)
{
    twin_forest_options options = { grove->trees, grove->depth, seed };
    uint32_t *labels = malloc(grove->trees * grove->depth * sizeof *labels);
    twin_status status = labels ? twin_forest_create(&grove->forest, options) : TWIN_ENOMEM;
    for (size_t i = 0; i < grove->signatures.count && status == TWIN_OK; i++) {
        write_labels(labels, grove, grove->signatures.documents[i]);
        status = twin_forest_add(grove->forest, grove->signatures.documents[i], labels);
    }
    if (status == TWIN_OK)
        status = twin_forest_pack(grove->forest);
    free(labels);
    return status;
}

twin_status twin__minhash_forest_create(struct twin__minhash_forest **out, twin_signatures signatures, twin_plan plan,
                                        uint64_t seed)
{
    *out = NULL;
    if (plan.bands == 0 || plan.rows == 0 || plan.rows > signatures.slots || plan.rows > TWIN_FOREST_MAX_DEPTH)
        return TWIN_EINVAL;
    struct twin__minhash_forest *grove = calloc(1, sizeof *grove);
    if (!grove)
        return TWIN_ENOMEM;
    size_t depth = plan.rows > DEPTH ? plan.rows : DEPTH;
    *grove = (struct twin__minhash_forest){ .signatures = signatures,
                                            .trees = plan.bands < TWIN_FOREST_MAX_TREES ? plan.bands
                                                                                        : TWIN_FOREST_MAX_TREES,
                                            .depth = depth < signatures.slots ? depth : signatures.slots,
                                            .rows = plan.rows };
    twin_status status = plant(grove, seed);
    if (status != TWIN_OK) {
        twin__minhash_forest_free(grove);
        return status;
    }
    *out = grove;
    return TWIN_OK;
}

void twin__minhash_forest_free(struct twin__minhash_forest *grove)
{
    if (!grove)
        return;
    twin_forest_free(grove->forest);
    free(grove);
}

/* ---- asking ---- */

struct ranked {
    uint32_t agreement, document;
};

struct asker {
    twin_forest_scratch scratch;
    twin_forest_candidate *candidates;
    uint64_t *copies;
    uint32_t *labels;
    struct ranked *ranked;
    size_t ranked_count, ranked_capacity;
    struct twin__pairs pairs;
    uint64_t seen;
    twin_status status;
};

struct asking {
    const struct twin__minhash_forest *grove;
    struct twin__minhash_forest_query ask;
    bool *more;
    struct asker *askers;
};

static int by_agreement(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->agreement != y->agreement)
        return x->agreement > y->agreement ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static twin_status rank(struct asker *asker, const struct asking *asking, uint32_t document, uint32_t other)
{
    const twin_signatures *signatures = &asking->grove->signatures;
    const struct twin__minhash_forest_query *ask = &asking->ask;
    if (other == document || (ask->allows && !ask->allows(ask->context, document, other)))
        return TWIN_OK;
    asker->seen++;
    size_t equal = twin_minhash_agreement(signatures->rows + (size_t)document * signatures->slots,
                                          signatures->rows + (size_t)other * signatures->slots, signatures->slots);
    if (equal < ask->least)
        return TWIN_OK;
    if (!twin__array_grow(&asker->ranked, &asker->ranked_capacity, asker->ranked_count, 1, sizeof *asker->ranked))
        return TWIN_ENOMEM;
    asker->ranked[asker->ranked_count++] = (struct ranked){ (uint32_t)equal, other };
    return TWIN_OK;
}

/* Ranks a candidate and those that have its signature. */
static twin_status rank_copies(struct asker *asker, const struct asking *asking, uint32_t document,
                               twin_forest_candidate candidate, bool *more)
{
    if (candidate.copies == 1)
        return rank(asker, asking, document, (uint32_t)candidate.id);
    size_t most = MOST_COPIES * asking->ask.take;
    size_t count = twin_forest_copies(asker->copies, asking->grove->forest, candidate.id, most);
    *more |= count > most;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && i < most && status == TWIN_OK; i++)
        status = rank(asker, asking, document, (uint32_t)asker->copies[i]);
    return status;
}

static twin_status take_best(struct asker *asker, size_t take, uint32_t document)
{
    if (asker->ranked_count > 1)
        qsort(asker->ranked, asker->ranked_count, sizeof *asker->ranked, by_agreement);
    size_t count = asker->ranked_count < take ? asker->ranked_count : take;
    struct twin__pairs *pairs = &asker->pairs;
    if (!twin__array_grow(&pairs->items, &pairs->capacity, pairs->count, count, sizeof *pairs->items))
        return TWIN_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t other = asker->ranked[i].document, low = document < other ? document : other;
        pairs->items[pairs->count++] = (uint64_t)low << 32 | (document ^ other ^ low);
    }
    return TWIN_OK;
}

static twin_status ask_one(struct asker *asker, const struct asking *asking, size_t i)
{
    uint32_t document = asking->ask.documents[i];
    twin_forest_query_options ask = { SLACK * asking->ask.take + 1, asking->grove->rows };
    size_t count;
    asker->ranked_count = 0;
    write_labels(asker->labels, asking->grove, document);
    twin_status status =
        twin_forest_query(asker->candidates, &count, asking->grove->forest, &asker->scratch, asker->labels, ask);
    bool more = count == ask.most;
    for (size_t c = 0; c < count && status == TWIN_OK; c++)
        status = rank_copies(asker, asking, document, asker->candidates[c], &more);
    if (asking->more)
        asking->more[i] = more || asker->ranked_count > asking->ask.take;
    return status == TWIN_OK ? take_best(asker, asking->ask.take, document) : status;
}

static void ask_some(void *context, size_t begin, size_t end, int worker)
{
    const struct asking *asking = context;
    struct asker *asker = &asking->askers[worker];
    for (size_t i = begin; i < end && asker->status == TWIN_OK; i++)
        asker->status = ask_one(asker, asking, i);
}

static twin_status make_askers(struct asking *asking)
{
    const struct twin__minhash_forest *grove = asking->grove;
    size_t take = asking->ask.take;
    asking->askers = calloc((size_t)asking->ask.exec.workers, sizeof *asking->askers);
    for (int i = 0; asking->askers && i < asking->ask.exec.workers; i++) {
        struct asker *asker = &asking->askers[i];
        asker->candidates = malloc((SLACK * take + 1) * sizeof *asker->candidates);
        asker->copies = malloc(MOST_COPIES * take * sizeof *asker->copies);
        asker->labels = malloc(grove->trees * grove->depth * sizeof *asker->labels);
        if (!asker->candidates || !asker->copies || !asker->labels)
            return TWIN_ENOMEM;
    }
    return asking->askers ? TWIN_OK : TWIN_ENOMEM;
}

static void free_askers(struct asking *asking)
{
    for (int i = 0; asking->askers && i < asking->ask.exec.workers; i++) {
        struct asker *asker = &asking->askers[i];
        twin_forest_scratch_clear(&asker->scratch);
        free(asker->candidates);
        free(asker->copies);
        free(asker->labels);
        free(asker->ranked);
        free(asker->pairs.items);
    }
    free(asking->askers);
}

static twin_status gather(struct twin__pairs *out, uint64_t *seen, const struct asking *asking)
{
    for (int i = 0; i < asking->ask.exec.workers; i++) {
        const struct asker *asker = &asking->askers[i];
        if (asker->status != TWIN_OK)
            return asker->status;
        if (!twin__array_grow(&out->items, &out->capacity, out->count, asker->pairs.count, sizeof *out->items))
            return TWIN_ENOMEM;
        if (asker->pairs.count)
            memcpy(out->items + out->count, asker->pairs.items, asker->pairs.count * sizeof *out->items);
        out->count += asker->pairs.count;
        *seen += asker->seen;
    }
    return twin__pairs_tidy(out, NULL);
}

twin_status twin__minhash_forest_pairs(struct twin__pairs *out, bool *more, uint64_t *seen,
                                       const struct twin__minhash_forest *grove,
                                       struct twin__minhash_forest_query ask)
{
    struct asking asking = { .grove = grove, .ask = ask, .more = more };
    twin_status status = make_askers(&asking);
    if (status == TWIN_OK) {
        twin_exec_for(ask.exec, ask.count, 16, ask_some, &asking);
        status = gather(out, seen, &asking);
    }
    free_askers(&asking);
    return status;
}

twin_status twin__pairs_tidy(struct twin__pairs *pairs, const struct twin__pairs *known)
{
    if (pairs->count == 0)
        return TWIN_OK;
    uint64_t *spare = malloc(pairs->count * sizeof *spare);
    if (!spare)
        return TWIN_ENOMEM;
    twin__sort(pairs->items, spare, pairs->count);
    free(spare);
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        while (known && at < known->count && known->items[at] < pair)
            at++;
        if ((known && at < known->count && known->items[at] == pair) || (kept && pairs->items[kept - 1] == pair))
            continue;
        pairs->items[kept++] = pair;
    }
    pairs->count = kept;
    return TWIN_OK;
}

/* query.c — which of the candidates of one more document are similar to it.
 *
 * The signature gate drops candidates as they are proposed. The others are compared in the order of their equal
 * slots, the most promising first: once as many as are wanted have been found, the worst of them is the threshold of
 * the others, and the gate for that threshold ends the search early. Where there are many, a few items of the query
 * rule most of them out (query_probes.h). */
#include "join/query.h"

#include <stdlib.h>

#include "base/array.h"
#include "join/gate.h"

static size_t least_equal(const struct twin__query *query, double threshold)
{
    return twin__gate_make(query->measure, threshold, query->verify, query->slots).least;
}

void twin__query_begin(struct twin__query_hits *hits, struct twin__query *query)
{
    hits->count = 0;
    query->least = least_equal(query, query->threshold);
}

twin_status twin__query_propose(struct twin__query_hits *hits, const struct twin__query *query, uint64_t document,
                                const uint32_t *signature)
{
    size_t equal = twin_minhash_agreement(query->signature, signature, query->slots);
    if (equal < query->least)
        return TWIN_OK;
    if (!TWIN__ARRAY_GROW(&hits->items, &hits->capacity, hits->count, 1))
        return TWIN_ENOMEM;
    hits->items[hits->count++] = (struct twin__query_hit){ document, equal, (double)equal / (double)query->slots };
    return TWIN_OK;
}

static int by_similarity(const void *a, const void *b)
{
    const struct twin__query_hit *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static void sort(struct twin__query_hits *hits)
{
    if (hits->count > 1)
        qsort(hits->items, hits->count, sizeof *hits->items, by_similarity);
}

/* Inserts a hit in order among the best so far, of which at most `most` are kept; returns how many these are. */
static size_t insert(struct twin__query_hit *best, size_t count, size_t most, struct twin__query_hit hit)
{
    size_t position = count < most ? count : most - 1;
    if (count == most && by_similarity(&hit, &best[position]) >= 0)
        return count;
    for (; position > 0 && by_similarity(&hit, &best[position - 1]) < 0; position--)
        best[position] = best[position - 1];
    best[position] = hit;
    return count < most ? count + 1 : most;
}

/* What is known while hits are compared. */
struct comparison {
    const struct twin__query *query;
    double threshold;
    struct twin__query_probes *probes; /* NULL: all hits are fetched */
    size_t looked_up, ruled_out;
};

/* Looks at hits from the first to the last, to see which items of the query few of them have. */
static twin_status sample(struct twin__query_probes *probes, const struct twin__query_hits *hits,
                          const struct twin__query *query, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < TWIN__PROBE_SAMPLES && status == TWIN_OK; i++) {
        twin_set set;
        status =
            query->fetch(&set, query->context, hits->items[i * hits->count / TWIN__PROBE_SAMPLES].document, error);
        if (status == TWIN_OK)
            twin__query_probes_sample(probes, set);
    }
    return status;
}

/* How many of the query's items a similar set of `size` items may lack. Of n common ones, t/(1+t) of all are needed. */
static size_t spare_items(const struct comparison *comparison, uint64_t size)
{
    double own = (double)comparison->query->set.count, threshold = comparison->threshold;
    double spare = own - threshold / (1 + threshold) * (1 - 1e-12) * (own + (double)size);
    return spare > 0 ? (size_t)spare : 0;
}

/* Whether a few items of the query show that a hit is not similar. They are no longer looked up when they seldom do. */
static twin_status rule_out(bool *out, struct comparison *comparison, uint64_t document, twin_error *error)
{
    enum { ONE_IN = 4, AT_FIRST = 64 };
    const struct twin__query *query = comparison->query;
    *out = false;
    if (!comparison->probes || ONE_IN * comparison->ruled_out + AT_FIRST < comparison->looked_up)
        return TWIN_OK;
    uint64_t size = query->size(query->context, document);
    size_t found, spare = spare_items(comparison, size);
    struct twin__probe_table probes = twin__query_probes_get(comparison->probes, spare, size);
    if (!probes.slots)
        return TWIN_OK;
    twin_status status = query->count_probes(&found, query->context, document, probes, error);
    *out = status == TWIN_OK && found + spare < probes.count;
    comparison->looked_up++;
    comparison->ruled_out += *out;
    return status;
}

/* The similarity of a hit, or -1 if it is below the threshold. */
static twin_status compare_hit(double *out, struct comparison *comparison, uint64_t document, twin_error *error)
{
    const struct twin__query *query = comparison->query;
    bool ruled_out;
    twin_set set;
    *out = -1;
    twin_status status = rule_out(&ruled_out, comparison, document, error);
    if (status != TWIN_OK || ruled_out)
        return status;
    status = query->fetch(&set, query->context, document, error);
    if (status == TWIN_OK)
        *out = twin_set_similarity_at_least(query->set, set, query->measure, comparison->threshold);
    return status;
}

/* Replaces the hits, which are sorted by their equal slots, by the similar ones: by the best of them if not all are
 * wanted. */
static twin_status compare(struct twin__query_hits *hits, struct comparison *comparison, twin_error *error)
{
    const struct twin__query *query = comparison->query;
    size_t best = 0, least = 0;
    for (size_t i = 0; i < hits->count && hits->items[i].equal >= least; i++) {
        struct twin__query_hit hit = hits->items[i];
        twin_status status = compare_hit(&hit.similarity, comparison, hit.document, error);
        if (status != TWIN_OK)
            return status;
        if (hit.similarity < 0)
            continue;
        if (!query->most) {
            hits->items[best++] = hit;
            continue;
        }
        best = insert(hits->items, best, query->most, hit);
        double worst = hits->items[best - 1].similarity;
        if (best == query->most && worst > comparison->threshold) {
            comparison->threshold = worst;
            least = least_equal(query, worst);
        }
    }
    hits->count = best;
    return TWIN_OK;
}

/* With fewer it is not worth to look for the rare items of the query. */
enum { MANY_HITS = 128 };

static twin_status compare_all(struct twin__query_hits *hits, const struct twin__query *query, twin_error *error)
{
    struct comparison comparison = { .query = query, .threshold = query->threshold };
    if (hits->count < MANY_HITS || !query->count_probes || query->measure != TWIN_JACCARD ||
        query->set.count > TWIN__PROBE_MOST_ITEMS)
        return compare(hits, &comparison, error);
    struct twin__query_probes probes;
    twin__query_probes_init(&probes, query->set, query->item_shift);
    comparison.probes = &probes;
    twin_status status = sample(&probes, hits, query, error);
    if (status == TWIN_OK)
        status = compare(hits, &comparison, error);
    twin__query_probes_clear(&probes);
    return status;
}

twin_status twin__query_verify(struct twin__query_hits *hits, const struct twin__query *query, twin_error *error)
{
    sort(hits);
    if (query->verify != TWIN_VERIFY_EXACT) {
        if (query->most && hits->count > query->most)
            hits->count = query->most;
        return TWIN_OK;
    }
    twin_status status = compare_all(hits, query, error);
    sort(hits);
    return status;
}

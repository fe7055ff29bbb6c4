/* hits.c — which of the candidates of one more document are similar to it.
 *
 * The signature gate drops candidates as they are proposed. The others are compared in the order of their equal
 * slots, the most promising first: once as many as are wanted have been found, the worst of them is the threshold of
 * later ones, and the gate for that threshold ends the search early. A query among many pages of one template, which
 * pass the gate and are not similar, ends after as many comparisons as it may take. */
#include "index/hits.h"

#include <stdlib.h>

#include "base/array.h"
#include "join/join_private.h"
#include "sketch/set.h"

static size_t least_equal(const struct twin__query *query, double threshold)
{
    return twin__gate_make(query->measure, threshold, query->verify, query->slots).least;
}

void twin__query_begin(struct twin__query_hits *hits, struct twin__query *query)
{
    hits->count = 0;
    hits->incomplete = false;
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

static void sort_hits(struct twin__query_hits *hits)
{
    if (hits->count > 1)
        qsort(hits->items, hits->count, sizeof *hits->items, by_similarity);
}

/* Inserts a hit in order among the best so far, of which at most `most` are kept; returns how many these are. */
static size_t insert_hit(struct twin__query_hit *best, size_t count, size_t most, struct twin__query_hit hit)
{
    size_t position = count < most ? count : most - 1;
    if (count == most && by_similarity(&hit, &best[position]) >= 0)
        return count;
    for (; position > 0 && by_similarity(&hit, &best[position - 1]) < 0; position--)
        best[position] = best[position - 1];
    best[position] = hit;
    return count < most ? count + 1 : most;
}

/* The similarity of a hit, or -1 if it is below the threshold. */
static twin_status compare_hit(double *out, const struct twin__query *query, double threshold, uint64_t document,
                               twin_error *error)
{
    twin_set set;
    twin_status status = query->fetch(&set, query->context, document, error);
    *out = status == TWIN_OK ? twin__set_similarity_at_least(query->set, set, query->measure, threshold) : -1;
    return status;
}

/* Replaces the hits, which are sorted by their equal slots, by the similar ones: by the best of them if not all are
 * wanted. */
static twin_status compare_hits(struct twin__query_hits *hits, const struct twin__query *query, twin_error *error)
{
    size_t best = 0, least = 0;
    double threshold = query->threshold;
    for (size_t i = 0; i < hits->count && hits->items[i].equal >= least; i++) {
        struct twin__query_hit hit = hits->items[i];
        hits->incomplete = query->most_compared && i == query->most_compared;
        if (hits->incomplete)
            break;
        twin_status status = compare_hit(&hit.similarity, query, threshold, hit.document, error);
        if (status != TWIN_OK)
            return status;
        if (hit.similarity < 0)
            continue;
        if (!query->most) {
            hits->items[best++] = hit;
            continue;
        }
        best = insert_hit(hits->items, best, query->most, hit);
        double worst = hits->items[best - 1].similarity;
        if (best == query->most && worst > threshold) {
            threshold = worst;
            least = least_equal(query, worst);
        }
    }
    hits->count = best;
    return TWIN_OK;
}

twin_status twin__query_verify(struct twin__query_hits *hits, const struct twin__query *query, twin_error *error)
{
    sort_hits(hits);
    if (query->verify != TWIN_VERIFY_EXACT) {
        if (query->most && hits->count > query->most)
            hits->count = query->most;
        return TWIN_OK;
    }
    twin_status status = compare_hits(hits, query, error);
    sort_hits(hits);
    return status;
}

/* cluster.c — similar pairs become groups.
 *
 * Connected components are found by union and find. What is kept follows in the order of preference: a
 * document that nothing before it has dropped is kept, and all that match it are dropped. Members are listed by keeper (copies, join_private.h). */
#include <twinsift/similar.h>

#include <stdlib.h>

#include "base/error.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"

#define NOBODY UINT32_MAX /* never a document: there are at most so many, counted from 0 */

static twin_status check_matches(const uint32_t *out, size_t documents, const twin_match *matches, size_t count)
{
    if ((documents && !out) || (count && !matches))
        return twin__fail_null(NULL, count && !matches ? "matches" : "the array for the result");
    if (documents > UINT32_MAX)
        return twin__fail(NULL, TWIN_ELIMIT, "%zu documents are too many", documents);
    for (size_t i = 0; i < count; i++)
        if (matches[i].a >= documents || matches[i].b >= documents)
            return twin__fail(NULL, TWIN_EINVAL, "match %zu names a document that is not there", i);
    return TWIN_OK;
}

twin_status twin__cluster_components(uint32_t *group, size_t documents, const twin_match *matches, size_t count)
{
    twin_status status = check_matches(group, documents, matches, count);
    if (status != TWIN_OK)
        return status;

    twin__union_begin(group, documents);
    for (size_t i = 0; i < count; i++)
        twin__union_join(group, matches[i].a, matches[i].b);
    twin__union_flatten(group, documents);
    return TWIN_OK;
}

static twin_status rank_all(uint32_t *rank, size_t documents, const uint32_t *order)
{
    for (size_t i = 0; i < documents; i++)
        rank[i] = order ? NOBODY : (uint32_t)i;
    for (size_t i = 0; order && i < documents; i++) {
        if (order[i] >= documents || rank[order[i]] != NOBODY)
            return twin__fail(NULL, TWIN_EINVAL, "order[%zu] is not there or comes twice", i);
        rank[order[i]] = (uint32_t)i;
    }
    return TWIN_OK;
}

/* The matches in the order of their documents: the rank of the one that comes first in the high half, for only that
 * one can ever drop the other, and the number of the match in the low half. NULL when out of memory or
 * if the order is wrong. */
static uint64_t *sort_matches(twin_status *status, size_t documents, const twin_match *matches, size_t count,
                              const uint32_t *order)
{
    uint32_t *rank = malloc((documents + 1) * sizeof *rank);
    uint64_t *sorted = malloc((count + 1) * sizeof *sorted);
    *status = rank && sorted ? rank_all(rank, documents, order) : TWIN_ENOMEM;
    for (size_t i = 0; i < count && *status == TWIN_OK; i++) {
        uint64_t a = rank[matches[i].a], b = rank[matches[i].b];
        sorted[i] = (a < b ? a : b) << 32 | i;
    }
    free(rank);
    if (*status == TWIN_OK && !twin__sort_many_numbers(sorted, count))
        *status = TWIN_ENOMEM;
    if (*status == TWIN_OK)
        return sorted;
    free(sorted);
    return NULL;
}

static void drop_for(uint32_t *keeper, double *similarity, uint32_t kept, twin_match match)
{
    uint32_t dropped = match.a == kept ? match.b : match.a;
    if (keeper[dropped] != NOBODY)
        return;
    keeper[dropped] = kept;
    if (similarity)
        similarity[dropped] = match.similarity;
}

twin_status twin__cluster_keepers(uint32_t *keeper, double *similarity, size_t documents, const twin_match *matches,
                                  size_t count, const uint32_t *order)
{
    twin_status status = check_matches(keeper, documents, matches, count);
    if (status != TWIN_OK)
        return status;
    if (count > UINT32_MAX)
        return twin__fail(NULL, TWIN_ELIMIT, "%zu matches are too many", count);
    uint64_t *sorted = sort_matches(&status, documents, matches, count, order);
    if (!sorted)
        return status;

    for (size_t i = 0; i < documents; i++)
        keeper[i] = NOBODY;
    for (size_t i = 0, at = 0; i < documents; i++) {
        uint32_t d = order ? order[i] : (uint32_t)i;
        bool is_kept = keeper[d] == NOBODY;
        if (is_kept) {
            keeper[d] = d;
            if (similarity)
                similarity[d] = 1;
        }
        for (; at < count && sorted[at] >> 32 == i; at++)
            if (is_kept)
                drop_for(keeper, similarity, d, matches[(uint32_t)sorted[at]]);
    }
    free(sorted);
    return TWIN_OK;
}

/* ---- groups of documents ---- */

twin_status twin_cluster_documents(uint32_t *keeper, double *similarity, const twin_similar *similar)
{
    if (!keeper || !similarity || !similar)
        return twin__fail_null(NULL, !keeper ? "keeper" : !similarity ? "similarity" : "similar");
    if (similar->other)
        return twin__fail(NULL, TWIN_EINVAL, "pairs between two collections make no groups");
    if (twin__matches_on_disk(&similar->matches))
        return twin__fail(NULL, TWIN_EINVAL, "groups need all pairs in memory: spill_after must be 0");
    size_t documents = twin_collection_count(similar->collection).documents;
    const uint32_t *firsts = twin_collection_firsts(similar->collection);
    twin_matches unpacked = { 0 };
    const twin_matches *matches = similar->packed.count ? &unpacked : &similar->matches;
    twin_status status = twin__packed_pairs_unpack(&unpacked, similar->packed, similar->collection);
    if (status == TWIN_OK)
        status = twin__cluster_keepers(keeper, similarity, documents, matches->items, matches->count, NULL);
    for (size_t i = 0; i < documents && status == TWIN_OK; i++) { /* a first comes before its copies */
        keeper[i] = keeper[firsts[i]];
        similarity[i] = similarity[firsts[i]];
    }
    twin__matches_clear(&unpacked);
    return status;
}

static twin_status list_members(struct twin__copies *out, const uint32_t *keeper, size_t documents)
{
    for (size_t i = 0; i < documents; i++)
        if (keeper[i] >= documents) {
            twin__fail(NULL, TWIN_EINVAL, "the keeper of document %zu is not there", i);
            return TWIN_EINVAL;
        }
    return twin__copies_list(out, keeper, documents);
}

static bool visit_group(uint32_t group, const uint32_t *members, size_t count, const double *similarity,
                        twin_member_visit *visit, void *context)
{
    if (!visit(context, (twin_member){ group, group, 1 }))
        return false;
    for (size_t i = 0; i < count; i++)
        if (members[i] != group && !visit(context, (twin_member){ group, members[i], similarity[members[i]] }))
            return false;
    return true;
}

twin_status twin_cluster_each(const uint32_t *keeper, const double *similarity, size_t documents,
                              twin_member_visit *visit, void *context)
{
    if (!visit || (documents && (!keeper || !similarity)))
        return twin__fail_null(NULL, !visit ? "visit" : !keeper ? "keeper" : "similarity");
    struct twin__copies members = { 0 };
    twin_status status = list_members(&members, keeper, documents);
    for (size_t i = 0; i < documents && status == TWIN_OK; i++) {
        size_t begin = members.begins[i], count = members.begins[i + 1] - begin;
        if (count > (keeper[i] == i) &&
            !visit_group((uint32_t)i, members.same + begin, count, similarity, visit, context))
            status = TWIN_ESTOPPED;
    }
    twin__copies_clear(&members);
    return status;
}

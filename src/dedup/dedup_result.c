/* dedup_result.c — what was decided about nodes, as documents and groups.
 *
 * A document is kept if it is the best of a kept node; any other names the document it was dropped for, with
 * their similarity. Groups list the dropped documents of each that is kept, in the order of the collection. */
#include <stdlib.h>

#include "base/error.h"
#include "dedup/decision.h"

/* From nodes to documents, in the same arrays: from the back, because a node is not behind its documents. */
static void expand(twin_dedup *dedup, const struct twin__decision *decision)
{
    twin_dedup_counts *counts = &dedup->counts;
    for (size_t i = decision->documents; i-- > 0;) {
        uint32_t node = decision->firsts[i], kept = dedup->keepers[node];
        bool excluded = decision->is_excluded && decision->is_excluded[node];
        uint32_t best = excluded                               ? TWIN_DEDUP_NONE
                        : decision->best[kept] == TWIN__NOBODY ? kept
                                                               : decision->best[kept];
        bool is_kept = best == i;
        dedup->keepers[i] = best;
        dedup->similarities[i] = kept == node ? 1 : dedup->similarities[node];
        uint64_t bytes = twin_collection_entry_of(decision->collection, (uint32_t)i).position.length;
        counts->documents++;
        counts->bytes += bytes;
        counts->kept_bytes += is_kept ? bytes : 0;
        counts->kept += is_kept;
        counts->excluded += excluded;
        counts->exact_copies += !excluded && !is_kept && kept == node;
        counts->near_copies += !excluded && kept != node;
    }
}

static bool is_dropped(const twin_dedup *dedup, size_t document)
{
    return dedup->keepers[document] != document && dedup->keepers[document] != TWIN_DEDUP_NONE;
}

/* Lists the dropped documents of each kept one: counted, then placed. */
static twin_status list_groups(twin_dedup *dedup)
{
    size_t documents = dedup->counts.documents, dropped = documents - dedup->counts.kept, begin = 0;
    uint32_t *sizes = calloc(documents + 1, sizeof *sizes);
    if (!sizes)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < documents; i++)
        if (is_dropped(dedup, i) && sizes[dedup->keepers[i]]++ == 0)
            dedup->group_count++;
    dedup->groups = malloc((dedup->group_count + 1) * sizeof *dedup->groups);
    dedup->members = malloc((dropped + 1) * sizeof *dedup->members);
    if (dedup->groups && dedup->members) {
        for (size_t i = 0, group = 0; i < documents; i++) {
            if (sizes[i] == 0)
                continue;
            dedup->groups[group] = (twin_dedup_group){ (uint32_t)i, dedup->members + begin, 0 };
            begin += sizes[i];
            sizes[i] = (uint32_t)group++; /* from here on: which group it is the keeper of */
        }
        for (size_t i = 0; i < documents; i++) {
            if (!is_dropped(dedup, i))
                continue;
            twin_dedup_group *group = &dedup->groups[sizes[dedup->keepers[i]]];
            dedup->members[(size_t)(group->dropped - dedup->members) + group->count++] = (uint32_t)i;
        }
    }
    free(sizes);
    dedup->counts.groups = dedup->group_count;
    return dedup->groups && dedup->members ? TWIN_OK : TWIN_ENOMEM;
}

twin_status twin__dedup_create(twin_dedup **out, struct twin__decision *decision, twin_error *error)
{
    twin_dedup *dedup = calloc(1, sizeof *dedup);
    if (!dedup)
        return twin__fail_memory(error);
    dedup->counts.without_field = decision->without_field;
    dedup->counts.search.candidates = decision->matches.candidates;
    dedup->counts.search.verified = decision->matches.verified;
    dedup->keepers = decision->node_kept;
    dedup->similarities = decision->node_similarity;
    decision->node_kept = NULL;
    decision->node_similarity = NULL;
    expand(dedup, decision);
    twin_status status = list_groups(dedup);
    if (status != TWIN_OK) {
        twin_dedup_free(dedup);
        return twin__fail_memory(error);
    }
    *out = dedup;
    return TWIN_OK;
}

/* Each document is a node of its own. */
twin_status twin_dedup_without(twin_dedup **out, const twin_collection *collection, const bool *excluded,
                               twin_error *error)
{
    if (!out || !collection || !excluded)
        return twin__fail_null(error, !out ? "out" : !collection ? "collection" : "excluded");
    *out = NULL;
    size_t documents = twin_collection_count(collection).documents;
    uint32_t *each = malloc((documents + 1) * sizeof *each);
    struct twin__decision decision = { .collection = collection,
                                       .documents = documents,
                                       .firsts = each,
                                       .best = each,
                                       .node_kept = malloc((documents + 1) * sizeof *decision.node_kept),
                                       .node_similarity = malloc((documents + 1) * sizeof *decision.node_similarity),
                                       .is_excluded = (bool *)excluded };
    twin_status status = each && decision.node_kept && decision.node_similarity ? TWIN_OK : twin__fail_memory(error);
    for (uint32_t i = 0; status == TWIN_OK && i < documents; i++)
        each[i] = decision.node_kept[i] = i;
    if (status == TWIN_OK)
        status = twin__dedup_create(out, &decision, error);
    free(each);
    free(decision.node_kept);
    free(decision.node_similarity);
    return status;
}

/* ---- reading it ---- */

void twin_dedup_free(twin_dedup *dedup)
{
    if (!dedup)
        return;
    free(dedup->keepers);
    free(dedup->similarities);
    free(dedup->groups);
    free(dedup->members);
    free(dedup);
}

twin_dedup_counts twin_dedup_count(const twin_dedup *dedup)
{
    return dedup ? dedup->counts : (twin_dedup_counts){ 0 };
}

const uint32_t *twin_dedup_keepers(const twin_dedup *dedup)
{
    return dedup ? dedup->keepers : NULL;
}

const double *twin_dedup_similarities(const twin_dedup *dedup)
{
    return dedup ? dedup->similarities : NULL;
}

size_t twin_dedup_groups(const twin_dedup_group **out, const twin_dedup *dedup)
{
    if (out)
        *out = dedup ? dedup->groups : NULL;
    return dedup ? dedup->group_count : 0;
}

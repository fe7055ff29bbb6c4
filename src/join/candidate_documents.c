/* candidate_documents.c — candidates are divided by their documents, for machines that compare a part each. */
#include <stdlib.h>

#include "base/random.h"
#include "join/candidates.h"
#include "join/join_private.h"

/* Unites documents that are candidates or in one crowd. */
static void unite(uint32_t *group, const struct twin__band_candidates *candidates)
{
    for (size_t i = 0; i < candidates->pairs.count; i++)
        twin__union_join(group, twin__pair_low(candidates->pairs.items[i]),
                         twin__pair_high(candidates->pairs.items[i]));
    for (size_t i = 0; i < candidates->crowds.count; i++) {
        const uint32_t *documents = candidates->crowds.documents + candidates->crowds.items[i].begin;
        for (size_t k = 1; k < candidates->crowds.items[i].count; k++)
            twin__union_join(group, documents[0], documents[k]);
    }
}

/* Which part a document is in depends on the first of those it is united with. */
static bool is_of_part(uint32_t *group, twin_part part, uint32_t document)
{
    uint64_t seed = twin__union_root(group, document);
    return part.of == 0 || twin__random_below(&seed, part.of) == part.number;
}

static void keep_part(struct twin__band_candidates *candidates, uint32_t *group, twin_part part)
{
    struct twin__crowds *crowds = &candidates->crowds;
    size_t kept = 0, kept_crowds = 0;
    for (size_t i = 0; i < candidates->pairs.count; i++)
        if (is_of_part(group, part, twin__pair_low(candidates->pairs.items[i])))
            candidates->pairs.items[kept++] = candidates->pairs.items[i];
    for (size_t i = 0; i < crowds->count; i++)
        if (is_of_part(group, part, crowds->documents[crowds->items[i].begin]))
            crowds->items[kept_crowds++] = crowds->items[i];
    candidates->pairs.count = kept;
    crowds->count = kept_crowds;
}

twin_status twin__candidates_of_part(struct twin__band_candidates *out, twin_candidates *candidates, twin_part part,
                                     const struct twin__provider *provider)
{
    twin_status status = twin__candidates_from_found(out, &candidates->found, provider);
    uint32_t *group = malloc((provider->count + 1) * sizeof *group);
    if (status == TWIN_OK && group) {
        for (size_t i = 0; i < provider->count; i++)
            group[i] = (uint32_t)i;
        unite(group, out);
        keep_part(out, group, part);
        if (part.number > 0)
            out->seen = 0; /* all parts have the same, and their counts are added */
    }
    free(group);
    return status == TWIN_OK && !group ? TWIN_ENOMEM : status;
}

/* candidate_documents.c — candidates are divided by their documents, for machines that compare a part each. */
#include <stdlib.h>

#include "base/random.h"
#include "join/candidates.h"
#include "join/join_private.h"

/* Unites documents that are candidates or in one group. */
static void unite(uint32_t *group, const struct twin__band_candidates *candidates)
{
    for (size_t i = 0; i < candidates->pairs.count; i++)
        twin__union_join(group, twin__pair_low(candidates->pairs.items[i]),
                         twin__pair_high(candidates->pairs.items[i]));
    const struct twin__groups *loose = &candidates->loose; /* each dense group is in one of them */
    for (size_t i = 0; i < loose->count; i++)
        for (size_t k = 1; k < loose->items[i].count; k++)
            twin__union_join(group, loose->documents[loose->items[i].begin],
                             loose->documents[loose->items[i].begin + k]);
}

/* Which part a document is in depends on the first of those it is united with. */
static bool is_of_part(uint32_t *group, twin_part part, uint32_t document)
{
    uint64_t seed = twin__union_root(group, document);
    return part.of == 0 || twin__random_below(&seed, part.of) == part.number;
}

static void keep_groups(struct twin__groups *groups, uint32_t *group, twin_part part)
{
    size_t kept = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (is_of_part(group, part, groups->documents[groups->items[i].begin]))
            groups->items[kept++] = groups->items[i];
    groups->count = kept;
}

static void keep_part(struct twin__band_candidates *candidates, uint32_t *group, twin_part part)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->pairs.count; i++)
        if (is_of_part(group, part, twin__pair_low(candidates->pairs.items[i])))
            candidates->pairs.items[kept++] = candidates->pairs.items[i];
    candidates->pairs.count = kept;
    keep_groups(&candidates->loose, group, part);
    keep_groups(&candidates->dense, group, part);
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

/* crowd_owners.c — shingles of a crowd that only one component has.
 *
 * Where connected components are wanted, documents of one component need not find each other. A shingle that only one
 * component has finds no others, like one that only one document has: it takes up its place in a prefix, but is not
 * indexed or looked up. In a crowd of a few large families these are most shingles of the prefixes, and the posting
 * lists of the others are what is left. Of each common shingle and each counter the label of its component is kept, or
 * that there are several. Labels are numbers of the largest components. The documents of all others, which have few
 * documents each, count as several, so that nothing is left out that two components have. */
#include <stdlib.h>

#include "join/crowd_private.h"
#include "join/join_private.h"

enum { NONE = 0, SEVERAL = UINT16_MAX, MOST_LABELS = UINT16_MAX - 1 };

/* ---- labels ---- */

/* A component: as many documents as it has, in the high half, and where it begins among the sorted, in the low. */
static size_t list_components(uint64_t *out, const uint64_t *sorted, size_t count)
{
    size_t components = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && sorted[end] >> 32 == sorted[begin] >> 32; end++)
            ;
        out[components++] = (uint64_t)(end - begin) << 32 | begin;
    }
    return components;
}

/* From the largest component on. */
static void label(struct twin__crowd_owners *out, const uint64_t *components, const uint64_t *sorted, size_t count)
{
    double together = 0;
    for (size_t i = 0; i < out->components; i++) {
        uint64_t component = components[out->components - 1 - i];
        size_t begin = (uint32_t)component, members = component >> 32;
        together += (double)members * (double)members;
        for (size_t k = begin; k < begin + members; k++)
            out->labels[(uint32_t)sorted[k]] = (uint16_t)(i < MOST_LABELS ? i + 1 : SEVERAL);
    }
    out->largest = (uint32_t)(sorted[(uint32_t)components[out->components - 1]] >> 32);
    out->apart = 1 - together / ((double)count * (double)count);
}

twin_status twin__crowd_owners_init(struct twin__crowd_owners *out, struct twin__crowd_documents documents,
                                    struct twin__components *components)
{
    size_t count = documents.count;
    uint32_t *group = components->group;
    uint64_t *sorted = malloc((count + 1) * sizeof *sorted), *listed = malloc((count + 1) * sizeof *listed);
    out->labels = malloc((count + 1) * sizeof *out->labels);
    bool good = sorted && listed && out->labels;
    for (size_t i = 0; i < count && good; i++) {
        group[documents.items[i]] = twin__union_root(group, documents.items[i]);
        sorted[i] = (uint64_t)group[documents.items[i]] << 32 | i;
    }
    good = good && twin__sort_numbers(sorted, count);
    if (good) {
        out->components = list_components(listed, sorted, count);
        good = twin__sort_numbers(listed, out->components);
    }
    if (good)
        label(out, listed, sorted, count);
    free(sorted);
    free(listed);
    return good ? TWIN_OK : TWIN_ENOMEM;
}

void twin__crowd_owners_clear(struct twin__crowd_owners *owners)
{
    free(owners->labels);
    free(owners->is_largest);
    free((void *)owners->of_common);
    free((void *)owners->of_rest);
    *owners = (struct twin__crowd_owners){ 0 };
}

/* ---- owners ---- */

bool twin__crowd_owners_begin(struct twin__crowd_state *crowd)
{
    struct twin__crowd_owners *owners = &crowd->owners;
    owners->of_common = calloc(twin__crowd_common_places(&crowd->common), sizeof *owners->of_common);
    owners->of_rest = calloc((size_t)1 << (64 - crowd->counter_shift), sizeof *owners->of_rest);
    return owners->of_common && owners->of_rest;
}

static _Atomic uint16_t *owner_of(const struct twin__crowd_state *crowd, uint64_t item)
{
    size_t place = twin__crowd_common_place(&crowd->common, item);
    return place == SIZE_MAX ? &crowd->owners.of_rest[item >> crowd->counter_shift] : &crowd->owners.of_common[place];
}

/* Most shingles that are not common are far apart in memory. */
static void ask_for(const struct twin__crowd_state *crowd, uint64_t item)
{
    __builtin_prefetch((const void *)&crowd->owners.of_rest[item >> crowd->counter_shift]);
}

void twin__crowd_own(struct twin__crowd_state *crowd, size_t i, twin_set set)
{
    uint16_t own = crowd->owners.labels[i];
    for (size_t k = 0; k < set.count; k++) {
        if (k + TWIN__CROWD_AHEAD < set.count)
            ask_for(crowd, set.items[k + TWIN__CROWD_AHEAD]);
        _Atomic uint16_t *owner = owner_of(crowd, set.items[k]);
        uint16_t known = atomic_load_explicit(owner, memory_order_relaxed);
        while (known != own && known != SEVERAL &&
               !atomic_compare_exchange_weak_explicit(owner, &known, (uint16_t)(known == NONE ? own : SEVERAL),
                                                      memory_order_relaxed, memory_order_relaxed))
            ;
    }
}

bool twin__crowd_owners_end(struct twin__crowd_state *crowd)
{
    struct twin__crowd_owners *owners = &crowd->owners;
    owners->is_largest = calloc(crowd->count + 1, sizeof *owners->is_largest);
    for (size_t rank = 0; owners->is_largest && rank < crowd->count; rank++)
        owners->is_largest[rank] =
            twin__union_find(crowd->options.components->group, twin__crowd_document(crowd, rank)) == owners->largest;
    owners->is_known = true;
    return owners->is_largest != NULL;
}

twin_set twin__crowd_leave_own(struct twin__crowd_tokens *tokens, const struct twin__crowd_state *crowd, twin_set set)
{
    size_t count = 0;
    for (size_t i = 0; i < set.count; i++) {
        if (i + TWIN__CROWD_AHEAD < set.count)
            ask_for(crowd, set.items[i + TWIN__CROWD_AHEAD]);
        tokens->spare[count] = set.items[i];
        count += atomic_load_explicit(owner_of(crowd, set.items[i]), memory_order_relaxed) == SEVERAL;
    }
    tokens->own = set.count - count;
    return (twin_set){ tokens->spare, count };
}

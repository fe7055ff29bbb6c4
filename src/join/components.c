/* components.c — connected components of similar pairs, found without comparing what they connect already.
 *
 * Which components there are follows from any pairs that connect them. So candidate pairs are compared in rounds:
 * first as many as would connect all their documents if all were similar, a spanning forest of the candidates; of the
 * others, those whose documents are now of one component are dropped. A second round is the same with those left, and
 * the third compares all that still are. Among near-copies the first round is nearly all that is needed: of a bucket of
 * n documents n - 1 pairs. No pair is left out that would connect two components. */
#include "join/components.h"

#include <stdlib.h>

#include "base/error.h"
#include "kernels/sort.h"

bool twin__components_init(struct twin__components *out, size_t documents)
{
    *out = (struct twin__components){ malloc((documents + 1) * sizeof *out->group), documents };
    for (size_t i = 0; out->group && i < documents; i++)
        out->group[i] = (uint32_t)i;
    return out->group != NULL;
}

void twin__components_clear(struct twin__components *components)
{
    free(components->group);
    *components = (struct twin__components){ 0 };
}

twin_status twin__components_add(twin_matches *out, struct twin__components *components, twin_match match)
{
    uint32_t a = twin__union_root(components->group, match.a), b = twin__union_root(components->group, match.b);
    if (a == b)
        return TWIN_OK;
    twin__union_join(components->group, a, b);
    return twin__matches_add(out, match);
}

twin_status twin__components_take(twin_matches *out, struct twin__components *components, twin_matches *found)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < found->count && status == TWIN_OK; i++)
        status = twin__components_add(out, components, found->items[i]);
    found->count = 0;
    return status;
}

void twin__components_flatten(struct twin__components *components)
{
    /* A parent comes before its children and has found its root already. */
    for (size_t i = 0; i < components->count; i++)
        components->group[i] = components->group[components->group[i]];
}

/* ---- pairs ---- */

/* Moves the pairs of a spanning forest to the front, in order; returns how many they are. `trial` has room for all
 * documents. */
static size_t choose_forest(struct twin__pairs *pairs, uint32_t *trial, size_t documents)
{
    size_t chosen = 0;
    for (size_t i = 0; i < documents; i++)
        trial[i] = (uint32_t)i;
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        uint32_t a = twin__union_root(trial, twin__pair_low(pair)),
                 b = twin__union_root(trial, twin__pair_high(pair));
        if (a == b)
            continue;
        twin__union_join(trial, a, b);
        pairs->items[i] = pairs->items[chosen];
        pairs->items[chosen++] = pair;
    }
    return chosen;
}

/* Drops the first `compared` pairs, and those of one component. */
static void drop_connected(struct twin__pairs *pairs, size_t compared, const struct twin__components *components)
{
    size_t kept = 0;
    for (size_t i = compared; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        if (components->group[twin__pair_low(pair)] != components->group[twin__pair_high(pair)])
            pairs->items[kept++] = pair;
    }
    pairs->count = kept;
}

static twin_status compare_round(twin_matches *out, struct twin__components *components,
                                 const struct twin__provider *provider, struct twin__pairs *pairs, size_t count,
                                 struct twin__verify_options options, twin_error *error)
{
    struct twin__pairs first = { .items = pairs->items, .count = count };
    twin_matches found = { 0 };
    twin_status status = twin__verify_pairs(&found, provider, &first, options, error);
    if (status == TWIN_OK && twin__components_take(out, components, &found) != TWIN_OK)
        status = twin__fail_memory(error);
    twin_matches_clear(&found);
    twin__components_flatten(components);
    return status;
}

/* The order of candidates depends on who found them. */
static bool sort_pairs(struct twin__pairs *pairs)
{
    enum { MOST_SPARE = 1 << 18 };
    size_t room = pairs->count < MOST_SPARE ? pairs->count + 1 : MOST_SPARE;
    uint64_t *spare = malloc(room * sizeof *spare);
    if (spare && pairs->count)
        twin__sort_in_place(pairs->items, pairs->count, spare, room);
    free(spare);
    return spare != NULL;
}

twin_status twin__components_connect(twin_matches *out, struct twin__components *components, uint64_t *compared,
                                     const struct twin__provider *provider, struct twin__pairs *pairs,
                                     struct twin__verify_options options, twin_error *error)
{
    enum { FORESTS = 2 };
    uint32_t *trial = malloc((components->count + 1) * sizeof *trial);
    twin_status status = trial && sort_pairs(pairs) ? TWIN_OK : twin__fail_memory(error);
    twin__components_flatten(components);
    drop_connected(pairs, 0, components);
    for (int round = 0; pairs->count && status == TWIN_OK; round++) {
        size_t count = round < FORESTS ? choose_forest(pairs, trial, components->count) : pairs->count;
        *compared += count;
        status = compare_round(out, components, provider, pairs, count, options, error);
        drop_connected(pairs, count, components);
    }
    pairs->count = 0;
    free(trial);
    return status;
}

/* candidates.c — candidate pairs. */
#include "join/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernels/sort.h"

bool twin__pairs_add(struct twin__pairs *pairs, uint64_t pair)
{
    if (!twin__array_grow(&pairs->items, &pairs->capacity, pairs->count, 1, sizeof *pairs->items))
        return false;
    pairs->items[pairs->count++] = pair;
    return true;
}

bool twin__pairs_append(struct twin__pairs *pairs, const struct twin__pairs *more)
{
    if (more->count == 0)
        return true;
    if (!twin__array_grow(&pairs->items, &pairs->capacity, pairs->count, more->count, sizeof *pairs->items))
        return false;
    memcpy(pairs->items + pairs->count, more->items, more->count * sizeof *more->items);
    pairs->count += more->count;
    return true;
}

twin_status twin__pairs_sort_unique(struct twin__pairs *pairs, const struct twin__pairs *known)
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

/* ---- bands ---- */

struct band_worker {
    struct twin__pairs pairs;
    uint64_t seen;
    bool no_memory;
    char own_line[64]; /* workers count in cache lines of their own */
};

struct band_search {
    const struct twin__provider *provider;
    const struct twin__gate *gate;
    struct band_worker *workers;
};

static void pass_gate(void *context, uint32_t a, uint32_t b, int number)
{
    struct band_search *search = context;
    struct band_worker *worker = &search->workers[number];
    worker->seen++;
    if (twin__gate_passes(search->gate, search->provider, a, b) && !twin__pairs_add(&worker->pairs, twin__pair(a, b)))
        worker->no_memory = true;
}

static twin_status gather(struct twin__pairs *out, uint64_t *seen, const struct band_search *search, int workers)
{
    for (int i = 0; i < workers; i++) {
        const struct band_worker *worker = &search->workers[i];
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return TWIN_ENOMEM;
        *seen += worker->seen;
    }
    return TWIN_OK;
}

twin_status twin__candidates_from_bands(struct twin__pairs *out, uint64_t *seen,
                                        const struct twin__provider *provider, const struct twin__gate *gate,
                                        const twin_similar_options *options)
{
    int workers = options->exec.workers;
    struct band_search search = { provider, gate, calloc((size_t)workers, sizeof *search.workers) };
    if (!search.workers)
        return TWIN_ENOMEM;
    twin_status status =
        twin_bands_pairs(provider->signatures, options->bands, options->exec, pass_gate, &search, options->progress);
    if (status == TWIN_OK)
        status = gather(out, seen, &search, workers);
    for (int i = 0; i < workers; i++)
        free(search.workers[i].pairs.items);
    free(search.workers);
    return status;
}

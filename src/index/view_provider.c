/* view_provider.c — the sets of an index as a provider (collection/provider.h).
 *
 * Signatures, sizes and numbers of all sets with something in them go into memory, in the order of their first
 * documents; the sets themselves stay in the file and are fetched through the view of the worker that needs one. All
 * views are of one transaction, so what was listed can be fetched. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "index/view_provider.h"

static uint64_t size_of(const struct twin__provider *provider, uint32_t i)
{
    const struct twin__index_provider *sets = provider->context;
    return sets->sets[i].size;
}

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t i, int worker,
                         twin_error *error)
{
    const struct twin__index_provider *sets = provider->context;
    twin_set set;
    twin_status status =
        twin__index_view_items(&set, sets->views[worker], sets->sets[i].number, sets->sets[i].size, error);
    if (status == TWIN_OK)
        *out = (struct twin__content){ set.items, set.count * sizeof *set.items };
    return status;
}

static bool has_room(struct twin__index_provider *sets, size_t slots)
{
    return TWIN__ARRAY_GROW(&sets->sets, &sets->capacity, sets->count, 1) &&
           TWIN__ARRAY_GROW(&sets->signatures, &sets->signature_capacity, sets->count * slots, slots);
}

static twin_status load_set(void *context, struct twin__store_record record, twin_error *error)
{
    struct twin__index_provider *sets = context;
    const twin_index *index = sets->views[0]->index;
    size_t slots = index->options.scheme.minhash.slots;
    struct twin__index_set_record set;
    if (!has_room(sets, slots))
        return twin__fail_memory(error);
    if (!twin__index_set_decode(&set, sets->signatures + sets->count * slots, slots, record.value))
        return twin__index_fail_damaged(error, index, "a signature does not fit its checksum");
    if (set.size == 0)
        return TWIN_OK;
    if (sets->count == UINT32_MAX)
        return twin__fail(error, TWIN_ELIMIT, "%s: has more sets than can be paired", index->path);
    sets->sets[sets->count++] = (struct twin__index_provided_set){ record.key, set.size, set.first, set.members };
    return TWIN_OK;
}

static int by_first(const void *a, const void *b)
{
    const struct twin__index_provided_set *const *x = a, *const *y = b;
    return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

static void copy_in_order(struct twin__index_provided_set *sets, uint32_t *signatures,
                          struct twin__index_provided_set **order, const struct twin__index_provider *from)
{
    size_t slots = from->views[0]->index->options.scheme.minhash.slots;
    for (size_t i = 0; i < from->count; i++) {
        sets[i] = *order[i];
        memcpy(signatures + i * slots, from->signatures + (size_t)(order[i] - from->sets) * slots,
               slots * sizeof *signatures);
    }
}

/* Sets are numbered as they come, which is the order of their first documents unless some of these were removed. */
static twin_status sort_by_first(struct twin__index_provider *sets, twin_error *error)
{
    size_t slots = sets->views[0]->index->options.scheme.minhash.slots, i = 1;
    while (i < sets->count && sets->sets[i - 1].first < sets->sets[i].first)
        i++;
    if (i >= sets->count)
        return TWIN_OK;
    struct twin__index_provided_set **order = malloc(sets->count * sizeof(void *));
    struct twin__index_provided_set *copy = malloc(sets->count * sizeof *copy);
    uint32_t *signatures = malloc(sets->count * slots * sizeof *signatures);
    bool good = order && copy && signatures;
    if (good) {
        for (i = 0; i < sets->count; i++)
            order[i] = &sets->sets[i];
        qsort(order, sets->count, sizeof(void *), by_first);
        copy_in_order(copy, signatures, order, sets);
        free(sets->sets);
        free(sets->signatures);
        sets->sets = copy;
        sets->signatures = signatures;
        sets->capacity = sets->count;
        sets->signature_capacity = sets->count * slots;
    } else {
        free(copy);
        free(signatures);
    }
    free((void *)order);
    return good ? TWIN_OK : twin__fail_memory(error);
}

/* Bands take a list of the documents that take part: here it is all of them. */
static twin_status list_documents(struct twin__index_provider *sets, twin_error *error)
{
    sets->documents = malloc((sets->count + 1) * sizeof *sets->documents);
    if (!sets->documents)
        return twin__fail_memory(error);
    for (size_t i = 0; i < sets->count; i++)
        sets->documents[i] = (uint32_t)i;
    return TWIN_OK;
}

twin_status twin__index_provider_init(struct twin__index_provider *out, twin_index_view **views, twin_error *error)
{
    *out = (struct twin__index_provider){ .views = views };
    twin_status status = twin__index_each_set(views[0], load_set, out, error);
    if (status == TWIN_OK)
        status = sort_by_first(out, error);
    if (status == TWIN_OK)
        status = list_documents(out, error);
    if (status != TWIN_OK) {
        twin__index_provider_clear(out);
        return status;
    }
    size_t slots = views[0]->index->options.scheme.minhash.slots;
    out->provider = (struct twin__provider){ .count = out->count,
                                             .signatures = { out->signatures, slots, out->documents, out->count },
                                             .size = size_of,
                                             .fetch = fetch,
                                             .context = out };
    return TWIN_OK;
}

void twin__index_provider_clear(struct twin__index_provider *sets)
{
    free(sets->sets);
    free(sets->signatures);
    free(sets->documents);
    *sets = (struct twin__index_provider){ 0 };
}

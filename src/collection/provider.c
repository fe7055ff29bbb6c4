/* provider.c — a collection as a provider. */
#include "collection/provider.h"

#include <stdlib.h>

#include "collection/collection_private.h"

struct source {
    const twin_collection *collection;
    int workers;
    twin_scratch scratch[]; /* one per worker */
};

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    const struct source *source = provider->context;
    return twin_collection_size(source->collection, document);
}

static twin_status fetch_set(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                             int worker, twin_error *error)
{
    struct source *source = provider->context;
    twin_set set;
    twin_status status = twin_collection_set(&set, source->collection, &source->scratch[worker], document, error);
    if (status == TWIN_OK)
        *out = (struct twin__content){ set.items, set.count * sizeof *set.items };
    return status;
}

static twin_status fetch_items(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                               int worker, twin_error *error)
{
    struct source *source = provider->context;
    twin_scratch *scratch = &source->scratch[worker];
    twin_status status = twin__collection_read_again(source->collection, scratch, document, error);
    const twin_items *items = &scratch->sign.items;
    if (status == TWIN_OK)
        *out = (struct twin__content){ items->items, items->count * sizeof *items->items };
    return status;
}

static twin_status fetch_text(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                              int worker, twin_error *error)
{
    struct source *source = provider->context;
    twin_text text;
    twin_status status = twin_collection_text(&text, source->collection, &source->scratch[worker], document, error);
    if (status == TWIN_OK)
        *out = (struct twin__content){ text.bytes, text.length };
    return status;
}

static bool is_long(const struct twin__provider *provider, uint32_t document)
{
    const struct source *source = provider->context;
    return twin__entry_of(source->collection, document)->is_long;
}

static twin_status compare_long(double *out, const struct twin__provider *provider, const uint32_t documents[2],
                                twin_measure measure, int worker, twin_error *error)
{
    struct source *source = provider->context;
    return twin__long_document_similarity(out, source->collection, &source->scratch[worker], documents, measure,
                                          error);
}

twin_status twin__collection_provider(struct twin__provider *out, const twin_collection *collection, int workers)
{
    *out = (struct twin__provider){ 0 };
    struct source *source = calloc(1, sizeof *source + (size_t)workers * sizeof source->scratch[0]);
    if (!source)
        return TWIN_ENOMEM;
    source->collection = collection;
    source->workers = workers;
    out->count = twin_collection_count(collection).documents;
    out->signatures = (twin_signatures){ .rows = twin_collection_signatures(collection),
                                         .slots = twin_collection_slots(collection) };
    out->spill = collection->spilled ? &collection->spilled->signatures : NULL;
    out->signatures.count = twin_collection_distinct(&out->signatures.documents, collection);
    out->size = size_of;
    out->fetch = collection->texts ? fetch_text : fetch_set;
    out->context = source;
    if (!collection->texts && !collection->rows) {
        out->fetch_items = fetch_items;
        out->is_long = is_long;
        out->compare_long = compare_long;
    }
    return TWIN_OK;
}

void twin__collection_provider_clear(struct twin__provider *provider)
{
    struct source *source = provider->context;
    for (int i = 0; source && i < source->workers; i++)
        twin_scratch_clear(&source->scratch[i]);
    free(source);
    *provider = (struct twin__provider){ 0 };
}

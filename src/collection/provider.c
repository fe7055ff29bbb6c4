/* provider.c — a collection as a provider, or two. */
#include "collection/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/stages.h"
#include "collection/collection_private.h"
#include "collection/contents.h"
#include "lsh/bands.h"

struct source {
    const twin_collection *collection, *other; /* the second or NULL */
    uint32_t *documents;                       /* of two: those to be joined */
    uint32_t *rows;                            /* of two, in memory: their signatures */
    struct twin__spill spill;                  /* of two, in a file */
    int workers;
    twin_scratch scratch[]; /* one per worker */
};

/* The collection of a document, whose number becomes that in the collection. */
static const twin_collection *collection_of(const struct twin__provider *provider, uint32_t *document)
{
    const struct source *source = provider->context;
    if (!source->other || *document < provider->split)
        return source->collection;
    *document -= provider->split;
    return source->other;
}

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    const twin_collection *collection = collection_of(provider, &document);
    return twin__entry_of(collection, document)->size;
}

static twin_status fetch_set(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                             int worker, twin_error *error)
{
    struct source *source = provider->context;
    const twin_collection *collection = collection_of(provider, &document);
    twin_set set;
    twin_status status = twin__collection_set(&set, collection, &source->scratch[worker], document, error);
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
    const twin_collection *collection = collection_of(provider, &document);
    twin_text text;
    twin_status status = twin__collection_text(&text, collection, &source->scratch[worker], document, error);
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

/* ---- two collections ---- */

static twin_status join_in_file(struct twin__provider *out, struct source *source)
{
    const twin_collection *const sides[] = { source->collection, source->other };
    twin_status status = twin__spill_open(&source->spill, sides[0]->temp_folder, sides[0]->memory_bytes / 2);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->count && status == TWIN_OK; i++) {
            status = twin__spill_append(&source->spill, twin__signature_of(sides[side], i),
                                        sides[side]->slots * sizeof(uint32_t));
            if (status == TWIN_OK)
                status = twin__poll_at(i);
        }
    if (status == TWIN_OK)
        status = twin__spill_map(&source->spill);
    out->signatures.rows = (const uint32_t *)(const void *)source->spill.bytes;
    out->spill = &source->spill;
    return status;
}

/* The copy can be stopped. */
static twin_status copy_rows(uint32_t *out, const uint32_t *rows, size_t count)
{
    enum { PIECE = 1 << 20 };
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < count && status == TWIN_OK; i += PIECE) {
        memcpy(out + i, rows + i, (count - i < PIECE ? count - i : PIECE) * sizeof *out);
        status = twin__poll();
    }
    return status;
}

static twin_status join_in_memory(struct twin__provider *out, struct source *source)
{
    const twin_collection *first = source->collection, *second = source->other;
    size_t slots = first->slots;
    source->rows = malloc((out->count * slots + 1) * sizeof *source->rows);
    if (!source->rows)
        return TWIN_ENOMEM;
    out->signatures.rows = source->rows;
    twin_status status = copy_rows(source->rows, first->signatures, first->count * slots);
    return status == TWIN_OK
               ? copy_rows(source->rows + first->count * slots, second->signatures, second->count * slots)
               : status;
}

static twin_status list_documents(struct twin__provider *out, struct source *source)
{
    const uint32_t *first, *second;
    size_t count = twin__collection_distinct(&first, source->collection);
    size_t more = twin__collection_distinct(&second, source->other);
    source->documents = malloc((count + more + 1) * sizeof *source->documents);
    if (!source->documents)
        return TWIN_ENOMEM;
    if (count)
        memcpy(source->documents, first, count * sizeof *source->documents);
    for (size_t i = 0; i < more; i++)
        source->documents[count + i] = out->split + second[i];
    out->signatures.documents = source->documents;
    out->signatures.count = count + more;
    return TWIN_OK;
}

static twin_status join_sides(struct twin__provider *out, struct source *source)
{
    const twin_collection *first = source->collection, *second = source->other;
    out->split = (uint32_t)first->count;
    out->count = first->count + second->count;
    out->signatures.slots = first->slots;
    size_t bytes = out->count * first->slots * sizeof(uint32_t);
    bool in_file = first->spilled || second->spilled || (first->memory_bytes && bytes > first->memory_bytes);
    twin_status status = (in_file ? join_in_file : join_in_memory)(out, source);
    return status == TWIN_OK ? list_documents(out, source) : status;
}

/* ---- either ---- */

static void provide_one(struct twin__provider *out, const twin_collection *collection)
{
    out->count = twin_collection_count(collection).documents;
    out->signatures = (twin_signatures){ .rows = twin__collection_signatures(collection),
                                         .slots = twin__collection_slots(collection) };
    out->spill = collection->spilled ? &collection->spilled->signatures : NULL;
    out->signatures.count = twin__collection_distinct(&out->signatures.documents, collection);
    if (!collection->texts && !collection->rows) {
        out->fetch_items = fetch_items;
        out->is_long = is_long;
        out->compare_long = compare_long;
    }
}

twin_status twin__collection_provider(struct twin__provider *out, const twin_collection *collection,
                                      const twin_collection *other, int workers)
{
    struct source *source = calloc(1, sizeof *source + (size_t)workers * sizeof source->scratch[0]);
    *out = (struct twin__provider){ .size = size_of,
                                    .fetch = collection->texts ? fetch_text : fetch_set,
                                    .context = source };
    if (!source)
        return TWIN_ENOMEM;
    source->collection = collection;
    source->other = other;
    source->spill = (struct twin__spill)TWIN__NO_SPILL;
    source->workers = workers;
    if (!other) {
        provide_one(out, collection);
        return TWIN_OK;
    }
    twin_status status = join_sides(out, source);
    if (status != TWIN_OK)
        twin__collection_provider_clear(out);
    return status;
}

void twin__collection_provider_clear(struct twin__provider *provider)
{
    struct source *source = provider->context;
    for (int i = 0; source && i < source->workers; i++)
        twin__scratch_clear(&source->scratch[i]);
    if (source) {
        free(source->documents);
        free(source->rows);
        twin__spill_clear(&source->spill);
    }
    free(source);
    *provider = (struct twin__provider){ 0 };
}

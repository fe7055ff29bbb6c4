/* append.c — documents are added to a collection, in memory or in files. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "collection/collection_private.h"

static size_t bytes_of_documents(const twin_collection *collection, size_t documents, size_t id_bytes)
{
    return documents * (sizeof(struct twin__entry) + collection->slots * sizeof(uint32_t)) + id_bytes;
}

/* ---- in memory ---- */

static twin_status append_in_memory(twin_collection *collection, const struct twin__more_documents *more)
{
    size_t count = collection->count, slots = collection->slots, ids = collection->ids.length;
    if (!TWIN__ARRAY_GROW(&collection->entries, &collection->entry_capacity, count, more->count) ||
        !TWIN__ARRAY_GROW(&collection->signatures, &collection->signature_capacity, count * slots,
                          more->count * slots))
        return TWIN_ENOMEM;
    if (more->count && slots && collection->signatures)
        memcpy(collection->signatures + count * slots, more->signatures, more->count * slots * sizeof(uint32_t));
    for (size_t i = 0; collection->entries && i < more->count; i++) {
        collection->entries[count + i] = more->entries[i];
        collection->entries[count + i].id += ids;
    }
    return twin_buffer_append(&collection->ids, more->ids.bytes, more->ids.length);
}

/* ---- in files ---- */

static twin_status fail_spill(twin_error *error, const twin_collection *collection, twin_status status)
{
    if (status != TWIN_EIO)
        return twin__fail_status(error, status);
    return twin__fail(error, TWIN_EIO, "signatures cannot be kept in the temporary folder %s: %m",
                      collection->temp_folder);
}

static twin_status append_in_files(struct twin__spilled *spilled, const twin_collection *collection,
                                   const struct twin__more_documents *more)
{
    size_t ids = spilled->ids.in_file + spilled->ids.length;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < more->count && status == TWIN_OK; i++) {
        struct twin__entry entry = more->entries[i];
        entry.id += ids;
        status = twin__spill_append(&spilled->entries, &entry, sizeof entry);
    }
    if (status == TWIN_OK)
        status = twin__spill_append(&spilled->signatures, more->signatures,
                                    more->count * collection->slots * sizeof(uint32_t));
    return status == TWIN_OK ? twin__spill_append(&spilled->ids, more->ids.bytes, more->ids.length) : status;
}

/* A part of the memory that is allowed is for pages of the files. */
static twin_status open_files(struct twin__spilled *out, const twin_collection *collection)
{
    size_t share = collection->memory_bytes / 8;
    const char *folder = collection->temp_folder;
    *out = (struct twin__spilled){ TWIN__NO_SPILL, TWIN__NO_SPILL, TWIN__NO_SPILL };
    twin_status status = twin__spill_open(&out->entries, folder, share);
    if (status == TWIN_OK)
        status = twin__spill_open(&out->signatures, folder, 4 * share);
    return status == TWIN_OK ? twin__spill_open(&out->ids, folder, share) : status;
}

static void free_memory(twin_collection *collection)
{
    free(collection->entries);
    free(collection->signatures);
    twin_buffer_clear(&collection->ids);
    collection->entries = NULL;
    collection->signatures = NULL;
    collection->entry_capacity = collection->signature_capacity = 0;
}

/* Moves to files what is in memory. */
static twin_status spill(twin_collection *collection, twin_error *error)
{
    collection->spilled = malloc(sizeof *collection->spilled);
    if (!collection->spilled)
        return twin__fail_memory(error);
    struct twin__more_documents all = { collection->entries,
                                        collection->signatures,
                                        collection->count,
                                        { collection->ids.bytes, collection->ids.length } };
    twin_status status = open_files(collection->spilled, collection);
    if (status == TWIN_OK)
        status = append_in_files(collection->spilled, collection, &all);
    free_memory(collection);
    return status == TWIN_OK ? TWIN_OK : fail_spill(error, collection, status);
}

/* ---- either ---- */

twin_status twin__collection_append(twin_collection *collection, const struct twin__more_documents *more,
                                    twin_error *error)
{
    if (more->count > UINT32_MAX - collection->count)
        return twin__fail_status(error, TWIN_ELIMIT);
    size_t all =
        bytes_of_documents(collection, collection->count + more->count, collection->ids.length + more->ids.length);
    twin_status status = TWIN_OK;
    if (collection->memory_bytes && !collection->spilled && all > collection->memory_bytes)
        status = spill(collection, error);
    if (status != TWIN_OK)
        return status;
    status = collection->spilled ? append_in_files(collection->spilled, collection, more)
                                 : append_in_memory(collection, more);
    collection->count += more->count;
    return status == TWIN_OK ? TWIN_OK : fail_spill(error, collection, status);
}

twin_status twin__collection_append_end(twin_collection *collection, twin_error *error)
{
    struct twin__spilled *spilled = collection->spilled;
    if (!spilled)
        return TWIN_OK;
    twin_status status = twin__spill_map(&spilled->entries);
    if (status == TWIN_OK)
        status = twin__spill_map(&spilled->signatures);
    if (status == TWIN_OK)
        status = twin__spill_map(&spilled->ids);
    if (status != TWIN_OK)
        return fail_spill(error, collection, status);
    collection->entries = (struct twin__entry *)(void *)spilled->entries.bytes;
    collection->signatures = (uint32_t *)(void *)spilled->signatures.bytes;
    collection->ids.bytes = spilled->ids.bytes;
    return TWIN_OK;
}

void twin__collection_free_arrays(twin_collection *collection)
{
    struct twin__spilled *spilled = collection->spilled;
    if (!spilled) {
        free_memory(collection);
        return;
    }
    twin__spill_clear(&spilled->entries);
    twin__spill_clear(&spilled->signatures);
    twin__spill_clear(&spilled->ids);
    free(spilled);
}

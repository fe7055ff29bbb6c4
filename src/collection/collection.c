/* collection.c — a collection: documents, each with its signature; sets on demand.
 *
 * Kept are the signature, the id and an entry per document. Texts and sets are not: a large
 * input has few candidate pairs, so that reading their documents again costs less than keeping
 * all sets would. A digest of each normalised text notices a document that changed in between.
 * Sets that came as rows have no text to be read again, and are kept whole (set_rows.c). */
#include <twinsift/collection.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/stages.h"
#include "collection/collection_private.h"
#include "collection/contents.h"
#include "input/documents.h"
#include "input/reader.h"
#include "sketch/set.h"
#include "sketch/signer.h"

twin_status twin__collection_shingle(const twin_collection *collection, twin_scratch *scratch, uint64_t *replaced,
                                     twin_text raw)
{
    return collection->texts ? twin__signer_normalise(&scratch->sign, replaced, collection->signer, raw)
                             : twin__signer_shingle(&scratch->sign, replaced, collection->signer, raw);
}

twin_digest twin__collection_digest(const twin_collection *collection, const twin_scratch *scratch)
{
    return twin_hash_digest(twin_signer_scheme(collection->signer)->shingle.hash, scratch->sign.text.bytes,
                            scratch->sign.text.length);
}

twin_status twin__collection_create(twin_collection **out, const twin_input *input,
                                    const twin_collection_options *options, twin_error *error)
{
    twin_status status = twin__check_reserved(error, options->reserved, "a collection");
    if (status != TWIN_OK)
        return status;
    bool rows = twin_input_format_of(input) == TWIN_INPUT_SETS; /* sets already */
    if (options->texts && rows)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to compare");
    if (options->memory_bytes && (rows || options->texts || !options->ids_may_repeat))
        return twin__fail(error, TWIN_EINVAL,
                          "only signed documents, with ids that may repeat, can be kept out of memory");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return twin__fail_memory(error);
    (*out)->input = input;
    (*out)->sizes = options->set_sizes || options->scheme.measure == TWIN_CONTAINMENT;
    (*out)->texts = options->texts;
    (*out)->memory_bytes = options->memory_bytes;
    (*out)->temp_folder = options->temp_folder ? options->temp_folder : "/tmp";
    return TWIN_OK;
}

twin_status twin__collection_sign_by(twin_collection *collection, const twin_scheme *scheme, twin_error *error)
{
    twin_status status = twin_signer_create(&collection->signer, scheme, error);
    if (status == TWIN_OK && !collection->texts) {
        twin_shingle_kind kind = twin_signer_scheme(collection->signer)->shingle.kind;
        collection->slots = twin_signer_scheme(collection->signer)->minhash.slots;
        collection->by_words = kind == TWIN_SHINGLE_WORD || kind == TWIN_SHINGLE_STOP;
    }
    return status;
}

void twin_collection_free(twin_collection *collection)
{
    if (!collection)
        return;
    twin_signer_free(collection->signer);
    twin__collection_free_arrays(collection);
    free(collection->firsts);
    free(collection->distinct);
    twin__set_rows_free(collection->rows);
    free(collection);
}

static bool has(const twin_collection *collection, uint32_t document)
{
    return collection && document < collection->count;
}

/* The checks that come before a document is read again. */
static twin_status check_fetch(const void *out, const twin_collection *collection, const twin_scratch *scratch,
                               uint32_t document, twin_error *error)
{
    if (!out || !collection || (!scratch && !collection->rows)) /* sets of rows are in memory */
        return twin__fail_null(error, !out ? "out" : !collection ? "collection" : "scratch");
    if (!has(collection, document))
        return twin__fail(error, TWIN_EINVAL, "there is no document %" PRIu32 ": there are %zu", document,
                          (size_t)collection->count);
    return TWIN_OK;
}

twin_collection_counts twin_collection_count(const twin_collection *collection)
{
    if (!collection)
        return (twin_collection_counts){ 0 };
    twin_collection_counts counts = collection->counts;
    counts.documents = collection->count;
    return counts;
}

size_t twin_collection_problems(const twin_problem **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->problems : NULL;
    return collection ? collection->problem_count : 0;
}

size_t twin_collection_ill_formed(const twin_problem **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->ill_formed : NULL;
    return collection ? collection->ill_formed_count : 0;
}

const twin_input *twin__collection_input(const twin_collection *collection)
{
    return collection->input;
}

const twin_scheme *twin__collection_scheme(const twin_collection *collection)
{
    return collection ? twin_signer_scheme(collection->signer) : NULL;
}

const uint32_t *twin__collection_signatures(const twin_collection *collection)
{
    return collection ? collection->signatures : NULL;
}

size_t twin__collection_slots(const twin_collection *collection)
{
    return collection ? collection->slots : 0;
}

const uint32_t *twin_collection_firsts(const twin_collection *collection)
{
    return collection ? collection->firsts : NULL;
}

size_t twin__collection_distinct(const uint32_t **out, const twin_collection *collection)
{
    if (out)
        *out = collection ? collection->distinct : NULL;
    return collection ? collection->distinct_count : 0;
}

static bool is_as_before(const twin_collection *collection, const twin_scratch *scratch,
                         const struct twin__entry *entry)
{
    twin_digest now = twin__collection_digest(collection, scratch);
    return now.low == entry->digest.low && now.high == entry->digest.high;
}

twin_status twin__collection_fail_changed(twin_error *error, const twin_collection *collection,
                                          twin_position position)
{
    twin_problem problem = { .position = position,
                             .message = "changed while it was being read; run again when it is at rest" };
    return twin__fail_problem(error, collection->input, &problem);
}

twin_status twin__collection_read_again(const twin_collection *collection, twin_scratch *scratch, uint32_t document,
                                        twin_error *error)
{
    twin_document found;
    const struct twin__entry *entry = twin__entry_of(collection, document);
    twin_status status = twin__poll();
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    status = twin__input_fetch(&found, collection->input, &scratch->reading, entry->position, error);
    if (status != TWIN_OK)
        return status;
    status = twin__collection_shingle(collection, scratch, NULL, found.text);
    if (status == TWIN_OK && !is_as_before(collection, scratch, entry))
        return twin__collection_fail_changed(error, collection, entry->position);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__collection_set(twin_set *out, const twin_collection *collection, twin_scratch *scratch,
                                 uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->texts)
        return twin__fail(error, TWIN_EINVAL, "a collection of texts has no sets");
    if (collection->rows) {
        *out = twin__set_rows_get(collection->rows, document);
        return TWIN_OK;
    }
    status = twin__collection_read_again(collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    status = twin__set_make(out, &scratch->sign.items, &scratch->sign.spare);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

twin_status twin__collection_text(twin_text *out, const twin_collection *collection, twin_scratch *scratch,
                                  uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->rows)
        return twin__fail(error, TWIN_EINVAL, "a collection of sets has no texts");
    status = twin__collection_read_again(collection, scratch, document, error);
    if (status == TWIN_OK)
        *out = (twin_text){ scratch->sign.text.bytes, scratch->sign.text.length };
    return status;
}

twin_status twin__collection_document(twin_document *out, const twin_collection *collection, twin_scratch *scratch,
                                      uint32_t document, twin_error *error)
{
    twin_status status = check_fetch(out, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    if (collection->rows)
        return twin__fail(error, TWIN_EINVAL, "a set has many rows, none of which is the document");
    return twin__input_fetch(out, collection->input, &scratch->reading,
                             twin__entry_of(collection, document)->position, error);
}

twin_collection_entry twin_collection_entry_of(const twin_collection *collection, uint32_t document)
{
    if (!has(collection, document))
        return (twin_collection_entry){ .id = { "", 0 } };
    const struct twin__entry *entry = twin__entry_of(collection, document);
    if (collection->spilled)
        twin__spill_touch(&collection->spilled->ids, TWIN__SPILL_AROUND);
    return (twin_collection_entry){ .id = { collection->ids.bytes + entry->id, entry->id_length },
                                    .id_is_number = entry->is_number,
                                    .size = entry->size,
                                    .position = entry->position };
}

/* ---- with a scratch of the caller ---- */

twin_status twin_collection_text(twin_text *out, const twin_collection *collection, twin_scratch **scratch,
                                 uint32_t document, twin_error *error)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__collection_text(out, collection, *scratch, document, error)
                             : twin__fail_status(error, status);
}

twin_status twin_collection_document(twin_document *out, const twin_collection *collection, twin_scratch **scratch,
                                     uint32_t document, twin_error *error)
{
    twin_status status = twin__scratch_make(scratch);
    return status == TWIN_OK ? twin__collection_document(out, collection, *scratch, document, error)
                             : twin__fail_status(error, status);
}

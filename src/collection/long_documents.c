/* long_documents.c — documents whose sets are not held as a whole.
 *
 * Two of them are compared range by range: the hashes of a range of both, as many as fit, then those of the next. For
 * each range each document is read again, one after the other, so that one text is in memory at a time. */
#include "base/error.h"
#include "collection/collection_private.h"
#include "input/documents.h"
#include "sketch/long_text.h"
#include "sketch/set.h"

struct twin__long_text twin__long_text_of(const twin_collection *collection, twin_text text)
{
    return (struct twin__long_text){ .text = text,
                                     .digest_hash = twin_signer_scheme(collection->signer)->shingle.hash };
}

/* Reads a document again. Its text lives until another is read. */
static twin_status fetch(struct twin__long_text *out, const twin_collection *collection, twin_scratch *scratch,
                         uint32_t document, twin_error *error)
{
    twin_document found;
    const struct twin__entry *entry = twin__entry_of(collection, document);
    scratch->reading.in_place = true; /* a text at a time in memory, not a text and its record */
    twin_status status = twin__input_fetch(&found, collection->input, &scratch->reading, entry->position, error);
    scratch->reading.in_place = false;
    if (status == TWIN_OK)
        *out = twin__long_text_of(collection, found.text);
    return status;
}

/* After a pass over the text. */
static twin_status check_unchanged(const struct twin__long_text *text, const twin_collection *collection,
                                   uint32_t document, twin_error *error)
{
    const struct twin__entry *entry = twin__entry_of(collection, document);
    if (text->digest.low == entry->digest.low && text->digest.high == entry->digest.high)
        return TWIN_OK;
    return twin__collection_fail_changed(error, collection, entry->position);
}

twin_status twin__long_document_digest(twin_digest *out, const twin_collection *collection, twin_scratch *scratch,
                                       uint32_t document, twin_error *error)
{
    struct twin__long_text text;
    twin_status status = fetch(&text, collection, scratch, document, error);
    if (status != TWIN_OK)
        return status;
    text.is_measured = true;
    status = twin__long_text_sign(NULL, &text, collection->signer, &scratch->sign);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    *out = text.set_digest;
    return check_unchanged(&text, collection, document, error);
}

/* ---- comparing ---- */

struct comparing {
    const twin_collection *collection;
    twin_scratch *scratch;
    uint32_t documents[2];
    twin_items parts[2]; /* of the two sets */
    struct twin__hash_range range;
    size_t sizes[2], common; /* so far */
};

/* The part of one document in the range, which may become shorter. */
static twin_status fetch_part(struct comparing *comparing, int side, twin_error *error)
{
    struct twin__long_text text;
    uint32_t document = comparing->documents[side];
    twin_status status = fetch(&text, comparing->collection, comparing->scratch, document, error);
    if (status != TWIN_OK)
        return status;
    struct twin__hash_range first = twin__hash_range_first(text.text.length, TWIN__ROOM_OF_TWO);
    if (comparing->range.room == 0)
        comparing->range = first;
    if (comparing->range.room < first.room)
        comparing->range.room = first.room;
    status = twin__long_text_range(&comparing->parts[side], &comparing->range, &text, comparing->collection->signer,
                                   &comparing->scratch->sign);
    if (status != TWIN_OK)
        return twin__fail_status(error, status);
    return check_unchanged(&text, comparing->collection, document, error);
}

/* Drops from the first part what the second left to a later range. */
static void trim(twin_items *part, uint64_t last)
{
    while (part->count && part->items[part->count - 1] > last)
        part->count--;
}

static twin_status compare_ranges(struct comparing *comparing, twin_error *error)
{
    size_t larger;
    do {
        twin_items *parts = comparing->parts;
        for (int side = 0; side < 2; side++) {
            twin_status status = fetch_part(comparing, side, error);
            if (status != TWIN_OK)
                return status;
        }
        trim(&parts[0], comparing->range.last);
        comparing->common += twin_set_common((twin_set){ parts[0].items, parts[0].count },
                                             (twin_set){ parts[1].items, parts[1].count });
        for (int side = 0; side < 2; side++)
            comparing->sizes[side] += parts[side].count;
        larger = parts[0].count > parts[1].count ? parts[0].count : parts[1].count;
    } while (twin__hash_range_next(&comparing->range, larger));
    return TWIN_OK;
}

twin_status twin__long_document_similarity(double *out, const twin_collection *collection, twin_scratch *scratch,
                                           const uint32_t documents[2], twin_measure measure, twin_error *error)
{
    struct comparing comparing = { .collection = collection,
                                   .scratch = scratch,
                                   .documents = { documents[0], documents[1] } };
    twin_status status = compare_ranges(&comparing, error);
    *out = twin__similarity_of_counts(comparing.sizes[0], comparing.sizes[1], comparing.common, measure);
    for (int side = 0; side < 2; side++)
        twin__items_clear(&comparing.parts[side]);
    twin__read_buffers_clear(&scratch->reading);
    return status;
}

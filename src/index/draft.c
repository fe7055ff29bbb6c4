/* draft.c — documents prepared for writing: this part many workers do at once.
 *
 * A draft has the documents of a chunk: for each its signature, the digest by which equal ones are found, and in one
 * buffer its id and what the index keeps of it. Drafts are gathered in batches, in the order of the input. A batch
 * is written as a whole; where it must end within a draft, the draft's first entries are lent to it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "index/draft.h"
#include "index/edits.h"
#include "sketch/long_text.h"
#include "sketch/set.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"

void twin__index_draft_empty(struct twin__index_draft *draft)
{
    draft->begin = draft->count = draft->bytes.length = 0;
    draft->repaired = draft->unspaced = draft->text_bytes = 0;
}

void twin__index_draft_clear(struct twin__index_draft *draft)
{
    free(draft->entries);
    free(draft->signatures);
    twin_buffer_clear(&draft->bytes);
    twin__index_packer_free(draft->packer);
    *draft = (struct twin__index_draft){ 0 };
}

static bool room_for(struct twin__index_draft *draft, size_t more, size_t slots)
{
    return TWIN__ARRAY_GROW(&draft->entries, &draft->entry_capacity, draft->count, more) &&
           TWIN__ARRAY_GROW(&draft->signatures, &draft->signature_capacity, draft->count * slots, more * slots);
}

static twin_status take_items(twin_items *out, const uint64_t *items, size_t count)
{
    out->count = 0;
    twin_status status = twin__items_reserve(out, count + 1);
    if (status != TWIN_OK)
        return status;
    if (count)
        memcpy(out->items, items, count * sizeof *items);
    out->count = count;
    return TWIN_OK;
}

/* A buffer that never held anything has no bytes to point at. */
static twin_text text_of(const twin_scratch *scratch)
{
    return (twin_text){ scratch->sign.text.bytes ? scratch->sign.text.bytes : "", scratch->sign.text.length };
}

/* Rows name things of the user's, few and long-lived, and keep all bits. Of shingles 35 do: of two sets of 2,000, four
 * fifths alike, 222 of each have no partner, and two of these agree in 35 bits in one of 700,000 pairs (222² / 2^35);
 * then the similarity is off by one part in 1,200. In a set of its own, items that agree there stay two, so its size
 * is exact. With 40 bits it would be one pair in 22 million, for a fifth more to be written. */
unsigned twin__index_item_bits(const twin_index_options *options)
{
    return options->keep == TWIN_KEEP_SETS && options->format != TWIN_INPUT_SETS ? 35 : 64;
}

/* A text shorter than one shingle has a single item, and of a million such texts fifteen pairs agree in its leading 35
 * bits. A second item makes that 70 bits. */
static twin_status lengthen(twin_items *items)
{
    twin_status status = items->count == 1 ? twin__items_reserve(items, 1) : TWIN_OK;
    if (status == TWIN_OK && items->count == 1) {
        items->items[1] = twin__mix(items->items[0]);
        items->count = 2;
    }
    return status;
}

/* The items of a document, in scratch->sign.items, in the order of the text; its normalised text in
 * scratch->sign.text. */
static twin_status find_items(const twin_index *index, twin_scratch *scratch, uint64_t *repaired,
                              const twin_index_document *document)
{
    if (index->options.format == TWIN_INPUT_SETS) {
        twin_status taken = take_items(&scratch->sign.items, document->items, document->item_count);
        return taken == TWIN_OK && index->options.scheme.multiset
                   ? twin__items_number(&scratch->sign.items, &scratch->sign.spare)
                   : taken;
    }
    twin_status status = twin__signer_shingle(&scratch->sign, repaired, index->signer, document->text);
    return status == TWIN_OK && scratch->sign.is_short && twin__index_item_bits(&index->options) < 64
               ? lengthen(&scratch->sign.items)
               : status;
}

/* The set of scratch->sign.items, cut to the bits that are kept after repeats were dropped. */
static twin_status make_set(twin_set *out, const twin_index *index, twin_scratch *scratch)
{
    uint64_t *items, mask = UINT64_MAX << (64 - twin__index_item_bits(&index->options));
    twin_status status = twin__set_make(out, &scratch->sign.items, &scratch->sign.spare);
    if (status != TWIN_OK)
        return status;
    items = scratch->sign.items.items;
    for (size_t i = 0, count = out->count; i < count; i++) /* a count of its own, or the loop would not be vectors */
        items[i] &= mask;
    return TWIN_OK;
}

twin_status twin__index_sketch(twin_set *set, uint32_t *signature, const twin_index *index, twin_scratch *scratch,
                               uint64_t *ill_formed, const twin_index_document *document)
{
    twin_status status = find_items(index, scratch, ill_formed, document);
    if (status == TWIN_OK)
        status = make_set(set, index, scratch);
    if (status == TWIN_OK)
        twin_signer_sign(signature, index->signer, set->items, set->count);
    return status;
}

bool twin__index_shares_by_set(const twin_index_options *options)
{
    return options->format == TWIN_INPUT_SETS || options->keep == TWIN_KEEP_SETS;
}

/* Texts that collide could be made for a public hash. Items cannot: who does not know the key does not know them. */
twin_hash twin__index_text_hash(const twin_index *index)
{
    twin_hash plain = { .family = TWIN_HASH_XXH3 };
    return index->version >= TWIN__INDEX_VERSION_SEEDED ? index->options.scheme.shingle.hash : plain;
}

twin_digest twin__index_text_digest(const twin_index *index, twin_text text)
{
    return twin_hash_digest(twin__index_text_hash(index), text.bytes, text.length);
}

/* ---- one document ---- */

static twin_status keep_set(struct twin__index_draft_entry *entry, uint32_t *signature,
                            struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch)
{
    twin_set set;
    twin_status status = make_set(&set, index, scratch);
    if (status != TWIN_OK)
        return status;
    twin_signer_sign(signature, index->signer, set.items, set.count);
    entry->set_size = set.count;
    if (index->options.keep == TWIN_KEEP_SETS)
        return twin__index_items_encode(&draft->bytes, &entry->digest, set, twin__index_item_bits(&index->options));
    entry->digest = twin__set_digest(set);
    return TWIN_OK;
}

/* Sorting is half the work of a document, so where the set itself is not kept its size is only counted. */
static twin_status keep_text(struct twin__index_draft_entry *entry, uint32_t *signature,
                             struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch)
{
    twin_text text = text_of(scratch);
    twin_signer_sign(signature, index->signer, scratch->sign.items.items, scratch->sign.items.count);
    entry->digest = twin__index_text_digest(index, text);
    twin_status status = twin__items_distinct(&entry->set_size, &scratch->sign.items, &scratch->sign.spare);
    if (status == TWIN_OK && index->options.keep == TWIN_KEEP_TEXT)
        status = twin__index_text_encode(&draft->bytes, &draft->packer, text);
    return status;
}

/* A document that is not long, or of which little is kept. */
static twin_status keep_short(struct twin__index_draft_entry *entry, uint32_t *signature,
                              struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch,
                              const twin_index_document *document)
{
    twin_status status = find_items(index, scratch, &draft->repaired, document);
    if (status != TWIN_OK)
        return status;
    return twin__index_shares_by_set(&index->options) || scratch->sign.items.count == 0
               ? keep_set(entry, signature, draft, index, scratch)
               : keep_text(entry, signature, draft, index, scratch);
}

/* A text that is compared by edit distance. */
static twin_status keep_by_edits(struct twin__index_draft_entry *entry, uint32_t *signature,
                                 struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch,
                                 const twin_index_document *document)
{
    struct twin__index_text text = { 0 };
    entry->digest = twin__set_digest((twin_set){ 0 }); /* of the empty text */
    twin_status status = twin__signer_normalise(&scratch->sign, &draft->repaired, index->signer, document->text);
    twin_text normalised = text_of(scratch);
    if (status == TWIN_OK)
        status = twin__index_text_read(&text, normalised);
    entry->set_size = text.count;
    if (status == TWIN_OK)
        status = twin__index_text_sign(signature, &text, index, &scratch->sign, normalised);
    if (status == TWIN_OK && text.count) {
        entry->digest = twin__index_text_digest(index, normalised);
        status = twin__index_text_encode(&draft->bytes, &draft->packer, normalised);
    }
    twin__index_text_clear(&text);
    return status;
}

static bool by_words(const twin_index_options *options)
{
    twin_shingle_kind kind = options->scheme.shingle.kind;
    return options->format != TWIN_INPUT_SETS && (kind == TWIN_SHINGLE_WORD || kind == TWIN_SHINGLE_STOP);
}

twin_status twin__index_draft_add(struct twin__index_draft *draft, const twin_index *index, twin_scratch *scratch,
                                  const twin_index_document *document)
{
    size_t slots = twin__index_slots(&index->options);
    if (!room_for(draft, 1, slots))
        return TWIN_ENOMEM;
    struct twin__index_draft_entry entry = { .id = draft->bytes.length,
                                             .id_length = (uint32_t)document->id.length,
                                             .id_is_number = document->id_is_number,
                                             .label = document->label,
                                             .time = document->time };
    uint32_t *signature = draft->signatures + draft->count * slots;
    bool is_kept = false;
    twin_status status = twin_buffer_append(&draft->bytes, document->id.bytes, document->id.length);
    entry.kept = draft->bytes.length;
    if (status == TWIN_OK && index->options.by_edits) {
        status = keep_by_edits(&entry, signature, draft, index, scratch, document);
        is_kept = true;
    } else if (status == TWIN_OK && index->options.format != TWIN_INPUT_SETS &&
               twin__is_long_text(index->signer, document->text.length))
        status = twin__index_keep_long(&entry, &is_kept, signature, draft, index, &scratch->sign, document->text);
    if (status == TWIN_OK && !is_kept)
        status = keep_short(&entry, signature, draft, index, scratch, document);
    if (status != TWIN_OK)
        return status;
    entry.kept_length = draft->bytes.length - entry.kept;
    draft->entries[draft->count++] = entry;
    draft->text_bytes += document->text.length;
    draft->unspaced += by_words(&index->options) && twin__shingle_is_unspaced(document->text);
    return entry.kept_length > UINT32_MAX ? TWIN_ELIMIT : TWIN_OK;
}

/* ---- batches ---- */

/* What a batch counts as the bytes of a draft: in proportion to the entries that are left. */
static size_t bytes_left(const struct twin__index_draft *draft)
{
    return draft->count
               ? (size_t)((double)draft->bytes.length * (double)(draft->count - draft->begin) / (double)draft->count)
               : 0;
}

bool twin__index_batch_take(struct twin__index_batch *batch, struct twin__index_draft *draft)
{
    if (!TWIN__ARRAY_GROW(&batch->drafts, &batch->draft_capacity, batch->draft_count, 1) ||
        !TWIN__ARRAY_GROW(&batch->spare, &batch->spare_capacity, batch->draft_count + batch->spare_count, 1))
        return false; /* there is room among the spare ones for all that are taken */
    batch->count += draft->count - draft->begin;
    batch->bytes += bytes_left(draft);
    batch->drafts[batch->draft_count++] = *draft;
    *draft = batch->spare_count ? batch->spare[--batch->spare_count] : (struct twin__index_draft){ 0 };
    return true;
}

/* Lends the next `count` entries of a draft to the batch; the others are left, as if they had come alone. */
static bool lend(struct twin__index_batch *batch, struct twin__index_draft *draft, size_t count)
{
    if (!TWIN__ARRAY_GROW(&batch->drafts, &batch->draft_capacity, batch->draft_count, 1))
        return false;
    struct twin__index_draft *lent = &batch->drafts[batch->draft_count++];
    size_t before = bytes_left(draft);
    *lent = *draft;
    lent->count = draft->begin + count;
    lent->lent = true;
    draft->begin += count;
    draft->repaired = draft->unspaced = draft->text_bytes = 0;
    batch->count += count;
    batch->bytes += before - bytes_left(draft);
    return true;
}

bool twin__index_batch_move(struct twin__index_batch *batch, struct twin__index_batch *from, size_t count)
{
    size_t moved = 0;
    while (moved < from->draft_count && batch->count < count) {
        struct twin__index_draft *draft = &from->drafts[moved];
        size_t entries = draft->count - draft->begin, wanted = count - batch->count, before = bytes_left(draft);
        if (entries > wanted) {
            if (!lend(batch, draft, wanted))
                return false;
            from->count -= wanted;
            from->bytes -= before - bytes_left(draft);
            break;
        }
        if (!twin__index_batch_take(batch, draft))
            return false;
        from->count -= entries;
        from->bytes -= before;
        from->spare[from->spare_count++] = *draft;
        moved++;
    }
    from->draft_count -= moved;
    memmove(from->drafts, from->drafts + moved, from->draft_count * sizeof *from->drafts);
    return true;
}

void twin__index_batch_empty(struct twin__index_batch *batch)
{
    for (size_t i = 0; i < batch->draft_count; i++) {
        if (batch->drafts[i].lent)
            continue;
        twin__index_draft_empty(&batch->drafts[i]);
        batch->spare[batch->spare_count++] = batch->drafts[i];
    }
    batch->draft_count = batch->count = batch->bytes = 0;
}

void twin__index_batch_clear(struct twin__index_batch *batch)
{
    for (size_t i = 0; i < batch->draft_count; i++)
        if (!batch->drafts[i].lent)
            twin__index_draft_clear(&batch->drafts[i]);
    for (size_t i = 0; i < batch->spare_count; i++)
        twin__index_draft_clear(&batch->spare[i]);
    free(batch->drafts);
    free(batch->spare);
    *batch = (struct twin__index_batch){ 0 };
}

/* index_draft.c — documents worked out, before they are written: this part many workers do at once. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "grow.h"
#include "index_parts.h"

void twin__draft_empty(struct twin__draft *draft)
{
    draft->count = draft->bytes.length = 0;
    draft->repaired = draft->text_bytes = 0;
}

void twin__draft_clear(struct twin__draft *draft)
{
    free(draft->entries);
    free(draft->signatures);
    twin_buffer_clear(&draft->bytes);
    twin__packer_free(draft->packer);
    *draft = (struct twin__draft){ 0 };
}

static bool room_for(struct twin__draft *draft, size_t more, size_t slots)
{
    return twin__grow(&draft->entries, &draft->entry_capacity, draft->count, more, sizeof *draft->entries) &&
           twin__grow(&draft->signatures, &draft->signature_capacity, draft->count * slots, more * slots,
                      sizeof *draft->signatures);
}

static twin_status take_items(twin_items *out, const uint64_t *items, size_t count)
{
    out->count = 0;
    twin_status status = twin_items_reserve(out, count + 1);
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
    return (twin_text){ scratch->text.bytes ? scratch->text.bytes : "", scratch->text.length };
}

/* Rows name things of the user's, few and long-lived, and keep all bits. Of shingles 35 do: of two sets of 2,000, four
 * fifths alike, 222 of each have no partner, and two of these agree in 35 bits in one of 700,000 pairs (222² / 2^35);
 * then the similarity is off by one part in 1,200. In a set of its own, items that agree there stay two, so its size
 * is exact. With 40 bits it would be one pair in 22 million, for a fifth more to be written. */
unsigned twin__item_bits(const twin_index_options *options)
{
    return options->keep == TWIN_KEEP_SETS && options->format != TWIN_INPUT_ROWS ? 35 : 64;
}

/* The items of a document, in scratch->items, in the order of the text; its normalised text in scratch->text. */
static twin_status find_items(const twin_index *index, twin_scratch *scratch, uint64_t *repaired,
                              const twin_index_document *document)
{
    if (index->options.format == TWIN_INPUT_ROWS)
        return take_items(&scratch->items, document->items, document->item_count);
    twin_status status = twin_text_normalise(&scratch->text, repaired, document->text, index->options.normal);
    return status == TWIN_OK ? twin_shingle(&scratch->items, index->shingler, text_of(scratch)) : status;
}

/* The set of scratch->items, cut to the bits that are kept after repeats were dropped. */
static twin_status make_set(twin_set *out, const twin_index *index, twin_scratch *scratch)
{
    uint64_t *items, mask = UINT64_MAX << (64 - twin__item_bits(&index->options));
    twin_status status = twin_set_make(out, &scratch->items, &scratch->spare);
    if (status != TWIN_OK)
        return status;
    items = scratch->items.items;
    for (size_t i = 0, count = out->count; i < count; i++) /* a count of its own, or the loop would not be vectors */
        items[i] &= mask;
    return TWIN_OK;
}

twin_status twin__work_out(twin_set *set, uint32_t *signature, const twin_index *index, twin_scratch *scratch,
                           const twin_index_document *document)
{
    twin_status status = find_items(index, scratch, NULL, document);
    if (status == TWIN_OK)
        status = make_set(set, index, scratch);
    if (status == TWIN_OK)
        twin_minhash_sign(signature, index->hasher, set->items, set->count);
    return status;
}

bool twin__shares_by_set(const twin_index_options *options)
{
    return options->format == TWIN_INPUT_ROWS || options->keep == TWIN_KEEP_SETS;
}

twin_digest twin__text_digest(twin_text text)
{
    return twin_hash_digest((twin_hash){ .family = TWIN_HASH_XXH3 }, text.bytes, text.length);
}

/* ---- one document ---- */

static twin_status keep_set(struct twin__draft_entry *entry, uint32_t *signature, struct twin__draft *draft,
                            const twin_index *index, twin_scratch *scratch)
{
    twin_set set;
    twin_status status = make_set(&set, index, scratch);
    if (status != TWIN_OK)
        return status;
    twin_minhash_sign(signature, index->hasher, set.items, set.count);
    entry->set_size = set.count;
    if (index->options.keep == TWIN_KEEP_SETS)
        return twin__items_encode(&draft->bytes, &entry->digest, set, twin__item_bits(&index->options));
    entry->digest = twin_set_digest(set);
    return TWIN_OK;
}

/* Sorting is half the work of a document, so where the set itself is not kept its size is only counted. */
static twin_status keep_text(struct twin__draft_entry *entry, uint32_t *signature, struct twin__draft *draft,
                             const twin_index *index, twin_scratch *scratch)
{
    twin_text text = text_of(scratch);
    twin_minhash_sign(signature, index->hasher, scratch->items.items, scratch->items.count);
    entry->digest = twin__text_digest(text);
    twin_status status = twin_items_distinct(&entry->set_size, &scratch->items, &scratch->spare);
    if (status == TWIN_OK && index->options.keep == TWIN_KEEP_TEXT)
        status = twin__text_encode(&draft->bytes, &draft->packer, text);
    return status;
}

twin_status twin__draft_add(struct twin__draft *draft, const twin_index *index, twin_scratch *scratch,
                            const twin_index_document *document)
{
    size_t slots = index->options.minhash.slots;
    if (!room_for(draft, 1, slots))
        return TWIN_ENOMEM;
    twin_status status = find_items(index, scratch, &draft->repaired, document);
    if (status != TWIN_OK)
        return status;
    struct twin__draft_entry entry = { .id = draft->bytes.length,
                                       .id_length = (uint32_t)document->id.length,
                                       .id_is_number = document->id_is_number,
                                       .label = document->label,
                                       .time = document->time };
    uint32_t *signature = draft->signatures + draft->count * slots;
    status = twin_buffer_append(&draft->bytes, document->id.bytes, document->id.length);
    entry.kept = draft->bytes.length;
    if (status == TWIN_OK && (twin__shares_by_set(&index->options) || scratch->items.count == 0))
        status = keep_set(&entry, signature, draft, index, scratch);
    else if (status == TWIN_OK)
        status = keep_text(&entry, signature, draft, index, scratch);
    if (status != TWIN_OK)
        return status;
    entry.kept_length = draft->bytes.length - entry.kept;
    draft->entries[draft->count++] = entry;
    draft->text_bytes += document->text.length;
    return entry.kept_length > UINT32_MAX ? TWIN_ELIMIT : TWIN_OK;
}

/* ---- batches ---- */

bool twin__batch_take(struct twin__batch *batch, struct twin__draft *draft)
{
    if (!twin__grow(&batch->drafts, &batch->draft_capacity, batch->draft_count, 1, sizeof *batch->drafts) ||
        !twin__grow(&batch->spare, &batch->spare_capacity, batch->draft_count + batch->spare_count, 1,
                    sizeof *batch->spare))
        return false; /* there is room among the spare ones for all that are taken */
    batch->count += draft->count;
    batch->bytes += draft->bytes.length;
    batch->drafts[batch->draft_count++] = *draft;
    *draft = batch->spare_count ? batch->spare[--batch->spare_count] : (struct twin__draft){ 0 };
    return true;
}

static bool copy_entry(struct twin__draft *out, const struct twin__draft *draft, size_t i, size_t slots)
{
    if (!room_for(out, 1, slots))
        return false;
    assert(out->entries && out->signatures); /* there is room for one */
    struct twin__draft_entry *entry = &out->entries[out->count];
    *entry = draft->entries[i];
    const char *id = draft->bytes.bytes + entry->id, *kept = draft->bytes.bytes + entry->kept;
    entry->id = out->bytes.length;
    entry->kept = out->bytes.length + entry->id_length;
    memcpy(out->signatures + out->count * slots, draft->signatures + i * slots, slots * sizeof *out->signatures);
    out->count++;
    return twin_buffer_append(&out->bytes, id, entry->id_length) == TWIN_OK &&
           twin_buffer_append(&out->bytes, kept, entry->kept_length) == TWIN_OK;
}

/* Leaves the first `count` entries in the draft and puts the others into `rest`, which is empty. */
static bool cut_draft(struct twin__draft *rest, struct twin__draft *draft, size_t count, size_t slots)
{
    for (size_t i = count; i < draft->count; i++)
        if (!copy_entry(rest, draft, i, slots))
            return false;
    draft->count = count;
    return true;
}

bool twin__batch_move(struct twin__batch *batch, struct twin__batch *from, size_t count, size_t slots)
{
    size_t moved = 0;
    for (; moved < from->draft_count && count > 0; moved++) {
        struct twin__draft *draft = &from->drafts[moved], rest = { 0 };
        size_t entries = draft->count < count ? draft->count : count;
        bool cut = draft->count > entries;
        from->bytes -= draft->bytes.length;
        if ((cut && !cut_draft(&rest, draft, entries, slots)) || !twin__batch_take(batch, draft)) {
            twin__draft_clear(&rest);
            return false;
        }
        from->count -= entries;
        count -= entries;
        from->spare[from->spare_count++] = *draft;
        if (cut) {
            from->bytes += rest.bytes.length;
            *draft = rest;
            break;
        }
    }
    from->draft_count -= moved;
    memmove(from->drafts, from->drafts + moved, from->draft_count * sizeof *from->drafts);
    return true;
}

void twin__batch_empty(struct twin__batch *batch)
{
    for (size_t i = 0; i < batch->draft_count; i++) {
        twin__draft_empty(&batch->drafts[i]);
        batch->spare[batch->spare_count++] = batch->drafts[i];
    }
    batch->draft_count = batch->count = batch->bytes = 0;
}

void twin__batch_clear(struct twin__batch *batch)
{
    for (size_t i = 0; i < batch->draft_count; i++)
        twin__draft_clear(&batch->drafts[i]);
    for (size_t i = 0; i < batch->spare_count; i++)
        twin__draft_clear(&batch->spare[i]);
    free(batch->drafts);
    free(batch->spare);
    *batch = (struct twin__batch){ 0 };
}

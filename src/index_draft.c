/* index_draft.c — documents worked out, before they are written: this part many workers do at once. */
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

twin_status twin__work_out(twin_set *set, uint32_t *signature, const twin_index *index, twin_scratch *scratch,
                           uint64_t *repaired, const twin_index_document *document)
{
    twin_status status;
    if (index->options.format == TWIN_INPUT_ROWS)
        status = take_items(&scratch->items, document->items, document->item_count);
    else {
        status = twin_text_normalise(&scratch->text, repaired, document->text, index->options.normal);
        if (status == TWIN_OK)
            status = twin_shingle(&scratch->items, index->shingler, text_of(scratch));
    }
    if (status != TWIN_OK)
        return status;
    if (signature)
        twin_minhash_sign(signature, index->hasher, scratch->items.items, scratch->items.count);
    return twin_set_make(set, &scratch->items, &scratch->spare);
}

static twin_status keep(struct twin__draft *draft, const twin_index *index, const twin_scratch *scratch, twin_set set)
{
    switch (index->options.keep) {
    case TWIN_KEEP_SETS: return twin__items_encode(&draft->bytes, set);
    case TWIN_KEEP_TEXT:
        return twin__text_encode(&draft->bytes, &draft->packer,
                                 (twin_text){ scratch->text.bytes, scratch->text.length });
    default: return TWIN_OK;
    }
}

twin_status twin__draft_add(struct twin__draft *draft, const twin_index *index, twin_scratch *scratch,
                            const twin_index_document *document)
{
    size_t slots = index->options.minhash.slots;
    twin_set set;
    if (!room_for(draft, 1, slots))
        return TWIN_ENOMEM;
    twin_status status =
        twin__work_out(&set, draft->signatures + draft->count * slots, index, scratch, &draft->repaired, document);
    size_t id = draft->bytes.length;
    if (status == TWIN_OK)
        status = twin_buffer_append(&draft->bytes, document->id.bytes, document->id.length);
    size_t kept = draft->bytes.length;
    if (status == TWIN_OK && set.count)
        status = keep(draft, index, scratch, set);
    if (status != TWIN_OK)
        return status;
    draft->entries[draft->count++] = (struct twin__draft_entry){
        .digest = twin_set_digest(set),
        .set_size = set.count,
        .time = document->time,
        .id = id,
        .kept = kept,
        .kept_length = draft->bytes.length - kept,
        .id_length = (uint32_t)document->id.length,
        .label = document->label,
        .id_is_number = document->id_is_number,
    };
    draft->text_bytes += document->text.length;
    return draft->bytes.length - kept > UINT32_MAX ? TWIN_ELIMIT : TWIN_OK;
}

bool twin__batch_take(struct twin__batch *batch, struct twin__draft *draft)
{
    if (!twin__grow(&batch->drafts, &batch->draft_capacity, batch->draft_count, 1, sizeof *batch->drafts) ||
        !twin__grow(&batch->spare, &batch->spare_capacity, batch->draft_count + batch->spare_count, 1,
                    sizeof *batch->spare))
        return false; /* there is room among the spare ones for all that are taken */
    batch->count += draft->count;
    batch->bytes += draft->bytes.length;
    batch->repaired += draft->repaired;
    batch->text_bytes += draft->text_bytes;
    batch->drafts[batch->draft_count++] = *draft;
    *draft = batch->spare_count ? batch->spare[--batch->spare_count] : (struct twin__draft){ 0 };
    return true;
}

void twin__batch_drop(struct twin__batch *batch, size_t count)
{
    size_t whole = 0;
    batch->begin += count;
    for (; whole < batch->draft_count && batch->begin >= batch->drafts[whole].count; whole++) {
        struct twin__draft *draft = &batch->drafts[whole];
        batch->begin -= draft->count;
        batch->count -= draft->count;
        batch->bytes -= draft->bytes.length;
        twin__draft_empty(draft);
        batch->spare[batch->spare_count++] = *draft;
    }
    batch->draft_count -= whole;
    memmove(batch->drafts, batch->drafts + whole, batch->draft_count * sizeof *batch->drafts);
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

/* long_draft.c — long documents worked out, before they are written, without holding their hashes.
 *
 * A pass over the text signs it. Its set is then taken in ranges (sketch/long_text.h), twice where it is kept: the
 * place of an item in its record depends on how many there are. */
#include "index/draft.h"
#include "sketch/long_text.h"
#include "sketch/set.h"
#include "text/pieces.h"

static const double MOST_ROOM = 1.4, LEAST_ROOM = 0.3;

/* The record takes up to one and a half times the bytes of the text, and comes to be while the hashes go: what is not
 * written yet is theirs. */
static struct twin__hash_range range_beside(size_t length, size_t written)
{
    double share = MOST_ROOM - (double)written / (double)length;
    return twin__hash_range_first(length, share > LEAST_ROOM ? share : LEAST_ROOM);
}

static twin_status encode_set(struct twin__index_draft_entry *entry, struct twin__index_draft *draft,
                              struct twin__long_text *text, const twin_index *index, twin_sign_scratch *scratch)
{
    struct twin__index_encoding encoding;
    size_t length = text->text.length, start = draft->bytes.length;
    struct twin__hash_range range = range_beside(length, 0);
    twin_items part = { 0 };
    twin_status status =
        twin__index_items_begin(&encoding, &draft->bytes, entry->set_size, twin__index_item_bits(&index->options));
    while (status == TWIN_OK) {
        status = twin__long_text_range(&part, &range, text, index->signer, scratch);
        if (status != TWIN_OK)
            break;
        twin__index_items_put(&encoding, &draft->bytes, (twin_set){ part.items, part.count });
        double done = (double)encoding.next / (double)(entry->set_size + 1);
        range.room = range_beside(length, (size_t)((double)(draft->bytes.length - start) * done)).room;
        if (!twin__hash_range_next(&range, part.count))
            break;
        twin__items_clear(&part); /* the next is smaller */
    }
    if (status == TWIN_OK)
        entry->digest = twin__index_items_end(&encoding, &draft->bytes);
    twin__items_clear(&part);
    return status;
}

static twin_status encode_text(struct twin__index_draft *draft, const struct twin__long_text *text,
                               const twin_index *index, twin_sign_scratch *scratch)
{
    size_t start;
    twin_buffer *piece = &scratch->text;
    struct twin__normaliser normaliser = { .rest = text->text, .normal = twin_signer_scheme(index->signer)->normal };
    twin_status status = twin__index_text_begin(&start, &draft->bytes, &draft->packer, text->length);
    while (status == TWIN_OK && normaliser.rest.length > 0) {
        piece->length = 0;
        status = twin__normalise_piece(piece, &normaliser);
        if (status == TWIN_OK && piece->length > 0)
            status =
                twin__index_text_put(&draft->bytes, draft->packer, (twin_text){ piece->bytes, piece->length }, false);
    }
    if (status == TWIN_OK)
        status = twin__index_text_put(&draft->bytes, draft->packer, (twin_text){ "", 0 }, true);
    if (status == TWIN_OK)
        twin__index_text_end(start, &draft->bytes);
    return status;
}

twin_status twin__index_keep_long(struct twin__index_draft_entry *entry, bool *is_kept, uint32_t *signature,
                                  struct twin__index_draft *draft, const twin_index *index,
                                  twin_sign_scratch *scratch, twin_text text)
{
    twin_keep keep = index->options.keep;
    struct twin__long_text about = { .text = text, .digest_hash = twin__index_text_hash(index), .is_measured = true };
    if (keep == TWIN_KEEP_SETS)
        about.mask = UINT64_MAX << (64 - twin__index_item_bits(&index->options));
    twin_status status = twin__long_text_sign(signature, &about, index->signer, scratch);
    *is_kept = status == TWIN_OK && !about.is_short;
    if (!*is_kept)
        return status;
    draft->repaired += about.replaced;
    entry->set_size = about.set_size;
    entry->digest = about.digest;
    if (keep == TWIN_KEEP_SETS)
        status = encode_set(entry, draft, &about, index, scratch);
    else if (keep == TWIN_KEEP_TEXT)
        status = encode_text(draft, &about, index, scratch);
    return status;
}

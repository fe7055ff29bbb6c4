/* edits.c — what an index by edit distance stores of a text. */
#include "index/edits.h"

#include <stdlib.h>

#include "base/random.h"
#include "base/scratch.h"
#include "edit/edit_characters.h"
#include "edit_join/grams.h"
#include "edit_join/segments.h"

void twin__index_text_clear(struct twin__index_text *text)
{
    free(text->characters);
    twin_buffer_clear(&text->padded);
    *text = (struct twin__index_text){ 0 };
}

twin_status twin__index_text_read(struct twin__index_text *out, twin_text text)
{
    if (text.length > TWIN_EDIT_MAX_LENGTH)
        return TWIN_ELIMIT;
    uint32_t *room = realloc(out->characters, (text.length + 1) * sizeof *room);
    if (!room)
        return TWIN_ENOMEM;
    out->characters = room;
    out->count = twin__edit_decode(room, text);
    out->letters = 0;
    for (size_t i = 0; i < out->count; i++)
        out->letters ^= 1u << (twin__mix(room[i]) >> 60);
    return TWIN_OK;
}

uint32_t twin__index_segment(const twin_index *index, const struct twin__index_text *text, size_t at, size_t size,
                             size_t length, size_t segment)
{
    uint64_t hash = twin_hash_bytes(index->options.scheme.shingle.hash, (const char *)(text->characters + at),
                                    size * sizeof *text->characters);
    uint64_t key = twin__mix(hash ^ twin__mix((uint64_t)length << 32 | segment));
    return (uint32_t)(key >> 48) << 16 | text->letters;
}

twin_status twin__index_text_sign(uint32_t *signature, struct twin__index_text *text, const twin_index *index,
                                  twin_sign_scratch *scratch, twin_text normalised)
{
    const size_t edits = index->options.edits, length = text->count;
    for (size_t i = 0; i <= edits; i++) {
        size_t begin = twin__segment_begin(edits, length, i), end = twin__segment_begin(edits, length, i + 1);
        signature[i] = twin__index_segment(index, text, begin, end - begin, length, i);
    }
    twin_status status = twin__edit_grams(scratch, &text->padded, index->signer, normalised);
    if (status == TWIN_OK)
        twin_signer_sign(signature + edits + 1, index->signer, scratch->items.items, scratch->items.count);
    return status;
}

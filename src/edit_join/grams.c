/* grams.c — the q-grams of a text. */
#include "edit_join/grams.h"

#include "base/random.h"
#include "kernels/sort.h"
#include "sketch/set.h"
#include "sketch/signer.h"

/* A q-gram that is repeated becomes another item each time, so that equal q-grams count as often as they occur: a
 * text of one phrase over and over is not similar to that phrase alone. */
static twin_status number_repeats(twin_sign_scratch *scratch)
{
    twin_items *items = &scratch->items;
    scratch->spare.count = 0;
    twin_status status = twin__items_reserve(&scratch->spare, items->count);
    if (status != TWIN_OK)
        return status;
    twin__sort(items->items, items->count, scratch->spare.items, items->count);
    uint64_t last = 0, repeat = 0;
    for (size_t i = 0; i < items->count; i++) {
        repeat = i > 0 && items->items[i] == last ? repeat + 1 : 0;
        last = items->items[i];
        items->items[i] = twin__mix(last + repeat * 0x9E3779B97F4A7C15u);
    }
    return TWIN_OK;
}

static twin_status pad(twin_buffer *out, twin_text text, size_t q)
{
    static const char marks[TWIN_SHINGLE_MAX_WIDTH] = { 0 };
    out->length = 0;
    twin_status status = twin_buffer_append(out, marks, q - 1);
    if (status == TWIN_OK)
        status = twin_buffer_append(out, text.bytes, text.length);
    return status == TWIN_OK ? twin_buffer_append(out, marks, q - 1) : status;
}

twin_status twin__edit_grams(twin_sign_scratch *scratch, twin_buffer *padded, const twin_signer *signer,
                             twin_text text)
{
    twin_status status = pad(padded, text, twin_signer_scheme(signer)->shingle.width);
    if (status == TWIN_OK)
        status = twin__signer_shingle_normalised(scratch, signer, (twin_text){ padded->bytes, padded->length });
    return status == TWIN_OK ? number_repeats(scratch) : status;
}

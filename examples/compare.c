/* compare.c — two short texts along the road: text, shingles, sets, signatures; the exact similarity and its estimate. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twinsift/twinsift.h>

enum { SLOTS = 128 };

/* What one text becomes. The items own the set. */
struct side {
    twin_items items;
    twin_set set;
    uint32_t signature[SLOTS];
};

static twin_status take(struct side *out, const twin_shingler *shingler, const twin_minhash *hasher, const char *text)
{
    twin_buffer folded = { 0 };
    twin_items scratch = { 0 };
    twin_status status = twin_text_normalise(&folded, NULL, (twin_text){ text, strlen(text) }, TWIN_NORMAL_FOLD);
    if (status == TWIN_OK)
        status = twin_shingle(&out->items, shingler, (twin_text){ folded.bytes, folded.length });
    if (status == TWIN_OK)
        status = twin_set_make(&out->set, &out->items, &scratch);
    if (status == TWIN_OK)
        twin_minhash_sign(out->signature, hasher, out->set.items, out->set.count);
    twin_buffer_clear(&folded);
    twin_items_clear(&scratch);
    return status;
}

int main(void)
{
    struct side a = { 0 }, b = { 0 };
    twin_shingler *shingler = NULL;
    twin_minhash *hasher = NULL;
    twin_shingle_options pieces = { .kind = TWIN_SHINGLE_CHAR,
                                    .width = 5,
                                    .hash = twin_hash_member(TWIN_HASH_XXH3, 1) };
    twin_status status = twin_shingler_create(&shingler, pieces);
    if (status == TWIN_OK)
        status = twin_minhash_create(&hasher, (twin_minhash_options){ .slots = SLOTS, .seed = 1 });
    if (status == TWIN_OK)
        status = take(&a, shingler, hasher, "The lighthouse at Ormsey Point will be lit again this month.");
    if (status == TWIN_OK)
        status = take(&b, shingler, hasher, "The LIGHTHOUSE at Ormsey Point  will be lit again next month.");

    double exact = 0, estimate = 0;
    if (status == TWIN_OK) {
        exact = twin_set_similarity(a.set, b.set, TWIN_JACCARD);
        estimate = (double)twin_minhash_agreement(a.signature, b.signature, SLOTS) / SLOTS;
        printf("similarity %.4f, estimated %.4f\n", exact, estimate);
    } else {
        fprintf(stderr, "compare: %s\n", twin_status_text(status));
    }
    twin_items_clear(&a.items);
    twin_items_clear(&b.items);
    twin_shingler_free(shingler);
    twin_minhash_free(hasher);
    /* Four standard errors of 128 slots. */
    return status == TWIN_OK && fabs(exact - estimate) < 4 * 0.045 ? 0 : 1;
}

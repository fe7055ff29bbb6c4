/* compare.c — two short texts through a signer: their sets and signatures, the exact similarity and its estimate. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twinsift/twinsift.h>

enum { SLOTS = 128 };

/* What one text becomes. The scratch owns the set. */
struct side {
    twin_scratch *scratch;
    twin_set set;
    uint32_t signature[SLOTS];
};

static twin_status sign(struct side *out, const twin_signer *signer, const char *text)
{
    return twin_signer_text(out->signature, &out->set, signer, &out->scratch, (twin_text){ text, strlen(text) });
}

int main(void)
{
    struct side a = { 0 }, b = { 0 };
    twin_signer *signer = NULL;
    twin_error error = { 0 };
    twin_scheme scheme = twin_scheme_default();
    scheme.shingle.width = 5; /* characters */
    scheme.minhash.slots = SLOTS;
    twin_status status = twin_signer_create(&signer, &scheme, &error);
    if (status == TWIN_OK)
        status = sign(&a, signer, "The lighthouse at Ormsey Point will be lit again this month.");
    if (status == TWIN_OK)
        status = sign(&b, signer, "The LIGHTHOUSE at Ormsey Point  will be lit again next month.");

    double exact = 0, estimate = 0;
    if (status == TWIN_OK) {
        exact = twin_set_similarity(a.set, b.set, TWIN_JACCARD);
        estimate = (double)twin_minhash_agreement(a.signature, b.signature, SLOTS) / SLOTS;
        printf("similarity %.4f, estimated %.4f\n", exact, estimate);
    } else {
        fprintf(stderr, "compare: %s\n", twin_status_text(status));
    }
    twin_scratch_free(a.scratch);
    twin_scratch_free(b.scratch);
    twin_signer_free(signer);
    /* Four standard errors of 128 slots. */
    return status == TWIN_OK && fabs(exact - estimate) < 4 * 0.045 ? 0 : 1;
}

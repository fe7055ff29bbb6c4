/* copies.c — the documents that each stands for: counted, then placed. */
#include "join/copies.h"

#include <stdlib.h>

twin_status twin__copies_list(struct twin__copies *out, const uint32_t *firsts, size_t documents)
{
    out->begins = calloc(documents + 2, sizeof *out->begins);
    out->same = malloc((documents + 1) * sizeof *out->same);
    if (!out->begins || !out->same)
        return TWIN_ENOMEM;
    /* Counted two places further on, so that begins[d + 1] is where the next of d goes, and in the end where d + 1
     * begins. */
    for (size_t i = 0; i < documents; i++)
        out->begins[firsts[i] + 2]++;
    for (size_t i = 2; i <= documents; i++)
        out->begins[i] += out->begins[i - 1];
    for (size_t i = 0; i < documents; i++)
        out->same[out->begins[firsts[i] + 1]++] = (uint32_t)i;
    return TWIN_OK;
}

void twin__copies_clear(struct twin__copies *copies)
{
    free(copies->begins);
    free(copies->same);
    *copies = (struct twin__copies){ 0 };
}

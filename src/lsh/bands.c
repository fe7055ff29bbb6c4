/* bands.c — the buckets of a collection: all bands, sorted, to look up those of one more signature. */
#include <twinsift/bands.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "kernels/sort.h"
#include "lsh/banding.h"

struct twin_bands {
    twin_signatures signatures;
    struct twin__banding banding;
    uint64_t keys[]; /* one sorted band after the other */
};

struct building {
    twin_bands *bands;
    uint64_t *spare; /* `count` per worker */
};

static void build_bands(void *context, size_t begin, size_t end, int worker)
{
    struct building *building = context;
    twin_bands *bands = building->bands;
    size_t count = bands->signatures.count;
    for (size_t band = begin; band < end; band++) {
        uint64_t *keys = bands->keys + band * count;
        twin__banding_make_keys(&(struct twin__some_bands){ band, 1, keys, count }, bands->signatures, NULL,
                                &bands->banding);
        twin__sort_by_high_half(keys, building->spare + (size_t)worker * count, count);
    }
}

twin_status twin_bands_create(twin_bands **out, twin_signatures signatures, twin_band_options options, twin_exec exec)
{
    if (!out)
        return twin__fail_null(NULL, "out");
    *out = NULL;
    struct twin__banding banding = { .options = options };
    twin_status status = twin__banding_complete(&banding, signatures, &exec);
    if (status != TWIN_OK)
        return status;
    size_t keys = banding.options.plan.bands * signatures.count;
    twin_bands *bands = malloc(sizeof *bands + keys * sizeof bands->keys[0]);
    uint64_t *spare = malloc(((size_t)exec.workers * signatures.count + 1) * sizeof *spare);
    if (!bands || !spare) {
        free(bands);
        free(spare);
        return TWIN_ENOMEM;
    }
    bands->signatures = signatures;
    bands->banding = banding;
    struct building building = { bands, spare };
    twin_exec_for(exec, banding.options.plan.bands, 1, build_bands, &building);
    free(spare);
    *out = bands;
    return TWIN_OK;
}

void twin_bands_free(twin_bands *bands)
{
    free(bands);
}

void twin_bands_query(const twin_bands *bands, const uint32_t *signature, twin_candidate_visit *visit, void *context)
{
    if (!bands || !signature || !visit)
        return;
    size_t count = bands->signatures.count;
    for (size_t band = 0; band < bands->banding.options.plan.bands; band++) {
        const uint64_t *keys = bands->keys + band * count;
        uint32_t bucket = twin__banding_bucket(signature, &bands->banding, band);
        for (size_t i = twin__lower_bound(keys, count, (uint64_t)bucket << 32); i < count && keys[i] >> 32 == bucket;
             i++) {
            uint32_t document = (uint32_t)keys[i];
            if (twin__banding_share_first(signature, twin__signature_row(bands->signatures, document),
                                          &bands->banding, band) &&
                !visit(context, document))
                return;
        }
    }
}

/* banding.h — how signatures are cut into bands, and documents put into buckets. */
#ifndef TWIN_LSH_BANDING_H
#define TWIN_LSH_BANDING_H

#include "lsh/bands.h"
#include <stdbool.h>

#include "base/spill.h"

struct twin__banding {
    twin_band_options options;
    const uint16_t *order; /* unless NULL, the slots of all bands (large_buckets.h) */
};

/* Completes the plan and the executor, and checks all. */
twin_status twin__banding_complete(struct twin__banding *banding, twin_signatures signatures, twin_exec *exec);

static inline const uint32_t *twin__signature_row(twin_signatures signatures, uint32_t document)
{
    return signatures.rows + document * signatures.slots;
}

/* The bucket of a signature in a band. */
uint32_t twin__banding_bucket(const uint32_t *signature, const struct twin__banding *banding, size_t band);

/* Adjacent bands, and arrays of keys, one after the other. Most of the time goes into fetching signatures from memory, a
 * cache line for a few rows: two bands at once cost little more than one, and where rows are drawn from all slots, so do
 * four. */
struct twin__some_bands {
    size_t first, count;
    uint64_t *keys;
    size_t each; /* keys of an array */
};

/* Makes a key per band and document: the bucket in the high half, the document in the low. The rows may be those of a
 * file, `spill`. */
void twin__banding_make_keys(const struct twin__some_bands *bands, twin_signatures signatures,
                             struct twin__spill *spill, const struct twin__banding *banding);

/* Whether two signatures share a band; whether it is the first one that they share: so a pair is reported once without
 * being remembered. */
bool twin__banding_share(const uint32_t *a, const uint32_t *b, const struct twin__banding *banding, size_t band);
bool twin__banding_share_first(const uint32_t *a, const uint32_t *b, const struct twin__banding *banding,
                               size_t band);

#endif

/* banding.c — how signatures are cut into bands, and documents put into buckets. */
#include "lsh/banding.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <twinsift/scheme.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/exec.h"
#include "lsh/bands.h"
#include "lsh/large_buckets.h"

/* The hash of the rows of one band, wherever a bucket is made of it: XXH3-64, under `seed`, of `count` numbers of
 * four bytes each, the low byte first on every machine.
 *
 * Public keys take the number of the band as seed, so that all bands can go through one shuffle. The buckets in
 * memory take seed 0 for every band, and the posting lists of an index the key of a first band, which is the same:
 * each band has a list of its own, and an index file stores the high half of that hash (docs/format.md), which must
 * stay what it is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static uint64_t key_of_band(const uint32_t *rows, size_t count, uint64_t seed)
{
    return XXH3_64bits_withSeed(rows, count * sizeof *rows, seed);
}
#else
static uint64_t key_of_band(const uint32_t *rows, size_t count, uint64_t seed)
{
    XXH3_state_t state;
    XXH3_64bits_reset_withSeed(&state, seed);
    for (size_t i = 0; i < count; i++) {
        uint32_t swapped = __builtin_bswap32(rows[i]);
        XXH3_64bits_update(&state, &swapped, sizeof swapped);
    }
    return XXH3_64bits_digest(&state);
}
#endif

twin_status twin_band_keys(uint64_t *out, const uint32_t *signature, twin_plan plan)
{
    if (!out || !signature)
        return twin__fail_null(NULL, out ? "signature" : "out");
    if (plan.bands == 0 || plan.rows == 0)
        return twin__fail(NULL, TWIN_EINVAL, "a plan of %zu bands of %zu rows has no keys", plan.bands, plan.rows);
    for (size_t band = 0; band < plan.bands; band++)
        out[band] = key_of_band(signature + band * plan.rows, plan.rows, band);
    return TWIN_OK;
}

twin_status twin__banding_complete(struct twin__banding *banding, twin_signatures signatures, twin_exec *exec)
{
    if (signatures.count && (!signatures.rows || !signatures.documents))
        return twin__fail_null(NULL, signatures.rows ? "signatures.documents" : "signatures.rows");
    if (signatures.slots == 0)
        return twin__fail(NULL, TWIN_EINVAL, "signatures have no slots");
    if (banding->order) /* drawn for these signatures, with any number of bands */
        return twin__exec_complete(exec, NULL);
    twin_scheme scheme = { .minhash.slots = signatures.slots, .plan = banding->options.plan };
    twin_status status = twin__check_reserved(NULL, banding->options.reserved, "bands");
    if (status == TWIN_OK)
        status = twin_scheme_complete(&scheme, NULL);
    banding->options.plan = scheme.plan;
    return status == TWIN_OK ? twin__exec_complete(exec, NULL) : status;
}

/* The rows of a band: those of the signature itself, or a copy in `room` of those that are drawn. */
static const uint32_t *rows_of(const uint32_t *signature, const struct twin__banding *banding, size_t band,
                               uint32_t room[TWIN__MOST_DRAWN_ROWS])
{
    size_t first = band * banding->options.plan.rows;
    if (!banding->order)
        return signature + first;
    for (size_t i = 0; i < banding->options.plan.rows; i++)
        room[i] = signature[banding->order[first + i]];
    return room;
}

uint32_t twin__banding_bucket(const uint32_t *signature, const struct twin__banding *banding, size_t band)
{
    uint32_t room[TWIN__MOST_DRAWN_ROWS], buckets = banding->options.buckets;
    uint64_t hash = key_of_band(rows_of(signature, banding, band, room), banding->options.plan.rows, 0);
    return buckets ? (uint32_t)(hash % buckets) : (uint32_t)(hash >> 32);
}

/* Signatures are read so many documents in advance: one band of each is far from that of the next. */
enum { AHEAD = 16 };

/* Keys of the documents `begin` to `end` of the signatures. Flat, so that the hash of a few rows is computed in line:
 * as a call it takes a third longer. */
__attribute__((flatten)) static void make_keys(const struct twin__some_bands *bands, twin_signatures signatures,
                                               const struct twin__banding *banding, size_t begin, size_t end)
{
    size_t rows = banding->options.plan.rows;
    size_t first = bands->first * rows, last = first + bands->count * rows - 1;
    for (size_t i = begin; i < end; i++) {
        uint32_t document = signatures.documents[i];
        const uint32_t *signature = twin__signature_row(signatures, document);
        if (!banding->order && i + AHEAD < end) { /* of rows that are drawn, whole signatures are read, in order */
            const uint32_t *ahead = twin__signature_row(signatures, signatures.documents[i + AHEAD]);
            __builtin_prefetch(ahead + first);
            __builtin_prefetch(ahead + last);
        }
        for (size_t k = 0; k < bands->count; k++)
            bands->keys[k * bands->each + i] =
                (uint64_t)twin__banding_bucket(signature, banding, bands->first + k) << 32 | document;
    }
}

void twin__banding_make_keys(const struct twin__some_bands *bands, twin_signatures signatures,
                             struct twin__spill *spill, const struct twin__banding *banding)
{
    enum { STEP = 1024 };
    for (size_t begin = 0, end; begin < signatures.count; begin = end) {
        end = signatures.count - begin < STEP ? signatures.count : begin + STEP;
        size_t passed = (size_t)signatures.documents[end - 1] - signatures.documents[begin] + 1; /* in order */
        twin__spill_touch(spill, passed * signatures.slots * sizeof *signatures.rows);
        make_keys(bands, signatures, banding, begin, end);
    }
}

bool twin__banding_share(const uint32_t *a, const uint32_t *b, const struct twin__banding *banding, size_t band)
{
    if (banding->options.buckets)
        return twin__banding_bucket(a, banding, band) == twin__banding_bucket(b, banding, band);
    size_t rows = banding->options.plan.rows, first = band * rows, same = 0;
    if (!banding->order)
        return a[first] == b[first] && memcmp(a + first, b + first, rows * sizeof *a) == 0;
    const uint16_t *order = banding->order + first;
    while (same < rows && a[order[same]] == b[order[same]])
        same++;
    return same == rows;
}

bool twin__banding_share_first(const uint32_t *a, const uint32_t *b, const struct twin__banding *banding, size_t band)
{
    if (!twin__banding_share(a, b, banding, band))
        return false;
    for (size_t earlier = 0; earlier < band; earlier++)
        if (twin__banding_share(a, b, banding, earlier))
            return false;
    return true;
}

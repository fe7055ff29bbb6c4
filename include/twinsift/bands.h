/* bands.h — LSH by banding: signatures become candidate pairs.
 *
 * The slots of a signature are cut into b bands of r rows; documents that agree in all rows of a band are candidates.
 * With Jaccard similarity J that happens with probability 1 - (1 - J^r)^b. The buckets of a band, documents that
 * agree in it, are found by sorting, one band after another, so that memory is two numbers per document and
 * worker. */
#ifndef TWINSIFT_BANDS_H
#define TWINSIFT_BANDS_H

#include <twinsift/exec.h>
#include <twinsift/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed signatures: row d of `slots` numbers is that of document d. Only the documents listed, in increasing order,
 * take part. */
typedef struct twin_signatures {
    const uint32_t *rows;
    size_t slots;
    const uint32_t *documents;
    size_t count;
} twin_signatures;

typedef struct twin_band_options {
    twin_plan plan;   /* {0}: planned for these slots and a threshold of 0.8, as twin_scheme_complete() does */
    uint32_t buckets; /* 0: equal rows make a bucket. Else each band is hashed into this many buckets, so that
                         different rows may collide (the textbook variant). */
    uint64_t reserved[TWIN_RESERVED];
} twin_band_options;

/* Called with a candidate pair, a < b. */
typedef void twin_pair_visit(void *context, uint32_t a, uint32_t b, int worker);

/* Calls `visit` once for every candidate pair, in unspecified order, from all workers of `exec`. TWIN_EINVAL when the
 * plan needs more slots than there are. */
TWIN_API twin_status twin_bands_pairs(twin_signatures signatures, twin_band_options options, twin_exec exec,
                                      twin_pair_visit *visit, void *context, twin_progress progress);

/* Writes the key of each band of a signature to `out`, which has room for plan.bands numbers: documents whose keys
 * agree at some band are candidates, whatever engine compares the keys (a hash join, a database, another
 * program). key[b] is XXH3-64 with seed b over the rows of band b, signature[b·rows] .. signature[b·rows + rows - 1],
 * as numbers of four bytes, low byte first, so it is the same on every machine; docs/format.md has an example. The
 * band is part of the key: all keys of all documents may go into one table. Of unequal rows one pair in 2^64 has
 * equal keys. The signature has at least bands·rows slots. TWIN_EINVAL when the plan has no bands or no rows. */
TWIN_API twin_status twin_band_keys(uint64_t *out, const uint32_t *signature, twin_plan plan);

/* The buckets of a collection, stored for queries with further signatures: eight bytes per band and document. It
 * borrows the signatures. Any number of threads may query at once. */
typedef struct twin_bands twin_bands;
TWIN_API twin_status twin_bands_create(twin_bands **out, twin_signatures signatures, twin_band_options options,
                                       twin_exec exec);
TWIN_API void twin_bands_free(twin_bands *bands);

/* Called once with each candidate of a signature; returns false to stop. */
typedef bool twin_candidate_visit(void *context, uint32_t document);
TWIN_API void twin_bands_query(const twin_bands *bands, const uint32_t *signature, twin_candidate_visit *visit,
                               void *context);

#ifdef __cplusplus
}
#endif
#endif

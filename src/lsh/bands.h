/* bands.h — LSH by banding: signatures become candidate pairs.
 *
 * The slots of a signature are cut into b bands of r rows; documents that agree in all rows of a band are candidates.
 * With Jaccard similarity J that happens with probability 1 - (1 - J^r)^b. The buckets of a band, documents that
 * agree in it, are found by sorting, one band after another, so that memory is two numbers per document and
 * worker. */
#ifndef TWIN_LSH_BANDS_H
#define TWIN_LSH_BANDS_H

#include <twinsift/exec.h>
#include <twinsift/plan.h>

/* Borrowed signatures: row d of `slots` numbers is that of document d. Only the documents listed, in increasing order,
 * take part. */
typedef struct twin_signatures {
    const uint32_t *rows;
    size_t slots;
    const uint32_t *documents;
    size_t count;
} twin_signatures;

/* Called with a candidate pair, a < b. */
typedef void twin_pair_visit(void *context, uint32_t a, uint32_t b, int worker);

/* Calls `visit` once for every candidate pair, in unspecified order, from all workers of `exec`. TWIN_EINVAL when the
 * plan needs more slots than there are. */
twin_status twin__bands_pairs(twin_signatures signatures, twin_band_options options, twin_exec exec,
                              twin_pair_visit *visit, void *context, twin_progress progress);

#endif

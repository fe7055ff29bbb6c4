/* large_buckets.h — the pairs of bands, with large buckets left to the caller. */
#ifndef TWIN_LSH_LARGE_BUCKETS_H
#define TWIN_LSH_LARGE_BUCKETS_H

#include "lsh/bands.h"
#include <stdatomic.h>

#include "base/spill.h"

enum { TWIN__MOST_DRAWN_ROWS = 32 };

/* Called with a bucket: the low half of each key is a document, in increasing order. False: its pairs are to be visited
 * after all. */
typedef bool twin__bucket_visit(void *context, const uint64_t *keys, size_t count, int worker);

struct twin__band_visits {
    twin_pair_visit *pair;
    twin__bucket_visit *bucket; /* of `least` documents and more, instead of their pairs; NULL: of none */
    size_t least;
    size_t least_equal; /* pairs with fewer equal slots may be passed over; 0: none is */
    void (*passed_over)(void *context, uint64_t count, int worker); /* called with how many were */
    const uint32_t *within; /* unless NULL, only pairs of documents that have the same number here */
    uint32_t split; /* unless 0, only pairs of a document below this and one from it on, and buckets with both */
    size_t first_band, end_band; /* only these bands, from the first up to but without the end; both 0: all */
    const uint16_t *order; /* unless NULL, row i of band b is slot order[b·rows + i]: bands may have slots in common,
                                    and at most TWIN__MOST_DRAWN_ROWS. A pair may be passed over in several bands */
    struct twin__spill *spill;   /* the file in which the signatures are; NULL: in memory */
    size_t memory_bytes;         /* for keys: fewer workers, if need be; 0: any amount */
    const atomic_bool *no_pairs; /* unless NULL, no pairs are visited from the moment it becomes true */
    void *context;
};

/* As twin__bands_pairs(), but a large bucket is visited as a whole. A pair that is in a large bucket of some band may
 * also be visited, at most once, if it is in a smaller bucket of an earlier band. */
twin_status twin__bands_visit(twin_signatures signatures, twin_band_options options, twin_exec exec,
                              struct twin__band_visits visits, twin_progress progress);

#endif

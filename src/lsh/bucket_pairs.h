/* bucket_pairs.h — the pairs of a bucket that may have enough equal slots. */
#ifndef TWIN_LSH_BUCKET_PAIRS_H
#define TWIN_LSH_BUCKET_PAIRS_H

#include "lsh/bands.h"
#include <stdbool.h>

#include "base/spill.h"

/* What all buckets of a search have in common. */
struct twin__bucket_rule {
    twin_signatures signatures;
    twin_plan plan;
    size_t least;              /* equal slots that are enough */
    const uint32_t *within;    /* unless NULL, only pairs of documents with the same number here */
    struct twin__spill *spill; /* the file in which the signatures are; NULL: in memory */
};

/* A bucket of a band: the low half of each key is a document. Pairs of one of the first `split` with one of the others, or
 * of any two if split is 0. */
struct twin__bucket {
    const uint64_t *keys;
    size_t count, split, band;
};

/* Whether pairs can be found in this way, and the bytes that a worker needs for it. */
bool twin__bucket_pairs_apply(const struct twin__bucket_rule *rule);
size_t twin__bucket_pairs_room(const struct twin__bucket_rule *rule);

/* Visits each pair that shares no earlier band and may have enough equal slots. Returns how many others share no
 * earlier band. `room` is aligned as malloc() does it. */
struct twin__bucket_visits {
    twin_pair_visit *near;
    void *context;
    int worker;
};
uint64_t twin__bucket_pairs(const struct twin__bucket_rule *rule, struct twin__bucket bucket, void *room,
                            struct twin__bucket_visits visits);

#endif

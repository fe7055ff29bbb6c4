/* candidates.h — candidate pairs: lists of them, and those that bands give. */
#ifndef TWIN_JOIN_CANDIDATES_H
#define TWIN_JOIN_CANDIDATES_H

#include <twinsift/similar.h>

#include "join/groups.h"
#include "join/join_private.h"
#include "join/pair_overflow.h"

/* What bands yield. Begin with {0}, end with twin__band_candidates_clear(). */
struct twin__band_candidates {
    struct twin__pair_overflow
        *overflow;                    /* of the caller: takes pairs that do not fit into memory; NULL: none does */
    struct twin__pairs pairs;         /* each once, in no particular order */
    uint64_t seen;                    /* how many shared a band, whether they passed the gate or not */
    struct twin__groups loose, dense; /* groups.h */
    uint32_t *loose_of, *dense_of;    /* per document: its group, by the first document of it; NULL: there are none */
    struct twin__groups joined;       /* those that the index of sets joins, once they are chosen */
};
void twin__band_candidates_clear(struct twin__band_candidates *candidates);

/* The same for what is not needed once pairs have been compared: all but the groups that are joined. */
void twin__candidates_free_pairs(struct twin__band_candidates *candidates);

/* What some of the bands give: pairs that pass the gate, and large buckets whose pairs are not listed. That of several
 * parts of the bands can be put together. Begin with {0}, end with twin__bands_found_clear(). */
struct twin__bands_found {
    struct twin__pair_overflow *overflow; /* as above */
    struct twin__pairs pairs;             /* each in the first band that it shares */
    uint64_t seen;
    uint32_t *loose,
        *dense; /* union-finds of the documents of large buckets; NULL: buckets of any size were listed */
    struct twin__large_bucket *buckets;
    size_t bucket_count, bucket_capacity;
};
void twin__bands_found_clear(struct twin__bands_found *found);

/* Of a part of the bands; with `groups`, large buckets are not listed. */
twin_status twin__bands_find(struct twin__bands_found *out, const struct twin__provider *provider,
                             const struct twin__gate *gate, const twin_similar_options *options, bool groups,
                             twin_part part);

/* From what all bands gave, which is used up, to the candidates of one part of the documents: those connected by candidates or a group are in the same part, so that each part
 * can be joined by itself. `seen` is counted in the first. */
twin_status twin__candidates_of_part(struct twin__band_candidates *out, struct twin__bands_found *found,
                                     twin_part part, const struct twin__provider *provider);

/* From bands to candidates: lists the pairs that share a band and pass the gate. With `groups`, documents connected by large
 * buckets are listed as groups, and pairs within a loose group are left out. */
twin_status twin__candidates_from_bands(struct twin__band_candidates *out, const struct twin__provider *provider,
                                        const struct twin__gate *gate, const twin_similar_options *options,
                                        bool groups);

/* Settles which groups are joined: the loose ones that are marked in `whole`, and the dense ones marked in `alone`, which
 * are in none of these. Adds the pairs of the other loose groups that are within no group that is joined. */
twin_status twin__candidates_settle(struct twin__band_candidates *candidates, const bool *whole, const bool *alone,
                                    const struct twin__provider *provider, const struct twin__gate *gate,
                                    const twin_similar_options *options);

#endif

/* engine.h — from the documents of a provider to their similar pairs. */
#ifndef TWIN_JOIN_ENGINE_H
#define TWIN_JOIN_ENGINE_H

#include <twinsift/similar.h>

#include "join/join_private.h"
#include "join/matches.h"

/* similar.c: takes from the scheme what the options leave to it, and checks that all of it goes together. */
twin_status twin__similar_complete(twin_similar_options *options, const twin_scheme *own, twin_error *error);

/* Finds the similar pairs among the documents of the provider and then visits them, sorted by a, then b: the same
 * pairs whatever the executor is. With `spill_after` of the options no more are held in memory. TWIN_ESTOPPED
 * if the visit returned false. A failure also fills `error`. */
twin_status twin__engine_each(twin_similar_counts *counts, const struct twin__provider *provider,
                              const twin_similar_options *options, twin_match_visit *visit, void *context,
                              twin_error *error);

/* What is enough to decide which documents are kept, in an order of preference (twin__cluster_keepers). */
struct twin__deciding_options {
    const twin_similar_options *search; /* by Jaccard similarity or containment, verified exactly */

    bool chain; /* connected components are wanted: similar pairs that connect them, and no order */

    /* *out becomes all documents of the provider, of those listed the more preferred first; called once at most. */
    twin_status (*order)(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                         twin_error *error);
    void *context;
    bool by_number; /* that order is the one of their numbers */

    size_t most_room; /* for the sets of groups, about, in units of eight bytes; 0: a default */
};

/* The same for fewer pairs: of groups only as many as decide which documents are kept. From candidates that were found
 * before, which are used up: then only those of one part. Documents connected by candidates are in the same part, so
 * that each part can be joined by itself. NULL: they are found here, and it is the whole. */
struct twin__engine_part {
    twin_candidates *candidates;
    twin_part part;
};
twin_status twin__engine_find_part(twin_matches *out, twin_similar_counts *counts,
                                   const struct twin__provider *provider,
                                   const struct twin__deciding_options *options, struct twin__engine_part part,
                                   twin_error *error);

#endif

/* crowd_join.h — all similar pairs among many documents that may share a template. */
#ifndef TWIN_JOIN_CROWD_JOIN_H
#define TWIN_JOIN_CROWD_JOIN_H

#include "join/components.h"
#include "join/verify.h"

enum twin__crowd_way { TWIN__CROWD_FASTEST, TWIN__CROWD_BY_PREFIXES, TWIN__CROWD_ALL_PAIRS };

struct twin__crowd_options {
    double threshold;    /* of Jaccard similarity */
    double most_seconds; /* joins only if that is expected to take less of a processor; 0: in any case */
    enum twin__crowd_way way;
    size_t index_entries;   /* of eight bytes, at a time; 0: 4 million, or 32 per document where that is more */
    size_t pairs_at_a_time; /* compared at a time; 0: 2 million */
    size_t most_counters;   /* of one byte, or three with components; 0: 128 to 512 per document */

    /* Unless NULL, connected components are wanted: those of documents with a similar pair are united, and only matches
     * that do so are added. Pairs of one component are not compared, and most_seconds is not looked at. */
    struct twin__components *components;
    twin_exec exec;
    twin_progress progress; /* receives "joining" */
};

struct twin__crowd_counts {
    uint64_t compared;
    bool refused; /* too expensive: nothing was added */
};

/* The documents to join, each listed once; someone else owns the list. */
struct twin__crowd_documents {
    const uint32_t *items;
    size_t count;
};

/* Adds all pairs of the documents that reach the threshold to the matches, in the same order whatever the executor is.
 * None is missed. A failure also fills `error`. */
twin_status twin__crowd_join(twin_matches *out, struct twin__crowd_counts *counts,
                             const struct twin__provider *provider, struct twin__crowd_documents documents,
                             struct twin__crowd_options options, twin_error *error);

/* The same with pairs whose estimate, the share of equal slots, reaches the threshold. */
twin_status twin__crowd_join_estimates(twin_matches *out, struct twin__crowd_counts *counts,
                                       const struct twin__provider *provider, struct twin__crowd_documents documents,
                                       struct twin__crowd_options options, twin_error *error);

#endif

/* decision.h — which nodes of a collection are kept, and the result made of that. */
#ifndef TWIN_DEDUP_DECISION_H
#define TWIN_DEDUP_DECISION_H

#include <twinsift/dedup.h>

#include "join/matches.h"
#include "join/similar_private.h"

#define TWIN__NOBODY UINT32_MAX

struct twin_dedup {
    uint32_t *keepers;
    double *similarities;
    twin_dedup_group *groups;
    uint32_t *members; /* of all groups */
    size_t group_count;
    twin_dedup_counts counts;
};

/* What is known on the way. A node is named by the first document of its copies. */
struct twin__decision {
    const twin_collection *collection;
    const twin_dedup_options *options;
    size_t documents;
    const uint32_t *firsts;
    twin_matches matches;
    uint32_t *best;      /* of each node the preferred document; TWIN__NOBODY: a single document without a match */
    uint32_t *order;     /* nodes, and after them whatever is none, the most preferred first */
    uint32_t *node_kept; /* of each node the node that is kept for it */
    double *node_similarity;
    bool is_ordered;
    size_t without_field; /* of the documents that were ordered */
    bool *is_excluded;    /* of each node; NULL: none is */
    struct twin__engine_part part;
};

/* edit_rounds.c: finds the pairs of texts that decide which are kept, or of a chain all. */
twin_status twin__find_edits(struct twin__decision *decision, twin_similar_counts *counts,
                             const struct twin__deciding_options *deciding, twin_error *error);

/* chains.c: fills in node_similarity where components decided, by reading documents again. */
twin_status twin__measure_chains(struct twin__decision *decision, twin_error *error);

/* dedup_result.c: from nodes to documents and groups. Takes over what was decided about nodes. */
twin_status twin__dedup_create(twin_dedup **out, struct twin__decision *decision, twin_error *error);

#endif

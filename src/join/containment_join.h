/* containment_join.h — all pairs of documents of which the smaller set is mostly contained in the larger. */
#ifndef TWIN_JOIN_CONTAINMENT_JOIN_H
#define TWIN_JOIN_CONTAINMENT_JOIN_H

#include "join/matches.h"
#include "join/verify.h"

struct twin__containment_options {
    double threshold;
    size_t most_room; /* of an index, about, in units of eight bytes; 0: 8 million, or 32 per document where that is
                             * more */
    size_t pairs_at_a_time; /* found at a time; 0: 2 million */
    size_t items_at_a_time; /* of sets whose probes are chosen at a time, and of one that is indexed; 0: a million */
    size_t steps_per_item;  /* of a search, through the lists of the index; 0: any number */
    twin_exec exec;
    twin_progress progress; /* receives "joining" */
};

struct twin__containment_counts {
    uint64_t compared;
    uint64_t
        incomplete; /* documents that have so much in common with so many others that some may have been missed */
};

/* Adds all pairs of the provider's documents that reach the threshold to the matches, in the same order whatever the
 * executor is. None is missed, unless documents are incomplete. Signatures are not used to find them. A failure also fills
 * `error`. */
twin_status twin__containment_join(twin_matches *out, struct twin__containment_counts *counts,
                                   const struct twin__provider *provider, struct twin__containment_options options,
                                   twin_error *error);

#endif

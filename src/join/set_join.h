/* set_join.h — template groups are joined, each through an index of its sets (set_index.h). */
#ifndef TWIN_JOIN_SET_JOIN_H
#define TWIN_JOIN_SET_JOIN_H

#include "join/components.h"
#include "join/groups.h"

enum twin__set_join_mode {
    TWIN__JOIN_ALL,     /* all similar pairs within groups */
    TWIN__JOIN_KEPT,    /* for each document that is not kept, a pair with the most preferred one that is */
    TWIN__JOIN_CONNECT, /* pairs that connect components, and no others */
};

struct twin__set_join_options {
    enum twin__set_join_mode mode;
    double threshold; /* of Jaccard similarity */
    twin_exec exec;
    twin_progress progress; /* receives "deciding", or "joining" */
    size_t memory_bytes;    /* 0: any amount */
    size_t most_room;       /* for indexes, about, in units of eight bytes; 0: a default */
    size_t
        slots; /* unless 0, the sets are signatures of so many slots (signature_provider.h), and the similarity of a
                     match is the share of those that are equal */

    struct twin__components *components; /* TWIN__JOIN_CONNECT: unites those of each pair that is added */

    /* TWIN__JOIN_KEPT: *out becomes all documents of the provider, of those listed the more preferred first; called once
     * at most. */
    twin_status (*order)(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                         twin_error *error);
    void *context;
};

/* Adds similar pairs within the groups to the matches, in the same order whatever the executor is, and to *compared how many
 * pairs were compared. None is missed.
 * For TWIN__JOIN_KEPT the matches are at first those outside groups. A document is kept unless it is similar to one that is
 * kept and comes earlier in the order of preference (twin_cluster_keepers); of two collections those of the second are kept
 * in any case, and come first. The documents of groups are put in another order, also across groups.
 * A failure also fills `error`. */
twin_status twin__set_join(twin_matches *matches, uint64_t *compared, const struct twin__provider *provider,
                           struct twin__groups *groups, const struct twin__set_join_options *options,
                           twin_error *error);

#endif

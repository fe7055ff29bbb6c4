/* set_join.h — template groups are joined, each through an index of its sets (set_index.h). */
#ifndef TWIN_JOIN_SET_JOIN_H
#define TWIN_JOIN_SET_JOIN_H

#include "join/groups.h"
#include "join/items.h"
#include "join/matches.h"
#include "join/pair_overflow.h"
#include "join/set_index.h"

struct twin__set_join_options {
    /* TWIN__JOIN_ALL:     all similar pairs within groups.
     * TWIN__JOIN_KEPT:    for each document that is not kept, a pair with the most preferred one that is.
     * TWIN__JOIN_CONNECT: pairs that connect components, and no others. */
    enum twin__join_mode mode;
    twin_measure measure; /* of containment: TWIN__JOIN_KEPT alone, of one group */
    double threshold;
    twin_exec exec;
    twin_progress progress; /* receives "deciding", or "joining" */
    size_t memory_bytes;    /* 0: any amount */
    size_t most_room;       /* for indexes, about, in units of eight bytes; 0: a default */
    size_t slots;           /* unless 0, the sets are signatures of so many slots (gate.c), and the similarity of a
                     match is the share of those that are equal */

    const struct twin__pairs
        *listed; /* TWIN__JOIN_ALL: unless NULL, only these are compared, sorted, the later document of
                                       * each in the high half; and nothing is reported */

    uint32_t *components; /* TWIN__JOIN_CONNECT: a union-find; unites those of each pair that is added */

    /* TWIN__JOIN_KEPT: *out becomes all documents of the provider, of those listed the more preferred first; called once
     * at most. */
    twin_status (*order)(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                         twin_error *error);
    void *context;

    /* TWIN__JOIN_KEPT, of one group: unless NULL, the join ends once it drops few of the documents that it searches for, and
     * these, for which there is room, are the documents all pairs of which remain to be found. */
    struct twin__remaining {
        uint32_t *documents;
        size_t count;
    } * remaining;
};

/* Adds similar pairs within the groups to the matches, in the same order whatever the executor is. None is missed, but
 * those of incomplete documents.
 * For TWIN__JOIN_KEPT the matches are at first those outside groups. A document is kept unless it is similar to one that is
 * kept and comes earlier in the order of preference (twin__cluster_keepers); of two collections those of the second are kept
 * in any case, and come first. The documents of groups are put in another order, also across groups.
 * A failure also fills `error`. */
twin_status twin__set_join(twin_matches *matches, struct twin__join_counts *counts,
                           const struct twin__provider *provider, struct twin__groups *groups,
                           const struct twin__set_join_options *options, twin_error *error);

/* ---- between set_join.c and set_batch.c ---- */

#define TWIN__NONE UINT32_MAX

enum { TWIN__SET_BATCH = 512 };

/* A document of the batch. */
struct twin__join_slot {
    uint32_t document;
    uint32_t keeper; /* the first similar member, TWIN__NONE: none was found before the batch */
    double similarity;
    bool is_divided; /* its set is here, as bits and rare items in the store of a worker */
    int worker;
    size_t at;
    struct twin__divided_set set; /* bits and rare items are set when they are needed: a store may move */

    bool is_member, is_searched;
    size_t member, end;       /* its number as a member; it is compared with members before `end` */
    size_t links, link_count; /* similar pairs, in the worker's */
};

struct twin__join_worker {
    struct twin__index_scratch scratch;
    struct twin__item_marks marks;
    uint64_t *store;
    size_t count, capacity;
    twin_matches links;
};

/* A group in this phase. */
struct twin__join_group {
    struct twin__set_index index;
    bool is_begun;
    bool is_counted;     /* the items of its documents were counted in the phase before */
    size_t begin, count; /* its documents in state.by_group */
    size_t before;       /* members before the batch */
    uint32_t part;       /* the component of the last document taken, and members before its first */
    size_t part_begin;
};

enum twin__kept_state { TWIN__UNDECIDED, TWIN__KEPT, TWIN__DROPPED };

struct twin__join_state {
    const struct twin__provider *provider;
    const struct twin__set_join_options *options;
    struct twin__groups *groups_listed;
    twin_matches *matches;
    uint32_t *group_of; /* of each document; TWIN__NONE: it is in none */
    struct twin__join_group *groups;
    uint32_t *todo; /* documents that are not members of an index yet, in order */
    size_t todo_count, total;
    uint32_t *by_group; /* those in groups, group by group, in the room of the groups' documents */

    /* What is kept. */
    uint8_t *decisions; /* enum twin__kept_state, of each document */
    uint64_t
        *outside; /* matches outside groups, sorted: the later document in the high half, the earlier in the low */
    size_t outside_count;

    uint16_t *in_vain; /* by Jaccard similarity, of each document, how many members it was compared with in vain */
    size_t tried, dropped; /* of the documents that may be dropped, in this phase */
    uint32_t *part_of;     /* while components are connected: of each document that was dropped its component */

    struct twin__item_counters known, next; /* counted in the phase before, and in this one */
    size_t most_counted;                    /* bytes of counters */
    size_t most_room, room;                 /* in units of eight bytes */
    bool is_full;
    struct twin__join_slot slots[TWIN__SET_BATCH];
    uint32_t begun[TWIN__SET_BATCH]; /* groups that begin with this batch */
    size_t count, begun_count;
    struct twin__join_worker *workers;
};

/* ---- set_batch.c ---- */

/* Takes some of the documents to do, from `from` on; they are few if they are long, and either all or none of them connect
 * components. Returns where the next batch
 * begins. */
size_t twin__batch_take(struct twin__join_state *state, size_t from, size_t most);

/* The groups of the batch begin, as long as there is room, and its documents are divided. With `first`, each is also searched
 * for among the members before the batch. */
twin_status twin__batch_divide(struct twin__join_state *state, bool first, twin_error *error);

/* Searches all members before the end of each slot. Similar pairs are added to the matches; or with components, left in the
 * links of workers. */
twin_status twin__batch_search(struct twin__join_state *state, twin_error *error);

/* Adds the document of a slot to the index of its group. When there is no room for more, counting begins. A failure also
 * fills `error`. */
twin_status twin__batch_add(struct twin__join_state *state, struct twin__join_slot *slot, twin_error *error);

void twin__slot_set_pointers(struct twin__join_slot *slot, const struct twin__join_state *state);

static inline struct twin__join_group *twin__slot_group(const struct twin__join_state *state,
                                                        const struct twin__join_slot *slot)
{
    uint32_t number = state->group_of[slot->document];
    return number == TWIN__NONE ? NULL : &state->groups[number];
}

/* Whether the document was dropped, and connects components now. */
static inline bool twin__is_connecting(const struct twin__join_state *state, uint32_t document)
{
    return state->part_of && state->part_of[document] != TWIN__NONE;
}

static inline uint16_t *twin__in_vain(const struct twin__join_state *state, uint32_t document)
{
    return state->in_vain ? &state->in_vain[document] : NULL;
}

/* Of two collections, the documents of the second are kept. */
static inline bool twin__is_kept_anyway(const struct twin__join_state *state, uint32_t document)
{
    return state->provider->split && document >= state->provider->split;
}

#endif

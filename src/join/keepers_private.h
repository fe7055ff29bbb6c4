/* keepers_private.h — what the files of the search for those that stay share.
 *
 *   keepers.c        how it works; the order, decisions, phases
 *   keepers_batch.c  a batch of documents is fetched, and each is searched for among those that stay
 *   keepers_links.c  where components are wanted: documents that are similar to several of those that stay */
#ifndef TWIN_JOIN_KEEPERS_PRIVATE_H
#define TWIN_JOIN_KEEPERS_PRIVATE_H

#include "join/item_counters.h"
#include "join/keeper_sets.h"
#include "join/keepers.h"

#define TWIN__NO_KEEPER UINT32_MAX

enum { TWIN__KEEPERS_BATCH = 512 };

/* A document of the batch. */
struct twin__keepers_slot {
    uint32_t document;
    uint32_t keeper; /* of its crowd; TWIN__NO_KEEPER: none was found among those that stayed before the batch */
    double similarity;
    bool is_divided; /* its set is here, as bits and rest in the store of a worker */
    int worker;
    size_t at;
    struct twin__keeper_set set; /* bits and rest are set when they are needed: a store may move */
    size_t links, link_count;    /* in the worker's links */
};

struct twin__keepers_worker {
    struct twin__keeper_scratch scratch;
    struct twin__item_marks marks;
    uint64_t *store;
    size_t count, capacity;
    twin_matches links; /* of documents with those that stay and are of other components */
};

/* A crowd in this phase. */
struct twin__keepers_crowd {
    struct twin__keeper_sets sets;
    bool is_begun;
    bool is_counted;     /* its undecided documents were counted in the phase before */
    size_t begin, count; /* its undecided documents in state.by_crowd */
    size_t before;       /* members before the batch */
    size_t connected;    /* so many of the first members are known to be of one component */
};

enum twin__fate { TWIN__UNDECIDED, TWIN__STAYS, TWIN__GOES };

struct twin__keepers_state {
    const struct twin__provider *provider;
    const struct twin__deciding_options *options;
    struct twin__components *components; /* NULL: who stays is to be decided */
    struct twin__groups *chosen_from;
    twin_matches *matches;
    uint64_t *compared;
    uint32_t *crowd_of; /* of each document; TWIN__NO_KEEPER: it is in none */
    uint8_t *fates;     /* enum twin__fate, of each document */
    uint64_t
        *outside; /* matches outside crowds, sorted: the later document in the high half, the earlier in the low */
    size_t outside_count;
    struct twin__keepers_crowd *crowds;
    size_t crowd_count;
    uint32_t *todo; /* undecided documents, in order */
    size_t todo_count, total;
    uint32_t *by_crowd;                     /* the same crowd by crowd, in the room of the crowds' documents */
    struct twin__item_counters known, next; /* counted in the phase before, and in this one */
    size_t most_counted;                    /* bytes of counters */
    size_t most_room, room;                 /* in units of eight bytes */
    bool is_full;
    size_t phase;     /* from 0 on */
    bool is_unlinked; /* those that went were not compared with all that stay */
    struct twin__keepers_slot slots[TWIN__KEEPERS_BATCH];
    uint32_t begun[TWIN__KEEPERS_BATCH]; /* crowds that begin with this batch */
    size_t count, begun_count;
    struct twin__keepers_worker *workers;
};

/* ---- keepers_batch.c ---- */

/* Takes some of the documents listed, from `from` on; they are few if they are long. Returns where the next batch
 * begins. */
size_t twin__keepers_take_batch(struct twin__keepers_state *state, const uint32_t *documents, size_t count,
                                size_t from, size_t most);

/* The crowds of the batch begin, as long as there is room, and its documents are searched for among those that stayed
 * before it. */
twin_status twin__keepers_examine(struct twin__keepers_state *state, twin_error *error);

/* Fetches the document of a slot, by worker `number`, and divides its set. It is kept if the worker's count is moved
 * behind it. */
twin_status twin__keepers_divide(struct twin__keepers_slot *slot, struct twin__keepers_state *state,
                                 const struct twin__keepers_crowd *crowd, int number, twin_error *error);
void twin__keepers_set_pointers(struct twin__keepers_slot *slot, const struct twin__keepers_state *state,
                                const struct twin__keepers_crowd *crowd);

/* Of two collections, those of the second do. */
static inline bool twin__stays_anyway(const struct twin__keepers_state *state, uint32_t document)
{
    return state->provider->split && document >= state->provider->split;
}

/* ---- keepers_links.c ---- */

/* Compares those that went with all members of this phase that are of another component, and unites these. If there
 * will be another phase, counts the items of all that went. */
twin_status twin__keepers_link(struct twin__keepers_state *state, twin_error *error);

#endif

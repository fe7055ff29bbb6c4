/* keepers_links.c — documents that are similar to several of those that stay.
 *
 * Where components are wanted, those that stay are not enough: a document that went for one of them may be similar to
 * others as well, and then all of these are of one component. So after each phase, those that went are searched for
 * among the members once more, but only among those of other components. In a family above the threshold these are
 * soon none, and then nothing is fetched: that is why the first batches are small. Members are not similar to each
 * other, so that only pairs of two documents that went remain to be compared.
 *
 * Where there are many groups that nothing connects, a search for each document is as long as before, and the join that
 * compares those that went can do both at once. So when a whole batch has connected nothing, the search ends, and members
 * are left to that join as well, unless they are more than those that went. */
#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "join/components.h"
#include "join/keepers_private.h"

/* Whether all members of a crowd are of the component of `document`. What is connected stays so, so each member is looked
 * at about once. */
static bool is_connected(struct twin__keepers_crowd *crowd, uint32_t *group, uint32_t document)
{
    const struct twin__keeper_sets *sets = &crowd->sets;
    uint32_t root = sets->count ? twin__union_root(group, sets->members[0].document) : 0;
    while (crowd->connected < sets->count &&
           twin__union_root(group, sets->members[crowd->connected].document) == root)
        crowd->connected++;
    return crowd->connected == sets->count && twin__union_root(group, document) == root;
}

/* Lists the documents that went and need a search. Returns how many. */
static size_t list_gone(uint32_t *out, struct twin__keepers_state *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->provider->count; i++)
        if (state->fates[i] == TWIN__GOES && state->crowds[state->crowd_of[i]].sets.count)
            out[count++] = (uint32_t)i;
    return count;
}

static twin_status add_links(struct twin__keepers_slot *slot, struct twin__keepers_worker *worker,
                             const struct twin__keeper_sets *sets, twin_error *error)
{
    size_t found;
    slot->links = worker->links.count;
    for (size_t i = 0; i < worker->scratch.found_count; i++) {
        found = worker->scratch.found[i].member;
        uint32_t a = slot->document, b = sets->members[found].document;
        twin_match match = { a < b ? a : b, a < b ? b : a, worker->scratch.found[i].similarity };
        if (twin__matches_add(&worker->links, match) != TWIN_OK)
            return twin__fail_memory(error);
    }
    slot->link_count = worker->scratch.found_count;
    return TWIN_OK;
}

static twin_status search(struct twin__keepers_slot *slot, struct twin__keepers_state *state, int number,
                          twin_error *error)
{
    struct twin__keepers_worker *worker = &state->workers[number];
    struct twin__keepers_crowd *crowd = &state->crowds[state->crowd_of[slot->document]];
    const uint32_t *group = state->components->group;
    twin_status status = twin__keepers_divide(slot, state, crowd, number, error);
    if (status != TWIN_OK)
        return status;
    if (state->is_full)
        twin__items_count(&state->next, slot->set.rest, slot->set.rest_count);
    struct twin__keeper_apart apart = { group, twin__union_find(group, slot->document) };
    if (!twin__keeper_sets_find_all(&worker->scratch, &crowd->sets, slot->set, apart))
        return twin__fail_memory(error);
    return add_links(slot, worker, &crowd->sets, error);
}

static twin_status search_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__keepers_state *state = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = search(&state->slots[i], state, worker, error);
    return status;
}

/* Drops what is connected with all members by now. Without another phase there is nothing else to do for it. */
static void drop_connected(struct twin__keepers_state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->count; i++) {
        uint32_t document = state->slots[i].document;
        struct twin__keepers_crowd *crowd = &state->crowds[state->crowd_of[document]];
        if (state->is_full || !is_connected(crowd, state->components->group, document))
            state->slots[kept++] = state->slots[i];
    }
    state->count = kept;
}

/* In the order of documents, whoever found the links. *connected is how many components became one with another. */
static twin_status unite(size_t *connected, struct twin__keepers_state *state, twin_error *error)
{
    size_t before = state->matches->count;
    for (size_t i = 0; i < state->count; i++) {
        const struct twin__keepers_slot *slot = &state->slots[i];
        const twin_matches *links = &state->workers[slot->worker].links;
        for (size_t k = slot->links; k < slot->links + slot->link_count; k++)
            if (twin__components_add(state->matches, state->components, links->items[k]) != TWIN_OK)
                return twin__fail_memory(error);
    }
    for (int i = 0; i < state->options->search->exec.workers; i++)
        state->workers[i].links.count = 0;
    *connected = state->matches->count - before;
    return TWIN_OK;
}

/* Whether the search may end if it connects nothing: then there is none in later phases either, and it does not matter
 * what was not counted for them. */
static bool may_end(const struct twin__keepers_state *state, size_t gone)
{
    size_t members = 0;
    for (size_t i = 0; i < state->crowd_count; i++)
        members += state->crowds[i].sets.count;
    return state->phase == 0 && members <= gone;
}

twin_status twin__keepers_link(struct twin__keepers_state *state, twin_error *error)
{
    enum { FEWEST = 8 };
    uint32_t *gone = malloc((state->total + 1) * sizeof *gone);
    if (!gone)
        return twin__fail_memory(error);
    twin_status status = TWIN_OK;
    size_t count = list_gone(gone, state), most = FEWEST, connected = 1;
    bool ends = may_end(state, count);
    twin__components_flatten(state->components);
    for (size_t next = 0; next < count && status == TWIN_OK && !state->is_unlinked;) {
        next = twin__keepers_take_batch(state, gone, count, next, most);
        drop_connected(state);
        status = twin__exec_try(state->options->search->exec, state->count, 4, search_some, state, error);
        if (status == TWIN_OK)
            status = unite(&connected, state, error);
        state->is_unlinked = ends && connected == 0 && state->count == TWIN__KEEPERS_BATCH;
        most = 2 * most < TWIN__KEEPERS_BATCH ? 2 * most : TWIN__KEEPERS_BATCH;
    }
    free(gone);
    return status;
}

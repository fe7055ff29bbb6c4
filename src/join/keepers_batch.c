/* keepers_batch.c — a batch of documents is fetched, and each is searched for among those that stay.
 *
 * All workers take documents of the batch, and each writes to its own slot. Nothing is decided here, so that the result
 * does not depend on who was first. */
#include "join/keepers_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"

void twin__keepers_set_pointers(struct twin__keepers_slot *slot, const struct twin__keepers_state *state,
                                const struct twin__keepers_crowd *crowd)
{
    const uint64_t *store = state->workers[slot->worker].store + slot->at;
    slot->set.bits = store;
    slot->set.rest = store + crowd->sets.frequent.words;
}

twin_status twin__keepers_divide(struct twin__keepers_slot *slot, struct twin__keepers_state *state,
                                 const struct twin__keepers_crowd *crowd, int number, twin_error *error)
{
    const struct twin__provider *provider = state->provider;
    struct twin__keepers_worker *worker = &state->workers[number];
    const struct twin__frequent_items *frequent = &crowd->sets.frequent;
    const twin_items *missed = &worker->marks.missed;
    twin_set items;
    twin_status status = twin__provider_items(&items, provider, slot->document, number, error);
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&worker->store, &worker->capacity, worker->count, frequent->words + items.count + 1))
        return twin__fail_memory(error);
    uint64_t *bits = worker->store + worker->count, *rest = bits + frequent->words;
    if (!twin__frequent_items_divide(bits, &worker->marks, frequent, items.items, items.count))
        return twin__fail_memory(error);
    size_t found = worker->marks.found, count = missed->count;
    memcpy(rest, missed->items, count * sizeof *rest);
    slot->set = (struct twin__keeper_set){ .size = found + count, .frequent = found };
    slot->set.rest_count = crowd->is_counted ? twin__items_drop_single(rest, count, &state->known) : count;
    slot->worker = number;
    slot->at = worker->count;
    slot->is_divided = true;
    twin__keepers_set_pointers(slot, state, crowd);
    return TWIN_OK;
}

/* Searches for one that stays among those of the crowd before the batch. If there is none, the set is kept, or counted for
 * the next phase. */
static twin_status examine(struct twin__keepers_slot *slot, struct twin__keepers_state *state, int number,
                           twin_error *error)
{
    uint32_t index = state->crowd_of[slot->document];
    if (index == TWIN__NO_KEEPER || !state->crowds[index].is_begun)
        return TWIN_OK;
    struct twin__keepers_crowd *crowd = &state->crowds[index];
    struct twin__keepers_worker *worker = &state->workers[number];
    size_t found = crowd->sets.count;
    twin_status status = twin__keepers_divide(slot, state, crowd, number, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__stays_anyway(state, slot->document) &&
        !twin__keeper_sets_find(&found, &slot->similarity, &worker->scratch, &crowd->sets, slot->set, 0))
        return twin__fail_memory(error);
    if (found < crowd->sets.count)
        slot->keeper = crowd->sets.members[found].document;
    else if (state->is_full)
        twin__items_count(&state->next, slot->set.rest, slot->set.rest_count);
    else
        worker->count += crowd->sets.frequent.words + slot->set.rest_count;
    return TWIN_OK;
}

static twin_status examine_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__keepers_state *state = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = examine(&state->slots[i], state, worker, error);
    return status;
}

static twin_status begin_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__keepers_state *state = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        struct twin__keepers_crowd *crowd = &state->crowds[state->begun[i]];
        struct twin__family_source source = { .provider = state->provider,
                                              .documents = state->by_crowd + crowd->begin,
                                              .count = crowd->count,
                                              .first_worker = worker };
        status = twin__keeper_sets_init(&crowd->sets, &source, state->options->search->threshold, error);
    }
    return status;
}

/* The crowds of these documents that have not begun do so, as long as there is room. */
static twin_status begin_crowds(struct twin__keepers_state *state, twin_error *error)
{
    state->begun_count = 0;
    for (size_t i = 0; i < state->count; i++) {
        uint32_t index = state->crowd_of[state->slots[i].document];
        if (index == TWIN__NO_KEEPER || state->crowds[index].is_begun || state->is_full)
            continue;
        state->crowds[index].is_begun = true;
        state->begun[state->begun_count++] = index;
    }
    twin_status status =
        twin__exec_try(state->options->search->exec, state->begun_count, 1, begin_some, state, error);
    for (size_t i = 0; i < state->begun_count; i++)
        state->room += twin__keeper_sets_room(&state->crowds[state->begun[i]].sets);
    return status;
}

size_t twin__keepers_take_batch(struct twin__keepers_state *state, const uint32_t *documents, size_t count,
                                size_t from, size_t most)
{
    enum { MOST_ITEMS = 1 << 20 };
    size_t items = 0;
    for (state->count = 0; from < count && state->count < most && items < MOST_ITEMS; from++) {
        state->slots[state->count++] =
            (struct twin__keepers_slot){ .document = documents[from], .keeper = TWIN__NO_KEEPER };
        items += state->provider->size(state->provider, documents[from]);
    }
    for (int i = 0; i < state->options->search->exec.workers; i++)
        state->workers[i].count = 0;
    for (size_t i = 0; i < state->crowd_count; i++)
        state->crowds[i].before = state->crowds[i].sets.count;
    return from;
}

twin_status twin__keepers_examine(struct twin__keepers_state *state, twin_error *error)
{
    twin_status status = begin_crowds(state, error);
    return status == TWIN_OK
               ? twin__exec_try(state->options->search->exec, state->count, 4, examine_some, state, error)
               : status;
}

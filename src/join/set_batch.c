/* set_batch.c — a batch of documents is fetched, divided, and searched for by all workers.
 *
 * Each worker writes to the slots that it takes. Nothing is decided here, so that the result does not depend on who was
 * first. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/scratch.h"
#include "join/join_private.h"
#include "join/set_join.h"
#include "join/verify.h"

enum { SLOTS_PER_TURN = 4 };

size_t twin__batch_take(struct twin__join_state *state, size_t from, size_t most)
{
    enum { MOST_ITEMS = 1 << 20 };
    size_t items = 0;
    for (state->count = 0; from < state->todo_count && state->count < most && items < MOST_ITEMS; from++) {
        uint32_t document = state->todo[from];
        if (state->count && twin__is_connecting(state, document) != twin__is_connecting(state, state->todo[from - 1]))
            break;
        state->slots[state->count++] = (struct twin__join_slot){ .document = document, .keeper = TWIN__NONE };
        items += state->provider->size(state->provider, document);
    }
    for (int i = 0; i < state->options->exec.workers; i++)
        state->workers[i].count = state->workers[i].links.count = 0;
    for (size_t i = 0; i < state->count; i++) {
        struct twin__join_group *group = twin__slot_group(state, &state->slots[i]);
        if (group)
            group->before = group->index.count;
    }
    return from;
}

/* ---- groups begin ---- */

static twin_status begin_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__join_state *state = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        struct twin__join_group *group = &state->groups[state->begun[i]];
        struct twin__set_source source = { .provider = state->provider,
                                           .documents = state->by_group + group->begin,
                                           .count = group->count,
                                           .worker = worker };
        status =
            twin__set_index_init(&group->index, &source, state->options->measure, state->options->threshold, error);
    }
    return status;
}

/* The groups of these documents that have not begun do so, as long as there is room. */
static twin_status begin_groups(struct twin__join_state *state, twin_error *error)
{
    state->begun_count = 0;
    for (size_t i = 0; i < state->count && !state->is_full; i++) {
        struct twin__join_group *group = twin__slot_group(state, &state->slots[i]);
        if (!group || group->is_begun)
            continue;
        group->is_begun = true;
        state->begun[state->begun_count++] = (uint32_t)(group - state->groups);
    }
    twin_status status = twin__exec_try(state->options->exec, state->begun_count, 1, begin_some, state, error);
    for (size_t i = 0; i < state->begun_count; i++)
        state->room += twin__set_index_room(&state->groups[state->begun[i]].index);
    return status;
}

/* ---- dividing ---- */

void twin__slot_set_pointers(struct twin__join_slot *slot, const struct twin__join_state *state)
{
    const uint64_t *store = state->workers[slot->worker].store + slot->at;
    slot->set.bits = store;
    slot->set.rare = store + twin__slot_group(state, slot)->index.frequent.words;
}

/* Fetches the document of a slot and divides its set. It remains if the worker's count is moved behind it. */
static twin_status fetch_divided(struct twin__join_slot *slot, struct twin__join_state *state,
                                 const struct twin__join_group *group, int number, twin_error *error)
{
    struct twin__join_worker *worker = &state->workers[number];
    const struct twin__frequent_items *frequent = &group->index.frequent;
    const twin_items *missed = &worker->marks.missed;
    twin_set items;
    twin_status status = twin__provider_items(&items, state->provider, slot->document, number, error);
    if (status != TWIN_OK)
        return status;
    if (!TWIN__ARRAY_GROW(&worker->store, &worker->capacity, worker->count, frequent->words + items.count + 1))
        return twin__fail_memory(error);
    uint64_t *bits = worker->store + worker->count, *rare = bits + frequent->words;
    if (!twin__frequent_items_divide(bits, &worker->marks, frequent, items.items, items.count))
        return twin__fail_memory(error);
    size_t found = worker->marks.found, count = missed->count;
    memcpy(rare, missed->items, count * sizeof *rare);
    slot->set = (struct twin__divided_set){ .size = found + count, .frequent = found };
    slot->set.rare_count = group->is_counted && !twin__switched_off.single_items
                               ? twin__items_drop_single(rare, count, &state->known)
                               : count;
    slot->set.listed = slot->set.rare_count;
    slot->worker = number;
    slot->at = worker->count;
    slot->is_divided = true;
    twin__slot_set_pointers(slot, state);
    return TWIN_OK;
}

struct dividing {
    struct twin__join_state *state;
    bool first; /* among the members before the batch the first similar one is searched for */
};

/* If no similar member is found, the set remains, or is counted for the next phase. */
static twin_status divide_slot(struct twin__join_slot *slot, const struct dividing *dividing, int number,
                               twin_error *error)
{
    struct twin__join_state *state = dividing->state;
    struct twin__join_group *group = twin__slot_group(state, slot);
    struct twin__join_worker *worker = &state->workers[number];
    bool is_kept_anyway = twin__is_kept_anyway(state, slot->document);
    if (!group || !group->is_begun || (is_kept_anyway && state->is_full && !state->next.bytes))
        return TWIN_OK;
    size_t found = group->index.count;
    twin_status status = fetch_divided(slot, state, group, number, error);
    if (status != TWIN_OK)
        return status;
    struct twin__index_query query = { .set = slot->set,
                                       .end = found,
                                       .in_vain = twin__in_vain(state, slot->document) };
    if (dividing->first && !is_kept_anyway &&
        !twin__set_index_first(&found, &slot->similarity, &worker->scratch, &group->index, &query))
        return twin__fail_memory(error);
    if (found < group->index.count)
        slot->keeper = group->index.members[found].document;
    else
        worker->count += group->index.frequent.words + slot->set.rare_count;
    if (slot->keeper == TWIN__NONE && state->next.bytes)
        twin__items_count(&state->next, slot->set.rare, slot->set.rare_count);
    return TWIN_OK;
}

static twin_status divide_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    const struct dividing *dividing = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = divide_slot(&dividing->state->slots[i], dividing, worker, error);
    return status;
}

twin_status twin__batch_divide(struct twin__join_state *state, bool first, twin_error *error)
{
    struct dividing dividing = { state, first };
    twin_status status = begin_groups(state, error);
    if (status == TWIN_OK)
        status = twin__exec_try(state->options->exec, state->count, SLOTS_PER_TURN, divide_some, &dividing, error);
    return status;
}

/* ---- adding ---- */

twin_status twin__batch_add(struct twin__join_state *state, struct twin__join_slot *slot, twin_error *error)
{
    enum { MOST_TRIED = 256 }; /* members, while it may turn out that few documents are dropped */
    struct twin__set_index *index = &twin__slot_group(state, slot)->index;
    size_t before = twin__set_index_room(index);
    twin__slot_set_pointers(slot, state);
    slot->is_member = true;
    slot->member = index->count;
    if (!twin__set_index_add(index, slot->document, slot->set))
        return twin__fail_memory(error);
    state->room += twin__set_index_room(index) - before;
    bool is_tried = state->options->remaining;
    if (state->room < state->most_room && !(is_tried && index->count >= MOST_TRIED))
        return TWIN_OK;
    state->is_full = true;
    if (is_tried)
        return TWIN_OK;
    size_t listed = index->id_count / index->count + 1; /* of a document, as the larger groups have it */
    return twin__item_counters_init(&state->next, listed * state->todo_count, state->most_counted)
               ? TWIN_OK
               : twin__fail_memory(error);
}

/* ---- searching ---- */

/* Signatures of k slots with m equal ones are sets of the similarity m / (2k - m); their estimate is m / k. */
static double similarity_of(const struct twin__join_state *state, double similarity)
{
    size_t slots = state->options->slots;
    return slots ? (double)twin__signature_equal(similarity, slots) / (double)slots : similarity;
}

static twin_status add_links(struct twin__join_slot *slot, struct twin__join_state *state, int number,
                             twin_error *error)
{
    struct twin__join_worker *worker = &state->workers[number];
    const struct twin__set_index *index = &twin__slot_group(state, slot)->index;
    slot->worker = number;
    slot->links = worker->links.count;
    slot->link_count = worker->scratch.found_count;
    for (size_t i = 0; i < slot->link_count; i++) {
        const struct twin__set_found *found = &worker->scratch.found[i];
        uint32_t a = slot->document, b = index->members[found->member].document;
        twin_match match = { a < b ? a : b, a < b ? b : a, similarity_of(state, found->similarity) };
        if (twin__matches_add(&worker->links, match) != TWIN_OK)
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

/* Finds all members that are similar; or of those that are listed with the document. */
static bool search(struct twin__index_scratch *scratch, const struct twin__set_index *index,
                   const struct twin__index_query *query, const struct twin__pairs *listed, uint32_t document)
{
    if (!listed)
        return twin__set_index_all(scratch, index, query);
    size_t begin = twin__lower_bound(listed->items, listed->count, (uint64_t)document << 32);
    size_t end = twin__lower_bound(listed->items, listed->count, ((uint64_t)document + 1) << 32);
    return twin__set_index_listed(scratch, index, query, listed->items + begin, end - begin);
}

static twin_status search_slot(struct twin__join_slot *slot, struct twin__join_state *state, int number,
                               twin_error *error)
{
    uint32_t *components = state->options->components;
    if (!slot->is_searched || slot->end == 0)
        return TWIN_OK;
    const struct twin__set_index *index = &twin__slot_group(state, slot)->index;
    struct twin__index_query query = { 0 };
    if (slot->is_member)
        query = twin__set_index_query_member(index, slot->member);
    else {
        twin__slot_set_pointers(slot, state);
        query.set = slot->set;
    }
    query.end = slot->end;
    query.in_vain = twin__in_vain(state, slot->document);
    if (components) {
        query.group = components;
        query.root = twin__union_find(components, slot->document);
    }
    if (!search(&state->workers[number].scratch, index, &query, state->options->listed, slot->document))
        return twin__fail_memory(error);
    return add_links(slot, state, number, error);
}

static twin_status search_turn(void *context, size_t turn, int worker, twin_error *error)
{
    struct twin__join_state *state = context;
    twin_status status = TWIN_OK;
    for (size_t i = turn * SLOTS_PER_TURN; i < (turn + 1) * SLOTS_PER_TURN && i < state->count && status == TWIN_OK;
         i++)
        status = search_slot(&state->slots[i], state, worker, error);
    return status;
}

static twin_status hand_in(void *context, size_t turn, int worker, twin_error *error)
{
    (void)turn;
    struct twin__join_state *state = context;
    if (state->options->components)
        return TWIN_OK;
    return twin__matches_move(state->matches, &state->workers[worker].links) ? TWIN_OK : twin__fail_memory(error);
}

twin_status twin__batch_search(struct twin__join_state *state, twin_error *error)
{
    size_t turns = (state->count + SLOTS_PER_TURN - 1) / SLOTS_PER_TURN;
    return twin__exec_try_in_order(state->options->exec, turns, search_turn, hand_in, state, error);
}

/* keepers.c — the similar pairs within crowds that decide which documents stay.
 *
 * A family of n near-copies has n²/2 similar pairs, but who stays follows from far fewer: a document stays unless it is
 * similar to one that stays and comes earlier in the order of preference. So documents are taken in that order, and
 * each is compared with those of its crowd that stay (keeper_sets.h), up to the first that is similar. The match with that
 * one, the most preferred that stays for it, is the only one that is added.
 *
 *   1. A batch of documents is fetched, and each is searched for among those that stay so far, by all workers.
 *   2. Then the batch is gone through in order, by one: who has found nobody, has no match outside its crowd with one that
 *      stays, and is not similar to one of this batch that stays, stays itself and is added.
 *   3. When those that stay fill the memory, the rest of the documents are still compared with them, and whoever is
 *      left makes the next phase, with room for others. None of them is similar to one that stays already, and they are
 *      still in order. On the way it is counted which items of those left nobody else has: from then on these are
 *      not listed.
 *
 * Where connected components are wanted, nothing outside crowds matters, and any order will do. What is found is then
 * completed: those that went are compared with the others that stay (keepers_links.c), and those that went with each
 * other by the caller, because there are similar pairs among documents of two groups even if the two that stay are not.
 *
 * Of two collections, those of the second stay, whatever they are similar to, and those of the first go or do not, and stay for
 * nobody. The order has those of the second first.
 *
 * Matches outside crowds are known before; they connect crowds, which therefore are worked on together. All of it depends on
 * sets and the order, not on time or threads. */
#include "join/keepers_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/components.h"
#include "join/join_private.h"
#include "join/verify.h"

/* ---- the order, and matches outside crowds ---- */

/* Marks each document of the matches and of crowds, and lists them. Returns how many. */
static size_t list_involved(uint32_t *out, bool *seen, const struct twin__keepers_state *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->matches->count; i++)
        seen[state->matches->items[i].a] = seen[state->matches->items[i].b] = true;
    for (size_t i = 0; i < state->provider->count; i++) {
        seen[i] |= state->crowd_of[i] != TWIN__NO_KEEPER;
        if (seen[i])
            out[count++] = (uint32_t)i;
    }
    return count;
}

/* The later document of a match may go for the earlier. */
static twin_status list_outside(struct twin__keepers_state *state, const uint32_t *order, twin_error *error)
{
    const twin_matches *matches = state->matches;
    if (matches->count == 0)
        return TWIN_OK;
    uint32_t *rank =
        malloc((state->provider->count + 1) * sizeof *rank); /* of each document its place in the order */
    state->outside = malloc(matches->count * sizeof *state->outside);
    bool good = rank && state->outside;
    for (size_t i = 0; i < state->provider->count && good; i++)
        rank[order[i]] = (uint32_t)i;
    for (size_t i = 0; i < matches->count && good; i++) {
        uint64_t a = matches->items[i].a, b = matches->items[i].b;
        state->outside[state->outside_count++] = rank[a] < rank[b] ? b << 32 | a : a << 32 | b;
    }
    free(rank);
    good = good && twin__sort_numbers(state->outside, state->outside_count);
    return good ? TWIN_OK : twin__fail_memory(error);
}

/* The documents of crowds, in the order of the input. */
static void list_all(struct twin__keepers_state *state)
{
    for (size_t i = 0; i < state->provider->count; i++)
        if (state->crowd_of[i] != TWIN__NO_KEEPER)
            state->todo[state->todo_count++] = (uint32_t)i;
    state->total = state->todo_count;
}

/* All that are involved, in order, are to be decided. */
static twin_status make_order(struct twin__keepers_state *state, twin_error *error)
{
    size_t count = state->provider->count;
    const uint32_t *order = NULL;
    bool *seen = calloc(count + 1, sizeof *seen);
    if (!seen)
        return twin__fail_memory(error);
    size_t involved = list_involved(state->todo, seen, state);
    twin_status status = state->options->order(&order, state->options->context, state->todo, involved, error);
    for (size_t i = 0; i < count && status == TWIN_OK; i++)
        if (seen[order[i]])
            state->todo[state->todo_count++] = order[i];
    state->total = state->todo_count;
    free(seen);
    return status == TWIN_OK ? list_outside(state, order, error) : status;
}

static bool has_keeper_outside(const struct twin__keepers_state *state, uint32_t document)
{
    uint64_t least = (uint64_t)document << 32;
    for (size_t i = twin__lower_bound(state->outside, state->outside_count, least);
         i < state->outside_count && state->outside[i] >> 32 == document; i++)
        if (state->fates[(uint32_t)state->outside[i]] == TWIN__STAYS)
            return true;
    return false;
}

/* ---- deciding ---- */

/* Looks among those of the batch that stay. */
static twin_status search_batch(struct twin__keepers_slot *slot, struct twin__keepers_state *state,
                                struct twin__keepers_crowd *crowd, twin_error *error)
{
    size_t found = crowd->sets.count;
    twin__keepers_set_pointers(slot, state, crowd);
    if (!twin__stays_anyway(state, slot->document) &&
        !twin__keeper_sets_find(&found, &slot->similarity, &state->workers[0].scratch, &crowd->sets, slot->set,
                                crowd->before))
        return twin__fail_memory(error);
    if (found < crowd->sets.count)
        slot->keeper = crowd->sets.members[found].document;
    return TWIN_OK;
}

static twin_status add_match(struct twin__keepers_state *state, const struct twin__keepers_slot *slot,
                             twin_error *error)
{
    uint32_t a = slot->keeper, b = slot->document;
    twin_match match = { a < b ? a : b, a < b ? b : a, slot->similarity };
    twin_status status = state->components ? twin__components_add(state->matches, state->components, match)
                                           : twin__matches_add(state->matches, match);
    return status == TWIN_OK ? TWIN_OK : twin__fail_memory(error);
}

static twin_status stay(const struct twin__keepers_slot *slot, struct twin__keepers_state *state,
                        struct twin__keepers_crowd *crowd, twin_error *error)
{
    state->fates[slot->document] = TWIN__STAYS;
    if (!crowd || (state->provider->split && !twin__stays_anyway(state, slot->document)))
        return TWIN_OK;
    size_t before = twin__keeper_sets_room(&crowd->sets);
    if (!twin__keeper_sets_add(&crowd->sets, slot->document, slot->set))
        return twin__fail_memory(error);
    state->room += twin__keeper_sets_room(&crowd->sets) - before;
    if (state->room < state->most_room)
        return TWIN_OK;
    state->is_full = true;
    size_t listed = crowd->sets.id_count / crowd->sets.count + 1; /* of a document, as the larger crowds have it */
    size_t counted = state->components ? state->total : state->todo_count;
    return twin__item_counters_init(&state->next, listed * counted, state->most_counted) ? TWIN_OK
                                                                                         : twin__fail_memory(error);
}

/* Decides about a document, unless the phase is full: then it may be left to the next. */
static twin_status decide(struct twin__keepers_slot *slot, struct twin__keepers_state *state, twin_error *error)
{
    uint32_t index = state->crowd_of[slot->document];
    struct twin__keepers_crowd *crowd = index == TWIN__NO_KEEPER ? NULL : &state->crowds[index];
    twin_status status = TWIN_OK;
    if (crowd && slot->keeper == TWIN__NO_KEEPER && slot->is_divided)
        status = search_batch(slot, state, crowd, error);
    if (status != TWIN_OK)
        return status;
    if (slot->keeper != TWIN__NO_KEEPER) {
        state->fates[slot->document] = TWIN__GOES;
        return add_match(state, slot, error);
    }
    if (has_keeper_outside(state, slot->document)) {
        state->fates[slot->document] = TWIN__GOES;
        return TWIN_OK;
    }
    if (!state->is_full)
        return stay(slot, state, crowd, error);
    if (slot->is_divided)
        twin__items_count(&state->next, slot->set.rest, slot->set.rest_count);
    return TWIN_OK;
}

static twin_status work_on_batch(struct twin__keepers_state *state, twin_error *error)
{
    bool was_full = state->is_full;
    twin_status status = twin__keepers_examine(state, error);
    for (size_t i = 0; i < state->count && status == TWIN_OK; i++) {
        struct twin__keepers_slot *slot = &state->slots[i];
        slot->is_divided &= !was_full; /* or nobody of the batch has stayed, and the set was counted */
        status = decide(slot, state, error);
    }
    return status;
}

/* ---- phases ---- */

/* Lists undecided documents crowd by crowd. */
static void list_by_crowd(struct twin__keepers_state *state)
{
    size_t begin = 0;
    for (size_t i = 0; i < state->crowd_count; i++)
        state->crowds[i] = (struct twin__keepers_crowd){ .is_counted = state->crowds[i].is_begun };
    for (size_t i = 0; i < state->todo_count; i++)
        if (state->crowd_of[state->todo[i]] != TWIN__NO_KEEPER)
            state->crowds[state->crowd_of[state->todo[i]]].count++;
    for (size_t i = 0; i < state->crowd_count; i++) {
        state->crowds[i].begin = begin;
        begin += state->crowds[i].count;
        state->crowds[i].count = 0;
    }
    for (size_t i = 0; i < state->todo_count; i++)
        if (state->crowd_of[state->todo[i]] != TWIN__NO_KEEPER) {
            struct twin__keepers_crowd *crowd = &state->crowds[state->crowd_of[state->todo[i]]];
            state->by_crowd[crowd->begin + crowd->count++] = state->todo[i];
        }
}

static void report(const struct twin__keepers_state *state, size_t left)
{
    if (state->options->search->progress.report)
        (void)twin__report(&twin__stage_deciding, state->total - left, state->total);
}

/* Items that were bits in this phase were not counted. Many documents have them, and they may be listed in the next: so they
 * are not single, though they may share a counter with one that is. */
static void count_frequent(struct twin__keepers_state *state)
{
    for (size_t i = 0; i < state->crowd_count && state->next.bytes; i++)
        twin__frequent_items_count(&state->next, &state->crowds[i].sets.frequent);
}

static void end_phase(struct twin__keepers_state *state)
{
    size_t left = 0;
    count_frequent(state);
    for (size_t i = 0; i < state->todo_count; i++)
        if (state->fates[state->todo[i]] == TWIN__UNDECIDED)
            state->todo[left++] = state->todo[i];
    state->todo_count = left;
    for (size_t i = 0; i < state->crowd_count; i++)
        twin__keeper_sets_clear(&state->crowds[i].sets);
    twin__item_counters_clear(&state->known);
    state->known = state->next;
    state->next = (struct twin__item_counters){ 0 };
    state->is_full = false;
    state->phase++;
    state->room = 0;
}

static twin_status find(struct twin__keepers_state *state, twin_error *error)
{
    twin_status status = TWIN_OK;
    if (state->components)
        list_all(state);
    else
        status = make_order(state, error);
    while (state->todo_count > 0 && status == TWIN_OK) {
        size_t decided = state->total - state->todo_count;
        list_by_crowd(state);
        for (size_t next = 0; next < state->todo_count && status == TWIN_OK;) {
            next = twin__keepers_take_batch(state, state->todo, state->todo_count, next, TWIN__KEEPERS_BATCH);
            status = work_on_batch(state, error);
            if (!state->is_full)
                report(state, state->total - decided - next);
        }
        if (status == TWIN_OK && state->components)
            status = twin__keepers_link(state, error);
        end_phase(state);
    }
    for (int i = 0; i < state->options->search->exec.workers; i++)
        *state->compared += state->workers[i].scratch.compared;
    return status;
}

/* ---- those that went ---- */

/* Leaves in each crowd the documents that went, or all if these were not compared. */
static void leave_gone(struct twin__keepers_state *state)
{
    struct twin__groups *crowds = state->chosen_from;
    state->todo_count = 0;
    for (size_t i = 0; i < state->provider->count; i++)
        if (state->fates[i] == TWIN__GOES || (state->is_unlinked && state->fates[i] == TWIN__STAYS))
            state->todo[state->todo_count++] = (uint32_t)i;
    list_by_crowd(state);
    for (size_t i = 0; i < crowds->count; i++) {
        crowds->items[i].begin = state->crowds[i].begin;
        crowds->items[i].count = state->crowds[i].count;
    }
}

/* ---- all of it ---- */

/* Numbers the crowds. */
static void list_crowds(struct twin__keepers_state *state)
{
    const struct twin__groups *crowds = state->chosen_from;
    for (size_t i = 0; i < state->provider->count; i++)
        state->crowd_of[i] = TWIN__NO_KEEPER;
    for (size_t i = 0; i < crowds->count; i++) {
        for (size_t k = 0; k < crowds->items[i].count; k++)
            state->crowd_of[crowds->documents[crowds->items[i].begin + k]] = (uint32_t)i;
    }
    state->crowd_count = crowds->count;
}

/* So much room as is wanted or allowed. */
static void set_room(struct twin__keepers_state *state)
{
    enum { FEWEST_ROOM = 1 << 22, MOST_ROOM = 10 << 20, ROOM_PER_DOCUMENT = 96 };
    enum { PER_DOCUMENT = 32, LEAST_BYTES = 1 << 21, COUNTERS_SHARE = 8 };
    size_t count = state->provider->count, memory = state->options->search->memory_bytes;
    size_t room = ROOM_PER_DOCUMENT * count > FEWEST_ROOM ? ROOM_PER_DOCUMENT * count : FEWEST_ROOM;
    room = room < MOST_ROOM ? room : MOST_ROOM;
    state->most_counted = SIZE_MAX;
    if (memory) { /* less what is per document, here and in the caller */
        size_t bytes = memory > PER_DOCUMENT * count + LEAST_BYTES ? memory - PER_DOCUMENT * count : LEAST_BYTES;
        state->most_counted = bytes / COUNTERS_SHARE;
        bytes -= 2 * state->most_counted;
        room = room < bytes / sizeof(uint64_t) ? room : bytes / sizeof(uint64_t);
    }
    state->most_room = state->options->most_room ? state->options->most_room : room;
}

static bool state_init(struct twin__keepers_state *state)
{
    size_t count = state->provider->count;
    state->crowd_of = malloc((count + 1) * sizeof *state->crowd_of);
    state->fates = calloc(count + 1, sizeof *state->fates);
    state->todo = calloc(count + 1, sizeof *state->todo);
    state->by_crowd = state->chosen_from->documents;
    state->crowds = calloc(state->chosen_from->count + 1, sizeof *state->crowds);
    state->workers = calloc((size_t)state->options->search->exec.workers, sizeof *state->workers);
    set_room(state);
    return state->crowd_of && state->fates && state->todo && state->crowds && state->workers;
}

static void state_free(struct twin__keepers_state *state)
{
    for (int i = 0; state->workers && i < state->options->search->exec.workers; i++) {
        twin__keeper_scratch_clear(&state->workers[i].scratch);
        twin__item_marks_clear(&state->workers[i].marks);
        free(state->workers[i].store);
        twin_matches_clear(&state->workers[i].links);
    }
    free(state->workers);
    free(state->crowd_of);
    free(state->fates);
    free(state->outside);
    free(state->crowds);
    free(state->todo);
    twin__item_counters_clear(&state->known);
    free(state);
}

static twin_status join(struct twin__keepers_state *state, twin_error *error)
{
    if (!state_init(state))
        return twin__fail_memory(error);
    list_crowds(state);
    twin_status status = find(state, error);
    if (status == TWIN_OK && state->components)
        leave_gone(state);
    return status;
}

twin_status twin__keepers_join(twin_matches *matches, uint64_t *compared, const struct twin__provider *provider,
                               struct twin__groups *crowds, const struct twin__deciding_options *options,
                               twin_error *error)
{
    struct twin__keepers_state *state = calloc(1, sizeof *state); /* too large for the stack, also for a moment */
    if (!state)
        return twin__fail_memory(error);
    state->provider = provider;
    state->options = options;
    state->components = options->components;
    state->chosen_from = crowds;
    state->matches = matches;
    state->compared = compared;
    twin_status status = join(state, error);
    state_free(state);
    return status;
}

/* set_join.c — template groups are joined, each through an index of its sets.
 *
 * Documents are taken in batches. Each is fetched once and divided by all workers, then added to the index of its group, and
 * compared with the members before it. When the indexes fill the memory, the remaining documents are still compared with
 * the members, and make the next phase, with room for new indexes. On the way it is counted which of their items no other
 * remaining document has: from then on these are not listed. What differs is which documents become members, and what a
 * similar pair means:
 *
 *   all      All documents become members. All similar pairs are added.
 *   kept     A group of n near-copies has n²/2 similar pairs, but what is kept follows from far fewer: a document is kept
 *            unless it is similar to one that is kept and comes earlier in the order of preference. So documents are
 *            taken in that order, those of all groups together, and only those that are kept become members. Each is
 *            searched for up to the first similar member; the match with that one is the only one that is added.
 *            Matches outside groups are known before; they connect groups. Of two collections, documents of the
 *            second are kept in any case, and the others never become members.
 *   connect  First as for kept, in any order; each match unites two components. No two kept documents are similar, so pairs
 *            with one that was dropped remain. Then all of a group become members, the kept ones first, and the others
 *            component by component; and each dropped one is searched for among the members before its component, but
 *            for those that have become one component with it by then. The first batches are small, since in a group
 *            above the threshold nearly all pairs of two components are similar, and a few unite them.
 *
 * All of it depends on sets and the order, not on time or threads. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/join_private.h"
#include "join/set_join.h"
#include "join/verify.h"

/* ---- the order, and matches outside groups ---- */

/* Marks each document of the matches and of groups, and lists them. Returns how many. */
static size_t list_involved(uint32_t *out, bool *seen, const struct twin__join_state *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->matches->count; i++)
        seen[state->matches->items[i].a] = seen[state->matches->items[i].b] = true;
    for (size_t i = 0; i < state->provider->count; i++) {
        seen[i] |= state->group_of[i] != TWIN__NONE;
        if (seen[i])
            out[count++] = (uint32_t)i;
    }
    return count;
}

/* The later document of a match may be dropped for the earlier. */
static twin_status list_outside(struct twin__join_state *state, const uint32_t *order, twin_error *error)
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

/* All that are involved, in order, are to be decided. */
static twin_status list_in_order(struct twin__join_state *state, twin_error *error)
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
    free(seen);
    return status == TWIN_OK ? list_outside(state, order, error) : status;
}

/* The documents of groups, in the order of the input. */
static void list_all(struct twin__join_state *state)
{
    for (size_t i = 0; i < state->provider->count; i++)
        if (state->group_of[i] != TWIN__NONE)
            state->todo[state->todo_count++] = (uint32_t)i;
}

/* Lists the documents to do group by group. */
static void list_by_group(struct twin__join_state *state)
{
    size_t begin = 0, count = state->groups_listed->count;
    for (size_t i = 0; i < count; i++)
        state->groups[i] = (struct twin__join_group){ .is_counted = state->groups[i].is_begun && state->known.bytes,
                                                      .part = TWIN__NONE };
    for (size_t i = 0; i < state->todo_count; i++)
        if (state->group_of[state->todo[i]] != TWIN__NONE)
            state->groups[state->group_of[state->todo[i]]].count++;
    for (size_t i = 0; i < count; i++) {
        state->groups[i].begin = begin;
        begin += state->groups[i].count;
        state->groups[i].count = 0;
    }
    for (size_t i = 0; i < state->todo_count; i++)
        if (state->group_of[state->todo[i]] != TWIN__NONE) {
            struct twin__join_group *group = &state->groups[state->group_of[state->todo[i]]];
            state->by_group[group->begin + group->count++] = state->todo[i];
        }
}

/* The documents to do are taken group by group as well. */
static void order_by_group(struct twin__join_state *state)
{
    list_by_group(state);
    if (state->todo_count)
        memcpy(state->todo, state->by_group, state->todo_count * sizeof *state->todo);
}

/* ---- phases ---- */

static void report_remaining(const struct twin__join_state *state, size_t remaining)
{
    bool all = state->options->mode == TWIN__JOIN_ALL;
    if (state->options->progress.report && !state->options->listed)
        (void)twin__report(all ? &twin__stage_joining : &twin__stage_deciding, state->total - remaining,
                           state->total);
}

/* Items that were bits in this phase were not counted. Many documents have them, and they may be listed in the next: so they
 * are not single, though they may share a counter with one that is. */
static void count_frequent(struct twin__join_state *state)
{
    for (size_t i = 0; i < state->groups_listed->count && state->next.bytes; i++)
        twin__frequent_items_count(&state->next, &state->groups[i].index.frequent);
}

static void end_phase(struct twin__join_state *state)
{
    count_frequent(state);
    for (size_t i = 0; i < state->groups_listed->count; i++)
        twin__set_index_clear(&state->groups[i].index);
    twin__item_counters_clear(&state->known);
    state->known = state->next;
    state->next = (struct twin__item_counters){ 0 };
    state->is_full = false;
    state->room = 0;
}

/* Counts the items of a document that is left to the next phase. */
static void count_remaining(const struct twin__join_state *state, struct twin__join_slot *slot)
{
    twin__slot_set_pointers(slot, state);
    if (state->next.bytes)
        twin__items_count(&state->next, slot->set.rare, slot->set.rare_count);
}

/* ---- kept ---- */

static bool has_keeper_outside(const struct twin__join_state *state, uint32_t document)
{
    uint64_t least = (uint64_t)document << 32;
    for (size_t i = twin__lower_bound(state->outside, state->outside_count, least);
         i < state->outside_count && state->outside[i] >> 32 == document; i++)
        if (state->decisions[(uint32_t)state->outside[i]] == TWIN__KEPT)
            return true;
    return false;
}

/* Looks among the members of the batch. */
static twin_status search_kept(struct twin__join_slot *slot, struct twin__join_state *state, twin_error *error)
{
    const struct twin__join_group *group = twin__slot_group(state, slot);
    const struct twin__set_index *index = &group->index;
    size_t found = index->count;
    twin__slot_set_pointers(slot, state);
    struct twin__index_query query = {
        .set = slot->set, .begin = group->before, .end = found, .in_vain = twin__in_vain(state, slot->document)
    };
    if (!twin__is_kept_anyway(state, slot->document) &&
        !twin__set_index_first(&found, &slot->similarity, &state->workers[0].scratch, index, &query))
        return twin__fail_memory(error);
    if (found < index->count)
        slot->keeper = index->members[found].document;
    return TWIN_OK;
}

static twin_status add_dropped(struct twin__join_state *state, const struct twin__join_slot *slot, twin_error *error)
{
    uint32_t a = slot->keeper, b = slot->document;
    twin_match match = { a < b ? a : b, a < b ? b : a, slot->similarity };
    uint32_t *components = state->options->components;
    twin_status status = components ? twin__components_add(state->matches, components, match)
                                    : twin__matches_add(state->matches, match);
    return status == TWIN_OK ? TWIN_OK : twin__fail_memory(error);
}

static twin_status keep(struct twin__join_slot *slot, struct twin__join_state *state, twin_error *error)
{
    state->decisions[slot->document] = TWIN__KEPT;
    bool becomes_member = !state->provider->split || twin__is_kept_anyway(state, slot->document);
    return slot->is_divided && slot->set.size && becomes_member ? twin__batch_add(state, slot, error) : TWIN_OK;
}

/* Decides about a document, unless the phase is full: then it may be left to the next. */
static twin_status decide(struct twin__join_slot *slot, struct twin__join_state *state, twin_error *error)
{
    twin_status status = TWIN_OK;
    if (slot->keeper == TWIN__NONE && slot->is_divided)
        status = search_kept(slot, state, error);
    if (status != TWIN_OK)
        return status;
    state->tried += !twin__is_kept_anyway(state, slot->document);
    state->dropped += slot->keeper != TWIN__NONE;
    if (slot->keeper != TWIN__NONE) {
        state->decisions[slot->document] = TWIN__DROPPED;
        return add_dropped(state, slot, error);
    }
    if (has_keeper_outside(state, slot->document)) {
        state->decisions[slot->document] = TWIN__DROPPED;
        return TWIN_OK;
    }
    if (!state->is_full)
        return keep(slot, state, error);
    if (slot->is_divided)
        count_remaining(state, slot);
    return TWIN_OK;
}

static twin_status decide_batch(struct twin__join_state *state, twin_error *error)
{
    bool was_full = state->is_full;
    twin_status status = twin__batch_divide(state, true, error);
    for (size_t i = 0; i < state->count && status == TWIN_OK; i++) {
        struct twin__join_slot *slot = &state->slots[i];
        slot->is_divided &= !was_full; /* or none of the batch was kept, and the set was counted */
        status = twin__poll();
        if (status == TWIN_OK)
            status = decide(slot, state, error);
    }
    return status;
}

/* Whether too few documents are dropped: searching for each takes as long as finding all its pairs. */
static bool is_in_vain(const struct twin__join_state *state, size_t next)
{
    enum { FEWEST = 512, TRIED_PER_DROPPED = 4 };
    return state->options->remaining && (next == state->todo_count || state->tried >= FEWEST) &&
           state->dropped * TRIED_PER_DROPPED < state->tried;
}

/* Lists the documents that are undecided, and the members with which not all of these were compared. */
static void list_unjoined(struct twin__join_state *state, bool members)
{
    struct twin__remaining *remaining = state->options->remaining;
    const struct twin__set_index *index = &state->groups[0].index;
    for (size_t i = 0; i < state->todo_count; i++)
        remaining->documents[remaining->count++] = state->todo[i];
    for (size_t i = 0; i < index->count && members; i++)
        remaining->documents[remaining->count++] = index->members[i].document;
    state->todo_count = 0;
}

static twin_status decide_all(struct twin__join_state *state, twin_error *error)
{
    twin_status status = TWIN_OK;
    state->total = state->todo_count;
    while (state->todo_count > 0 && status == TWIN_OK) {
        size_t undecided = 0, next = 0;
        bool is_last = false;
        list_by_group(state);
        state->tried = state->dropped = 0;
        while (next < state->todo_count && status == TWIN_OK && !is_last) {
            next = twin__batch_take(state, next, TWIN__SET_BATCH);
            status = decide_batch(state, error);
            if (!state->is_full)
                report_remaining(state, state->todo_count - next);
            is_last = is_in_vain(state, next);
        }
        bool is_whole = next == state->todo_count;
        for (size_t i = 0; i < state->todo_count; i++)
            if (state->decisions[state->todo[i]] == TWIN__UNDECIDED)
                state->todo[undecided++] = state->todo[i];
        state->todo_count = undecided;
        if (is_last)
            list_unjoined(state, !is_whole);
        if (state->options->remaining && state->tried == state->dropped)
            state->todo_count = 0; /* what is kept in any case is left */
        end_phase(state);
    }
    return status;
}

/* ---- all pairs ---- */

/* Dropped documents of one component come one after the other, behind what is kept, and are not compared with each other. */
static size_t end_of_partners(struct twin__join_group *group, const struct twin__join_state *state, uint32_t document)
{
    if (!state->part_of)
        return group->index.count;
    if (state->part_of[document] != group->part) {
        group->part = state->part_of[document];
        group->part_begin = group->index.count;
    }
    return group->part_begin;
}

/* Adds the documents of the batch to their indexes, as long as there is room. */
static twin_status add_batch(struct twin__join_state *state, size_t *added, twin_error *error)
{
    uint32_t split = state->provider->split;
    bool was_full = state->is_full;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < state->count && status == TWIN_OK; i++) {
        struct twin__join_slot *slot = &state->slots[i];
        struct twin__join_group *group = twin__slot_group(state, slot);
        status = twin__poll();
        if (!slot->is_divided || status != TWIN_OK)
            continue;
        slot->is_searched =
            state->part_of ? twin__is_connecting(state, slot->document) : !split || slot->document >= split;
        slot->end = end_of_partners(group, state, slot->document);
        if (!state->is_full && (!split || slot->document < split))
            status = twin__batch_add(state, slot, error);
        else if (state->is_full && !was_full)
            count_remaining(state, slot);
        *added += !state->is_full || slot->is_member;
    }
    return status;
}

/* In the order of documents. *united is how many components became one with another. */
static twin_status unite_links(size_t *united, struct twin__join_state *state, twin_error *error)
{
    size_t before = state->matches->count;
    for (size_t i = 0; i < state->count; i++) {
        const struct twin__join_slot *slot = &state->slots[i];
        const twin_matches *links = &state->workers[slot->worker].links;
        for (size_t k = slot->links; k < slot->links + slot->link_count; k++)
            if (twin__components_add(state->matches, state->options->components, links->items[k]) != TWIN_OK)
                return twin__fail_memory(error);
    }
    *united = state->matches->count - before;
    return TWIN_OK;
}

/* The indexes of groups all of whose documents were taken are not needed any more. */
static void clear_groups(struct twin__join_state *state, size_t *first, size_t taken)
{
    for (; *first < state->groups_listed->count && !state->is_full; ++*first) {
        struct twin__join_group *group = &state->groups[*first];
        if (group->begin + group->count > taken)
            return;
        if (group->is_begun)
            state->room -= twin__set_index_room(&group->index);
        twin__set_index_clear(&group->index);
    }
}

/* Joins the documents to do with each other, as far as the indexes have room; *added is how many of them became members, or
 * need not. */
static twin_status join_phase(struct twin__join_state *state, size_t *added, twin_error *error)
{
    enum { FEWEST = 8 }; /* of a group in the first batch that connects: a few matches may unite all of it */
    size_t first_group = 0, united = 0, most = FEWEST;
    twin_status status = TWIN_OK;
    for (size_t next = 0; next < state->todo_count && status == TWIN_OK;) {
        bool connecting = twin__is_connecting(state, state->todo[next]);
        next =
            twin__batch_take(state, next, connecting && !twin__switched_off.small_batches ? most : TWIN__SET_BATCH);
        most = !connecting ? FEWEST : 2 * most < TWIN__SET_BATCH ? 2 * most : TWIN__SET_BATCH;
        status = twin__batch_divide(state, false, error);
        if (status == TWIN_OK)
            status = add_batch(state, added, error);
        if (status == TWIN_OK)
            status = twin__batch_search(state, error);
        if (status == TWIN_OK && state->part_of)
            status = unite_links(&united, state, error);
        clear_groups(state, &first_group, next);
        if (!state->is_full)
            report_remaining(state, state->todo_count - next);
    }
    return status;
}

static twin_status join_all(struct twin__join_state *state, twin_error *error)
{
    twin_status status = TWIN_OK;
    state->total = state->todo_count;
    while (state->todo_count > 0 && status == TWIN_OK) {
        size_t added = 0;
        list_by_group(state);
        status = join_phase(state, &added, error);
        state->todo_count -= added;
        memmove(state->todo, state->todo + added, state->todo_count * sizeof *state->todo);
        end_phase(state);
    }
    return status;
}

/* ---- components ---- */

/* A document that was dropped, and the component that it was in when all had been decided. */
struct dropped {
    uint32_t component, document;
};

static int by_component(const void *a, const void *b)
{
    const struct dropped *x = a, *y = b;
    if (x->component != y->component)
        return x->component < y->component ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

/* Adds the documents of a group to those to do, unless it is connected: what is kept, then what was dropped. */
static twin_status list_unconnected(struct twin__join_state *state, const struct twin__join_group *group,
                                    const uint32_t *documents, twin_error *error)
{
    const uint32_t *roots = state->options->components;
    struct dropped *dropped = malloc((group->count + 1) * sizeof *dropped);
    size_t count = 0, before = state->todo_count;
    bool is_connected = true;
    if (!dropped)
        return twin__fail_memory(error);
    for (size_t i = 0; i < group->count; i++) {
        uint32_t document = documents[i];
        is_connected &= roots[document] == roots[documents[0]];
        if (state->decisions[document] == TWIN__DROPPED)
            dropped[count++] = (struct dropped){ roots[document], document };
        else
            state->todo[state->todo_count++] = document;
    }
    if (is_connected || count == 0)
        state->todo_count = before;
    qsort(dropped, count, sizeof *dropped, by_component);
    for (size_t i = 0; i < count && !is_connected; i++) {
        state->part_of[dropped[i].document] = dropped[i].component;
        state->todo[state->todo_count++] = dropped[i].document;
    }
    free(dropped);
    return TWIN_OK;
}

/* From what is kept to all components. */
static twin_status connect_dropped(struct twin__join_state *state, twin_error *error)
{
    size_t documents = state->provider->count;
    uint32_t *all = malloc((documents + 1) * sizeof *all);
    state->part_of = malloc((documents + 1) * sizeof *state->part_of);
    twin_status status = all && state->part_of ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK) {
        memset(state->part_of, UINT8_MAX, documents * sizeof *state->part_of);
        twin__union_flatten(state->options->components, documents);
        state->todo_count = 0;
        list_all(state);
        list_by_group(state);
        memcpy(all, state->by_group, state->todo_count * sizeof *all);
        state->todo_count = 0;
    }
    for (size_t i = 0; i < state->groups_listed->count && status == TWIN_OK; i++)
        status = list_unconnected(state, &state->groups[i], all + state->groups[i].begin, error);
    free(all);
    return status == TWIN_OK ? join_all(state, error) : status;
}

/* ---- all of it ---- */

/* As much room as is wanted or allowed. It grows with the documents, as signatures do, so that the number of phases does
 * not: each phase reads all remaining documents again. */
static void set_room(struct twin__join_state *state)
{
    enum { FEWEST_ROOM = 1 << 22, ROOM_PER_DOCUMENT = 96 };
    enum { PER_DOCUMENT = 32, LEAST_BYTES = 1 << 21, COUNTERS_SHARE = 8 };
    size_t count = state->provider->count, memory = state->options->memory_bytes;
    size_t room = ROOM_PER_DOCUMENT * count > FEWEST_ROOM ? ROOM_PER_DOCUMENT * count : FEWEST_ROOM;
    state->most_counted = SIZE_MAX;
    if (memory) { /* less what is per document, here and in the caller */
        size_t bytes = memory > PER_DOCUMENT * count + LEAST_BYTES ? memory - PER_DOCUMENT * count : LEAST_BYTES;
        state->most_counted = bytes / COUNTERS_SHARE;
        bytes -= 2 * state->most_counted;
        bytes = bytes / 2; /* arrays move as they grow by half, and workers hold a batch */
        room = room < bytes / sizeof(uint64_t) ? room : bytes / sizeof(uint64_t);
    }
    state->most_room = state->options->most_room ? state->options->most_room : room;
}

static bool state_init(struct twin__join_state *state)
{
    size_t count = state->provider->count;
    const struct twin__groups *groups = state->groups_listed;
    state->group_of = malloc((count + 1) * sizeof *state->group_of);
    state->decisions = calloc(count + 1, sizeof *state->decisions);
    bool is_bounded = state->options->measure == TWIN_JACCARD && !twin__switched_off.bound;
    state->in_vain = is_bounded ? calloc(count + 1, sizeof *state->in_vain) : NULL;
    state->todo = calloc(count + 1, sizeof *state->todo);
    state->by_group = groups->documents;
    state->groups = calloc(groups->count + 1, sizeof *state->groups);
    state->workers = calloc((size_t)state->options->exec.workers, sizeof *state->workers);
    if (!state->group_of || !state->decisions || (is_bounded && !state->in_vain) || !state->todo || !state->groups ||
        !state->workers)
        return false;
    set_room(state);
    memset(state->group_of, UINT8_MAX, count * sizeof *state->group_of);
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->items[i].count; k++)
            state->group_of[groups->documents[groups->items[i].begin + k]] = (uint32_t)i;
    return true;
}

static void state_free(struct twin__join_state *state)
{
    for (int i = 0; state->workers && i < state->options->exec.workers; i++) {
        twin__index_scratch_clear(&state->workers[i].scratch);
        twin__item_marks_clear(&state->workers[i].marks);
        free(state->workers[i].store);
        twin__matches_clear(&state->workers[i].links);
    }
    for (size_t i = 0; state->groups && i < state->groups_listed->count; i++)
        twin__set_index_clear(&state->groups[i].index);
    free(state->workers);
    free(state->group_of);
    free(state->decisions);
    free(state->outside);
    free(state->groups);
    free(state->todo);
    free(state->part_of);
    free(state->in_vain);
    twin__item_counters_clear(&state->known);
    twin__item_counters_clear(&state->next);
    free(state);
}

static twin_status join(struct twin__join_state *state, twin_error *error)
{
    if (!state_init(state))
        return twin__fail_memory(error);
    if (state->options->mode == TWIN__JOIN_KEPT) {
        twin_status status = list_in_order(state, error);
        return status == TWIN_OK ? decide_all(state, error) : status;
    }
    list_all(state);
    if (state->options->mode == TWIN__JOIN_ALL) {
        order_by_group(state);
        return join_all(state, error);
    }
    twin_status status = decide_all(state, error);
    return status == TWIN_OK ? connect_dropped(state, error) : status;
}

twin_status twin__set_join(twin_matches *matches, struct twin__join_counts *counts,
                           const struct twin__provider *provider, struct twin__groups *groups,
                           const struct twin__set_join_options *options, twin_error *error)
{
    struct twin__join_state *state = calloc(1, sizeof *state); /* too large for the stack, also for a moment */
    if (!state)
        return twin__fail_memory(error);
    state->provider = provider;
    state->options = options;
    state->groups_listed = groups;
    state->matches = matches;
    twin_status status = join(state, error);
    for (int i = 0; state->workers && i < options->exec.workers; i++) {
        counts->compared += state->workers[i].scratch.compared;
        counts->incomplete += state->workers[i].scratch.cut;
    }
    state_free(state);
    return status;
}

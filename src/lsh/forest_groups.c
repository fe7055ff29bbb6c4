/* forest_groups.c — groups of equal entries, and their members.
 *
 * Both are numbered; numbers that are given back are used again. Two indexes by open addressing find the number of a
 * group by the digest of its labels and that of a member by its id. */
#include <stdlib.h>

#include "base/error.h"
#include "lsh/forest_private.h"

/* ---- the index ---- */

static twin_digest key_of(const twin__forest *forest, enum twin__forest_list which, uint32_t number)
{
    if (which == TWIN__FOREST_GROUPS)
        return forest->groups[number].digest;
    return twin__forest_id_key(forest, forest->members[number].id);
}

/* The slot where a key is, or where it belongs. */
static size_t find_slot(const twin__forest *forest, enum twin__forest_list which, twin_digest key)
{
    const struct twin__forest_index *index = &forest->index[which];
    size_t at = key.low & index->mask;
    for (; index->slots[at] != 0; at = (at + 1) & index->mask) {
        twin_digest there = key_of(forest, which, index->slots[at] - 1);
        if (there.low == key.low && there.high == key.high)
            break;
    }
    return at;
}

int64_t twin__forest_look_up(const twin__forest *forest, enum twin__forest_list which, twin_digest key)
{
    return (int64_t)forest->index[which].slots[find_slot(forest, which, key)] - 1;
}

void twin__forest_index_put(twin__forest *forest, enum twin__forest_list which, uint32_t number)
{
    forest->index[which].slots[find_slot(forest, which, key_of(forest, which, number))] = number + 1;
    forest->index[which].used++;
}

/* Removes a number, and moves its successors back so that no search ends too early. */
static void index_drop(twin__forest *forest, enum twin__forest_list which, uint32_t number)
{
    struct twin__forest_index *index = &forest->index[which];
    size_t hole = find_slot(forest, which, key_of(forest, which, number));
    for (size_t at = (hole + 1) & index->mask; index->slots[at] != 0; at = (at + 1) & index->mask) {
        size_t home = key_of(forest, which, index->slots[at] - 1).low & index->mask;
        if (((at - home) & index->mask) >= ((at - hole) & index->mask)) {
            index->slots[hole] = index->slots[at];
            hole = at;
        }
    }
    index->slots[hole] = 0;
    index->used--;
}

twin_status twin__forest_index_grow(twin__forest *forest, enum twin__forest_list which)
{
    struct twin__forest_index *index = &forest->index[which], old = *index;
    if (4 * (old.used + 1) <= 3 * old.mask)
        return TWIN_OK;
    size_t size = old.slots ? 2 * (old.mask + 1) : 64;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return TWIN_ENOMEM;
    *index = (struct twin__forest_index){ slots, size - 1, 0 };
    for (size_t at = 0; old.slots && at <= old.mask; at++)
        if (old.slots[at] != 0)
            twin__forest_index_put(forest, which, old.slots[at] - 1);
    free(old.slots);
    return TWIN_OK;
}

/* ---- groups and members ---- */

twin_status twin__forest_grow(twin__forest *forest, enum twin__forest_list which)
{
    if (forest->available[which] > 0 || forest->used[which] < forest->capacity[which])
        return TWIN_OK;
    size_t capacity = 64 + forest->capacity[which] + forest->capacity[which] / 2;
    if (capacity > UINT32_MAX - 1)
        return twin__fail(NULL, TWIN_ELIMIT, "a forest of %zu entries cannot grow", forest->capacity[which]);
    void *old = which == TWIN__FOREST_GROUPS ? (void *)forest->groups : (void *)forest->members;
    void *grown = realloc(old, capacity * (which == TWIN__FOREST_GROUPS ? sizeof(struct twin__forest_group)
                                                                        : sizeof(struct twin__forest_member)));
    if (!grown)
        return TWIN_ENOMEM;
    if (which == TWIN__FOREST_GROUPS)
        forest->groups = grown;
    else
        forest->members = grown;
    forest->capacity[which] = capacity;
    return TWIN_OK;
}

uint32_t twin__forest_take(twin__forest *forest, enum twin__forest_list which)
{
    if (forest->available[which] == 0)
        return (uint32_t)forest->used[which]++;
    uint32_t number = forest->free_list[which];
    forest->free_list[which] =
        which == TWIN__FOREST_GROUPS ? forest->groups[number].first : forest->members[number].next;
    forest->available[which]--;
    return number;
}

void twin__forest_give_back(twin__forest *forest, enum twin__forest_list which, uint32_t number)
{
    index_drop(forest, which, number);
    *(which == TWIN__FOREST_GROUPS ? &forest->groups[number].first : &forest->members[number].next) =
        forest->free_list[which];
    forest->free_list[which] = number;
    forest->available[which]++;
}

void twin__forest_join(twin__forest *forest, uint32_t group, uint32_t member)
{
    struct twin__forest_group *g = &forest->groups[group];
    forest->members[member].group = group;
    forest->members[member].previous = g->last;
    forest->members[member].next = UINT32_MAX;
    if (g->count == 0)
        g->first = member;
    else
        forest->members[g->last].next = member;
    g->last = member;
    g->count++;
}

void twin__forest_leave(twin__forest *forest, uint32_t member)
{
    const struct twin__forest_member *m = &forest->members[member];
    struct twin__forest_group *g = &forest->groups[m->group];
    if (g->first == member)
        g->first = m->next;
    else
        forest->members[m->previous].next = m->next;
    if (g->last == member)
        g->last = m->previous;
    else
        forest->members[m->next].previous = m->previous;
    g->count--;
}

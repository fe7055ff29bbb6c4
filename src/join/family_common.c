/* family_common.c — how much a set has in common with members of a family.
 *
 * Of frequent items it is the bits that two bitmaps share. How often the ids of one set occur in others is counted in
 * one of two ways, whichever has less to do: through their posting lists, which counts for all members at once,
 * or by marking them and going through the ids of each member that is asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "join/family_sets.h"
#include "kernels/kernels.h"

void twin__family_scratch_clear(struct twin__family_scratch *scratch)
{
    twin__item_marks_clear(&scratch->marks);
    free(scratch->bits);
    free(scratch->ids);
    free(scratch->counters);
    free(scratch->has);
    *scratch = (struct twin__family_scratch){ 0 };
}

struct twin__family_set twin__family_member(const struct twin__family_sets *sets, size_t member)
{
    const struct twin__family_member *known = &sets->members[member];
    return (struct twin__family_set){ known->size, sets->bits + member * sets->frequent.words,
                                      sets->ids + known->begin, known->count };
}

bool twin__family_encode(struct twin__family_set *out, struct twin__family_scratch *scratch,
                         const struct twin__family_sets *sets, twin_set items)
{
    if (!TWIN__ARRAY_GROW(&scratch->bits, &scratch->bit_capacity, 0, sets->frequent.words) ||
        !twin__frequent_items_divide(scratch->bits, &scratch->marks, &sets->frequent, items.items, items.count))
        return false;
    const twin_items *rest = &scratch->marks.missed;
    size_t known = 0, slot;
    if (!TWIN__ARRAY_GROW(&scratch->ids, &scratch->id_capacity, 0, rest->count + 1))
        return false;
    for (size_t i = 0; i < rest->count; i++) {
        if (i + TWIN__ITEMS_AHEAD < rest->count)
            __builtin_prefetch(&sets->shared.slots[rest->items[i + TWIN__ITEMS_AHEAD] >> sets->shared.shift]);
        uint32_t number = twin__item_find(&sets->shared, rest->items[i], &slot);
        scratch->ids[known] = number - 1;
        known += number != 0;
    }
    *out = (struct twin__family_set){ scratch->marks.found + rest->count, scratch->bits, scratch->ids, known };
    return true;
}

/* The common ids of a set and each column, through posting lists. */
static bool count_postings(uint32_t *out, struct twin__family_scratch *scratch, const struct twin__family_sets *sets,
                           struct twin__family_set set, const uint32_t *columns, size_t count)
{
    if (!TWIN__ARRAY_GROW(&scratch->counters, &scratch->counter_capacity, 0, sets->count))
        return false;
    memset(scratch->counters, 0, sets->count * sizeof *scratch->counters);
    for (size_t i = 0; i < set.id_count; i++)
        for (size_t p = sets->starts[set.ids[i]]; p < sets->starts[set.ids[i] + 1]; p++)
            scratch->counters[sets->postings[p]]++;
    for (size_t i = 0; i < count; i++)
        out[i] = scratch->counters[columns[i]];
    return true;
}

/* The same through the ids of each column. */
static bool count_marks(uint32_t *out, struct twin__family_scratch *scratch, const struct twin__family_sets *sets,
                        struct twin__family_set set, const uint32_t *columns, size_t count)
{
    if (scratch->has_count < sets->shared.count) {
        free(scratch->has);
        scratch->has = calloc(sets->shared.count, 1);
        scratch->has_count = scratch->has ? sets->shared.count : 0;
        if (!scratch->has)
            return false;
    }
    for (size_t i = 0; i < set.id_count; i++)
        scratch->has[set.ids[i]] = 1;
    for (size_t c = 0; c < count; c++) {
        const struct twin__family_member *member = &sets->members[columns[c]];
        uint32_t common = 0;
        for (size_t i = member->begin; i < member->begin + member->count; i++)
            common += scratch->has[sets->ids[i]];
        out[c] = common;
    }
    for (size_t i = 0; i < set.id_count; i++)
        scratch->has[set.ids[i]] = 0;
    return true;
}

bool twin__family_common(uint32_t *out, struct twin__family_scratch *scratch, const struct twin__family_sets *sets,
                         struct twin__family_set set, const uint32_t *columns, size_t count)
{
    size_t by_postings = sets->count / 8, by_marks = 2 * set.id_count;
    for (size_t i = 0; i < set.id_count; i++)
        by_postings += sets->starts[set.ids[i] + 1] - sets->starts[set.ids[i]];
    for (size_t i = 0; i < count; i++)
        by_marks += sets->members[columns[i]].count;
    if (!(by_postings < by_marks ? count_postings : count_marks)(out, scratch, sets, set, columns, count))
        return false;
    twin__common_bits_fn *common_bits = twin__kernels()->common_bits;
    for (size_t i = 0; i < count; i++)
        out[i] +=
            (uint32_t)common_bits(set.bits, sets->bits + columns[i] * sets->frequent.words, sets->frequent.words);
    return true;
}

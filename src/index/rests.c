/* rests.c — what the sets of a crowd have beside their template, in memory, for many queries of one view. */
#include "index/rests.h"

#include <stdlib.h>

#include "base/array.h"
#include "kernels/sort.h"

enum {
    TOO_MANY = UINT32_MAX,  /* the count of a rest that is not kept */
    MOST_SLOTS = 1 << 25,   /* kept at a time, two bytes each */
    MOST_COMMON = 1 << 18,  /* items */
    MOST_SETS = 1 << 27,    /* numbers of sets that have room, eight bytes each, of which few pages are used */
    MOST_ROUNDS = 8,        /* of seeking: what is not found by then is not there */
    LEAST_MISSED = 128,     /* by a query among a crowd */
    LEAST_CROWDS = 3,       /* queries, which together take as long as it takes to keep all rests */
    MISSED_PER_SAMPLE = 64, /* one in so many missed sets is sampled */
    MOST_HAVE = 12,         /* of TWIN__REST_SAMPLES */
};

void twin__index_rests_clear(struct twin__index_rests *rests)
{
    twin_items_clear(&rests->common);
    free(rests->slots);
    free(rests->of);
    *rests = (struct twin__index_rests){ 0 };
}

void twin__index_rests_begin(struct twin__index_rests *rests)
{
    rests->table_count = 0;
    rests->missed_before = rests->missed;
}

/* ---- counting ---- */

/* Counted once per table. Those that find no place in the list are few, and counted again. */
static size_t count_common(struct twin__index_rests *rests, struct twin__probe_table probes)
{
    size_t count = 0;
    for (size_t i = 0; i < rests->table_count; i++)
        if (rests->tables[i].slots == probes.slots)
            return rests->tables[i].count;
    for (size_t i = 0; i < rests->common.count; i++)
        count += probes.slots[rests->common.items[i] >> probes.shift & probes.mask];
    if (rests->table_count < TWIN__REST_TABLES)
        rests->tables[rests->table_count++] = (struct twin__common_probes){ probes.slots, count };
    return count;
}

bool twin__index_rests_count(size_t *out, struct twin__index_rests *rests, uint64_t set,
                             struct twin__probe_table probes)
{
    if (set >= rests->set_count || rests->of[set].count == 0 || rests->of[set].count == TOO_MANY)
        return false;
    const uint16_t *slots = rests->slots + rests->of[set].begin;
    size_t count = rests->of[set].count - 1, found = count_common(rests, probes);
    for (size_t i = 0; i < count; i++)
        found += probes.slots[slots[i] & probes.mask];
    *out = found;
    return true;
}

/* ---- keeping ---- */

bool twin__index_rests_want(struct twin__index_rests *rests, uint64_t set, uint64_t size)
{
    bool is_tried =
        set >= rests->set_count || (rests->of[set].count == TOO_MANY && rests->of[set].begin == rests->round);
    if (!is_tried && rests->slot_count < MOST_SLOTS)
        return true;
    if (rests->missed % MISSED_PER_SAMPLE == 0)
        rests->sample[rests->missed / MISSED_PER_SAMPLE % TWIN__REST_SAMPLES] =
            (struct twin__rest_sample){ set, size };
    rests->missed++;
    return false;
}

void twin__index_rests_keep(struct twin__index_rests *rests, uint64_t set, twin_set items, unsigned shift)
{
    const uint64_t *common = rests->common.items, *end = common + rests->common.count;
    struct twin__rest *rest = &rests->of[set];
    *rest = (struct twin__rest){ rests->round, TOO_MANY };
    if (!TWIN__ARRAY_GROW(&rests->slots, &rests->slot_capacity, rests->slot_count, items.count + 1))
        return;
    uint16_t *slots = rests->slots + rests->slot_count;
    size_t count = 0;
    for (size_t i = 0; i < items.count; i++) {
        while (common < end && *common < items.items[i])
            common++;
        slots[count] = (uint16_t)(items.items[i] >> shift);
        count += common == end || *common != items.items[i];
    }
    if (2 * count > items.count)
        return;
    *rest = (struct twin__rest){ (uint32_t)rests->slot_count, (uint32_t)count + 1 };
    rests->slot_count += count;
}

/* ---- learning ---- */

bool twin__index_rests_end(struct twin__index_rests *rests)
{
    rests->crowds += rests->missed - rests->missed_before >= LEAST_MISSED;
    return rests->crowds >= LEAST_CROWDS && rests->missed >= MISSED_PER_SAMPLE * TWIN__REST_SAMPLES &&
           rests->round < MOST_ROUNDS && rests->slot_count < MOST_SLOTS;
}

twin_status twin__index_rests_learn(struct twin__index_rests *rests, twin_items *items, twin_items *spare,
                                    uint64_t set_count)
{
    spare->count = 0;
    rests->crowds = rests->missed = 0;
    if (rests->round++ == 0) {
        rests->of = set_count <= MOST_SETS ? calloc(set_count + 1, sizeof *rests->of) : NULL;
        rests->set_count = rests->of ? set_count : 0;
    }
    if (rests->common.count + items->count / MOST_HAVE > MOST_COMMON)
        return TWIN_OK;
    if (twin_items_reserve(spare, items->count) != TWIN_OK ||
        twin_items_reserve(&rests->common, items->count / MOST_HAVE) != TWIN_OK)
        return TWIN_ENOMEM;
    twin__sort(items->items, items->count, spare->items, items->count);
    for (size_t i = 0, next; i < items->count; i = next) {
        for (next = i + 1; next < items->count && items->items[next] == items->items[i];)
            next++;
        if (next - i >= MOST_HAVE)
            rests->common.items[rests->common.count++] = items->items[i];
    }
    twin_set all;
    return twin_set_make(&all, &rests->common, spare);
}

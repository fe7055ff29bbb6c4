/* shingle_counts.c — how many documents have a shingle, about. */
#include "join/shingle_counts.h"

#include <assert.h>
#include <stdlib.h>
#include <twinsift/exec.h>

#include "join/bits.h"

static_assert(TWIN__MOST_COUNTED + TWIN_EXEC_MAX_WORKERS <= UINT16_MAX, "workers may make a counter wrap");

twin_status twin__shingle_counts_init(struct twin__shingle_counts *out, size_t documents, size_t items)
{
    enum { FEWEST_BITS = 16, LARGE_BITS = 28, COUNTERS_PER_DOCUMENT = 1024, MOST_BITS = 40, FEWER_BITS = 6 };
    unsigned most = twin__bits_for(COUNTERS_PER_DOCUMENT * documents, LARGE_BITS, MOST_BITS);
    unsigned bits = twin__bits_for(items, FEWEST_BITS, most);
    out->few_shift = 64 - bits;
    out->more_shift = out->few_shift + FEWER_BITS;
    out->few = calloc((size_t)1 << bits >> 2, sizeof *out->few);
    out->more = calloc((size_t)1 << bits >> FEWER_BITS, sizeof *out->more);
    if (out->few && out->more)
        return TWIN_OK;
    twin__shingle_counts_clear(out);
    return TWIN_ENOMEM;
}

void twin__shingle_counts_clear(struct twin__shingle_counts *counts)
{
    free((void *)counts->few);
    free((void *)counts->more);
    *counts = (struct twin__shingle_counts){ 0 };
}

/* What is counted where depends on how often a counter was reached, not on who reached it first. */
static void count_item(struct twin__shingle_counts *counts, uint64_t item)
{
    _Atomic uint8_t *few = twin__few_of(counts, item);
    unsigned place = twin__few_place(counts, item);
    uint8_t now = atomic_load_explicit(few, memory_order_relaxed);
    while ((now >> place & TWIN__MANY_COUNTED) < TWIN__MANY_COUNTED)
        if (atomic_compare_exchange_weak_explicit(few, &now, (uint8_t)(now + (1U << place)), memory_order_relaxed,
                                                  memory_order_relaxed))
            return;
    _Atomic uint16_t *more = &counts->more[item >> counts->more_shift];
    if (atomic_load_explicit(more, memory_order_relaxed) < TWIN__MOST_COUNTED)
        atomic_fetch_add_explicit(more, 1, memory_order_relaxed);
}

void twin__shingle_counts_add(struct twin__shingle_counts *counts, twin_set set)
{
    enum { AHEAD = 12 };
    for (size_t i = 0; i < set.count; i++) {
        if (i + AHEAD < set.count)
            twin__shingle_count_prefetch(counts, set.items[i + AHEAD]);
        count_item(counts, set.items[i]);
    }
}

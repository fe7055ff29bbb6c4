/* item_counters.c — which items of many sets only one of them has. */
#include "join/item_counters.h"

#include <stdlib.h>

#include "join/item_numbers.h"
#include "join/join_private.h"

bool twin__item_counters_init(struct twin__item_counters *out, size_t items, size_t most_bytes)
{
    enum { FEWEST_BITS = 22, MOST_BITS = 30, PER_ITEM = 8 };
    unsigned bits = twin__bits_for(PER_ITEM * items, FEWEST_BITS, MOST_BITS);
    while (bits > FEWEST_BITS && (size_t)1 << (bits - 2) > most_bytes)
        bits--;
    *out = (struct twin__item_counters){ calloc((size_t)1 << (bits - 2), 1), 64 - bits };
    return out->bytes != NULL;
}

void twin__item_counters_clear(struct twin__item_counters *counters)
{
    free((void *)counters->bytes);
    *counters = (struct twin__item_counters){ 0 };
}

/* The byte of an item, and where its two bits begin. */
static _Atomic uint8_t *counter_of(unsigned *at, const struct twin__item_counters *counters, uint64_t item)
{
    size_t number = item >> counters->shift;
    *at = number % 4 * 2;
    return &counters->bytes[number / 4];
}

void twin__items_count(const struct twin__item_counters *counters, const uint64_t *items, size_t count)
{
    unsigned at;
    for (size_t i = 0; i < count; i++) {
        if (i + TWIN__ITEMS_AHEAD < count)
            __builtin_prefetch((const void *)counter_of(&at, counters, items[i + TWIN__ITEMS_AHEAD]), 1);
        _Atomic uint8_t *byte = counter_of(&at, counters, items[i]);
        if (atomic_load_explicit(byte, memory_order_relaxed) >> at & 2)
            continue;
        if (atomic_fetch_or_explicit(byte, (uint8_t)(1 << at), memory_order_relaxed) >> at & 1)
            atomic_fetch_or_explicit(byte, (uint8_t)(2 << at), memory_order_relaxed);
    }
}

size_t twin__items_drop_single(uint64_t *items, size_t count, const struct twin__item_counters *counters)
{
    size_t kept = 0;
    unsigned at;
    for (size_t i = 0; i < count; i++) {
        if (i + TWIN__ITEMS_AHEAD < count)
            __builtin_prefetch((const void *)counter_of(&at, counters, items[i + TWIN__ITEMS_AHEAD]));
        items[kept] = items[i];
        kept += (atomic_load_explicit(counter_of(&at, counters, items[i]), memory_order_relaxed) >> at & 3) != 1;
    }
    return kept;
}

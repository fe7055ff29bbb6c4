/* item_table.c — two documents are compared without sorting the items of either.
 *
 * The items of one are distributed to bins by their leading bits, about three to a bin. Each item of the other is then
 * looked up: a kernel compares it with its whole bin at once, marks the item it equals, and collects those that are in
 * no bin. The marks are what the two have in common, however often an item is repeated. What was collected is little
 * when the two are similar; it is sorted, to count each item once and to find those that the first document has, too,
 * but that found their bin full.
 *
 * A set's size is what it has in common with itself. To sort both documents and to merge them takes about twice as
 * long. */
#include "join/item_table.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/sort.h"

enum { ALIGNMENT = 64, FEWEST_BITS = 3 };

void twin__item_table_clear(struct twin__item_table *table)
{
    free(table->bins);
    free(table->held);
    free(table->marks);
    twin_items_clear(&table->strays);
    twin_items_clear(&table->missed);
    twin_items_clear(&table->spare);
    *table = (struct twin__item_table){ 0 };
}

/* Two to four items per bin, for which most bins suffice. */
static unsigned bits_for(size_t count)
{
    unsigned bits = FEWEST_BITS;
    while (count >> bits > BIN_ROOM / 2)
        bits++;
    return bits;
}

static bool reserve_bins(struct twin__item_table *table, size_t bins)
{
    if (bins <= table->room)
        return true;
    twin__item_table_clear(table);
    table->bins = aligned_alloc(ALIGNMENT, bins * BIN_ROOM * sizeof *table->bins);
    table->held = malloc(bins);
    table->marks = aligned_alloc(ALIGNMENT, bins < ALIGNMENT ? ALIGNMENT : bins);
    if (!table->bins || !table->held || !table->marks) {
        twin__item_table_clear(table);
        return false;
    }
    table->room = bins;
    return true;
}

/* No item is equal to what an empty place holds: 0 belongs to the first bin, and the largest number to the last. */
static void empty_bins(struct twin__item_table *table, size_t bins)
{
    memset(table->bins, 0, bins * BIN_ROOM * sizeof *table->bins);
    memset(table->bins, 0xFF, BIN_ROOM * sizeof *table->bins);
    memset(table->held, 0, bins);
}

static void distribute(struct twin__item_table *table, const uint64_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t bin = items[i] >> table->shift;
        uint8_t held = table->held[bin];
        if (held == BIN_ROOM)
            continue; /* in no bin, which shows when the items are looked up */
        table->bins[bin * BIN_ROOM + held] = items[i];
        table->held[bin] = held + 1;
    }
}

static bool reserve(twin_items *items, size_t count)
{
    items->count = 0;
    return twin_items_reserve(items, count + 1) == TWIN_OK;
}

/* Looks items up: the number of different ones that are in bins. table->missed becomes the set of the others. */
static bool look_up(size_t *found, struct twin__item_table *table, const uint64_t *items, size_t count)
{
    size_t bins = (size_t)1 << (64 - table->shift);
    if (!reserve(&table->missed, count))
        return false;
    memset(table->marks, 0, bins);
    table->missed.count =
        twin__kernels()->mark_items(table->marks, table->missed.items, table->bins, table->shift, items, count);
    const uint64_t *words = (const uint64_t *)(const void *)table->marks;
    *found = twin__kernels()->common_bits(words, words, bins / sizeof *words);
    if (!reserve(&table->spare, twin__sort_room(table->missed.count)))
        return false;
    twin__sort_with_room(table->missed.items, table->missed.count, table->spare.items, table->spare.capacity);
    table->missed.count = twin__kernels()->drop_repeats(table->missed.items, table->missed.count);
    return true;
}

bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count)
{
    unsigned bits = bits_for(count);
    size_t bins = (size_t)1 << bits, found;
    if (!reserve_bins(table, bins))
        return false;
    table->shift = 64 - bits;
    empty_bins(table, bins);
    distribute(table, items, count);
    if (!look_up(&found, table, items, count)) {
        twin__item_table_clear(table);
        return false;
    }
    twin_items strays = table->missed;
    table->missed = table->strays;
    table->strays = strays;
    table->size = found + strays.count;
    return true;
}

double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure)
{
    size_t found;
    if (!look_up(&found, table, items, count))
        return -1;
    twin_set strays = { table->strays.items, table->strays.count };
    size_t astray =
        strays.count ? twin_set_common(strays, (twin_set){ table->missed.items, table->missed.count }) : 0;
    return twin_similarity_of_counts(table->size, found + table->missed.count, found + astray, measure);
}

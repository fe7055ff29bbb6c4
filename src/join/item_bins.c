/* item_bins.c — items in bins by their leading bits, and which of them a document has. */
#include "join/item_bins.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"

enum { ALIGNMENT = 64, FEWEST_BITS = 3 };

void twin__item_bins_clear(struct twin__item_bins *bins)
{
    free(bins->items);
    free(bins->held);
    twin_items_clear(&bins->strays);
    twin_items_clear(&bins->spare);
    *bins = (struct twin__item_bins){ 0 };
}

unsigned twin__item_bins_bits(size_t items)
{
    unsigned bits = FEWEST_BITS;
    while (items >> bits > BIN_ROOM / 2)
        bits++;
    return bits;
}

static bool reserve_bins(struct twin__item_bins *bins, size_t count)
{
    if (count <= bins->room)
        return true;
    twin__item_bins_clear(bins);
    bins->items = aligned_alloc(ALIGNMENT, count * BIN_ROOM * sizeof *bins->items);
    bins->held = malloc(count);
    if (!bins->items || !bins->held) {
        twin__item_bins_clear(bins);
        return false;
    }
    bins->room = count;
    return true;
}

/* No item is equal to what an empty place holds: 0 belongs to the first bin, and the largest number to the last. */
static void make_empty(struct twin__item_bins *bins)
{
    memset(bins->items, 0, bins->count * BIN_ROOM * sizeof *bins->items);
    memset(bins->items, 0xFF, BIN_ROOM * sizeof *bins->items);
    memset(bins->held, 0, bins->count);
}

static bool reserve_items(twin_items *items, size_t count)
{
    items->count = 0;
    return twin_items_reserve(items, count + 1) == TWIN_OK;
}

/* Makes items a set. */
static bool sort_items(twin_items *items, twin_items *spare)
{
    if (!reserve_items(spare, twin__sort_room(items->count)))
        return false;
    twin__sort(items->items, items->count, spare->items, spare->capacity);
    items->count = twin__kernels()->drop_repeats(items->items, items->count);
    return true;
}

bool twin__item_bins_fill(struct twin__item_bins *bins, unsigned bits, const uint64_t *items, size_t count)
{
    if (!reserve_bins(bins, (size_t)1 << bits) || !reserve_items(&bins->strays, count))
        return false;
    bins->count = (size_t)1 << bits;
    bins->shift = 64 - bits;
    make_empty(bins);
    bins->strays.count =
        twin__kernels()->fill_bins(bins->items, bins->held, bins->strays.items, bins->shift, items, count);
    bins->held_count = 0;
    for (size_t i = 0; i < bins->count; i++)
        bins->held_count += bins->held[i];
    return sort_items(&bins->strays, &bins->spare);
}

/* ---- looking up ---- */

void twin__item_marks_clear(struct twin__item_marks *marks)
{
    free(marks->marks);
    twin_items_clear(&marks->missed);
    twin_items_clear(&marks->spare);
    *marks = (struct twin__item_marks){ 0 };
}

bool twin__item_bins_look_up(struct twin__item_marks *out, const struct twin__item_bins *bins, const uint64_t *items,
                             size_t count)
{
    if (!TWIN__ARRAY_GROW(&out->marks, &out->room, 0, bins->count) || !reserve_items(&out->missed, count))
        return false;
    memset(out->marks, 0, bins->count);
    out->missed.count =
        twin__kernels()->mark_items(out->marks, out->missed.items, bins->items, bins->shift, items, count);
    const uint64_t *words = (const uint64_t *)(const void *)out->marks;
    out->found = twin__kernels()->common_bits(words, words, bins->count / sizeof *words);
    return sort_items(&out->missed, &out->spare);
}

/* set.c — sets of 64-bit hashes: making, counting, comparing.
 *
 * A set is made by sorting and dropping repeats (kernels/sort.h); of a multiset, by numbering them first. Its size alone is counted faster, with a table that
 * finds most repeats without sorting. Two sets are compared by merging, which stops as soon as a threshold cannot be
 * reached. */
#include <twinsift/set.h>

#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"
#include "sketch/set.h"

twin_status twin__items_reserve(twin_items *items, size_t more)
{
    if (!items)
        return twin__fail_null(NULL, "items");
    return TWIN__ARRAY_GROW(&items->items, &items->capacity, items->count, more) ? TWIN_OK : TWIN_ENOMEM;
}

/* More hashes than this are sorted in place, so that a long text does not take them twice. */
enum { MOST_SPARE = 1 << 20 };

static twin_status sort_items(twin_items *items, twin_items *scratch)
{
    scratch->count = 0;
    size_t room = items->count < MOST_SPARE ? twin__sort_room(items->count) : MOST_SPARE;
    twin_status status = twin__items_reserve(scratch, room);
    if (status != TWIN_OK)
        return status;
    if (items->count <= MOST_SPARE)
        twin__sort(items->items, items->count, scratch->items, room);
    else
        twin__sort_in_place(items->items, items->count, scratch->items, room);
    return TWIN_OK;
}

twin_status twin__set_make(twin_set *out, twin_items *items, twin_items *scratch)
{
    if (!out || !items || !scratch)
        return twin__fail_null(NULL, !out ? "out" : !items ? "items" : "scratch");
    twin_status status = sort_items(items, scratch);
    if (status != TWIN_OK)
        return status;
    items->count = twin__kernels()->drop_repeats(items->items, items->count);
    *out = (twin_set){ items->items, items->count };
    return TWIN_OK;
}

/* ---- multisets ---- */

static const uint64_t OCCURRENCE = 0x9E3779B97F4A7C15u; /* odd, so that no two occurrences of a hash are equal */

uint64_t twin_item_occurrence(uint64_t item, size_t number)
{
    return number ? twin__mix(item + number * OCCURRENCE) : item;
}

twin_status twin__items_number(twin_items *items, twin_items *scratch)
{
    if (!items || !scratch)
        return twin__fail_null(NULL, items ? "scratch" : "items");
    twin_status status = sort_items(items, scratch);
    size_t count = status == TWIN_OK ? items->count : 0;
    for (size_t begin = 0, i = 0; i < count; i++) {
        if (items->items[i] != items->items[begin])
            begin = i; /* the first of a run keeps its hash until the run is over */
        items->items[i] = twin_item_occurrence(items->items[begin], i - begin);
    }
    return status;
}

/* ---- counting without sorting ---- */

/* A table of 2^bits entries: each item writes its number to the entry given by its leading bits, and the last writer
 * stays. Counts the items whose entry holds an equal item, and copies to `others` those whose entry holds a different
 * one. No entry is read that was not written, so the table need not be cleared. */
static size_t count_equal(size_t *other_count, uint64_t *others, uint32_t *table, unsigned bits,
                          const twin_items *items)
{
    size_t equal = 0, different = 0;
    for (size_t i = 0; i < items->count; i++)
        table[items->items[i] >> (64 - bits)] = (uint32_t)i;
    for (size_t i = 0; i < items->count; i++) {
        uint64_t item = items->items[i];
        size_t last = table[item >> (64 - bits)];
        bool same = items->items[last] == item;
        others[different] = item;
        different += !same;
        equal += same & (last != i);
    }
    *other_count = different;
    return equal;
}

/* With four to eight entries per item, at most one item in eight finds a different one; those are sorted. */
twin_status twin__items_distinct(size_t *out, const twin_items *items, twin_items *scratch)
{
    if (!out || !items || !scratch)
        return twin__fail_null(NULL, !out ? "out" : !items ? "items" : "scratch");
    size_t n = items->count, different, kept = 0;
    unsigned bits = 8;
    while (bits < 32 && n >> (bits - 2))
        bits++;
    *out = 0;
    scratch->count = 0;
    if (n >= UINT32_MAX)
        return twin__fail(NULL, TWIN_ELIMIT, "%zu hashes are more than can be counted", n);
    twin_status status = twin__items_reserve(scratch, ((size_t)1 << bits) / 2 + 2 * (n + 1));
    if (status != TWIN_OK || n == 0)
        return status;
    uint64_t *others = scratch->items + ((size_t)1 << bits) / 2, *spare = others + n + 1;
    size_t equal = count_equal(&different, others, (uint32_t *)(void *)scratch->items, bits, items);
    twin__sort(others, different, spare, n + 1);
    for (size_t i = 0; i < different; i++)
        kept += i == 0 || others[i] != others[i - 1];
    *out = n - equal - different + kept;
    return TWIN_OK;
}

/* ---- comparing ---- */

/* |A∩B|, or SIZE_MAX once more than `spare_a` items of A or `spare_b` of B have found no partner. Similar sets
 * agree in most items, so the equal branch is well predicted. */
static size_t common_within(twin_set a, twin_set b, size_t spare_a, size_t spare_b)
{
    size_t i = 0, j = 0, common = 0;
    while (i < a.count && j < b.count) {
        uint64_t x = a.items[i], y = b.items[j];
        if (x == y) {
            common++;
            i++;
            j++;
            continue;
        }
        i += x < y;
        j += y < x;
        if (i - common > spare_a || j - common > spare_b)
            return SIZE_MAX;
    }
    return common;
}

size_t twin_set_common(twin_set a, twin_set b)
{
    return common_within(a, b, SIZE_MAX, SIZE_MAX);
}

double twin__similarity_of_counts(size_t a, size_t b, size_t common, twin_measure measure)
{
    size_t smaller = a < b ? a : b;
    if (smaller == 0)
        return 0;
    return (double)common / (double)(measure == TWIN_JACCARD ? a + b - common : smaller);
}

double twin_set_similarity(twin_set a, twin_set b, twin_measure measure)
{
    return twin__similarity_of_counts(a.count, b.count, twin_set_common(a, b), measure);
}

double twin__set_similarity_at_least(twin_set a, twin_set b, twin_measure measure, double threshold)
{
    size_t smaller = a.count < b.count ? a.count : b.count;
    double share = measure == TWIN_JACCARD ? threshold / (1 + threshold) * (double)(a.count + b.count)
                                           : threshold * (double)smaller;
    /* Rounded down with a margin for rounding errors: the exact comparison below decides. */
    double least = share * (1 - 1e-12) - 1;
    size_t needed = least > 0 ? (size_t)least : 0;
    if (needed > smaller)
        return -1;
    size_t common = common_within(a, b, a.count - needed, b.count - needed);
    if (common == SIZE_MAX)
        return -1;
    double similarity = twin__similarity_of_counts(a.count, b.count, common, measure);
    return similarity >= threshold ? similarity : -1;
}

twin_digest twin__set_digest(twin_set set)
{
    return twin_hash_digest((twin_hash){ .family = TWIN_HASH_XXH3 }, set.items, set.count * sizeof *set.items);
}

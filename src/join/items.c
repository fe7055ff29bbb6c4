/* items.c — the items of documents: looked up in bins, as bits of bitmaps, numbered, and counted.
 *
 * Two documents are compared without sorting the items of either. The items of one are distributed to bins by their leading
 * bits, about three to a bin. Each item of the other is then looked up: a kernel compares it with its whole bin at once,
 * marks the item it equals, and collects those that are in no bin. The marks are what the two have in common, however often
 * an item is repeated. What was collected is little when the two are similar; it is sorted, to count each item once and to
 * find those that the first document has, too, but that found their bin full. To sort both documents and to merge them takes
 * about twice as long.
 *
 * Frequent items are in bins as well. A kernel sets eight bits per bin, as many as a bin has room for; most of them belong
 * to no item, and the bitmap is made of the others. */
#include "join/items.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "join/join_private.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"
#include "sketch/set.h"

/* ---- bins ---- */

enum { ALIGNMENT = 64, FEWEST_BITS = 3 };

static void bins_clear(struct twin__item_bins *bins)
{
    free(bins->items);
    free(bins->held);
    twin__items_clear(&bins->overflow);
    twin__items_clear(&bins->spare);
    *bins = (struct twin__item_bins){ 0 };
}

/* Leading bits for two to four items per bin: most bins then suffice. */
static unsigned bins_bits(size_t items)
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
    bins_clear(bins);
    bins->items = aligned_alloc(ALIGNMENT, count * BIN_ROOM * sizeof *bins->items);
    bins->held = malloc(count);
    if (!bins->items || !bins->held) {
        bins_clear(bins);
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
    return twin__items_reserve(items, count + 1) == TWIN_OK;
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

/* Distributes items, in any order, some perhaps more than once, to 2^bits bins, at least eight. False when out of memory. */
static bool bins_fill(struct twin__item_bins *bins, unsigned bits, const uint64_t *items, size_t count)
{
    if (!reserve_bins(bins, (size_t)1 << bits) || !reserve_items(&bins->overflow, count))
        return false;
    bins->count = (size_t)1 << bits;
    bins->shift = 64 - bits;
    make_empty(bins);
    bins->overflow.count =
        twin__kernels()->fill_bins(bins->items, bins->held, bins->overflow.items, bins->shift, items, count);
    bins->held_count = 0;
    for (size_t i = 0; i < bins->count; i++)
        bins->held_count += bins->held[i];
    return sort_items(&bins->overflow, &bins->spare);
}

/* ---- looking up ---- */

void twin__item_marks_clear(struct twin__item_marks *marks)
{
    free(marks->marks);
    twin__items_clear(&marks->missed);
    twin__items_clear(&marks->spare);
    *marks = (struct twin__item_marks){ 0 };
}

/* Looks up the items of a document, in any order, some perhaps more than once. False when out of memory. */
static bool bins_look_up(struct twin__item_marks *out, const struct twin__item_bins *bins, const uint64_t *items,
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

/* ---- comparing without sorting ---- */

void twin__item_table_clear(struct twin__item_table *table)
{
    bins_clear(&table->bins);
    twin__item_marks_clear(&table->marks);
    *table = (struct twin__item_table){ 0 };
}

bool twin__item_table_fill(struct twin__item_table *table, const uint64_t *items, size_t count)
{
    if (!bins_fill(&table->bins, bins_bits(count), items, count)) {
        twin__item_table_clear(table);
        return false;
    }
    table->size = table->bins.held_count + table->bins.overflow.count;
    return true;
}

double twin__item_table_similarity(struct twin__item_table *table, const uint64_t *items, size_t count,
                                   twin_measure measure)
{
    struct twin__item_marks *marks = &table->marks;
    if (!bins_look_up(marks, &table->bins, items, count))
        return -1;
    twin_set overflow = { table->bins.overflow.items, table->bins.overflow.count };
    size_t more =
        overflow.count ? twin_set_common(overflow, (twin_set){ marks->missed.items, marks->missed.count }) : 0;
    return twin__similarity_of_counts(table->size, marks->found + marks->missed.count, marks->found + more, measure);
}

/* ---- numbers ---- */

void twin__item_numbers_clear(struct twin__item_numbers *numbers)
{
    free(numbers->items);
    free(numbers->slots);
    free(numbers->expects);
    *numbers = (struct twin__item_numbers){ 0 };
}

static void expect(struct twin__item_numbers *numbers, uint64_t item)
{
    numbers->expects[item >> numbers->shift >> 6] |= (uint64_t)1 << (item >> numbers->shift & 63);
}

bool twin__item_numbers_init(struct twin__item_numbers *out, size_t slots)
{
    unsigned bits = twin__bits_for(slots, 4, 40);
    *out = (struct twin__item_numbers){ .shift = 64 - bits };
    out->slots = calloc((size_t)1 << bits, sizeof *out->slots);
    out->expects = calloc(((size_t)1 << bits) / 64 + 1, sizeof *out->expects);
    if (out->slots && out->expects)
        return true;
    twin__item_numbers_clear(out);
    return false;
}

bool twin__item_numbers_reserve(struct twin__item_numbers *numbers, size_t more)
{
    size_t slots = numbers->slots ? (size_t)1 << (64 - numbers->shift) : 0, wanted = numbers->count + more + 1;
    if (2 * wanted <= slots)
        return true;
    struct twin__item_numbers grown;
    if (!twin__item_numbers_init(&grown, 2 * wanted))
        return false;
    for (size_t i = 0; i < numbers->count; i++) {
        size_t at = numbers->items[i] >> grown.shift, mask = ((size_t)1 << (64 - grown.shift)) - 1;
        while (grown.slots[at])
            at = (at + 1) & mask;
        grown.slots[at] = (uint32_t)i + 1;
        expect(&grown, numbers->items[i]);
    }
    free(numbers->slots);
    free(numbers->expects);
    numbers->slots = grown.slots;
    numbers->expects = grown.expects;
    numbers->shift = grown.shift;
    return true;
}

uint32_t twin__item_number(struct twin__item_numbers *numbers, uint64_t item)
{
    size_t slot;
    uint32_t number = twin__item_find(numbers, item, &slot);
    if (number == 0 && TWIN__ARRAY_GROW(&numbers->items, &numbers->capacity, numbers->count, 1)) {
        numbers->items[numbers->count] = item;
        expect(numbers, item);
        number = numbers->slots[slot] = (uint32_t)++numbers->count;
    }
    return number;
}

/* ---- counters ---- */

bool twin__item_counters_init(struct twin__item_counters *out, size_t items, size_t most_bytes)
{
    enum { LEAST_BITS = 22, MOST_BITS = 30, PER_ITEM = 8 };
    unsigned bits = twin__bits_for(PER_ITEM * items, LEAST_BITS, MOST_BITS);
    while (bits > LEAST_BITS && (size_t)1 << (bits - 2) > most_bytes)
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

/* ---- frequent items ---- */

bool twin__frequent_items_init(struct twin__frequent_items *out, const uint64_t *items, size_t count)
{
    enum { TIMES = 3 }; /* so often the bins are halved for the sake of items that found theirs full */
    unsigned bits = bins_bits(count), most = bits + TIMES;
    *out = (struct twin__frequent_items){ 0 };
    do {
        if (!bins_fill(&out->bins, bits, items, count))
            return false;
        out->count = out->bins.held_count;
    } while (out->count < count && bits++ < most);
    out->words = out->count / 64 + 1;
    return true;
}

void twin__frequent_items_clear(struct twin__frequent_items *frequent)
{
    bins_clear(&frequent->bins);
    *frequent = (struct twin__frequent_items){ 0 };
}

/* Of each bin the marks of the items that it holds, one after the other. */
static void pack(uint64_t *bits, const uint8_t *marks, const struct twin__item_bins *bins)
{
    uint64_t word = 0;
    unsigned taken = 0;
    for (size_t i = 0; i < bins->count; i++) {
        unsigned held = bins->held[i];
        word |= (uint64_t)marks[i] << taken;
        taken += held;
        if (taken >= 64) {
            taken -= 64;
            *bits++ = word;
            word = (uint64_t)marks[i] >> (held - taken);
        }
    }
    *bits = word;
}

bool twin__frequent_items_divide(uint64_t *bits, struct twin__item_marks *marks,
                                 const struct twin__frequent_items *frequent, const uint64_t *items, size_t count)
{
    if (!bins_look_up(marks, &frequent->bins, items, count))
        return false;
    pack(bits, marks->marks, &frequent->bins);
    return true;
}

void twin__frequent_items_count(const struct twin__item_counters *counters,
                                const struct twin__frequent_items *frequent)
{
    const struct twin__item_bins *bins = &frequent->bins;
    for (size_t bin = 0; bin < bins->count; bin++)
        for (int twice = 0; twice < 2; twice++)
            twin__items_count(counters, bins->items + BIN_ROOM * bin, bins->held[bin]);
}

/* ---- samples of sets ---- */

twin_status twin__set_sample_draw(struct twin__set_sample *out, const struct twin__set_source *source, size_t most,
                                  twin_error *error)
{
    enum { MOST_ITEMS = 1 << 20 };
    const struct twin__provider *provider = source->provider;
    for (size_t i = 0; i < most && out->count < MOST_ITEMS; i++) {
        uint32_t document = source->documents[i * source->count / most];
        twin_set set;
        if (provider->is_long && provider->is_long(provider, document))
            continue;
        twin_status status = twin__provider_set(&set, provider, document, source->worker, error);
        if (status != TWIN_OK)
            return status;
        if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, set.count + 1))
            return twin__fail_memory(error);
        if (out->items && set.count)
            memcpy(out->items + out->count, set.items, set.count * sizeof *set.items);
        out->count += set.count;
        out->begins[++out->sets] = out->count;
    }
    return TWIN_OK;
}

/* Takes the items that one in sixteen sets of the sample has, and two at least: below that, posting lists are faster than
 * bits. */
static bool choose_frequent(struct twin__frequent_items *out, struct twin__set_sample *sample)
{
    size_t least = sample->sets / 16 > 2 ? sample->sets / 16 : 2, kept = 0, rare = 0;
    if (!twin__sort_numbers(sample->items, sample->count))
        return false;
    for (size_t begin = 0, end; begin < sample->count; begin = end) {
        for (end = begin + 1; end < sample->count && sample->items[end] == sample->items[begin]; end++)
            ;
        if (end - begin >= least && !twin__switched_off.frequent_items)
            sample->items[kept++] = sample->items[begin];
        else
            rare += end - begin;
    }
    if (!twin__frequent_items_init(out, sample->items, kept))
        return false;
    out->rare = sample->sets ? (double)rare / (double)sample->sets : 0;
    return true;
}

twin_status twin__frequent_items_find(struct twin__frequent_items *out, const struct twin__set_source *source,
                                      twin_error *error)
{
    enum { SHARE = 8, FEWEST = 16 };
    struct twin__set_sample sample = { 0 };
    size_t most = source->count / SHARE < FEWEST ? FEWEST : source->count / SHARE;
    most = most < TWIN__SAMPLED_SETS ? most : TWIN__SAMPLED_SETS;
    *out = (struct twin__frequent_items){ 0 };
    twin_status status = twin__set_sample_draw(&sample, source, most < source->count ? most : source->count, error);
    if (status == TWIN_OK && !choose_frequent(out, &sample))
        status = twin__fail_memory(error);
    free(sample.items);
    return status;
}

/* crowd_frequency.c — how many documents of a crowd have a shingle.
 *
 * Two tables. Shingles that at least one document in eight has, as a sample of sets shows, are in a small table with
 * their counts: those of templates, which are most of each set. All others are counted, in an array of 8-bit
 * counters addressed by the leading bits of a shingle, so that some share a counter by chance. Sets are sorted, so
 * both tables are swept in order. Counts order shingles, and any order is right as long as it is one for all
 * documents: what tables of limited size get wrong costs only speed. */
#include "join/crowd_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "join/join_private.h"

/* Shingles that a good part of the documents has, as a sample shows, and how many do: buckets of two, in the order of
 * shingles, so that a sorted set sweeps over them. A place has the count in its high half and some bits of the
 * shingle in the low. Another shingle with these bits is taken for it, and one that finds its bucket full is left
 * out: either way the order of shingles is still one for all. */
enum { BUCKET = 2, TAG_BITS = 16, TAGS = (1 << TAG_BITS) - 1 };

static uint32_t *common_bucket(const struct twin__crowd_common *common, uint64_t item)
{
    return common->places + BUCKET * (item >> common->shift);
}

static uint32_t common_tag(const struct twin__crowd_common *common, uint64_t item)
{
    return item >> (common->shift - TAG_BITS) & TAGS;
}

/* How many documents have a common shingle; 0 when it is not one. */
static inline uint32_t common_count(const struct twin__crowd_common *common, uint64_t item)
{
    const uint32_t *bucket = common_bucket(common, item);
    uint32_t tag = common_tag(common, item), count = 0;
    for (int i = 0; i < BUCKET; i++)
        count |= (bucket[i] & TAGS) == tag ? bucket[i] >> TAG_BITS : 0;
    return count;
}

size_t twin__crowd_common_places(const struct twin__crowd_common *common)
{
    return (size_t)BUCKET << (64 - common->shift);
}

size_t twin__crowd_common_place(const struct twin__crowd_common *common, uint64_t item)
{
    const uint32_t *bucket = common_bucket(common, item);
    uint32_t tag = common_tag(common, item);
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i] && (bucket[i] & TAGS) == tag)
            return (size_t)(bucket + i - common->places);
    return SIZE_MAX;
}

size_t twin__crowd_divide(struct twin__crowd_tokens *tokens, const struct twin__crowd_state *crowd, twin_set set)
{
    size_t rest = 0, common = 0;
    tokens->own = 0;
    if (crowd->owners.is_known)
        set = twin__crowd_leave_own(tokens, crowd, set); /* in the room of the rest, which does not overtake it */
    for (size_t i = 0; i < set.count; i++) {
        uint64_t item = set.items[i], count = common_count(&crowd->common, item);
        tokens->spare[rest] = item;
        rest += count == 0;
        tokens->items[common] = count << 48 | item >> 16;
        common += count != 0;
    }
    tokens->common = tokens->count = common;
    return rest;
}

size_t twin__crowd_sample_size(const struct twin__crowd_state *crowd, size_t most)
{
    enum { SOME = 16, SHARE = 8 };
    size_t share = crowd->count / SHARE > SOME ? crowd->count / SHARE : SOME;
    if (share > crowd->count)
        share = crowd->count;
    return share < most ? share : most;
}

/* The items of some sets spread over the crowd, sorted; *sets is how many. */
static twin_status sample_items(struct twin__pairs *out, size_t *sets, const struct twin__crowd_state *crowd,
                                twin_error *error)
{
    enum { MOST_SETS = 128, MOST_ITEMS = 1 << 22 };
    size_t most = twin__crowd_sample_size(crowd, MOST_SETS);
    for (*sets = 0; *sets < most && out->count < MOST_ITEMS; ++*sets) {
        twin_set set;
        twin_status status = twin__provider_set(&set, crowd->provider,
                                                twin__crowd_document(crowd, *sets * crowd->count / most), 0, error);
        if (status != TWIN_OK)
            return status;
        if (!TWIN__ARRAY_GROW(&out->items, &out->capacity, out->count, set.count))
            return twin__fail_memory(error);
        if (set.count)
            memcpy(out->items + out->count, set.items, set.count * sizeof *set.items);
        out->count += set.count;
    }
    return twin__sort_numbers(out->items, out->count) ? TWIN_OK : twin__fail_memory(error);
}

/* Leaves each item that so large a share of the sets has, and in `counts` how many have it. */
static void keep_common(struct twin__pairs *items, uint16_t *counts, size_t sets)
{
    size_t kept = 0;
    for (size_t begin = 0, end; begin < items->count; begin = end) {
        for (end = begin + 1; end < items->count && items->items[end] == items->items[begin]; end++)
            ;
        if (TWIN__CROWD_COMMON_SHARE * (end - begin) >= sets && end - begin > 1) {
            counts[kept] = (uint16_t)(end - begin);
            items->items[kept++] = items->items[begin];
        }
    }
    items->count = kept;
}

/* The count is that of the whole crowd. */
static void add_common(struct twin__crowd_common *common, uint64_t item, double count)
{
    uint32_t *bucket = common_bucket(common, item), tag = common_tag(common, item);
    uint32_t rounded = count < TWIN__CROWD_MOST_COMMON ? (uint32_t)count : TWIN__CROWD_MOST_COMMON;
    if (common_count(common, item))
        return;
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i] == 0) {
            bucket[i] = rounded << TAG_BITS | tag;
            common->least = rounded < common->least ? rounded : common->least;
            return;
        }
}

/* Two buckets per item or more: of a hundred items one or two find theirs full. */
static twin_status fill_common(struct twin__crowd_common *out, const struct twin__pairs *items,
                               const uint16_t *counts, double factor)
{
    unsigned bits = twin__bits_for(2 * items->count, 4, 40);
    out->shift = 64 - bits;
    out->least = TWIN__CROWD_MOST_COMMON;
    out->places = calloc((size_t)BUCKET << bits, sizeof *out->places);
    if (!out->places)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < items->count; i++)
        add_common(out, items->items[i], factor * (double)counts[i]);
    return TWIN_OK;
}

static twin_status find_common(struct twin__crowd_state *crowd, twin_error *error)
{
    struct twin__pairs items = { 0 };
    size_t sets;
    twin_status status = sample_items(&items, &sets, crowd, error);
    uint16_t *counts = status == TWIN_OK ? malloc((items.count + 1) * sizeof *counts) : NULL;
    if (counts) {
        keep_common(&items, counts, sets);
        status = fill_common(&crowd->common, &items, counts, (double)crowd->count / (double)sets);
    } else if (status == TWIN_OK)
        status = TWIN_ENOMEM;
    if (status == TWIN_ENOMEM)
        twin__fail_memory(error);
    free(counts);
    free(items.items);
    return status;
}

/* A worker that is alone need not lock its counters, so that it does not wait for one before it asks for the next. */
static void count_item(_Atomic uint8_t *counter, bool alone)
{
    uint8_t count = atomic_load_explicit(counter, memory_order_relaxed);
    if (alone && count < TWIN__CROWD_MOST_COUNTED)
        atomic_store_explicit(counter, (uint8_t)(count + 1), memory_order_relaxed);
    while (!alone && count < TWIN__CROWD_MOST_COUNTED &&
           !atomic_compare_exchange_weak_explicit(counter, &count, (uint8_t)(count + 1), memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

static void count_items(struct twin__crowd_state *crowd, const uint64_t *items, size_t count)
{
    bool alone = crowd->options.exec.workers == 1;
    for (size_t i = 0; i < count; i++) {
        if (i + TWIN__CROWD_AHEAD < count)
            __builtin_prefetch((const void *)twin__crowd_counter(crowd, items[i + TWIN__CROWD_AHEAD]), 1);
        count_item(twin__crowd_counter(crowd, items[i]), alone);
    }
}

static twin_status count_set(struct twin__crowd_state *crowd, size_t i, int worker, twin_error *error)
{
    struct twin__crowd_tokens *tokens = &crowd->workers[worker].tokens;
    twin_set set;
    twin_status status = twin__provider_set(&set, crowd->provider, twin__crowd_document(crowd, i), worker, error);
    if (status != TWIN_OK)
        return status;
    if (!twin__crowd_make_room(tokens, set.count))
        return twin__fail_memory(error);
    count_items(crowd, tokens->spare, twin__crowd_divide(tokens, crowd, set));
    if (crowd->owners.labels)
        twin__crowd_own(crowd, i, set);
    crowd->order[i] |= (uint64_t)set.count << 32;
    return TWIN_OK;
}

/* Also puts the size of each set above its document. */
static twin_status count_sets(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__crowd_state *crowd = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = count_set(crowd, i, worker, error);
    return status;
}

/* 512 counters per document, so that most rare shingles have one of their own, but 32 MB of them at most unless 128 per
 * document are more. Huge pages, if the system has them, save a third of the time of counting. */
static twin_status make_counters(struct twin__crowd_state *crowd)
{
    enum { FEWEST_BITS = 16, PLENTY = 512, ENOUGH = 128, LARGE_BITS = 25, PAGE = 4096 };
    unsigned bits = FEWEST_BITS;
    size_t most = crowd->options.most_counters;
    while (bits < 63 && (size_t)1 << bits < (bits < LARGE_BITS ? PLENTY : ENOUGH) * crowd->count &&
           (most == 0 || (size_t)2 << bits <= most))
        bits++;
    crowd->counter_shift = 64 - bits;
    crowd->counters = calloc((size_t)1 << bits, sizeof *crowd->counters);
    if (!crowd->counters)
        return TWIN_ENOMEM;
    size_t skipped = (PAGE - (uintptr_t)crowd->counters % PAGE) % PAGE;
    madvise((char *)crowd->counters + skipped, ((size_t)1 << bits) - PAGE, MADV_HUGEPAGE);
    return TWIN_OK;
}

twin_status twin__crowd_count_shingles(struct twin__crowd_state *crowd, twin_error *error)
{
    twin_status status = make_counters(crowd) == TWIN_OK ? find_common(crowd, error) : twin__fail_memory(error);
    if (status == TWIN_OK && crowd->owners.labels && !twin__crowd_owners_begin(crowd))
        status = twin__fail_memory(error);
    if (status == TWIN_OK)
        status =
            twin__exec_try(crowd->options.exec, crowd->count, TWIN__CROWD_SETS_AT_A_TIME, count_sets, crowd, error);
    if (status == TWIN_OK && !twin__sort_numbers(crowd->order, crowd->count))
        status = twin__fail_memory(error);
    if (status == TWIN_OK && crowd->owners.labels && !twin__crowd_owners_end(crowd))
        status = twin__fail_memory(error);
    if (status == TWIN_OK) {
        size_t longest = twin__crowd_indexed_prefix(crowd, twin__crowd_size(crowd, crowd->count - 1));
        while (longest >> crowd->step_shift > TWIN__CROWD_MOST_STEPS)
            crowd->step_shift++;
    }
    return status;
}

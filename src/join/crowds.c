/* crowds.c — crowds: documents that large buckets of bands connect.
 *
 * A bucket of n documents has n²/2 pairs. So large buckets are not enumerated when they are found; their documents are
 * united, and what is united over all bands is a crowd. Which documents are in one does not depend on the order in
 * which workers add buckets. Pairs of different crowds share no large bucket: smaller buckets yield all of them.
 * With one row per band, every common phrase makes a large bucket. Only those are united then of which most pairs would
 * be compared anyway.
 *
 * Whether a crowd is worth an exact join (crowd_join.c) depends on what its pairs would cost otherwise. A few pairs
 * of each bucket show how many pass the gate. */
#include "join/crowds.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/random.h"
#include "join/join_private.h"
#include "kernels/kernels.h"

twin_status twin__crowd_finder_init(struct twin__crowd_finder *out, const struct twin__provider *provider,
                                    const struct twin__gate *gate)
{
    *out = (struct twin__crowd_finder){ .provider = provider, .gate = gate, .lock = PTHREAD_MUTEX_INITIALIZER };
    out->group = malloc((provider->count + 1) * sizeof *out->group);
    if (!out->group)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < provider->count; i++)
        out->group[i] = (uint32_t)i;
    return TWIN_OK;
}

enum { SAMPLE = 64 }; /* pairs of a bucket */

/* How many of some pairs of a bucket pass the gate. */
static size_t count_passing(const struct twin__crowd_finder *finder, const uint64_t *keys, size_t count)
{
    uint64_t seed = keys[0] ^ count;
    size_t passed = 0;
    for (size_t i = 0; i < SAMPLE; i++) {
        size_t a = twin__random_below(&seed, count), b = twin__random_below(&seed, count - 1);
        passed += twin__gate_passes(finder->gate, finder->provider, (uint32_t)keys[a], (uint32_t)keys[b + (b >= a)]);
    }
    return passed;
}

/* A bucket, with the processor time that its pairs would take: to find that they meet here first and to count their equal
 * slots, and for the share that passes the gate to compare them. */
static struct twin__large_bucket bucket_of(uint32_t document, size_t count, size_t passed)
{
    static const double SECONDS_PER_MEETING = 10e-9, SECONDS_PER_COMPARISON = 1.5e-6; /* measured; texts of 2 KB */
    double pairs = (double)count * (double)(count - 1) / 2;
    double comparing = pairs * SECONDS_PER_COMPARISON * (double)passed / SAMPLE;
    return (struct twin__large_bucket){ document, pairs * SECONDS_PER_MEETING + comparing, comparing };
}

bool twin__crowd_finder_add(struct twin__crowd_finder *finder, const uint64_t *keys, size_t count)
{
    size_t passed = count_passing(finder, keys, count);
    if (finder->only_families && passed < SAMPLE / 2)
        return false;
    struct twin__large_bucket bucket = bucket_of((uint32_t)keys[0], count, passed);
    pthread_mutex_lock(&finder->lock);
    for (size_t i = 1; i < count; i++)
        twin__union_join(finder->group, (uint32_t)keys[0], (uint32_t)keys[i]);
    if (TWIN__ARRAY_GROW(&finder->buckets, &finder->capacity, finder->count, 1))
        finder->buckets[finder->count++] = bucket;
    else
        finder->no_memory = true;
    pthread_mutex_unlock(&finder->lock);
    return true;
}

size_t twin__crowd_finder_drop(struct twin__crowd_finder *finder, uint64_t *pairs, size_t count)
{
    size_t kept = 0;
    pthread_mutex_lock(&finder->lock);
    for (size_t i = 0; i < count; i++) {
        uint32_t low = (uint32_t)(pairs[i] >> 32), high = (uint32_t)pairs[i];
        pairs[kept] = pairs[i];
        kept += twin__union_root(finder->group, low) != twin__union_root(finder->group, high);
    }
    pthread_mutex_unlock(&finder->lock);
    return kept;
}

/* ---- listing ---- */

void twin__crowds_clear(struct twin__crowds *crowds)
{
    free(crowds->documents);
    free(crowds->items);
    *crowds = (struct twin__crowds){ 0 };
}

/* Cuts sorted keys, a crowd in the high half and its document in the low, into crowds. */
static twin_status cut(struct twin__crowds *out, const uint64_t *keys, size_t count)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        out->documents[i] = (uint32_t)keys[i];
        if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) {
            if (!TWIN__ARRAY_GROW(&out->items, &capacity, out->count, 1))
                return TWIN_ENOMEM;
            out->items[out->count++] = (struct twin__crowd){ .begin = i };
        }
        out->items[out->count - 1].count++;
    }
    return TWIN_OK;
}

static size_t crowd_index(const struct twin__crowds *crowds, uint32_t first)
{
    size_t low = 0, count = crowds->count;
    while (count > 1) {
        size_t half = count / 2;
        if (crowds->documents[crowds->items[low + half].begin] <= first) {
            low += half;
            count -= half;
        } else
            count = half;
    }
    return low;
}

const struct twin__crowd *twin__crowd_find(const struct twin__crowds *crowds, uint32_t first)
{
    if (crowds->count == 0)
        return NULL;
    const struct twin__crowd *crowd = &crowds->items[crowd_index(crowds, first)];
    return crowds->documents[crowd->begin] == first ? crowd : NULL;
}

static int by_document(const void *a, const void *b)
{
    const struct twin__large_bucket *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return (x->comparing > y->comparing) - (x->comparing < y->comparing);
}

void twin__large_buckets_sort(struct twin__large_bucket *buckets, size_t count)
{
    if (count)
        qsort(buckets, count, sizeof *buckets, by_document);
}

/* Adds up what the buckets of each crowd cost: sums depend on the order. */
static void add_costs(struct twin__crowds *crowds, struct twin__crowd_finder *finder)
{
    twin__large_buckets_sort(finder->buckets, finder->count);
    for (size_t i = 0; i < finder->count; i++) {
        const struct twin__large_bucket *bucket = &finder->buckets[i];
        struct twin__crowd *crowd = &crowds->items[crowd_index(crowds, finder->group[bucket->document])];
        crowd->seconds += bucket->seconds;
        crowd->comparing += bucket->comparing;
    }
}

/* All documents of crowds, as keys. A root has no parent but itself, so it is marked when one of its children comes. */
static size_t list_keys(uint64_t *keys, struct twin__crowd_finder *finder)
{
    size_t count = 0;
    for (size_t i = 0; i < finder->provider->count; i++) {
        uint32_t root = twin__union_root(finder->group, (uint32_t)i);
        finder->group[i] = root;
        if (root != i)
            keys[count++] = (uint64_t)root << 32 | i;
    }
    size_t children = count;
    for (size_t i = 0; i < finder->count; i++)
        keys[count++] =
            (uint64_t)finder->group[finder->buckets[i].document] << 32 | finder->group[finder->buckets[i].document];
    return count - children ? count : 0;
}

twin_status twin__crowds_list(struct twin__crowds *out, struct twin__crowd_finder *finder)
{
    if (finder->no_memory)
        return TWIN_ENOMEM;
    if (finder->count == 0)
        return TWIN_OK;
    size_t most = finder->provider->count + finder->count;
    uint64_t *keys = malloc(most * sizeof *keys);
    out->documents = malloc(most * sizeof *out->documents);
    size_t count = keys && out->documents ? list_keys(keys, finder) : 0;
    twin_status status = TWIN_ENOMEM;
    if (keys && out->documents && twin__sort_numbers(keys, count))
        status = cut(out, keys, twin__kernels()->drop_repeats(keys, count));
    if (status == TWIN_OK)
        add_costs(out, finder);
    free(keys);
    return status;
}

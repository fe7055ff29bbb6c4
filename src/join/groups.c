/* groups.c — template groups: documents that large buckets of bands connect, and whether the index of sets joins them.
 *
 * A bucket of n documents has n²/2 pairs. So large buckets are not enumerated when they are found; their documents are
 * united. Which documents are united does not depend on the order in which workers add buckets.
 *
 * Documents are united twice. A dense bucket, of which most pairs pass the gate, is a part of one campaign or template, and
 * dense buckets make dense groups. All large buckets make loose groups: pages of a template just below the threshold are one,
 * but where bands have few rows, common phrases also connect near-copies and strangers. So first it is decided of a loose group
 * whether the index of sets joins it as a whole; if not, the same of each dense group in it, and the remaining pairs of
 * the loose group are listed by bands.
 *
 * With one row per band, every common phrase makes a large bucket. Only dense ones are united then.
 *
 * Either way is chosen by its work, counted in looks: at a pair of a bucket, or at an entry of a posting list. A pair is
 * looked at once per bucket, and compared once, however many buckets it is in: so a sampled pair that passes the gate counts
 * as one divided by the number of bands that it is expected to share. */
#include "join/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/random.h"
#include "join/items.h"
#include "join/join_private.h"
#include "kernels/kernels.h"

static uint32_t *make_singles(size_t documents)
{
    uint32_t *groups = malloc((documents + 1) * sizeof *groups);
    for (size_t i = 0; groups && i < documents; i++)
        groups[i] = (uint32_t)i;
    return groups;
}

twin_status twin__group_finder_init(struct twin__group_finder *out, const struct twin__provider *provider,
                                    const struct twin__gate *gate, twin_plan plan)
{
    *out = (struct twin__group_finder){ .provider = provider,
                                        .gate = gate,
                                        .plan = plan,
                                        .only_dense = plan.rows == 1 || twin__switched_off.loose_groups,
                                        .lock = PTHREAD_MUTEX_INITIALIZER };
    out->loose = make_singles(provider->count);
    out->dense = make_singles(provider->count);
    return out->loose && out->dense ? TWIN_OK : TWIN_ENOMEM;
}

enum { SAMPLE = 64 }; /* pairs of a bucket */

/* What a sample of its pairs, which depends on the bucket alone, shows of a bucket. */
static struct twin__large_bucket sample_bucket(const struct twin__group_finder *finder, const uint64_t *keys,
                                               size_t count)
{
    double pairs = (double)count * (double)(count - 1) / 2, sum = 0;
    uint64_t seed = keys[0] >> 32 ^ (uint64_t)count << 32;
    size_t passed = 0, slots = finder->provider->signatures.slots;
    for (size_t i = 0; i < SAMPLE; i++) {
        size_t a = twin__random_below(&seed, count), b = twin__random_below(&seed, count - 1);
        uint32_t first = (uint32_t)keys[a], second = (uint32_t)keys[b + (b >= a)];
        size_t equal = twin__provider_agreement(finder->provider, first, second);
        if (equal < finder->gate->least)
            continue;
        passed++;
        sum += 1 / fmax(1, twin__bands_shared(finder->plan, slots, equal));
    }
    return (struct twin__large_bucket){ (uint32_t)keys[0], passed >= SAMPLE / 2, pairs, pairs * sum / SAMPLE };
}

static void unite_bucket(uint32_t *groups, const uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        twin__union_join(groups, (uint32_t)keys[0], (uint32_t)keys[i]);
}

bool twin__group_finder_add(struct twin__group_finder *finder, const uint64_t *keys, size_t count)
{
    struct twin__large_bucket bucket = sample_bucket(finder, keys, count);
    if (finder->only_dense && !bucket.is_dense)
        return false;
    pthread_mutex_lock(&finder->lock);
    unite_bucket(finder->loose, keys, count);
    if (bucket.is_dense)
        unite_bucket(finder->dense, keys, count);
    if (TWIN__ARRAY_GROW(&finder->buckets, &finder->capacity, finder->count, 1))
        finder->buckets[finder->count++] = bucket;
    else
        finder->no_memory = true;
    pthread_mutex_unlock(&finder->lock);
    return true;
}

size_t twin__group_finder_drop(struct twin__group_finder *finder, uint64_t *pairs, size_t count)
{
    size_t kept = 0;
    pthread_mutex_lock(&finder->lock);
    for (size_t i = 0; i < count; i++) {
        uint32_t low = (uint32_t)(pairs[i] >> 32), high = (uint32_t)pairs[i];
        pairs[kept] = pairs[i];
        kept += twin__union_root(finder->loose, low) != twin__union_root(finder->loose, high);
    }
    pthread_mutex_unlock(&finder->lock);
    return kept;
}

/* ---- listing ---- */

void twin__groups_clear(struct twin__groups *groups)
{
    free(groups->documents);
    free(groups->items);
    *groups = (struct twin__groups){ 0 };
}

/* Cuts sorted keys, a group in the high half and its document in the low, into groups. */
static twin_status cut(struct twin__groups *out, const uint64_t *keys, size_t count)
{
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        out->documents[i] = (uint32_t)keys[i];
        if (i == 0 || keys[i] >> 32 != keys[i - 1] >> 32) {
            if (!TWIN__ARRAY_GROW(&out->items, &capacity, out->count, 1))
                return TWIN_ENOMEM;
            out->items[out->count++] = (struct twin__group){ .begin = i };
        }
        out->items[out->count - 1].count++;
    }
    return TWIN_OK;
}

size_t twin__groups_find(const struct twin__groups *groups, uint32_t first)
{
    size_t low = 0, count = groups->count;
    while (count > 1) {
        size_t half = count / 2;
        if (groups->documents[groups->items[low + half].begin] <= first) {
            low += half;
            count -= half;
        } else
            count = half;
    }
    return count && groups->documents[groups->items[low].begin] == first ? low : groups->count;
}

static int by_document(const void *a, const void *b)
{
    const struct twin__large_bucket *x = a, *y = b;
    if (x->document != y->document)
        return x->document < y->document ? -1 : 1;
    if (x->meetings != y->meetings)
        return x->meetings < y->meetings ? -1 : 1;
    if (x->passing != y->passing)
        return x->passing < y->passing ? -1 : 1;
    return (x->is_dense > y->is_dense) - (x->is_dense < y->is_dense);
}

void twin__large_buckets_sort(struct twin__large_bucket *buckets, size_t count)
{
    if (count)
        qsort(buckets, count, sizeof *buckets, by_document);
}

/* A root has no parent but itself, so it is marked when one of its children comes. */
static size_t list_keys(uint64_t *keys, uint32_t *of, size_t documents)
{
    size_t count = 0;
    for (size_t i = 0; i < documents; i++) {
        uint32_t root = of[i] = twin__union_root(of, (uint32_t)i);
        if (root == i)
            continue;
        keys[count++] = (uint64_t)root << 32 | root;
        keys[count++] = (uint64_t)root << 32 | i;
    }
    return count;
}

twin_status twin__groups_list(struct twin__groups *out, uint32_t *of, size_t documents,
                              const struct twin__large_bucket *buckets, size_t bucket_count, bool dense)
{
    size_t children = 0;
    for (size_t i = 0; i < documents; i++)
        children += of[i] != i;
    uint64_t *keys = malloc((2 * children + 1) * sizeof *keys);
    out->documents = malloc((2 * children + 1) * sizeof *out->documents);
    size_t count = keys && out->documents ? list_keys(keys, of, documents) : 0;
    twin_status status = TWIN_ENOMEM;
    if (keys && out->documents && twin__sort_numbers(keys, count))
        status = cut(out, keys, twin__kernels()->drop_repeats(keys, count));
    free(keys);
    for (size_t i = 0; i < bucket_count && status == TWIN_OK; i++) {
        if (buckets[i].is_dense != dense)
            continue;
        size_t number = twin__groups_find(out, of[buckets[i].document]);
        if (number == out->count)
            continue; /* what a file said of a document that is in none */
        out->items[number].meetings += buckets[i].meetings;
        out->items[number].passing += buckets[i].passing;
    }
    return status;
}

/* ---- the choice ---- */

/* How many other sets of the sample have each posting that the index would look at for one set: frequent items are bits
 * there, and of the rare ones as many may be left out as a similar set must share, those with the longest lists. */
static double count_postings(const struct twin__set_sample *sample, const uint64_t *sorted, size_t set,
                             double threshold)
{
    enum { FREQUENT = 16 }; /* one set of so many has the item */
    size_t with[TWIN__SAMPLED_SETS] = { 0 }, size = sample->begins[set + 1] - sample->begins[set], rare = 0;
    for (size_t i = sample->begins[set]; i < sample->begins[set + 1]; i++) {
        size_t first = twin__lower_bound(sorted, sample->count, sample->items[i]), end = first;
        while (end < sample->count && sorted[end] == sample->items[i])
            end++;
        size_t others = end - first - 1;
        if (others * FREQUENT >= sample->sets && others > 0)
            continue;
        with[others]++;
        rare++;
    }
    double needed = ceil(threshold * (double)size) - (double)(size - rare), postings = 0;
    size_t left = needed > 0 ? rare - (size_t)needed : rare;
    for (size_t others = 0; others < TWIN__SAMPLED_SETS && left > 0; others++) {
        size_t taken = with[others] < left ? with[others] : left;
        postings += (double)(taken * others);
        left -= taken;
    }
    return postings;
}

/* For a document of a group: to take its items, and to look at postings. */
struct looks {
    double items, postings;
};

static bool count_looks(struct looks *out, const struct twin__set_sample *sample, size_t documents, double threshold)
{
    static const double PER_ITEM = 3;
    double sets = sample->sets > 1 ? (double)sample->sets : 2, postings = 0;
    uint64_t *sorted = malloc((sample->count + 1) * sizeof *sorted);
    if (sorted && sample->count)
        memcpy(sorted, sample->items, sample->count * sizeof *sorted);
    bool good = sorted && twin__sort_numbers(sorted, sample->count);
    for (size_t i = 0; i < sample->sets && good; i++)
        postings += count_postings(sample, sorted, i, threshold);
    out->items = PER_ITEM * (double)sample->count / sets;
    out->postings =
        postings / sets * (double)documents / (sets - 1) / 2; /* a set is looked up among those before it */
    free(sorted);
    return good;
}

static twin_status index_looks(struct looks *out, const struct twin__set_source *source, double threshold,
                               twin_error *error)
{
    enum { DOCUMENTS_OF_EACH = 16 };
    struct twin__set_sample sample = { 0 };
    size_t most = source->count / DOCUMENTS_OF_EACH;
    twin_status status =
        twin__set_sample_draw(&sample, source, most < TWIN__SAMPLED_SETS ? most : TWIN__SAMPLED_SETS, error);
    if (status == TWIN_OK && !count_looks(out, &sample, source->count, threshold))
        status = twin__fail_memory(error);
    free(sample.items);
    return status;
}

twin_status twin__group_is_for_index(bool *out, const struct twin__provider *provider,
                                     const struct twin__groups *groups, size_t number, double threshold,
                                     twin_error *error)
{
    enum { SMALL = 1024 };                        /* documents: either way takes little, and a sample as much */
    static const double PER_COMPARISON = 8;       /* of two sets that were encoded */
    static const double LEAST_PER_DOCUMENT = 100; /* to fetch one takes more than that in any case */
    const struct twin__group *group = &groups->items[number];
    double documents = (double)group->count, passing = group->passing / documents;
    double listing = group->meetings / documents + PER_COMPARISON * passing;
    struct looks index = { 0 };
    *out = group->count <= SMALL ? passing > 1 : listing > LEAST_PER_DOCUMENT;
    if (twin__switched_off.groups) {
        *out = twin__switched_off.groups == TWIN__GROUPS_JOINED;
        return TWIN_OK;
    }
    if (!*out || group->count <= SMALL)
        return TWIN_OK;
    struct twin__set_source source = { provider, groups->documents + group->begin, group->count, 0 };
    twin_status status = index_looks(&index, &source, threshold, error);
    /* Documents that have pairs to compare are fetched either way. */
    listing += index.items * (passing < 1 ? passing : 1);
    *out = listing > index.items + index.postings;
    return status;
}

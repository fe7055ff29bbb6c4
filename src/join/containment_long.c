/* containment_long.c — many documents compared with one that is too long to be fetched for each of them.
 *
 * To compare two documents of which one is long the provider reads that one again, in parts: half a second for 10 MB. A
 * text of many pages has thousands of short ones in it. So where a long document is in several pairs its set is fetched
 * once, as it was when it was looked up, and each of the others is searched for in it. */
#include <stdlib.h>
#include <string.h>

#include "join/containment_private.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "sketch/set.h"

enum { FEWEST = 4 }; /* pairs of a long document; fewer are left to the provider */

/* Pairs with a document that is long and one that is not: the long one in the high half. */
struct long_pairs {
    const struct twin__containment *join;
    struct twin__pairs pairs;
    twin_items set;       /* of one long document */
    const uint64_t *here; /* its pairs, and their similarities */
    double *similarities;
};

static size_t count_common(twin_set large, twin_set small)
{
    enum { TIMES = 32 }; /* so much larger that searching is faster than going through */
    if (large.count / TIMES < small.count)
        return twin_set_common(large, small);
    size_t common = 0, at = 0;
    for (size_t i = 0; i < small.count && at < large.count; i++) {
        at += twin__lower_bound(large.items + at, large.count - at, small.items[i]);
        common += at < large.count && large.items[at] == small.items[i];
    }
    return common;
}

static twin_status compare_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct long_pairs *all = context;
    for (size_t i = begin; i < end; i++) {
        twin_set small, large = { all->set.items, all->set.count };
        twin_status status = twin__provider_set(&small, all->join->provider, (uint32_t)all->here[i], worker, error);
        if (status != TWIN_OK)
            return status;
        all->similarities[i] =
            twin__similarity_of_counts(large.count, small.count, count_common(large, small), TWIN_CONTAINMENT);
    }
    return TWIN_OK;
}

/* Compares the document of the first pair with all `count` others. */
static twin_status compare_with_one(twin_matches *out, struct long_pairs *all, size_t count, twin_error *error)
{
    const struct twin__containment *join = all->join;
    uint32_t document = (uint32_t)(all->here[0] >> 32);
    twin_set set;
    twin_status status = twin__provider_set(&set, join->provider, document, 0, error);
    if (status != TWIN_OK)
        return status;
    all->set.count = 0;
    if (twin__items_reserve(&all->set, set.count) != TWIN_OK)
        return twin__fail_memory(error);
    if (set.count)
        memcpy(all->set.items, set.items, set.count * sizeof *set.items);
    all->set.count = set.count;
    status = twin__exec_try(join->options.exec, count, 1, compare_some, all, error);
    for (size_t i = 0; i < count && status == TWIN_OK; i++) {
        uint32_t other = (uint32_t)all->here[i];
        twin_match match = { other < document ? other : document, other < document ? document : other,
                             all->similarities[i] };
        if (match.similarity >= join->options.threshold && twin__matches_add(out, match) != TWIN_OK)
            status = twin__fail_memory(error);
    }
    return status;
}

/* How many pairs from `at` on have the same long document. */
static size_t count_same(const struct twin__pairs *pairs, size_t at)
{
    size_t end = at;
    while (end < pairs->count && pairs->items[end] >> 32 == pairs->items[at] >> 32)
        end++;
    return end - at;
}

/* Takes the pairs with one long document from the others, in order. */
static twin_status take_long(struct long_pairs *all, struct twin__pairs *pairs)
{
    const struct twin__provider *provider = all->join->provider;
    size_t left = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        bool a_long = provider->is_long(provider, a), b_long = provider->is_long(provider, b);
        if (a_long == b_long)
            pairs->items[left++] = pairs->items[i];
        else if (!twin__pairs_add(&all->pairs, (uint64_t)(a_long ? a : b) << 32 | (a_long ? b : a)))
            return TWIN_ENOMEM;
    }
    pairs->count = left;
    all->similarities = malloc((all->pairs.count + 1) * sizeof *all->similarities);
    return all->similarities && twin__sort_numbers(all->pairs.items, all->pairs.count) ? TWIN_OK : TWIN_ENOMEM;
}

twin_status twin__containment_compare_long(twin_matches *out, uint64_t *compared,
                                           const struct twin__containment *join, struct twin__pairs *pairs,
                                           twin_error *error)
{
    struct long_pairs all = { .join = join };
    if (!join->provider->is_long)
        return TWIN_OK;
    twin_status status = take_long(&all, pairs);
    if (status != TWIN_OK)
        twin__fail_memory(error);
    for (size_t at = 0, count; at < all.pairs.count && status == TWIN_OK; at += count) {
        count = count_same(&all.pairs, at);
        all.here = all.pairs.items + at;
        if (count >= FEWEST) {
            status = compare_with_one(out, &all, count, error);
            *compared += count;
            continue;
        }
        for (size_t i = 0; i < count && status == TWIN_OK; i++)
            if (!twin__pairs_add(pairs, twin__pair((uint32_t)(all.here[i] >> 32), (uint32_t)all.here[i])))
                status = twin__fail_memory(error);
    }
    free(all.pairs.items);
    free(all.similarities);
    twin__items_clear(&all.set);
    return status;
}

/* between_once.c — of the pairs between two collections as many as tell which documents of the first have any.
 *
 * All pairs of a family that both collections have are as many as the product of its two parts. Here they are fewer:
 *
 *   1. In a crowd, those of the second collection are documents that stay, and each of the first is compared with them
 *      up to the first that is similar (set_join.h); texts that contain each other, likewise (containment_keepers.h).
 *   2. That one need not be the most similar. If the second collection has the same set, it is: equal sets have equal
 *      signatures, and documents with equal ones are compared.
 *
 * Outside crowds all pairs are found. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "join/engine.h"
#include "join/join_private.h"
#include "join/similar_private.h"
#include "join/verify.h"

struct once {
    const struct twin__provider *provider;
    const twin_similar_options *options;
    uint32_t *order;
};

/* ---- copies ---- */

/* The keys of documents with equal signatures are adjacent, in the order of the documents. */
static bool sort_signatures(uint64_t *keys, const struct twin__provider *provider)
{
    static const twin_hash plain = { .family = TWIN_HASH_XXH3 };
    const twin_signatures *signatures = &provider->signatures;
    for (size_t i = 0; i < signatures->count; i++) {
        const uint32_t *row = signatures->rows + (size_t)signatures->documents[i] * signatures->slots;
        twin__spill_touch(provider->spill, signatures->slots * sizeof *row);
        uint64_t hash = twin_hash_bytes(plain, row, signatures->slots * sizeof *row);
        keys[i] = (hash & ~(uint64_t)UINT32_MAX) | signatures->documents[i];
    }
    return twin__sort_numbers(keys, signatures->count);
}

/* Documents with the same key: those of the first collection from `begin` on, and those of the second from `second` on. */
struct run {
    size_t begin, second, end;
};

static struct run run_at(const uint64_t *keys, size_t begin, size_t count, uint32_t split)
{
    struct run run = { begin, begin, begin };
    while (run.end < count && keys[run.end] >> 32 == keys[begin] >> 32) {
        run.second += (uint32_t)keys[run.end] < split;
        run.end++;
    }
    return run;
}

/* Pairs a document of the first collection with the first of the second that has the same signature. Different sets can have
 * equal signatures, and different signatures equal keys, if somebody wants that; so only a few are looked at. */
static bool pair_with_copy(struct twin__pairs *out, const struct twin__provider *provider, const uint64_t *keys,
                           size_t at, struct run run)
{
    enum { FEW = 4 };
    for (size_t i = run.second; i < run.end && i < run.second + FEW; i++) {
        uint32_t document = (uint32_t)keys[at], other = (uint32_t)keys[i];
        if (twin__provider_agreement(provider, document, other) == provider->signatures.slots)
            return twin__pairs_add(out, twin__pair(document, other));
    }
    return true;
}

static bool pair_equal_signatures(struct twin__pairs *out, const struct twin__provider *provider)
{
    size_t count = provider->signatures.count;
    uint64_t *keys = malloc((count + 1) * sizeof *keys);
    bool good = keys && sort_signatures(keys, provider);
    for (size_t begin = 0; begin < count && good;) {
        struct run run = run_at(keys, begin, count, provider->split);
        for (size_t i = run.begin; i < run.second && good; i++)
            good = pair_with_copy(out, provider, keys, i, run);
        begin = run.end;
    }
    free(keys);
    return good;
}

static twin_status find_copies(twin_matches *out, const struct once *once, twin_error *error)
{
    struct twin__set_rule rule = { TWIN_JACCARD, 1 };
    struct twin__verify_options verify = { twin__compare_sets(&rule), once->options->exec, once->options->progress };
    struct twin__pairs pairs = { 0 };
    twin_status status = pair_equal_signatures(&pairs, once->provider)
                             ? twin__verify_pairs(out, once->provider, &pairs, verify, error)
                             : twin__fail_memory(error);
    free(pairs.items);
    return status;
}

/* ---- all of it ---- */

/* Those of the second collection come first. */
static twin_status order_sides(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                               twin_error *error)
{
    struct once *once = context;
    uint32_t split = once->provider->split, all = (uint32_t)once->provider->count;
    (void)documents, (void)count, (void)error;
    for (uint32_t i = 0; i < all; i++)
        once->order[i] = i < all - split ? split + i : i - (all - split);
    *out = once->order;
    return TWIN_OK;
}

static void drop_repeats(twin_matches *matches)
{
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++)
        if (kept == 0 || matches->items[kept - 1].a != matches->items[i].a ||
            matches->items[kept - 1].b != matches->items[i].b)
            matches->items[kept++] = matches->items[i];
    matches->count = kept;
}

twin_status twin__between_once(twin_matches *out, twin_similar_counts *counts, const struct twin__provider *provider,
                               const twin_similar_options *options, twin_error *error)
{
    struct once once = { provider, options, malloc((provider->count + 1) * sizeof *once.order) };
    struct twin__deciding_options deciding = { .search = options, .order = order_sides, .context = &once };
    twin_matches copies = { 0 };
    twin_status status = TWIN_OK;
    if (!once.order)
        status = twin__fail_memory(error);
    else
        status = twin__engine_find_part(out, counts, provider, &deciding, (struct twin__engine_part){ 0 }, error);
    if (status == TWIN_OK && counts->crowds && options->measure == TWIN_JACCARD)
        status = find_copies(&copies, &once, error);
    if (status == TWIN_OK && !twin__matches_move(out, &copies))
        status = twin__fail_memory(error);
    if (status == TWIN_OK) {
        twin__matches_sort(out);
        drop_repeats(out);
        counts->similar = out->count;
    }
    twin_matches_clear(&copies);
    free(once.order);
    return status;
}

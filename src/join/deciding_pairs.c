/* deciding_pairs.c — the candidate pairs that decide which documents stay, in the order of their numbers.
 *
 * A document stays unless it is similar to one that stays and comes before it. So one that is a candidate with nobody
 * before it stays for certain. Whoever has such a one as its first candidate is compared with it and, if they are
 * similar, goes for it, whatever else it is similar to: its other pairs are dropped. Of n near-copies n - 1 pairs are
 * compared. By then more documents have nobody before them, so this is done twice; what is left after that is compared
 * pair by pair, as each round fetches documents again.
 *
 * Pairs that do not fit into memory come some at a time, those of the first documents first. All pairs of a document
 * with those before it are then known at once, so that after each batch it is known of most of its documents whether
 * they stay; pairs with one that goes are passed over from then on. */
#include "join/deciding_pairs.h"

#include <stdlib.h>

#include "base/error.h"

struct deciding {
    const struct twin__provider *provider;
    struct twin__verify_options options;
    const bool *unsure;
    uint32_t *first; /* of each document its first candidate, itself if none comes before it */
    bool *goes;
};

static void find_first(struct deciding *deciding, const struct twin__pairs *pairs)
{
    uint32_t *first = deciding->first;
    for (size_t i = 0; i < deciding->provider->count; i++)
        first[i] = (uint32_t)i;
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        first[b] = a < first[b] ? a : first[b];
    }
}

static bool stays_for_certain(const struct deciding *deciding, uint32_t document)
{
    return deciding->first[document] == document && !(deciding->unsure && deciding->unsure[document]);
}

/* Moves the pairs of documents and their first candidates, if these stay for certain, to the front; returns how many they
 * are. */
static size_t choose(struct deciding *deciding, struct twin__pairs *pairs)
{
    size_t chosen = 0;
    find_first(deciding, pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        uint32_t a = twin__pair_low(pair);
        if (deciding->first[twin__pair_high(pair)] != a || !stays_for_certain(deciding, a))
            continue;
        pairs->items[i] = pairs->items[chosen];
        pairs->items[chosen++] = pair;
    }
    return chosen;
}

/* Drops the first `compared` pairs, and those of documents that go. */
static void drop_decided(struct twin__pairs *pairs, size_t compared, const struct deciding *deciding)
{
    size_t kept = 0;
    for (size_t i = compared; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        if (!deciding->goes[twin__pair_low(pair)] && !deciding->goes[twin__pair_high(pair)])
            pairs->items[kept++] = pair;
    }
    pairs->count = kept;
}

/* Compares the first `count` pairs. If their first documents stay for certain, the second of those that are similar go. */
static twin_status compare(twin_matches *out, struct deciding *deciding, const struct twin__pairs *pairs,
                           size_t count, bool certain, twin_error *error)
{
    struct twin__pairs first = { .items = pairs->items, .count = count };
    size_t before = out->count;
    twin_status status = twin__verify_pairs(out, deciding->provider, &first, deciding->options, error);
    for (size_t i = before; certain && status == TWIN_OK && i < out->count; i++)
        deciding->goes[out->items[i].b] = true;
    return status;
}

static twin_status decide(twin_matches *out, uint64_t *compared, struct deciding *deciding, struct twin__pairs *pairs,
                          twin_error *error)
{
    enum { ROUNDS = 2 };
    twin_status status = TWIN_OK;
    for (int round = 0; pairs->count && status == TWIN_OK; round++) {
        size_t count = round < ROUNDS ? choose(deciding, pairs) : pairs->count;
        *compared += count;
        status = compare(out, deciding, pairs, count, round < ROUNDS, error);
        drop_decided(pairs, count, deciding);
    }
    return status;
}

static bool deciding_init(struct deciding *out, const struct twin__provider *provider, const bool *unsure,
                          struct twin__verify_options options)
{
    *out = (struct deciding){ .provider = provider,
                              .options = options,
                              .unsure = unsure,
                              .first = malloc((provider->count + 1) * sizeof *out->first),
                              .goes = calloc(provider->count + 1, sizeof *out->goes) };
    return out->first && out->goes;
}

static void deciding_clear(struct deciding *deciding)
{
    free(deciding->first);
    free(deciding->goes);
}

twin_status twin__deciding_pairs(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                                 struct twin__pairs *pairs, const bool *unsure, struct twin__verify_options options,
                                 twin_error *error)
{
    struct deciding deciding;
    twin_status status = deciding_init(&deciding, provider, unsure, options)
                             ? decide(out, compared, &deciding, pairs, error)
                             : twin__fail_memory(error);
    deciding_clear(&deciding);
    return status;
}

/* ---- batches ---- */

static bool is_needed(void *context, uint32_t low, uint32_t high)
{
    const struct deciding *deciding = context;
    return !deciding->goes[low] && !deciding->goes[high];
}

static int by_later(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->a > y->a) - (x->a < y->a);
}

/* From the matches of a batch to who goes and who may: whoever is similar to one that stays goes. With none of these,
 * but one that may, it may as well. */
static void note_fates(struct deciding *deciding, bool *unsure, twin_match *matches, size_t count)
{
    if (count)
        qsort(matches, count, sizeof *matches, by_later);
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t document = matches[i].b;
        bool goes = deciding->goes[document], may_go = false;
        for (end = i; end < count && matches[end].b == document; end++) {
            uint32_t other = matches[end].a;
            goes |= !deciding->goes[other] && !unsure[other];
            may_go |= !deciding->goes[other] && unsure[other];
        }
        deciding->goes[document] = goes;
        unsure[document] |= may_go;
    }
}

twin_status twin__deciding_batches(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                                   const struct twin__pair_overflow *overflow, bool *unsure,
                                   struct twin__verify_options options, twin_error *error)
{
    struct deciding deciding;
    struct twin__pair_batches batches;
    struct twin__pairs pairs = { 0 };
    twin_status status = twin__pair_batches_init(&batches, overflow, error);
    if (!deciding_init(&deciding, provider, unsure, options))
        status = twin__fail_memory(error);
    while (status == TWIN_OK && batches.has_next) {
        size_t before = out->count;
        status = twin__pair_batches_next(&pairs, &batches, is_needed, &deciding, error);
        if (status == TWIN_OK)
            status = decide(out, compared, &deciding, &pairs, error);
        if (status == TWIN_OK)
            note_fates(&deciding, unsure, out->items + before, out->count - before);
    }
    twin__pair_batches_clear(&batches);
    deciding_clear(&deciding);
    free(pairs.items);
    return status;
}

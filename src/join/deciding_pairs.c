/* deciding_pairs.c — the candidate pairs that decide which documents stay, in the order of their numbers.
 *
 * A document stays unless it is similar to one that stays and comes before it. So one that is a candidate with nobody
 * before it stays for certain. Whoever has such a one as its first candidate is compared with it and, if they are
 * similar, goes for it, whatever else it is similar to: its other pairs are dropped. Of n near-copies n - 1 pairs are
 * compared. By then more documents have nobody before them, so this is done twice; what is left after that is compared
 * pair by pair, as each round fetches documents again. */
#include "join/deciding_pairs.h"

#include <stdlib.h>

#include "base/error.h"

struct deciding {
    const struct twin__provider *provider;
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

/* Compares the first `count` pairs. */
static twin_status compare(twin_matches *out, struct deciding *deciding, const struct twin__pairs *pairs,
                           size_t count, struct twin__verify_options options, twin_error *error)
{
    struct twin__pairs first = { .items = pairs->items, .count = count };
    size_t before = out->count;
    twin_status status = twin__verify_pairs(out, deciding->provider, &first, options, error);
    for (size_t i = before; status == TWIN_OK && i < out->count; i++)
        deciding->goes[out->items[i].b] = true;
    return status;
}

twin_status twin__deciding_pairs(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                                 struct twin__pairs *pairs, const bool *unsure, struct twin__verify_options options,
                                 twin_error *error)
{
    enum { ROUNDS = 2 };
    struct deciding deciding = { .provider = provider,
                                 .unsure = unsure,
                                 .first = malloc((provider->count + 1) * sizeof *deciding.first),
                                 .goes = calloc(provider->count + 1, sizeof *deciding.goes) };
    twin_status status = deciding.first && deciding.goes ? TWIN_OK : twin__fail_memory(error);
    for (int round = 0; pairs->count && status == TWIN_OK; round++) {
        size_t count = round < ROUNDS ? choose(&deciding, pairs) : pairs->count;
        *compared += count;
        status = compare(out, &deciding, pairs, count, options, error);
        drop_decided(pairs, count, &deciding);
    }
    free(deciding.first);
    free(deciding.goes);
    return status;
}

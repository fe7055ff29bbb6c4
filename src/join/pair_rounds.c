/* pair_rounds.c — candidate pairs outside of joined groups are compared: all, or as many as are enough.
 *
 * What is kept, and which components there are, follows from fewer pairs than all. So pairs are compared in rounds; after
 * each, pairs that are not needed any more are dropped. Each round fetches documents again, so after two of them all pairs
 * that remain are compared.
 *
 *   kept     A document is kept unless it is similar to a kept one with a lower number. So one that is a candidate with
 *            none before it is certainly kept. A document whose first candidate is such a one is compared with it and, if
 *            they are similar, dropped for it, whatever else it is similar to: its other pairs are not needed. Of n
 *            near-copies n - 1 pairs are compared. Then more documents have none before them. Documents of joined groups
 *            are decided later, and none of them is kept for certain here.
 *   connect  A round compares a spanning forest of the candidates, which would connect all their documents if all were
 *            similar. Pairs whose documents are then of one component are not needed. Among near-copies the first round
 *            is nearly all: of a bucket of n documents n - 1 pairs.
 *
 * Pairs that do not fit into memory come some at a time, those of the first documents first. All pairs of a document with
 * those before it are then known at once, so that after each batch it is known of most of its documents whether they are
 * kept. */
#include "join/verify.h"

#include <stdlib.h>

#include "base/error.h"
#include "join/matches.h"

struct rounds {
    const struct twin__provider *provider;
    const struct twin__pair_rounds_options *options;
    twin_matches *out;
    uint64_t *compared;
    uint32_t
        *first;    /* kept: of each document its first candidate, itself if none comes before it; connect: a forest */
    bool *dropped; /* kept */
    bool *pending; /* kept: not decided here */
};

static bool is_needed(void *context, uint32_t low, uint32_t high)
{
    const struct rounds *rounds = context;
    const uint32_t *components = rounds->options->components;
    if (rounds->options->mode == TWIN__JOIN_KEPT)
        return !rounds->dropped[low] && !rounds->dropped[high];
    return !components || twin__union_find(components, low) != twin__union_find(components, high);
}

/* Drops the first `compared` pairs, and those that are not needed. */
static void drop_unneeded(struct twin__pairs *pairs, size_t compared, struct rounds *rounds)
{
    size_t kept = 0;
    for (size_t i = compared; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        if (is_needed(rounds, twin__pair_low(pair), twin__pair_high(pair)))
            pairs->items[kept++] = pair;
    }
    pairs->count = kept;
}

/* ---- choosing the pairs of a round ---- */

static void find_firsts(struct rounds *rounds, const struct twin__pairs *pairs)
{
    uint32_t *first = rounds->first;
    twin__union_begin(first, rounds->provider->count);
    for (size_t i = 0; i < pairs->count && rounds->options->mode == TWIN__JOIN_KEPT; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        first[b] = a < first[b] ? a : first[b];
    }
}

/* Whether the second document is certainly dropped if the two are similar. */
static bool decides(const struct rounds *rounds, uint32_t low, uint32_t high)
{
    return rounds->first[high] == low && rounds->first[low] == low && !rounds->pending[low];
}

/* Whether the pair is of the spanning forest; then its trees are united. */
static bool connects(const struct rounds *rounds, uint32_t low, uint32_t high)
{
    uint32_t a = twin__union_root(rounds->first, low), b = twin__union_root(rounds->first, high);
    if (a != b)
        twin__union_join(rounds->first, a, b);
    return a != b;
}

/* Moves the pairs of a round to the front; returns how many they are. */
static size_t choose_pairs(struct rounds *rounds, struct twin__pairs *pairs)
{
    size_t chosen = 0;
    find_firsts(rounds, pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        uint64_t pair = pairs->items[i];
        uint32_t low = twin__pair_low(pair), high = twin__pair_high(pair);
        if (!(rounds->options->mode == TWIN__JOIN_KEPT ? decides : connects)(rounds, low, high))
            continue;
        pairs->items[i] = pairs->items[chosen];
        pairs->items[chosen++] = pair;
    }
    return chosen;
}

/* ---- comparing them ---- */

/* Compares the first `count` pairs. If these are `certain`, the second of those that are similar are dropped. */
static twin_status compare_round(struct rounds *rounds, const struct twin__pairs *pairs, size_t count, bool certain,
                                 twin_error *error)
{
    uint32_t *components = rounds->options->components;
    struct twin__pairs some = { .items = pairs->items, .count = count };
    twin_matches found = { 0 }, *out = components ? &found : rounds->out;
    size_t before = out->count;
    *rounds->compared += count;
    twin_status status = twin__verify_pairs(out, rounds->provider, &some, rounds->options->verify, error);
    for (size_t i = before; certain && rounds->dropped && status == TWIN_OK && i < out->count; i++)
        rounds->dropped[out->items[i].b] = true;
    for (size_t i = 0; i < found.count && status == TWIN_OK; i++)
        if (twin__components_add(rounds->out, components, found.items[i]) != TWIN_OK)
            status = twin__fail_memory(error);
    if (components)
        twin__union_flatten(components, rounds->provider->count);
    twin__matches_clear(&found);
    return status;
}

static twin_status compare_list(struct rounds *rounds, struct twin__pairs *pairs, twin_error *error)
{
    enum { ROUNDS = 2 };
    enum twin__join_mode mode = rounds->options->mode;
    twin_status status = TWIN_OK;
    /* Which pairs are of a forest depends on their order, which depends on the workers that found them. */
    if (mode == TWIN__JOIN_CONNECT && !twin__sort_many_numbers(pairs->items, pairs->count))
        return twin__fail_memory(error);
    drop_unneeded(pairs, 0, rounds);
    for (int round = mode == TWIN__JOIN_ALL || twin__switched_off.rounds ? ROUNDS : 0;
         pairs->count && status == TWIN_OK; round++) {
        size_t count = round < ROUNDS ? choose_pairs(rounds, pairs) : pairs->count;
        status = compare_round(rounds, pairs, count, round < ROUNDS, error);
        drop_unneeded(pairs, count, rounds);
    }
    pairs->count = 0;
    return status;
}

/* ---- batches ---- */

static int by_later(const void *a, const void *b)
{
    const twin_match *x = a, *y = b;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return (x->a > y->a) - (x->a < y->a);
}

/* From the matches of a batch to what is dropped: what is similar to a kept document is; what is similar to a pending one is
 * pending itself. */
static void decide_pending(struct rounds *rounds, twin_match *matches, size_t count)
{
    bool *pending = rounds->pending;
    qsort(matches, count, sizeof *matches, by_later);
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t document = matches[i].b;
        bool is_dropped = rounds->dropped[document], may_be = false;
        for (end = i; end < count && matches[end].b == document; end++) {
            uint32_t other = matches[end].a;
            is_dropped |= !rounds->dropped[other] && !pending[other];
            may_be |= !rounds->dropped[other] && pending[other];
        }
        rounds->dropped[document] = is_dropped;
        pending[document] |= may_be;
    }
}

static twin_status compare_batches(struct rounds *rounds, twin_error *error)
{
    struct twin__pair_batches batches;
    struct twin__pairs pairs = { 0 };
    twin_status status = twin__pair_batches_init(&batches, rounds->options->overflow, error);
    while (status == TWIN_OK && batches.has_next) {
        size_t before = rounds->out->count;
        status = twin__pair_batches_next(&pairs, &batches, is_needed, rounds, error);
        if (status == TWIN_OK)
            status = compare_list(rounds, &pairs, error);
        if (status == TWIN_OK && rounds->dropped && rounds->out->count > before)
            decide_pending(rounds, rounds->out->items + before, rounds->out->count - before);
    }
    twin__pair_batches_clear(&batches);
    free(pairs.items);
    return status;
}

/* ---- all of it ---- */

static bool rounds_init(struct rounds *rounds)
{
    size_t count = rounds->provider->count + 1;
    const struct twin__groups *joined = rounds->options->joined;
    if (rounds->options->mode == TWIN__JOIN_ALL)
        return true;
    rounds->first = malloc(count * sizeof *rounds->first);
    if (rounds->options->mode == TWIN__JOIN_CONNECT)
        return rounds->first != NULL;
    rounds->dropped = calloc(count, sizeof *rounds->dropped);
    rounds->pending = calloc(count, sizeof *rounds->pending);
    if (!rounds->first || !rounds->dropped || !rounds->pending)
        return false;
    for (size_t i = 0; i < joined->count; i++)
        for (size_t k = 0; k < joined->items[i].count; k++)
            rounds->pending[joined->documents[joined->items[i].begin + k]] = true;
    return true;
}

twin_status twin__pair_rounds(twin_matches *out, uint64_t *compared, const struct twin__provider *provider,
                              struct twin__pairs *pairs, const struct twin__pair_rounds_options *options,
                              twin_error *error)
{
    struct rounds rounds = { .provider = provider, .options = options, .out = out, .compared = compared };
    twin_status status;
    if (!rounds_init(&rounds))
        status = twin__fail_memory(error);
    else
        status = options->overflow ? compare_batches(&rounds, error) : compare_list(&rounds, pairs, error);
    free(rounds.first);
    free(rounds.dropped);
    free(rounds.pending);
    return status;
}

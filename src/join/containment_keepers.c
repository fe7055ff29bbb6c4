/* containment_keepers.c — of the pairs with a set contained in another, those that decide which documents stay.
 *
 * A family of n texts that contain each other has n²/2 similar pairs. Who stays follows from fewer: the first documents in
 * the order of preference are decided among themselves; whatever is similar to one of those that stay goes, and need not be
 * compared with anything else. So, in rounds:
 *
 *   1. The first 64 documents, or 256, are compared with each other. Those that stay are the pivots; all their items are
 *      indexed.
 *   2. A sample of the other documents is looked up. If few of them are similar to a pivot there is no family worth it, and the
 *      rounds end.
 *   3. All others are looked up, by all workers: the items that a document has in common with each pivot are counted. It goes
 *      for the first pivot that it is similar to.
 *
 * Of two collections, the pivots are documents of the second, whatever they are similar to, and those of the first are looked
 * up.
 *
 * What is left is joined as a whole (containment_join.h). A document that is left is similar to no pivot, so that the first
 * pivot that another went for is the most preferred document that stays for it. */
#include "join/containment_keepers.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/stages.h"
#include "join/containment_private.h"

enum {
    FEW_PIVOTS = 64,
    MOST_PIVOTS = 256,
    NO_PIVOT = MOST_PIVOTS,
    MOST_ITEMS = 1 << 20, /* of the documents that may be pivots */
    FEWEST_DOCUMENTS = 1024,
    SAMPLE = 128,
    SAMPLE_PER_HIT = 4 /* a round is worth it if at least one in so many goes */
};

/* Where a document was found. */
struct found {
    uint16_t pivot;
    double similarity;
};

struct state {
    const struct twin__provider *provider;
    const struct twin__containment_options *options;
    const struct twin__deciding_options *deciding;
    twin_matches *matches;
    uint32_t *todo; /* undecided documents; once they are ordered, the most preferred first */
    size_t todo_count;
    struct twin__set_index pivots;
    struct twin__containment_worker *workers;
    uint32_t *others; /* of two collections, those of the second that were no pivots, in order */
    size_t other_count;
    size_t head;                /* of those to do, or of the others, so many were compared with each other: */
    struct found *head_found;   /* pivots are found nowhere */
    const uint32_t *looking_up; /* documents, and where they are found */
    struct found *found;
};

/* ---- pivots ---- */

/* Fetches and divides a document. */
static twin_status divide(struct twin__divided_set *out, struct state *state, uint32_t document, int worker,
                          twin_error *error)
{
    twin_set items;
    twin_status status = twin__provider_items(&items, state->provider, document, worker, error);
    if (status == TWIN_OK && !twin__containment_divide(out, &state->workers[worker], &state->pivots.frequent, items))
        status = twin__fail_memory(error);
    return status;
}

/* The first pivot that is similar to a set. */
static twin_status find_pivot(struct found *out, struct state *state, struct twin__divided_set set, int worker,
                              twin_error *error)
{
    struct twin__index_query query = { .set = set, .end = state->pivots.count };
    size_t member;
    if (!twin__set_index_first(&member, &out->similarity, &state->workers[worker].scratch, &state->pivots, &query))
        return twin__fail_memory(error);
    out->pivot = member < state->pivots.count ? (uint16_t)member : NO_PIVOT;
    return TWIN_OK;
}

/* Of two collections, every document of the second may be a pivot. */
static bool has_sides(const struct state *state)
{
    return state->provider->split > 0;
}

/* Of the first documents of a list another is decided: a pivot, unless it is similar to one before. */
static twin_status take_head(struct state *state, uint32_t document, struct twin__divided_set set, twin_error *error)
{
    struct found found = { .pivot = NO_PIVOT };
    twin_status status = has_sides(state) ? TWIN_OK : find_pivot(&found, state, set, 0, error);
    if (status != TWIN_OK)
        return status;
    state->head_found[state->head++] = found;
    return found.pivot != NO_PIVOT || set.size == 0 || twin__set_index_add(&state->pivots, document, set)
               ? TWIN_OK
               : twin__fail_memory(error);
}

/* Chooses pivots among the first `most` documents to do, or of the second collection. */
static twin_status choose_pivots(struct state *state, size_t most, twin_error *error)
{
    const uint32_t *from = has_sides(state) ? state->others : state->todo;
    size_t count = has_sides(state) ? state->other_count : state->todo_count, items = 0;
    struct twin__set_source source = { .provider = state->provider, .documents = from, .count = count };
    twin__set_index_clear(&state->pivots);
    twin_status status =
        twin__set_index_init(&state->pivots, &source, TWIN_CONTAINMENT, state->options->threshold, error);
    state->head = 0;
    while (state->head < most && state->head < count && status == TWIN_OK) {
        struct twin__divided_set set;
        uint32_t document = from[state->head];
        status = divide(&set, state, document, 0, error);
        if (status != TWIN_OK || items + set.size > MOST_ITEMS)
            break;
        items += set.size;
        status = take_head(state, document, set, error);
    }
    return status;
}

/* ---- looking up ---- */

static twin_status look_up_some(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct state *state = context;
    struct twin__divided_set set;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++) {
        status = divide(&set, state, state->looking_up[i], worker, error);
        if (status == TWIN_OK)
            status = find_pivot(&state->found[i], state, set, worker, error);
    }
    return status;
}

static twin_status look_up(struct found *out, struct state *state, const uint32_t *documents, size_t count,
                           twin_error *error)
{
    enum { AT_A_TIME = 8 };
    state->looking_up = documents;
    state->found = out;
    return twin__exec_try(state->options->exec, count, AT_A_TIME, look_up_some, state, error);
}

/* Where those begin that are to be looked up. */
static size_t behind_head(const struct state *state)
{
    return has_sides(state) ? 0 : state->head;
}

/* Whether many of the documents behind the first are similar to a pivot. */
static twin_status try_pivots(bool *out, struct state *state, size_t most, twin_error *error)
{
    struct found found[SAMPLE];
    uint32_t sample[SAMPLE];
    size_t hits = 0;
    twin_status status = choose_pivots(state, most, error);
    size_t begin = behind_head(state);
    for (size_t i = 0; i < SAMPLE; i++)
        sample[i] = state->todo[begin + i * (state->todo_count - begin) / SAMPLE];
    if (status == TWIN_OK)
        status = look_up(found, state, sample, SAMPLE, error);
    for (size_t i = 0; i < SAMPLE && status == TWIN_OK; i++)
        hits += found[i].pivot != NO_PIVOT;
    *out = hits * SAMPLE_PER_HIT >= SAMPLE;
    return status;
}

/* The same with few pivots, and with more. */
static twin_status find_pivots(bool *out, struct state *state, twin_error *error)
{
    *out = false;
    if (state->todo_count < FEWEST_DOCUMENTS || (has_sides(state) && state->other_count == 0))
        return TWIN_OK;
    twin_status status = try_pivots(out, state, FEW_PIVOTS, error);
    if (status == TWIN_OK && !*out)
        status = try_pivots(out, state, MOST_PIVOTS, error);
    return status;
}

/* ---- rounds ---- */

static twin_status add_match(struct state *state, uint32_t document, struct found found, twin_error *error)
{
    uint32_t pivot = state->pivots.members[found.pivot].document;
    twin_match match = { pivot < document ? pivot : document, pivot < document ? document : pivot, found.similarity };
    return twin__matches_add(state->matches, match) == TWIN_OK ? TWIN_OK : twin__fail_memory(error);
}

/* Whoever is similar to a pivot goes; the others, pivots apart, are still to do. */
static twin_status drop_found(struct state *state, const struct found *found, twin_error *error)
{
    size_t left = 0, begin = behind_head(state);
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < state->todo_count && status == TWIN_OK; i++) {
        uint32_t document = state->todo[i];
        struct found here = i < begin ? state->head_found[i] : found[i - begin];
        if (here.pivot != NO_PIVOT)
            status = add_match(state, document, here, error);
        else if (i >= begin)
            state->todo[left++] = document;
    }
    state->todo_count = left;
    if (has_sides(state)) {
        state->others += state->head;
        state->other_count -= state->head;
    }
    return status;
}

static twin_status work_on_round(struct state *state, twin_error *error)
{
    size_t begin = behind_head(state), others = state->todo_count - begin;
    struct found *found = malloc((others + 1) * sizeof *found);
    if (!found)
        return twin__fail_memory(error);
    twin_status status = look_up(found, state, state->todo + begin, others, error);
    if (status == TWIN_OK)
        status = drop_found(state, found, error);
    free(found);
    size_t count = state->provider->signatures.count;
    if (state->options->progress.report)
        (void)twin__report(&twin__stage_joining, count - state->todo_count, count);
    return status;
}

/* Puts the documents to do in the order of preference. */
static twin_status make_order(struct state *state, twin_error *error)
{
    const uint32_t *order = NULL;
    size_t count = 0;
    bool *is_joined = calloc(state->provider->count + 1, sizeof *is_joined);
    if (!is_joined)
        return twin__fail_memory(error);
    for (size_t i = 0; i < state->todo_count; i++)
        is_joined[state->todo[i]] = true;
    twin_status status =
        state->deciding->order(&order, state->deciding->context, state->todo, state->todo_count, error);
    for (size_t i = 0; i < state->provider->count && status == TWIN_OK; i++)
        if (is_joined[order[i]])
            state->todo[count++] = order[i];
    free(is_joined);
    return status;
}

/* In the order of the input it is only tried whether there are families: the order of preference takes time to find. */
static twin_status work_on_rounds(struct state *state, twin_error *error)
{
    bool is_worth = false;
    twin_status status = find_pivots(&is_worth, state, error);
    if (status != TWIN_OK || !is_worth)
        return status;
    if (!has_sides(state)) {
        status = make_order(state, error);
        if (status == TWIN_OK)
            status = find_pivots(&is_worth, state, error);
    }
    while (status == TWIN_OK && is_worth) {
        status = work_on_round(state, error);
        if (status == TWIN_OK)
            status = find_pivots(&is_worth, state, error);
    }
    return status;
}

/* ---- all of it ---- */

/* Those of the second collection are behind those of the first, where there was room for them. */
static void list_rest(struct state *state)
{
    if (state->other_count)
        memmove(state->todo + state->todo_count, state->others, state->other_count * sizeof *state->todo);
    state->todo_count += state->other_count;
}

static twin_status join_rest(struct state *state, struct twin__containment_counts *counts, twin_error *error)
{
    struct twin__provider rest = *state->provider;
    struct twin__containment_counts joined;
    list_rest(state);
    rest.signatures.documents = state->todo;
    rest.signatures.count = state->todo_count;
    twin_status status = twin__containment_join(state->matches, &joined, &rest, *state->options, error);
    counts->compared += joined.compared;
    counts->incomplete = joined.incomplete;
    return status;
}

/* The documents of the second collection are the last. */
static void set_aside_second(struct state *state)
{
    size_t all = state->todo_count;
    while (has_sides(state) && state->todo_count && state->todo[state->todo_count - 1] >= state->provider->split)
        state->todo_count--;
    state->others = state->todo + state->todo_count;
    state->other_count = all - state->todo_count;
}

twin_status twin__containment_keepers(twin_matches *out, struct twin__containment_counts *counts,
                                      const struct twin__provider *provider, struct twin__containment_options options,
                                      const struct twin__deciding_options *deciding, twin_error *error)
{
    struct state state = { .provider = provider,
                           .options = &options,
                           .deciding = deciding,
                           .matches = out,
                           .todo_count = provider->signatures.count };
    *counts = (struct twin__containment_counts){ 0 };
    state.todo = malloc((state.todo_count + 1) * sizeof *state.todo);
    state.head_found = malloc(MOST_PIVOTS * sizeof *state.head_found);
    state.workers = calloc((size_t)options.exec.workers, sizeof *state.workers);
    twin_status status = state.todo && state.head_found && state.workers ? TWIN_OK : twin__fail_memory(error);
    if (status == TWIN_OK) {
        if (state.todo_count)
            memcpy(state.todo, provider->signatures.documents, state.todo_count * sizeof *state.todo);
        set_aside_second(&state);
        status = work_on_rounds(&state, error);
    }
    if (status == TWIN_OK)
        status = join_rest(&state, counts, error);
    for (int i = 0; state.workers && i < options.exec.workers; i++) {
        counts->compared += state.workers[i].scratch.compared;
        twin__containment_worker_clear(&state.workers[i]);
    }
    twin__set_index_clear(&state.pivots);
    free(state.workers);
    free(state.todo);
    free(state.head_found);
    return status;
}

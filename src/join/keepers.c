/* keepers.c — the similar pairs within crowds that decide which documents stay.
 *
 * A family of n near-copies has n²/2 similar pairs, but to drop all but one of them n are enough: each with the one that
 * stays. Who stays is defined by an order of preference alone: a document stays unless it is similar to one that stays and
 * comes earlier. This holds for one set of documents only, so any way that ends with
 *   (1) no similar pair among those that stay, and
 *   (2) for each of the others a verified match with an earlier one that stays
 * has found it.
 *
 *   1. Peeling: documents of a crowd that agree in a dozen slots in a row are probably near-copies. Each is compared with the
 *      first of them in the order, and set aside if they are similar. Other slots, again and again, as long as
 *      that takes away a good part of the crowd. What is set aside is compared a few times at most.
 *   2. What is left, few of each family, is joined exactly (crowd_join.c): all its similar pairs are known.
 *   3. From all matches follows who would stay. One that was set aside for a document that does not stay itself is compared
 *      with whoever stays for that one. If even that is not similar, it returns to those left, and 2 and 3
 *      are repeated until nothing returns. After a hundred rounds the whole crowd is joined, which ends it in any case.
 *
 * All of it depends on signatures, sets and the order, and not on time or threads. */
#include "join/keepers.h"

#include <stdlib.h>
#include <string.h>
#include <twinsift/cluster.h>

#include "base/error.h"
#include "join/crowd_join.h"
#include "join/verify.h"
#include "kernels/sort.h"

#define NOBODY UINT32_MAX

/* The documents of a crowd that are left, in the order of preference. */
struct left {
    uint32_t *items;
    size_t count;
    const struct twin__crowd *crowd;
    bool is_joined; /* all its similar pairs are known */
};

struct state {
    const struct twin__provider *provider;
    const struct twin__deciding_options *options;
    const struct twin__crowds *crowds;
    struct twin__gate gate;
    twin_matches *matches;
    uint64_t *compared;
    const uint32_t *order; /* all documents */
    uint32_t *rank;        /* of each document its place in the order */
    uint32_t *for_whom;    /* of each document set aside, for which; NOBODY: it is left, or in no crowd */
    uint32_t *keeper;      /* of each document who would stay for it */
    bool *joined;          /* of each document whether it was part of the latest join of its crowd */
    struct left *left;     /* crowd after crowd */
    size_t left_count;
    uint32_t *room; /* of all `left` */
    struct twin__pairs pairs;
    uint64_t *keys, *spare;
};

/* ---- the order ---- */

/* Lists each document of the matches and of the chosen crowds once. Returns how many. */
static size_t list_involved(uint32_t *out, bool *seen, const struct state *state)
{
    size_t count = 0;
    for (size_t i = 0; i < state->matches->count; i++)
        seen[state->matches->items[i].a] = seen[state->matches->items[i].b] = true;
    for (size_t i = 0; i < state->left_count; i++)
        for (size_t k = 0; k < state->left[i].count; k++)
            seen[state->left[i].items[k]] = true;
    for (size_t i = 0; i < state->provider->count; i++)
        if (seen[i])
            out[count++] = (uint32_t)i;
    return count;
}

static twin_status make_order(struct state *state, twin_error *error)
{
    size_t count = state->provider->count;
    uint32_t *involved = malloc((count + 1) * sizeof *involved);
    bool *seen = calloc(count + 1, sizeof *seen);
    twin_status status = TWIN_ENOMEM;
    if (!involved || !seen)
        twin__fail_memory(error);
    else
        status = state->options->order(&state->order, state->options->context, involved,
                                       list_involved(involved, seen, state), error);
    for (size_t i = 0; i < count && status == TWIN_OK; i++)
        state->rank[state->order[i]] = (uint32_t)i;
    free(involved);
    free(seen);
    return status;
}

/* Sorts what is left of a crowd by rank; `keys` and `spare` have room for it. */
static void sort_left(struct left *left, const struct state *state)
{
    for (size_t i = 0; i < left->count; i++)
        state->keys[i] = (uint64_t)state->rank[left->items[i]] << 32 | left->items[i];
    twin__sort(state->keys, state->spare, left->count);
    for (size_t i = 0; i < left->count; i++)
        left->items[i] = (uint32_t)state->keys[i];
}

/* ---- comparing ---- */

/* The matches of these pairs are added; of each, the later document is set aside for the earlier. */
static twin_status compare_pairs(struct state *state, twin_error *error)
{
    const twin_similar_options *search = state->options->search;
    struct twin__set_rule rule = { search->measure, search->threshold };
    struct twin__verify_options verify = { twin__compare_sets(&rule), search->exec, { 0 } };
    size_t before = state->matches->count;
    twin_status status = twin__verify_pairs(state->matches, state->provider, &state->pairs, verify, error);
    *state->compared += state->pairs.count;
    state->pairs.count = 0;
    for (size_t i = before; i < state->matches->count && status == TWIN_OK; i++) {
        twin_match match = state->matches->items[i];
        bool a_first = state->rank[match.a] < state->rank[match.b];
        state->for_whom[a_first ? match.b : match.a] = a_first ? match.a : match.b;
    }
    return status;
}

static void drop_set_aside(struct left *left, const struct state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < left->count; i++)
        if (state->for_whom[left->items[i]] == NOBODY)
            left->items[kept++] = left->items[i];
    left->count = kept;
}

/* ---- peeling ---- */

/* Slots that must agree. Near-copies, J = .9, do so with probability .28, documents of one template at J = .75 with .03. */
enum { KEY_SLOTS = 12 };

static uint64_t key_of(const uint32_t *signature, size_t slots, size_t from)
{
    uint64_t key = from;
    for (size_t i = 0; i < KEY_SLOTS; i++)
        key = twin_hash_mix(key ^ signature[(from + i) % slots]);
    return key;
}

/* Those with the same key are compared with the first of them, as far as the gate allows. */
static twin_status peel_once(struct left *left, struct state *state, size_t from, twin_error *error)
{
    const struct twin__provider *provider = state->provider;
    size_t slots = provider->signatures.slots;
    for (size_t i = 0; i < left->count; i++) {
        uint64_t key = key_of(twin__provider_signature(provider, left->items[i]), slots, from);
        state->keys[i] = (key & ~(uint64_t)UINT32_MAX) | i;
    }
    twin__sort(state->keys, state->spare, left->count);
    for (size_t i = 1, first = 0; i < left->count; i++) {
        uint32_t a = left->items[(uint32_t)state->keys[first]], b = left->items[(uint32_t)state->keys[i]];
        if (state->keys[i] >> 32 != state->keys[first] >> 32)
            first = i;
        else if (twin__gate_passes(&state->gate, provider, a, b) && !twin__pairs_add(&state->pairs, twin__pair(a, b)))
            return twin__fail_memory(error);
    }
    twin_status status = compare_pairs(state, error);
    if (status == TWIN_OK)
        drop_set_aside(left, state);
    return status;
}

static twin_status peel(struct left *left, struct state *state, twin_error *error)
{
    enum { MOST_PASSES = 6, STEP = 5, FEWEST = 256 };
    size_t slots = state->provider->signatures.slots, before = 0;
    twin_status status = TWIN_OK;
    if (slots < 2 * KEY_SLOTS)
        return TWIN_OK;
    for (size_t pass = 0; pass < MOST_PASSES && left->count >= FEWEST && status == TWIN_OK; pass++) {
        if (pass > 0 && left->count > before - before / 4)
            break; /* hardly any near-copies are left */
        before = left->count;
        for (size_t from = 0; from + KEY_SLOTS <= slots && status == TWIN_OK; from += KEY_SLOTS)
            status = peel_once(left, state, from + pass * STEP, error);
    }
    return status;
}

/* ---- joining what is left ---- */

static twin_status join_left(struct left *left, struct state *state, twin_error *error)
{
    const twin_similar_options *search = state->options->search;
    struct twin__crowd_counts joined;
    struct twin__crowd_options options = { .threshold = search->threshold,
                                           .exec = search->exec,
                                           .progress = search->progress };
    struct twin__crowd_documents documents = { left->items, left->count };
    for (size_t i = 0; i < left->crowd->count; i++)
        state->joined[state->crowds->documents[left->crowd->begin + i]] = false;
    for (size_t i = 0; i < left->count; i++)
        state->joined[left->items[i]] = true;
    twin_status status = twin__crowd_join(state->matches, &joined, state->provider, documents, options, error);
    *state->compared += joined.compared;
    return status;
}

/* ---- who returns ---- */

static bool would_stay(const struct state *state, uint32_t document)
{
    return state->keeper[document] == document;
}

static twin_status who_stays(struct state *state, twin_error *error)
{
    twin_status status = twin_cluster_keepers(state->keeper, NULL, state->provider->count, state->matches->items,
                                              state->matches->count, state->order);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

/* Compares documents that nobody stays for, since the one they were set aside for does not, with the one that stays for
 * that one. *found becomes how many there are. */
static twin_status find_others(size_t *found, struct state *state, twin_error *error)
{
    *found = 0;
    for (uint32_t i = 0; i < state->provider->count; i++) {
        uint32_t aside = state->for_whom[i];
        if (aside == NOBODY || !would_stay(state, i))
            continue;
        uint32_t other = state->keeper[aside];
        ++*found;
        state->for_whom[i] = NOBODY;
        if (twin__gate_passes(&state->gate, state->provider, i, other) &&
            !twin__pairs_add(&state->pairs, twin__pair(i, other)))
            return twin__fail_memory(error);
    }
    return compare_pairs(state, error);
}

/* Ends, since whoever one is set aside for comes earlier in the order each time. */
static twin_status settle(struct state *state, twin_error *error)
{
    size_t found = 1;
    twin_status status = TWIN_OK;
    while (found && status == TWIN_OK) {
        status = who_stays(state, error);
        if (status == TWIN_OK)
            status = find_others(&found, state, error);
    }
    return status;
}

/* What is left of a crowd from now on: those that would stay, or all of it. */
static void take_back(struct left *left, struct state *state, bool all)
{
    const uint32_t *documents = state->crowds->documents + left->crowd->begin;
    left->count = 0;
    left->is_joined = true;
    for (size_t i = 0; i < left->crowd->count; i++) {
        if (!all && !would_stay(state, documents[i]))
            continue;
        left->items[left->count++] = documents[i];
        left->is_joined &= state->joined[documents[i]];
    }
    sort_left(left, state);
}

/* One round; *done becomes whether all is decided. */
static twin_status decide(bool *done, struct state *state, bool all, twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < state->left_count && status == TWIN_OK; i++)
        if (!state->left[i].is_joined)
            status = join_left(&state->left[i], state, error);
    if (status == TWIN_OK)
        status = settle(state, error);
    *done = true;
    for (size_t i = 0; i < state->left_count && status == TWIN_OK; i++) {
        take_back(&state->left[i], state, all);
        *done &= state->left[i].is_joined;
    }
    return status;
}

/* ---- all of it ---- */

static bool state_init(struct state *state, const bool *chosen)
{
    size_t count = state->provider->count, most = 0, used = 0;
    for (size_t i = 0; i < state->crowds->count; i++)
        most += chosen[i] ? state->crowds->items[i].count : 0;
    state->rank = malloc((count + 1) * sizeof *state->rank);
    state->for_whom = malloc((count + 1) * sizeof *state->for_whom);
    state->keeper = malloc((count + 1) * sizeof *state->keeper);
    state->joined = calloc(count + 1, sizeof *state->joined);
    state->left = calloc(state->crowds->count + 1, sizeof *state->left);
    state->room = malloc((most + 1) * sizeof *state->room);
    state->keys = malloc((most + 1) * sizeof *state->keys);
    state->spare = malloc((most + 1) * sizeof *state->spare);
    if (!state->rank || !state->for_whom || !state->keeper || !state->joined || !state->left || !state->room ||
        !state->keys || !state->spare)
        return false;
    for (size_t i = 0; i < count; i++)
        state->for_whom[i] = NOBODY;
    for (size_t i = 0; i < state->crowds->count; i++) {
        const struct twin__crowd *crowd = &state->crowds->items[i];
        if (!chosen[i])
            continue;
        struct left *left = &state->left[state->left_count++];
        *left = (struct left){ .items = state->room + used, .count = crowd->count, .crowd = crowd };
        memcpy(left->items, state->crowds->documents + crowd->begin, crowd->count * sizeof *left->items);
        used += crowd->count;
    }
    return true;
}

static void state_clear(struct state *state)
{
    free(state->rank);
    free(state->for_whom);
    free(state->keeper);
    free(state->joined);
    free(state->left);
    free(state->room);
    free(state->keys);
    free(state->spare);
    free(state->pairs.items);
}

static twin_status find(struct state *state, twin_error *error)
{
    enum { ROUNDS = 100 };
    twin_status status = make_order(state, error);
    for (size_t i = 0; i < state->left_count && status == TWIN_OK; i++) {
        sort_left(&state->left[i], state);
        status = peel(&state->left[i], state, error);
    }
    bool done = false;
    for (int round = 1; !done && status == TWIN_OK; round++)
        status = decide(&done, state, round > ROUNDS, error);
    return status;
}

twin_status twin__keepers_join(twin_matches *matches, uint64_t *compared, const struct twin__provider *provider,
                               const struct twin__crowds *crowds, const bool *chosen,
                               const struct twin__deciding_options *options, twin_error *error)
{
    const twin_similar_options *search = options->search;
    struct state state = {
        .provider = provider, .options = options, .crowds = crowds, .matches = matches, .compared = compared
    };
    state.gate = twin__gate_make(search->measure, search->threshold, search->verify, provider->signatures.slots);
    twin_status status = state_init(&state, chosen) ? find(&state, error) : twin__fail_memory(error);
    state_clear(&state);
    return status;
}

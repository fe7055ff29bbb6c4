/* crowd_lookup.c — which documents of a block have enough tokens in common with another.
 *
 * A document goes through the posting lists of its tokens and counts for each document it meets how many of them lie
 * within the prefixes that these two sizes need. Those with enough become candidate pairs. */
#include "join/crowd_private.h"

#include <stdlib.h>

/* A document on its way through the index. */
struct lookup {
    const struct twin__crowd_state *crowd;
    struct twin__crowd_worker *worker;
    size_t rank, size;
    size_t low, high; /* ranks of possible partners */
};

static void meet(const struct lookup *lookup, struct twin__crowd_hits *hits, uint32_t other)
{
    const struct twin__crowd_state *crowd = lookup->crowd;
    size_t size = twin__crowd_size(crowd, crowd->block.begin + other),
           overlap = twin__crowd_overlap(crowd, lookup->size, size);
    size_t in_common = twin__crowd_wanted(size, overlap);
    hits->most_own = (uint32_t)twin__crowd_prefix_length(lookup->size, overlap, in_common);
    size_t step = (twin__crowd_prefix_length(size, overlap, in_common) - 1) >> crowd->step_shift;
    hits->most_others = (uint8_t)(step < TWIN__CROWD_MOST_STEPS ? step : TWIN__CROWD_MOST_STEPS);
    lookup->worker->met[lookup->worker->met_count++] = other;
}

static void look_up_among(const struct lookup *lookup, const struct twin__sorted_entries *sorted, uint64_t token,
                          size_t position)
{
    const struct twin__crowd_block *block = &lookup->crowd->block;
    uint64_t hash = twin__crowd_token_hash(token) << TWIN__CROWD_HASH_SHIFT;
    uint64_t end = hash | (uint64_t)(lookup->high - block->begin) << TWIN__CROWD_STEP_BITS;
    const uint64_t *entries = sorted->items;
    for (size_t i =
             twin__entries_find(sorted, hash | (uint64_t)(lookup->low - block->begin) << TWIN__CROWD_STEP_BITS);
         i < sorted->count && entries[i] < end; i++) {
        uint32_t other = entries[i] >> TWIN__CROWD_STEP_BITS & ((1 << TWIN__CROWD_RANK_BITS) - 1);
        struct twin__crowd_hits *hits = &lookup->worker->hits[other];
        if (hits->most_own == 0)
            meet(lookup, hits, other);
        if (position < hits->most_own && (entries[i] & TWIN__CROWD_MOST_STEPS) <= hits->most_others &&
            hits->count < UINT16_MAX)
            hits->count++;
    }
}

/* Documents of the largest component need not meet each other. */
static void look_up_token(const struct lookup *lookup, uint64_t token, size_t position)
{
    const struct twin__crowd_state *crowd = lookup->crowd;
    look_up_among(lookup, &crowd->block.entries[0], token, position);
    if (crowd->owners.is_largest && !crowd->owners.is_largest[lookup->rank])
        look_up_among(lookup, &crowd->block.entries[1], token, position);
}

static bool is_wanted(const struct twin__crowd_state *crowd, uint32_t a, uint32_t b)
{
    const struct twin__components *components = crowd->options.components;
    return components ? components->group[a] != components->group[b] : twin__provider_wants(crowd->provider, a, b);
}

/* Those with enough hits become pairs; all are forgotten. */
static void take_met(const struct lookup *lookup)
{
    const struct twin__crowd_state *crowd = lookup->crowd;
    struct twin__crowd_worker *worker = lookup->worker;
    for (size_t i = 0; i < worker->met_count; i++) {
        size_t rank = crowd->block.begin + worker->met[i], size = twin__crowd_size(crowd, rank);
        struct twin__crowd_hits *hits = &worker->hits[worker->met[i]];
        uint32_t own = twin__crowd_document(crowd, lookup->rank), other = twin__crowd_document(crowd, rank);
        if (hits->count >= twin__crowd_wanted(size, twin__crowd_overlap(crowd, lookup->size, size)) &&
            is_wanted(crowd, own, other) && !twin__pairs_add(&worker->pairs, twin__pair(own, other)))
            worker->no_memory = true;
        *hits = (struct twin__crowd_hits){ 0 };
    }
    worker->met_count = 0;
}

/* Looks up all tokens of the document: those kept, if it is of the block, else it is fetched. */
static twin_status look_up(const struct lookup *lookup, int number, twin_error *error)
{
    const struct twin__crowd_state *crowd = lookup->crowd;
    const struct twin__crowd_block *block = &crowd->block;
    if (lookup->rank < block->end) {
        const struct twin__crowd_prefix *prefix = &block->prefixes[lookup->rank - block->begin];
        for (size_t t = 0; t < prefix->count; t++)
            look_up_token(lookup, block->tokens.items[prefix->begin + t], prefix->first + t);
        return TWIN_OK;
    }
    struct twin__crowd_tokens *tokens = &lookup->worker->tokens;
    size_t length = twin__crowd_looked_up_prefix(crowd, lookup->size, twin__crowd_size(crowd, lookup->low));
    twin_status status = twin__crowd_list_tokens(tokens, crowd, lookup->rank, length, number, error);
    for (size_t t = 0; t < tokens->count && status == TWIN_OK; t++)
        look_up_token(lookup, tokens->items[t], tokens->first + t);
    return status;
}

twin_status twin__crowd_look_up(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct twin__crowd_state *crowd = context;
    for (size_t i = begin; i < end; i++) {
        struct lookup lookup = { crowd, &crowd->workers[number], .rank = crowd->first_rank + i };
        lookup.size = twin__crowd_size(crowd, lookup.rank);
        lookup.high = lookup.rank < crowd->block.end ? lookup.rank : crowd->block.end;
        lookup.low = twin__crowd_lowest_partner(crowd, lookup.size, crowd->block.begin, lookup.high);
        if (lookup.low >= lookup.high)
            continue;
        twin_status status = look_up(&lookup, number, error);
        if (status != TWIN_OK)
            return status;
        take_met(&lookup);
    }
    return TWIN_OK;
}

twin_status twin__crowd_gather_pairs(struct twin__pairs *out, struct twin__crowd_state *crowd, twin_error *error)
{
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct twin__crowd_worker *worker = &crowd->workers[i];
        if (worker->no_memory || !twin__pairs_append(out, &worker->pairs))
            return twin__fail_memory(error);
        worker->pairs.count = 0;
    }
    return TWIN_OK;
}

twin_status twin__crowd_make_hits(struct twin__crowd_state *crowd, twin_error *error)
{
    size_t documents = crowd->block.end - crowd->block.begin;
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct twin__crowd_worker *worker = &crowd->workers[i];
        free(worker->hits);
        free(worker->met);
        worker->hits = calloc(documents + 1, sizeof *worker->hits);
        worker->met = malloc((documents + 1) * sizeof *worker->met);
        if (!worker->hits || !worker->met)
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

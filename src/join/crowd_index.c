/* crowd_index.c — the tokens of a block of documents, as sorted posting lists.
 *
 * Documents are added in order of size until the block has enough tokens. Those that the index needs become entries:
 * hash of the token, document, position. Sorted, the entries of one hash are a posting list in order of size, and a
 * table of starts finds it. */
#include "join/crowd_private.h"

#include <stdlib.h>

#include "base/array.h"
#include "join/join_private.h"

size_t twin__crowd_lowest_partner(const struct twin__crowd_state *crowd, size_t size, size_t low, size_t high)
{
    size_t count = high - low;
    while (count > 0) {
        size_t half = count / 2, other = twin__crowd_size(crowd, low + half);
        if (twin__crowd_overlap(crowd, size, other) > other) {
            low += half + 1;
            count -= half + 1;
        } else
            count = half;
    }
    return low;
}

uint64_t twin__crowd_token_hash(uint64_t token)
{
    token = (token ^ token >> 32) * 0x9E3779B97F4A7C15; /* Fibonacci hashing */
    return (token ^ token >> 29) * 0xBF58476D1CE4E5B9 >> TWIN__CROWD_HASH_SHIFT;
}

/* Lists the tokens of a document for its lookup in its own block, which needs more of them than the index does. */
static twin_status keep_tokens(struct twin__crowd_state *crowd, size_t rank, int number, twin_error *error)
{
    struct twin__crowd_worker *worker = &crowd->workers[number];
    const struct twin__crowd_block *block = &crowd->block;
    size_t least =
        twin__crowd_size(crowd, twin__crowd_lowest_partner(crowd, twin__crowd_size(crowd, rank), block->begin, rank));
    size_t length = twin__crowd_looked_up_prefix(crowd, twin__crowd_size(crowd, rank), least);
    twin_status status = twin__crowd_list_tokens(&worker->tokens, crowd, rank, length, number, error);
    if (status != TWIN_OK)
        return status;
    struct twin__pairs tokens = { .items = worker->tokens.items, .count = worker->tokens.count };
    block->prefixes[rank - block->begin] = (struct twin__crowd_prefix){
        .begin = worker->kept.count, .count = tokens.count, .first = (uint32_t)worker->tokens.first, .worker = number
    };
    return twin__pairs_append(&worker->kept, &tokens) ? TWIN_OK : twin__fail_memory(error);
}

static twin_status keep_documents(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    struct twin__crowd_state *crowd = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = keep_tokens(crowd, crowd->first_rank + i, worker, error);
    return status;
}

/* Adds some more documents to the block. */
static twin_status extend_block(struct twin__crowd_state *crowd, twin_error *error)
{
    enum { DOCUMENTS_AT_A_TIME = 512 };
    struct twin__crowd_block *block = &crowd->block;
    size_t more = crowd->count - block->end;
    if (more > DOCUMENTS_AT_A_TIME)
        more = DOCUMENTS_AT_A_TIME;
    size_t before = block->end - block->begin;
    if (!TWIN__ARRAY_GROW(&block->prefixes, &block->prefix_capacity, before, more))
        return twin__fail_memory(error);
    crowd->first_rank = block->end;
    twin_status status =
        twin__exec_try(crowd->options.exec, more, TWIN__CROWD_SETS_AT_A_TIME, keep_documents, crowd, error);
    block->end += more;
    for (int i = 0; i < crowd->options.exec.workers; i++) {
        struct twin__crowd_worker *worker = &crowd->workers[i];
        size_t base = block->tokens.count;
        if (status == TWIN_OK && !twin__pairs_append(&block->tokens, &worker->kept))
            status = twin__fail_memory(error);
        for (size_t k = before; k < before + more && status == TWIN_OK; k++)
            if (block->prefixes[k].worker == i)
                block->prefixes[k].begin += base;
        worker->kept.count = 0;
    }
    return status;
}

/* Makes entries of the tokens that the index needs. */
static twin_status make_entries(struct twin__crowd_state *crowd, twin_error *error)
{
    struct twin__crowd_block *block = &crowd->block;
    const bool *is_largest = crowd->owners.is_largest ? crowd->owners.is_largest + block->begin : NULL;
    size_t room[2] = { 1, 1 };
    for (size_t i = 0; i < block->end - block->begin; i++)
        room[is_largest && is_largest[i]] += block->prefixes[i].count;
    for (int k = 0; k < 2; k++) {
        block->entries[k].count = 0;
        if (!TWIN__ARRAY_GROW(&block->entries[k].items, &block->entries[k].capacity, 0, room[k]))
            return twin__fail_memory(error);
    }
    for (size_t i = 0; i < block->end - block->begin; i++) {
        const struct twin__crowd_prefix *prefix = &block->prefixes[i];
        struct twin__sorted_entries *entries = &block->entries[is_largest && is_largest[i]];
        size_t length = twin__crowd_indexed_prefix(crowd, twin__crowd_size(crowd, block->begin + i));
        for (size_t t = 0; t < prefix->count && prefix->first + t < length; t++) {
            uint64_t step = (prefix->first + t) >> crowd->step_shift;
            entries->items[entries->count++] = twin__crowd_token_hash(block->tokens.items[prefix->begin + t])
                                                   << TWIN__CROWD_HASH_SHIFT |
                                               (uint64_t)i << TWIN__CROWD_STEP_BITS | step;
        }
    }
    return TWIN_OK;
}

/* Sorts the entries and notes where each hash begins. */
static twin_status finish_block(struct twin__crowd_block *block, twin_error *error)
{
    for (int k = 0; k < 2; k++)
        if (!twin__sort_numbers(block->entries[k].items, block->entries[k].count) ||
            twin__entries_index(&block->entries[k]) != TWIN_OK)
            return twin__fail_memory(error);
    return TWIN_OK;
}

twin_status twin__crowd_build_block(struct twin__crowd_state *crowd, twin_error *error)
{
    enum { MOST_DOCUMENTS = (1 << TWIN__CROWD_RANK_BITS) - 512 };
    struct twin__crowd_block *block = &crowd->block;
    block->begin = block->end;
    block->tokens.count = 0;
    twin_status status = TWIN_OK;
    while (status == TWIN_OK && block->end < crowd->count && block->end - block->begin < MOST_DOCUMENTS &&
           block->tokens.count < crowd->options.index_entries)
        status = extend_block(crowd, error);
    if (status == TWIN_OK)
        status = make_entries(crowd, error);
    return status == TWIN_OK ? finish_block(block, error) : status;
}

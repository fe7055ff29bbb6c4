/* family.c — similar pairs among documents that have much in common.
 *
 * As many documents as fit into memory are encoded (family_sets.h): the members of a block. Every document, a member
 * or a later one, is then a row that is compared with the members before it. Later ones are fetched and encoded for
 * that. The rest of the documents make the next block. */
#include "join/family.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"

struct worker {
    struct twin__family_scratch scratch;
    uint32_t *columns, *common; /* of a row */
    twin_matches matches;
    uint64_t compared;
};

struct block {
    const struct twin__family *family;
    struct twin__family_sets sets;
    uint32_t begin; /* its first document */
    struct worker *workers;
    twin_matches *out;
};

enum { ROWS_PER_TURN = 16 };

/* Encodes a row, which for a member was done before. */
static twin_status take_row(struct twin__family_set *out, struct block *block, uint32_t row, int worker,
                            twin_error *error)
{
    const struct twin__family_source *source = &block->family->source;
    if (row - block->begin < block->sets.count) {
        *out = twin__family_member(&block->sets, row - block->begin);
        return TWIN_OK;
    }
    twin_set items;
    twin_status status =
        twin__provider_items(&items, source->provider, source->documents[row], source->first_worker + worker, error);
    if (status == TWIN_OK && !twin__family_encode(out, &block->workers[worker].scratch, &block->sets, items))
        status = twin__fail_memory(error);
    return status;
}

/* Numbers columns as members are, and drops those whose sizes cannot reach the threshold. */
static size_t keep_possible(uint32_t *columns, size_t count, const struct block *block, size_t size)
{
    const struct twin__set_rule *rule = &block->family->rule;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t member = columns[i] - block->begin;
        size_t other = block->sets.members[member].size, smaller = size < other ? size : other;
        columns[kept] = member;
        kept += twin_similarity_of_counts(size, other, smaller, rule->measure) >= rule->threshold;
    }
    return kept;
}

static twin_status compare_row(struct block *block, uint32_t row, int number, twin_error *error)
{
    const struct twin__family *family = block->family;
    struct worker *worker = &block->workers[number];
    uint32_t end = block->begin + (uint32_t)block->sets.count;
    size_t count = family->columns(worker->columns, family->context, row, block->begin, row < end ? row : end);
    if (count == 0)
        return TWIN_OK;
    struct twin__family_set set;
    twin_status status = take_row(&set, block, row, number, error);
    if (status != TWIN_OK)
        return status;
    count = keep_possible(worker->columns, count, block, set.size);
    worker->compared += count;
    bool good = twin__family_common(worker->common, &worker->scratch, &block->sets, set, worker->columns, count);
    for (size_t i = 0; i < count && good; i++) {
        size_t other = block->sets.members[worker->columns[i]].size;
        double similarity = twin_similarity_of_counts(set.size, other, worker->common[i], family->rule.measure);
        if (similarity < family->rule.threshold)
            continue;
        uint32_t a = family->source.documents[block->begin + worker->columns[i]], b = family->source.documents[row];
        good =
            twin__matches_add(&worker->matches, (twin_match){ a < b ? a : b, a < b ? b : a, similarity }) == TWIN_OK;
    }
    return good ? TWIN_OK : twin__fail_memory(error);
}

static twin_status compare_rows(void *context, size_t turn, int worker, twin_error *error)
{
    struct block *block = context;
    size_t begin = block->begin + turn * ROWS_PER_TURN, end = begin + ROWS_PER_TURN;
    twin_status status = TWIN_OK;
    for (size_t row = begin; row < end && row < block->family->source.count && status == TWIN_OK; row++)
        status = compare_row(block, (uint32_t)row, worker, error);
    return status;
}

static twin_status hand_in(void *context, size_t turn, int number, twin_error *error)
{
    (void)turn;
    struct block *block = context;
    twin_matches *found = &block->workers[number].matches;
    struct twin__components *components = block->family->components;
    bool good = components ? twin__components_take(block->out, components, found) == TWIN_OK
                           : twin__matches_move(block->out, found);
    return good ? TWIN_OK : twin__fail_memory(error);
}

static bool make_workers(struct block *block)
{
    int count = block->family->source.exec.workers;
    block->workers = calloc((size_t)count, sizeof *block->workers);
    for (int i = 0; block->workers && i < count; i++) {
        block->workers[i].columns = malloc(block->sets.count * sizeof *block->workers[i].columns);
        block->workers[i].common = malloc(block->sets.count * sizeof *block->workers[i].common);
        if (!block->workers[i].columns || !block->workers[i].common)
            return false;
    }
    return block->workers != NULL;
}

static void block_clear(struct block *block)
{
    for (int i = 0; block->workers && i < block->family->source.exec.workers; i++) {
        twin__family_scratch_clear(&block->workers[i].scratch);
        twin_matches_clear(&block->workers[i].matches);
        free(block->workers[i].columns);
        free(block->workers[i].common);
    }
    free(block->workers);
    twin__family_sets_clear(&block->sets);
}

/* Encodes a block that begins at *begin, compares all rows with it, and moves *begin to the next. */
static twin_status join_block(twin_matches *out, uint64_t *compared, const struct twin__family *family,
                              uint32_t *begin, twin_error *error)
{
    struct block block = { .family = family, .begin = *begin, .out = out };
    struct twin__family_source rest = family->source;
    rest.documents += *begin;
    rest.count -= *begin;
    twin_status status = twin__family_sets_make(&block.sets, &rest, error);
    if (status == TWIN_OK && !make_workers(&block))
        status = twin__fail_memory(error);
    size_t turns = (rest.count + ROWS_PER_TURN - 1) / ROWS_PER_TURN;
    if (status == TWIN_OK)
        status = twin__exec_try_in_order(rest.exec, turns, compare_rows, hand_in, &block, error);
    *begin += (uint32_t)block.sets.count;
    for (int i = 0; block.workers && i < rest.exec.workers; i++)
        *compared += block.workers[i].compared;
    block_clear(&block);
    return status;
}

twin_status twin__family_join(twin_matches *out, uint64_t *compared, const struct twin__family *family,
                              twin_error *error)
{
    twin_status status = TWIN_OK;
    size_t before = out->count;
    for (uint32_t begin = 0; status == TWIN_OK && begin + 1 < family->source.count;)
        status = join_block(out, compared, family, &begin, error);
    if (status != TWIN_OK)
        out->count = before;
    return status;
}

/* chains.c — the similarity of the members of a chain to the kept one.
 *
 * No search has compared them, so both are read again. Members are taken chain by chain, so that the kept one is
 * read once per chain and worker, or a little more often. */
#include <stdlib.h>

#include "base/error.h"
#include "base/exec.h"
#include "collection/contents.h"
#include "dedup/decision.h"
#include "edit/edit.h"
#include "join/join_private.h"

struct worker {
    twin_scratch scratches[2];
    twin_edit_scratch edits;
    twin_set kept;       /* in the first scratch: the set of the kept node, */
    twin_text kept_text; /* or its text */
    uint32_t node;       /* whose it is */
    bool is_filled;
};

struct chains {
    struct twin__decision *decision;
    uint64_t *members; /* of all chains: the kept node in the high half, another in the low */
    struct worker *workers;
};

static twin_status fill_links(const struct twin__decision *decision, struct worker *worker, uint32_t kept,
                              twin_error *error)
{
    if (worker->is_filled && worker->node == kept)
        return TWIN_OK;
    twin_scratch *scratch = &worker->scratches[0];
    twin_status status = decision->options->by_edits
                             ? twin__collection_text(&worker->kept_text, decision->collection, scratch, kept, error)
                             : twin__collection_set(&worker->kept, decision->collection, scratch, kept, error);
    worker->is_filled = status == TWIN_OK;
    worker->node = kept;
    return status;
}

static twin_status measure_text(const struct twin__decision *decision, struct worker *worker, uint32_t node,
                                twin_error *error)
{
    twin_text text;
    twin_status status = twin__collection_text(&text, decision->collection, &worker->scratches[1], node, error);
    if (status != TWIN_OK)
        return status;
    status = twin__edit_ratio(&decision->node_similarity[node], &worker->edits, text, worker->kept_text,
                              TWIN_EDIT_CHARS, 0);
    return status == TWIN_OK ? TWIN_OK : twin__fail_status(error, status);
}

static twin_status measure_member(struct chains *chains, uint64_t member, struct worker *worker, twin_error *error)
{
    struct twin__decision *decision = chains->decision;
    uint32_t node = (uint32_t)member;
    twin_set set;
    twin_status status = fill_links(decision, worker, (uint32_t)(member >> 32), error);
    if (status == TWIN_OK && decision->options->by_edits)
        return measure_text(decision, worker, node, error);
    if (status == TWIN_OK)
        status = twin__collection_set(&set, decision->collection, &worker->scratches[1], node, error);
    if (status == TWIN_OK)
        decision->node_similarity[node] = twin_set_similarity(set, worker->kept, decision->options->search.measure);
    return status;
}

static twin_status measure_some(void *context, size_t begin, size_t end, int number, twin_error *error)
{
    struct chains *chains = context;
    twin_status status = TWIN_OK;
    for (size_t i = begin; i < end && status == TWIN_OK; i++)
        status = measure_member(chains, chains->members[i], &chains->workers[number], error);
    return status;
}

/* Dropped nodes, in the order of the kept ones of their chains. */
static size_t list_members(uint64_t *out, const struct twin__decision *decision)
{
    size_t count = 0;
    for (size_t i = 0; i < decision->documents; i++)
        if (decision->firsts[i] == i && decision->node_kept[i] != i)
            out[count++] = (uint64_t)decision->node_kept[i] << 32 | i;
    return count;
}

static twin_status measure_all(struct chains *chains, twin_error *error)
{
    enum { AT_A_TIME = 64 };
    twin_exec exec = chains->decision->options->search.exec;
    size_t count = list_members(chains->members, chains->decision);
    if (!twin__sort_many_numbers(chains->members, count))
        return twin__fail_memory(error);
    return twin__exec_try(exec, count, AT_A_TIME, measure_some, chains, error);
}

twin_status twin__measure_chains(struct twin__decision *decision, twin_error *error)
{
    int workers = decision->options->search.exec.workers;
    struct chains chains = { .decision = decision,
                             .members = malloc((decision->documents + 1) * sizeof *chains.members),
                             .workers = calloc((size_t)workers, sizeof *chains.workers) };
    twin_status status = chains.members && chains.workers ? measure_all(&chains, error) : twin__fail_memory(error);
    for (int i = 0; chains.workers && i < workers; i++) {
        twin__scratch_clear(&chains.workers[i].scratches[0]);
        twin__scratch_clear(&chains.workers[i].scratches[1]);
        twin__edit_scratch_clear(&chains.workers[i].edits);
    }
    free(chains.members);
    free(chains.workers);
    return status;
}

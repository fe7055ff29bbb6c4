/* verified.c — which blocks of posting lists have been found whole, for all views of a handle.
 *
 * A damaged entry of a list would make a query miss a document without a word, so the checksum of a block is verified
 * before its first use. What has passed is remembered by run, for the next use of the run. A run that was committed
 * is known by its numbers: they are never given twice, and a run that is written again has fewer entries or other
 * ends. A run that no view uses is forgotten when a view begins that does not have it. */
#include "index/verified.h"

#include <stdlib.h>

#include "base/error.h"

void twin__index_verified_init(struct twin__index_verified *verified)
{
    *verified = (struct twin__index_verified){ 0 };
    pthread_mutex_init(&verified->lock, NULL);
}

/* Forgets the runs that nobody uses. */
static void forget_unused(struct twin__index_known_run **link)
{
    while (*link) {
        struct twin__index_known_run *known = *link;
        if (known->uses) {
            link = &known->next;
            continue;
        }
        *link = known->next;
        free(known);
    }
}

void twin__index_verified_clear(struct twin__index_verified *verified)
{
    for (int kind = 0; kind < TWIN__INDEX_KINDS_OF_POSTINGS; kind++)
        forget_unused(&verified->known[kind]);
    pthread_mutex_destroy(&verified->lock);
}

static struct twin__index_known_run *find_run(struct twin__index_known_run *known, const struct twin__index_run *run)
{
    while (known &&
           !(known->run.first == run->first && known->run.end == run->end && known->run.entries == run->entries))
        known = known->next;
    return known;
}

static struct twin__index_known_run *add_run(struct twin__index_known_run **all, const struct twin__index_run *run,
                                             size_t bytes)
{
    struct twin__index_known_run *known = calloc(1, sizeof *known + bytes);
    if (!known)
        return NULL;
    known->run = *run;
    known->next = *all;
    *all = known;
    return known;
}

static bool attach_run(struct twin__index_lists *lists, size_t i, struct twin__index_known_run **all,
                       unsigned version)
{
    const struct twin__index_run *run = &lists->runs[i];
    size_t bytes = twin__index_list_blocks(run->entries, version) / 8 + 1; /* of a list */
    struct twin__index_known_run *known = find_run(*all, run);
    if (!known)
        known = add_run(all, run, bytes * lists->stride);
    if (!known)
        return false;
    known->uses++;
    lists->known[i] = known;
    for (size_t list = 0; list < lists->stride; list++)
        lists->lists[i * lists->stride + list].checked = known->checked + list * bytes;
    return true;
}

twin_status twin__index_verified_attach(struct twin__index_lists *lists, const twin_index *index,
                                        enum twin__index_postings kind, twin_error *error)
{
    struct twin__index_verified *verified = index->verified;
    lists->known = calloc(lists->run_count + 1, sizeof(void *));
    bool good = lists->known != NULL;
    pthread_mutex_lock(&verified->lock);
    for (size_t i = 0; i < lists->run_count && good; i++)
        good = attach_run(lists, i, &verified->known[kind], index->version);
    if (good)
        forget_unused(&verified->known[kind]);
    pthread_mutex_unlock(&verified->lock);
    return good ? TWIN_OK : twin__fail_memory(error);
}

void twin__index_verified_detach(struct twin__index_lists *lists, const twin_index *index)
{
    pthread_mutex_lock(&index->verified->lock);
    for (size_t i = 0; lists->known && i < lists->run_count; i++)
        if (lists->known[i])
            lists->known[i]->uses--;
    pthread_mutex_unlock(&index->verified->lock);
    free(lists->known);
    lists->known = NULL;
}

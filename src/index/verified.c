/* verified.c — posting lists are found whole before they are used, each once per handle.
 *
 * A damaged entry of a list would make a query miss a document without a word, so the checksum of a list is verified before
 * its first use. That reads all of it, 200 bytes per document; so the runs that have passed are remembered. A run that was
 * committed is known by its numbers: they are never given twice, and a run that is written again has fewer entries or
 * other ends. */
#include "index/verified.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void twin__index_verified_init(struct twin__index_verified *verified)
{
    *verified = (struct twin__index_verified){ 0 };
    pthread_mutex_init(&verified->lock, NULL);
}

void twin__index_verified_clear(struct twin__index_verified *verified)
{
    for (int kind = 0; kind < TWIN__INDEX_KINDS_OF_POSTINGS; kind++)
        free(verified->known[kind].runs);
    pthread_mutex_destroy(&verified->lock);
}

static twin_status verify_run(const twin_index *index, const struct twin__index_lists *lists, size_t run,
                              twin_error *error)
{
    for (size_t i = run * lists->stride; i < (run + 1) * lists->stride; i++)
        if (!twin__index_list_is_whole(lists->lists[i]))
            return twin__index_fail_damaged(error, index, "a list does not fit its checksum");
    return TWIN_OK;
}

twin_status twin__index_lists_verify(const twin_index *index, const struct twin__index_lists *lists,
                                     twin_error *error)
{
    twin_status status = TWIN_OK;
    for (size_t run = 0; run < lists->run_count && status == TWIN_OK; run++)
        status = verify_run(index, lists, run, error);
    return status;
}

/* Both are in the order of their numbers. */
static bool is_known(const struct twin__index_known_runs *known, size_t *next, const struct twin__index_run *run)
{
    while (*next < known->count && known->runs[*next].first < run->first)
        ++*next;
    if (*next == known->count)
        return false;
    const struct twin__index_run *same = &known->runs[*next];
    return same->first == run->first && same->end == run->end && same->entries == run->entries;
}

static twin_status verify_new(struct twin__index_known_runs *known, const twin_index *index,
                              const struct twin__index_lists *lists, twin_error *error)
{
    twin_status status = TWIN_OK;
    size_t next = 0, bytes = lists->run_count * sizeof *known->runs;
    for (size_t run = 0; run < lists->run_count && status == TWIN_OK; run++)
        if (!is_known(known, &next, &lists->runs[run]))
            status = verify_run(index, lists, run, error);
    struct twin__index_run *runs = status == TWIN_OK ? malloc(bytes + 1) : NULL;
    if (!runs)
        return status == TWIN_OK ? twin__fail_memory(error) : status;
    if (bytes)
        memcpy(runs, lists->runs, bytes);
    free(known->runs);
    *known = (struct twin__index_known_runs){ runs, lists->run_count };
    return TWIN_OK;
}

twin_status twin__index_lists_verify_once(struct twin__index_verified *verified, const twin_index *index,
                                          enum twin__index_postings kind, const struct twin__index_lists *lists,
                                          twin_error *error)
{
    pthread_mutex_lock(&verified->lock); /* whoever waits here would have to do the same */
    twin_status status = verify_new(&verified->known[kind], index, lists, error);
    pthread_mutex_unlock(&verified->lock);
    return status;
}

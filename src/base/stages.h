/* stages.h — what a long call is doing, and whether it is to stop.
 *
 * A public call that may take long begins a watch over the caller's twin_progress and ends it when it returns. The
 * watch belongs to the calling thread; loops and background tasks hand it on to theirs. What the call does reports its
 * stage or polls: whichever comes 50 ms after this thread's last report becomes one, so a stage needs no more than a
 * poll every few milliseconds. Loops of base/exec.h poll between their pieces, and collections and indexes when a
 * document is fetched. */
#ifndef TWIN_BASE_STAGES_H
#define TWIN_BASE_STAGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <twinsift/status.h>

extern const twin_stage twin__stage_adding, twin__stage_adding_texts, twin__stage_auditing, twin__stage_banding,
    twin__stage_checking, twin__stage_compacting, twin__stage_comparing, twin__stage_deciding, twin__stage_joining,
    twin__stage_loading, twin__stage_opening, twin__stage_ordering, twin__stage_pairing, twin__stage_querying,
    twin__stage_querying_texts, twin__stage_reading, twin__stage_signing, twin__stage_unpacking,
    twin__stage_verifying;

struct twin__watch {
    twin_progress progress;
    struct twin__watch *outer; /* of the same thread, when this began */
    atomic_bool stopped;
    pthread_mutex_t lock; /* for what follows; held during a report, so that stages are reported in order */
    const twin_stage *stage;
    uint64_t done, total;
};

/* Begins a watch in stage `first`. With no progress there is nothing to watch, unless the call was made from a callback
 * of another: it then reports to the progress of that one, and stops with it. */
void twin__watch_begin(struct twin__watch *watch, twin_progress progress, const twin_stage *first);

/* Ends it. Returns `status`, or TWIN_ESTOPPED where a call that was told to stop had nothing left to do. */
twin_status twin__watch_end(struct twin__watch *watch, twin_status status, twin_error *error);

/* The watch of this thread, for another one that works for the same call; NULL: there is none. That thread enters it,
 * and when it is done the one that was returned. */
struct twin__watch *twin__watch_here(void);
struct twin__watch *twin__watch_enter(struct twin__watch *watch);

/* TWIN_ESTOPPED, without a sentence, if the call is to stop. */
twin_status twin__report(const twin_stage *stage, uint64_t done, uint64_t total);
twin_status twin__poll(void);

/* The same for item i of a loop whose items take well under a microsecond: only some of them poll. */
static inline twin_status twin__poll_at(size_t i)
{
    return i % 1024 ? TWIN_OK : twin__poll();
}

/* Milliseconds for which a thread may wait before it polls again; -1, for ever, where nothing is watched. */
int twin__poll_pause(void);

#endif

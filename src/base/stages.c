/* stages.c — the stages of long calls, what each of them counts, and the watch over a call. */
#include "base/stages.h"

#include <time.h>

#include "base/error.h"

const twin_stage twin__stage_adding = { "adding", "B" };
const twin_stage twin__stage_adding_texts = { "adding", "documents" };
const twin_stage twin__stage_auditing = { "auditing", "documents" };
const twin_stage twin__stage_banding = { "pairing", "bands" };
const twin_stage twin__stage_checking = { "checking", "records" };
const twin_stage twin__stage_compacting = { "compacting", "B" };
const twin_stage twin__stage_comparing = { "comparing", NULL };
const twin_stage twin__stage_deciding = { "deciding", "documents" };
const twin_stage twin__stage_joining = { "joining", "documents" };
const twin_stage twin__stage_loading = { "loading", NULL };
const twin_stage twin__stage_opening = { "opening", NULL };
const twin_stage twin__stage_ordering = { "ordering", "documents" };
const twin_stage twin__stage_pairing = { "pairing", NULL };
const twin_stage twin__stage_querying = { "querying", "B" };
const twin_stage twin__stage_querying_texts = { "querying", "texts" };
const twin_stage twin__stage_reading = { "reading", "B" };
const twin_stage twin__stage_signing = { "signing", "documents" };
const twin_stage twin__stage_unpacking = { "unpacking", "B" };
const twin_stage twin__stage_verifying = { "verifying", "pairs" };

enum { PAUSE = 50 }; /* milliseconds */

static _Thread_local struct {
    struct twin__watch *watch;
    int64_t reported; /* when this thread last did, in milliseconds */
} here;

/* A clock that is cheap to read will do, if it is right to a few milliseconds. */
static int64_t now(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    const clockid_t clock = CLOCK_MONOTONIC_COARSE;
#else
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* What is short does not report. But many short calls one after the other, such as batches, report as a long one does. */
static void begin_pause(void)
{
    enum { IN_A_ROW = 1000 };
    int64_t time = now();
    if (time - here.reported > IN_A_ROW)
        here.reported = time;
}

void twin__watch_begin(struct twin__watch *watch, twin_progress progress, const twin_stage *first)
{
    *watch = (struct twin__watch){ .progress = progress, .outer = here.watch, .stage = first };
    if (!progress.report)
        return;
    pthread_mutex_init(&watch->lock, NULL);
    here.watch = watch;
    begin_pause();
}

twin_status twin__watch_end(struct twin__watch *watch, twin_status status, twin_error *error)
{
    if (!watch->progress.report)
        return status;
    pthread_mutex_destroy(&watch->lock);
    here.watch = watch->outer;
    bool stopped = atomic_load_explicit(&watch->stopped, memory_order_relaxed);
    return stopped && status == TWIN_OK ? twin__fail_status(error, TWIN_ESTOPPED) : status;
}

twin_status twin_progress_watch(twin_progress progress, twin_status (*call)(void *context), void *context)
{
    if (!call)
        return twin__fail_null(NULL, "call");
    struct twin__watch watch;
    twin__watch_begin(&watch, progress, &twin__stage_comparing);
    return twin__watch_end(&watch, call(context), NULL);
}

struct twin__watch *twin__watch_here(void)
{
    return here.watch;
}

struct twin__watch *twin__watch_enter(struct twin__watch *watch)
{
    struct twin__watch *before = here.watch;
    if (watch)
        begin_pause();
    here.watch = watch;
    return before;
}

static twin_status state_of(struct twin__watch *watch)
{
    return atomic_load_explicit(&watch->stopped, memory_order_relaxed) ? TWIN_ESTOPPED : TWIN_OK;
}

/* The caller has the lock. Calls that the callback makes itself are no part of this one. */
static void report(struct twin__watch *watch)
{
    here.watch = NULL;
    const twin_progress *progress = &watch->progress;
    if (state_of(watch) == TWIN_OK && !progress->report(progress->context, watch->stage, watch->done, watch->total))
        atomic_store_explicit(&watch->stopped, true, memory_order_relaxed);
    here.watch = watch;
    here.reported = now();
}

twin_status twin__report(const twin_stage *stage, uint64_t done, uint64_t total)
{
    struct twin__watch *watch = here.watch;
    if (!watch || state_of(watch) != TWIN_OK)
        return watch ? TWIN_ESTOPPED : TWIN_OK;
    pthread_mutex_lock(&watch->lock);
    watch->stage = stage;
    watch->done = done;
    watch->total = total;
    report(watch);
    pthread_mutex_unlock(&watch->lock);
    return state_of(watch);
}

/* Where another thread is reporting, this one does at its next poll. */
twin_status twin__poll(void)
{
    struct twin__watch *watch = here.watch;
    if (!watch || state_of(watch) != TWIN_OK)
        return watch ? TWIN_ESTOPPED : TWIN_OK;
    if (now() - here.reported < PAUSE || pthread_mutex_trylock(&watch->lock) != 0)
        return TWIN_OK;
    report(watch);
    pthread_mutex_unlock(&watch->lock);
    return state_of(watch);
}

int twin__poll_pause(void)
{
    return here.watch ? PAUSE : -1;
}

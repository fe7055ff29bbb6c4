/* exec.c — parallel loops on one thread, POSIX threads or OpenMP.
 *
 * Workers take pieces from a shared counter until none is left. The calling thread is one of the workers, and threads
 * live for one loop only. Loops in order and loops that may fail are made of plain ones. The only other thread of the
 * library is in background.c. */
#include "base/exec.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/stages.h"
#include "base/thread.h"

struct loop {
    twin_exec_body *body;
    void *context;
    size_t n, piece;
    atomic_size_t next;        /* the first item not taken yet */
    atomic_int arrivals;       /* workers started so far; gives each its number */
    struct twin__watch *watch; /* of the calling thread */
    pthread_mutex_t lock;      /* for what follows */
    pthread_cond_t left;
    int at_work; /* threads that have not left yet, besides the calling one */
};

static int processors(void)
{
    long count = 0;
#ifdef CPU_COUNT
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        count = CPU_COUNT(&allowed);
#endif
    if (count == 0)
        count = sysconf(_SC_NPROCESSORS_ONLN); /* also of more processors than cpu_set_t has bits */
    if (count < 1)
        return 1;
    return count < TWIN_EXEC_MAX_WORKERS ? (int)count : TWIN_EXEC_MAX_WORKERS;
}

twin_status twin__exec_complete(twin_exec *exec, twin_error *error)
{
    if ((unsigned)exec->kind > TWIN_EXEC_OPENMP)
        return twin__fail(error, TWIN_EINVAL, "unknown executor %d", (int)exec->kind);
    if (exec->workers < 0 || exec->workers > TWIN_EXEC_MAX_WORKERS)
        return twin__fail(error, TWIN_EINVAL, "workers must be 0 to %d, not %d", (int)TWIN_EXEC_MAX_WORKERS,
                          exec->workers);
#ifndef TWIN_OPENMP
    if (exec->kind == TWIN_EXEC_OPENMP)
        return twin__fail(error, TWIN_EUNSUPPORTED, "the executor openmp is not in this build of twinsift");
#endif
    if (exec->kind == TWIN_EXEC_SERIAL || exec->workers == 0)
        exec->workers = 1;
    return TWIN_OK;
}

twin_status twin_exec_make(twin_exec *out, twin_executor kind, int workers)
{
    twin_exec exec = { .kind = kind, .workers = workers };
    twin_status status = out ? twin__exec_complete(&exec, NULL) : twin__fail_null(NULL, "out");
    if (status != TWIN_OK)
        return status;
    if (workers == 0 && kind != TWIN_EXEC_SERIAL)
        exec.workers = processors();
    *out = exec;
    return TWIN_OK;
}

static void take_pieces(struct loop *loop)
{
    int worker = atomic_fetch_add(&loop->arrivals, 1);
    struct twin__watch *before = twin__watch_enter(loop->watch);
    for (size_t begin; (begin = atomic_fetch_add(&loop->next, loop->piece)) < loop->n; (void)twin__poll()) {
        size_t left = loop->n - begin;
        loop->body(loop->context, begin, begin + (left < loop->piece ? left : loop->piece), worker);
    }
    (void)twin__watch_enter(before);
}

static void *take_and_leave(void *arg)
{
    struct loop *loop = arg;
    take_pieces(loop);
    pthread_mutex_lock(&loop->lock);
    loop->at_work--;
    pthread_cond_signal(&loop->left);
    pthread_mutex_unlock(&loop->lock);
    return NULL;
}

/* Waits for something that has been awaited in vain, but not for so long that a progress goes without a report. */
static void wait_a_while(pthread_cond_t *event, pthread_mutex_t *lock)
{
    int pause = twin__poll_pause();
    if (pause < 0) {
        pthread_cond_wait(event, lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += pause * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(event, lock, &until);
    (void)twin__poll();
}

static void run_pthreads(struct loop *loop, int workers)
{
    pthread_t threads[TWIN_EXEC_MAX_WORKERS];
    int started = 0;
    pthread_mutex_init(&loop->lock, NULL);
    pthread_cond_init(&loop->left, NULL);
    loop->at_work = workers - 1;
    while (started < workers - 1 && twin__thread_start(&threads[started], take_and_leave, loop))
        started++;
    take_pieces(loop);
    pthread_mutex_lock(&loop->lock);
    loop->at_work -= workers - 1 - started;
    while (loop->at_work > 0)
        wait_a_while(&loop->left, &loop->lock);
    pthread_mutex_unlock(&loop->lock);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_cond_destroy(&loop->left);
    pthread_mutex_destroy(&loop->lock);
}

#ifdef TWIN_OPENMP
/* Threads of OpenMP wait for the next loop when this one is done. */
static void run_openmp(struct loop *loop, int workers)
{
    sigset_t before;
    pthread_t caller = pthread_self();
    twin__thread_hold_signals(&before);
#pragma omp parallel num_threads(workers)
    {
        if (pthread_equal(pthread_self(), caller))
            pthread_sigmask(SIG_SETMASK, &before, NULL);
        take_pieces(loop);
    }
}
#endif

void twin_exec_for(twin_exec exec, size_t n, size_t piece, twin_exec_body *body, void *context)
{
    if (n == 0 || !body)
        return;
    if (twin__exec_complete(&exec, NULL) != TWIN_OK)
        exec = (twin_exec){ TWIN_EXEC_SERIAL, 1 };
    if (piece == 0)
        piece = 1;

    struct loop loop = { .body = body, .context = context, .n = n, .piece = piece, .watch = twin__watch_here() };
    size_t pieces = (n - 1) / piece + 1;
    /* Never more workers than pieces, so that `next` cannot wrap around for any piece size. */
    int workers = pieces < (size_t)exec.workers ? (int)pieces : exec.workers;
    switch (exec.kind) {
    case TWIN_EXEC_SERIAL: take_pieces(&loop); break;
    case TWIN_EXEC_PTHREADS: run_pthreads(&loop, workers); break;
    case TWIN_EXEC_OPENMP:
#ifdef TWIN_OPENMP
        run_openmp(&loop, workers);
#endif
        break;
    }
}

/* ---- in order ---- */

struct queue {
    twin_exec_step *work, *hand_in;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t next; /* the item whose turn it is */
};

/* Items are taken in increasing order, so the item whose turn it is has always been taken, and no worker waits for
 * an item that nobody processes. */
static void work_and_queue(void *context, size_t begin, size_t end, int worker)
{
    struct queue *queue = context;
    for (size_t item = begin; item < end; item++) {
        queue->work(queue->context, item, worker);
        pthread_mutex_lock(&queue->lock);
        while (queue->next != item)
            wait_a_while(&queue->moved, &queue->lock);
        queue->hand_in(queue->context, item, worker);
        queue->next = item + 1;
        pthread_cond_broadcast(&queue->moved);
        pthread_mutex_unlock(&queue->lock);
    }
}

void twin__exec_in_order(twin_exec exec, size_t n, twin_exec_step *work, twin_exec_step *hand_in, void *context)
{
    if (!work || !hand_in)
        return;
    struct queue queue = { .work = work,
                           .hand_in = hand_in,
                           .context = context,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .moved = PTHREAD_COND_INITIALIZER };
    twin_exec_for(exec, n, 1, work_and_queue, &queue);
    pthread_cond_destroy(&queue.moved);
    pthread_mutex_destroy(&queue.lock);
}

/* ---- loops that may fail ---- */

/* The first failure in the order of items, whichever worker met it. */
struct failure {
    pthread_mutex_t lock;
    size_t item;
    twin_error error;
};
#define NO_FAILURE                                                                                                   \
    {                                                                                                                \
        .lock = PTHREAD_MUTEX_INITIALIZER, .item = SIZE_MAX                                                          \
    }

static void keep_first(struct failure *failure, size_t item, twin_status status, twin_error *error)
{
    if (status == TWIN_OK)
        return;
    if (error->status != status)
        twin__fail_status(error, status);
    pthread_mutex_lock(&failure->lock);
    if (item < failure->item) {
        failure->item = item;
        failure->error = *error;
    }
    pthread_mutex_unlock(&failure->lock);
}

/* Whether an item up to this one has failed. */
static bool has_failed(struct failure *failure, size_t item)
{
    pthread_mutex_lock(&failure->lock);
    bool failed = failure->item <= item;
    pthread_mutex_unlock(&failure->lock);
    return failed;
}

/* It occurred in a worker, but twin_error_last() is read by the caller's thread. */
static twin_status end_trying(twin_error *out, struct failure *failure)
{
    const twin_error *error = &failure->error;
    pthread_mutex_destroy(&failure->lock);
    if (error->status == TWIN_OK)
        return TWIN_OK;
    twin__fail(NULL, error->status, "%s", error->message);
    if (out)
        *out = *error;
    return error->status;
}

struct trying {
    twin__exec_part *body;
    void *context;
    struct failure failure;
};

static void try_part(void *context, size_t begin, size_t end, int worker)
{
    struct trying *trying = context;
    twin_error error = { 0 };
    twin_status status = twin__poll();
    if (status == TWIN_OK)
        status = trying->body(trying->context, begin, end, worker, &error);
    keep_first(&trying->failure, begin, status, &error);
}

twin_status twin__exec_try(twin_exec exec, size_t n, size_t piece, twin__exec_part *body, void *context,
                           twin_error *error)
{
    struct trying trying = { body, context, NO_FAILURE };
    twin_exec_for(exec, n, piece, try_part, &trying);
    return end_trying(error, &trying.failure);
}

/* ---- loops that cannot fail, but may be stopped ---- */

struct stoppable {
    twin_exec_body *body;
    void *context;
};

static twin_status run_part(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    (void)error;
    struct stoppable *stoppable = context;
    stoppable->body(stoppable->context, begin, end, worker);
    return twin__poll(); /* the body may have, and left early */
}

twin_status twin__exec_run(twin_exec exec, size_t n, size_t piece, twin_exec_body *body, void *context,
                           twin_error *error)
{
    return twin__exec_try(exec, n, piece, run_part, &(struct stoppable){ body, context }, error);
}

/* ---- loops in order that may fail ---- */

struct trying_in_order {
    twin__exec_try_step *work, *hand_in;
    void *context;
    struct failure failure;
};

static void try_work(void *context, size_t item, int worker)
{
    struct trying_in_order *trying = context;
    twin_error error = { 0 };
    twin_status status = twin__poll();
    if (status == TWIN_OK)
        status = trying->work(trying->context, item, worker, &error);
    keep_first(&trying->failure, item, status, &error);
}

static void try_to_hand_in(void *context, size_t item, int worker)
{
    struct trying_in_order *trying = context;
    twin_error error = { 0 };
    if (!has_failed(&trying->failure, item))
        keep_first(&trying->failure, item, trying->hand_in(trying->context, item, worker, &error), &error);
}

twin_status twin__exec_try_in_order(twin_exec exec, size_t n, twin__exec_try_step *work, twin__exec_try_step *hand_in,
                                    void *context, twin_error *error)
{
    struct trying_in_order trying = { work, hand_in, context, NO_FAILURE };
    twin__exec_in_order(exec, n, try_work, try_to_hand_in, &trying);
    return end_trying(error, &trying.failure);
}

/* flush.c — the end of a transaction, with the disk at work from its start.
 *
 * LMDB hands its pages to the system one after the other and then waits until all are on the disk, which until then had
 * nothing to do. So while it hands them over, another thread tells the system to begin. What is safe when is LMDB's
 * affair as before: it waits for every page before it writes the one that makes them count. */
#include <fcntl.h>
#include <time.h>

#include "base/background.h"
#include "index/index_private.h"

/* Less than this is on the disk before anyone could help. */
enum { LARGE = 8 << 20, PAUSE_NS = 8000000 };

struct pushing {
    int fd;
    bool done;
    pthread_mutex_t lock; /* over done */
    pthread_cond_t changed;
};

static void push(void *context)
{
    struct pushing *pushing = context;
    pthread_mutex_lock(&pushing->lock);
    while (!pushing->done) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PAUSE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&pushing->changed, &pushing->lock, &until);
        if (pushing->done)
            break;
        pthread_mutex_unlock(&pushing->lock);
        sync_file_range(pushing->fd, 0, 0,
                        SYNC_FILE_RANGE_WRITE); /* all of the file; that it fails does not matter */
        pthread_mutex_lock(&pushing->lock);
    }
    pthread_mutex_unlock(&pushing->lock);
}

static void stop(struct pushing *pushing, struct twin__background *beside)
{
    pthread_mutex_lock(&pushing->lock);
    pushing->done = true;
    pthread_cond_signal(&pushing->changed);
    pthread_mutex_unlock(&pushing->lock);
    twin__background_wait(beside);
}

int twin__commit(const struct twin__writing *writing)
{
    struct pushing pushing = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    struct twin__background beside = { 0 };
    if (writing->bytes < LARGE || mdb_env_get_fd(writing->index->env, &pushing.fd) != MDB_SUCCESS ||
        !twin__background_try(&beside, push, &pushing))
        return mdb_txn_commit(writing->txn);
    int code = mdb_txn_commit(writing->txn);
    stop(&pushing, &beside);
    return code;
}

/* flush.c — the end of a transaction, with the disk at work from its start.
 *
 * LMDB writes its pages one after the other and then waits until all are on the disk, which until then had nothing to
 * do. So while it writes them, another thread makes the system start. What is safe when is decided by LMDB as before:
 * it waits for every page before it writes the one that makes them count. */
#include <fcntl.h>
#include <time.h>

#include "base/background.h"
#include "store/transaction.h"

/* Less than this is on the disk before it could help. */
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
        sync_file_range(pushing->fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* of the whole file; it may fail */
        pthread_mutex_lock(&pushing->lock);
    }
    pthread_mutex_unlock(&pushing->lock);
}

static void stop(struct pushing *pushing, struct twin__background *background)
{
    pthread_mutex_lock(&pushing->lock);
    pushing->done = true;
    pthread_cond_signal(&pushing->changed);
    pthread_mutex_unlock(&pushing->lock);
    twin__background_wait(background);
}

int twin__store_commit(const twin__store_txn *txn)
{
    struct pushing pushing = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    struct twin__background background = { 0 };
    if (txn->written < LARGE || mdb_env_get_fd(txn->store->environment->env, &pushing.fd) != MDB_SUCCESS ||
        !twin__background_start(&background, push, &pushing))
        return mdb_txn_commit(txn->txn);
    int code = mdb_txn_commit(txn->txn);
    stop(&pushing, &background);
    return code;
}

/* pool.h — threads that work on requests of one kind, and a bounded queue before them. */
#ifndef TWIN_SERVE_POOL_H
#define TWIN_SERVE_POOL_H

#include <twinsift/twinsift.h>

struct pool;

/* What a thread keeps from job to job. */
struct worker {
    twin_message_reader *reader; /* NULL: this build reads no mail */
};

struct job {
    struct job *next; /* of the pool */
    void (*run)(struct job *job, struct worker *worker);
};

/* NULL: no memory, or no thread. `niceness` is that of nice(1): 10 is a tenth of the share of a usual thread, 19 a
 * seventieth. */
struct pool *pool_start(size_t threads, size_t queue, int niceness);

/* Completes what is queued, and ends the threads; after that nothing can be submitted. NULL is accepted. */
void pool_end(struct pool *pool);
void pool_free(struct pool *pool);

/* False: the queue is full, or the pool ends. */
bool pool_submit(struct pool *pool, struct job *job);

size_t pool_waiting(struct pool *pool);

#endif

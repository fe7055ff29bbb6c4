/* pool.c — threads and their queue. */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t queued;
    struct job *first, **last;
    size_t waiting, most, count;
    bool ending;
    int niceness;
    pthread_t threads[];
};

static struct job *next_job(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->first && !pool->ending)
        pthread_cond_wait(&pool->queued, &pool->lock);
    struct job *job = pool->first;
    if (job) {
        pool->first = job->next;
        pool->last = pool->first ? pool->last : &pool->first;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *work(void *context)
{
    struct pool *pool = context;
    struct worker worker = { 0 };
    struct job *job;
    if (pool->niceness) /* of this thread alone, as Linux understands it */
        (void)setpriority(PRIO_PROCESS, 0, pool->niceness);
    if (twin_message_reader_create(&worker.reader, (twin_message_options){ 0 }) != TWIN_OK)
        worker.reader = NULL;
    while ((job = next_job(pool)))
        job->run(job, &worker);
    twin_message_reader_free(worker.reader);
    return NULL;
}

struct pool *pool_start(size_t threads, size_t queue, int niceness)
{
    struct pool *pool = calloc(1, sizeof *pool + threads * sizeof pool->threads[0]);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->queued, NULL);
    pool->last = &pool->first;
    pool->most = queue;
    pool->niceness = niceness;
    while (pool->count < threads && pthread_create(&pool->threads[pool->count], NULL, work, pool) == 0)
        pool->count++;
    if (pool->count > 0)
        return pool;
    pool_free(pool);
    return NULL;
}

void pool_end(struct pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->queued);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pool->count = 0;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    pool_end(pool);
    pthread_cond_destroy(&pool->queued);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

bool pool_submit(struct pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    bool room = !pool->ending && pool->waiting < pool->most;
    if (room) {
        job->next = NULL;
        *pool->last = job;
        pool->last = &job->next;
        pool->waiting++;
        pthread_cond_signal(&pool->queued);
    }
    pthread_mutex_unlock(&pool->lock);
    return room;
}

size_t pool_waiting(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t waiting = pool->waiting;
    pthread_mutex_unlock(&pool->lock);
    return waiting;
}

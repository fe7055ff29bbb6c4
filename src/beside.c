/* beside.c — one task beside the caller's own. */
#include "beside.h"

#include <assert.h>
#include <stddef.h>

static void *do_task(void *arg)
{
    struct twin__beside *beside = arg;
    beside->task(beside->context);
    return NULL;
}

void twin__beside_start(struct twin__beside *beside, twin_exec exec, void (*task)(void *context), void *context)
{
    assert(!beside->running);
    beside->task = task;
    beside->context = context;
    beside->running = exec.workers > 1 && pthread_create(&beside->thread, NULL, do_task, beside) == 0;
    if (!beside->running)
        task(context);
}

void twin__beside_wait(struct twin__beside *beside)
{
    if (beside->running)
        pthread_join(beside->thread, NULL);
    beside->running = false;
}

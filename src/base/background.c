/* background.c — one task beside the caller's own. */
#include "base/background.h"

#include <assert.h>
#include <stddef.h>

static void *do_task(void *arg)
{
    struct twin__beside *beside = arg;
    beside->task(beside->context);
    return NULL;
}

bool twin__beside_try(struct twin__beside *beside, void (*task)(void *context), void *context)
{
    assert(!beside->running);
    beside->task = task;
    beside->context = context;
    beside->running = pthread_create(&beside->thread, NULL, do_task, beside) == 0;
    return beside->running;
}

void twin__beside_start(struct twin__beside *beside, twin_exec exec, void (*task)(void *context), void *context)
{
    if (exec.workers <= 1 || !twin__beside_try(beside, task, context))
        task(context);
}

void twin__beside_wait(struct twin__beside *beside)
{
    if (beside->running)
        pthread_join(beside->thread, NULL);
    beside->running = false;
}

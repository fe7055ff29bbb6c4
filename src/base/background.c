/* background.c — one task on a thread of its own. */
#include "base/background.h"

#include <assert.h>
#include <stddef.h>

static void *do_task(void *arg)
{
    struct twin__background *beside = arg;
    beside->task(beside->context);
    return NULL;
}

bool twin__background_try(struct twin__background *beside, void (*task)(void *context), void *context)
{
    assert(!beside->running);
    beside->task = task;
    beside->context = context;
    beside->running = pthread_create(&beside->thread, NULL, do_task, beside) == 0;
    return beside->running;
}

void twin__background_start(struct twin__background *beside, twin_exec exec, void (*task)(void *context),
                            void *context)
{
    if (exec.workers <= 1 || !twin__background_try(beside, task, context))
        task(context);
}

void twin__background_wait(struct twin__background *beside)
{
    if (beside->running)
        pthread_join(beside->thread, NULL);
    beside->running = false;
}

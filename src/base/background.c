/* background.c — one task on a thread of its own. */
#include "base/background.h"

#include "base/stages.h"
#include "base/thread.h"

#include <assert.h>
#include <stddef.h>

static void *do_task(void *arg)
{
    struct twin__background *background = arg;
    (void)twin__watch_enter(background->watch);
    background->task(background->context);
    return NULL;
}

bool twin__background_start(struct twin__background *background, void (*task)(void *context), void *context)
{
    assert(!background->running);
    background->task = task;
    background->context = context;
    background->watch = twin__watch_here();
    background->running = twin__thread_start(&background->thread, do_task, background);
    return background->running;
}

void twin__background_wait(struct twin__background *background)
{
    if (background->running)
        pthread_join(background->thread, NULL);
    background->running = false;
}

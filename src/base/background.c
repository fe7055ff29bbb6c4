/* background.c — threads: one task on a thread of its own. */
#include "base/background.h"

#include "base/thread.h"

#include <assert.h>
#include <stddef.h>

static void *do_task(void *arg)
{
    struct twin__background *background = arg;
    background->task(background->context);
    return NULL;
}

/* What is used of a stack stays below 64 KB; sanitizers and callbacks of callers need more. A thread gets what the system
 * gives threads, which follows `ulimit -s`, but not less than this. */
enum { LEAST_STACK = 1 << 20 };

bool twin__thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    size_t stack;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attributes, LEAST_STACK);
    bool started = pthread_create(thread, &attributes, run, context) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

bool twin__background_start(struct twin__background *background, void (*task)(void *context), void *context)
{
    assert(!background->running);
    background->task = task;
    background->context = context;
    background->running = twin__thread_start(&background->thread, do_task, background);
    return background->running;
}

void twin__background_wait(struct twin__background *background)
{
    if (background->running)
        pthread_join(background->thread, NULL);
    background->running = false;
}

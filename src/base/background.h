/* background.h — one task beside the caller's own: what is written while the next is worked out. */
#ifndef TWIN_BASE_BACKGROUND_H
#define TWIN_BASE_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

#include <twinsift/exec.h>

struct twin__background {
    void (*task)(void *context);
    void *context;
    pthread_t thread;
    bool running;
};

/* Starts the task on a thread of its own; before it returns, the task is done, when there is to be one worker or the
 * system refuses a thread. The one before must have been waited for. */
void twin__background_start(struct twin__background *beside, twin_exec exec, void (*task)(void *context),
                            void *context);

/* The same, but false, with nothing done, when the system refuses a thread. */
bool twin__background_try(struct twin__background *beside, void (*task)(void *context), void *context);

/* Returns when no task is at work any more. */
void twin__background_wait(struct twin__background *beside);

#endif

/* background.h — one task on a thread of its own, such as writing a batch while the next one is prepared. */
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

/* Starts the task on a thread of its own. With one worker, or if a thread cannot be created, runs it before returning.
 * The caller must have waited for the previous task. */
void twin__background_start(struct twin__background *beside, twin_exec exec, void (*task)(void *context),
                            void *context);

/* The same, but returns false, with nothing done, if a thread cannot be created. */
bool twin__background_try(struct twin__background *beside, void (*task)(void *context), void *context);

/* Waits for the task, if there is one. */
void twin__background_wait(struct twin__background *beside);

#endif

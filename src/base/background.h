/* background.h — one task on a thread of its own, such as writing a batch while the next one is prepared. */
#ifndef TWIN_BASE_BACKGROUND_H
#define TWIN_BASE_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

struct twin__watch;

struct twin__background {
    void (*task)(void *context);
    void *context;
    struct twin__watch *watch; /* of the caller (stages.h) */
    pthread_t thread;
    bool running;
};

/* Starts the task on a thread of its own. False, with nothing done, if none can be created. The caller must have
 * waited for the previous task. */
bool twin__background_start(struct twin__background *background, void (*task)(void *context), void *context);

/* Waits for the task, if there is one. */
void twin__background_wait(struct twin__background *background);

#endif

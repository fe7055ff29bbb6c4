/* thread.h — how the library starts its threads; only exec.c and background.c do. */
#ifndef TWIN_BASE_THREAD_H
#define TWIN_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with a stack that is large enough whatever the limit of the process. False if none can be created. */
bool twin__thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

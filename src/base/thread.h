/* thread.h — how the library starts its threads; only this room does. */
#ifndef TWIN_BASE_THREAD_H
#define TWIN_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread, whose stack is large enough whatever the limit of the process; false if none can be created. */
bool twin__thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

#endif

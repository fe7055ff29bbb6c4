/* thread.h — how the library starts its threads; only exec.c and background.c do. */
#ifndef TWIN_BASE_THREAD_H
#define TWIN_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Starts a thread with a stack that is large enough whatever the limit of the process, and which leaves signals to the
 * threads of the program. False if none can be created. */
bool twin__thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* From here on signals wait until pthread_sigmask() brings `before` back, except those that a thread causes itself. A
 * thread that is created meanwhile inherits this for its life: it takes no signal that another one has to keep waiting, and
 * no handler of the program runs on it. */
void twin__thread_hold_signals(sigset_t *before);

#endif

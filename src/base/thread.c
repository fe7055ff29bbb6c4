/* thread.c — how the library starts its threads. */
#include "base/thread.h"

/* The library uses less than 64 KB of a stack; sanitizers and the callbacks of callers need more. A thread gets the
 * default of the system, which follows `ulimit -s`, but not less than this. */
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

/* thread.c — how the library starts its threads. */
#include "base/thread.h"

/* The library uses less than 64 KB of a stack; sanitizers and the callbacks of callers need more. A thread gets the
 * default of the system, which follows `ulimit -s`, but not less than this. */
enum { LEAST_STACK = 1 << 20 };

void twin__thread_hold_signals(sigset_t *before)
{
    /* The last one is sent to the thread that spends the time, which is what a profiler measures. */
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPIPE, SIGPROF };
    sigset_t others;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_BLOCK, &others, before);
}

bool twin__thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    size_t stack;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < LEAST_STACK)
        pthread_attr_setstacksize(&attributes, LEAST_STACK);
    sigset_t before;
    twin__thread_hold_signals(&before);
    bool started = pthread_create(thread, &attributes, run, context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* cpu_seconds.h — the time that the calling thread has computed, which waiting and other programs do not add to. */
#ifndef BENCH_CPU_SECONDS_H
#define BENCH_CPU_SECONDS_H

#include <time.h>

static inline double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif

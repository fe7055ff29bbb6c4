/* clock.h — how long something takes. */
#ifndef TWIN_BASE_CLOCK_H
#define TWIN_BASE_CLOCK_H

#include <time.h>

/* Seconds since some instant. */
static inline double twin__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif

/* usage.h — the time and memory that a run takes. */
#ifndef TWIN_SUPPORT_USAGE_H
#define TWIN_SUPPORT_USAGE_H

#include <stdint.h>

/* Seconds since some moment in the past, for differences. */
double seconds(void);

/* The most memory that the process has had, in bytes; 0 when it is not known. */
uint64_t peak_bytes(void);

#endif

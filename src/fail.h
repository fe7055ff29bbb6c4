/* fail.h — a failure and its sentence. */
#ifndef TWIN_FAIL_H
#define TWIN_FAIL_H

#include <twinsift/status.h>

/* Fills `error`, unless it is NULL, and returns `status`. The format knows %m: the text of errno. */
twin_status twin__fail(twin_error *error, twin_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for memory that ran out. */
twin_status twin__fail_memory(twin_error *error);

#endif

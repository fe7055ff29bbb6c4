/* status.h — the results of calls that can fail.
 *
 * Zero is good, negatives are trouble. Calls that read foreign bytes also fill a twin_error, when they
 * are given one, with a sentence that names the place. */
#ifndef TWINSIFT_STATUS_H
#define TWINSIFT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TWIN_API __attribute__((visibility("default")))
#else
#define TWIN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum twin_status {
    TWIN_OK = 0,
    TWIN_EINVAL = -1,       /* an option or argument outside its range */
    TWIN_ENOMEM = -2,       /* memory ran out */
    TWIN_EIO = -3,          /* the system could not open, read or write */
    TWIN_EFORMAT = -4,      /* bytes that are not what they should be: damaged, truncated, foreign */
    TWIN_EUNSUPPORTED = -5, /* known, but not in this build or on this machine */
    TWIN_ELIMIT = -6,       /* more than the format or the type can hold */
    TWIN_ESTOPPED = -7,     /* a caller's callback asked to stop */
    TWIN_EBUSY = -8,        /* someone else is at work on it; try again later */
} twin_status;

/* What went wrong, where. `message` is one whole sentence without a full stop or a line end. */
typedef struct twin_error {
    twin_status status;
    uint64_t line;   /* counted from 1; 0 where there are no lines */
    uint64_t offset; /* bytes from the start of what was read */
    char message[512];
} twin_error;

/* Hears how far a long call has come. `tell` may be called by any worker, so it must be thread-safe; it
 * should return at once. `stage` is a short name that stays valid, `total` is 0 while it is not known. A
 * NULL `tell` hears nothing. */
typedef struct twin_progress {
    void (*report)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
} twin_progress;

/* A few words for a status; never NULL. */
TWIN_API const char *twin_status_text(twin_status status);

#ifdef __cplusplus
}
#endif
#endif

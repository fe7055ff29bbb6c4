/* status.h — the results of calls that can fail.
 *
 * Zero is success, negatives are errors. Calls that read files or other untrusted bytes also fill an optional
 * twin_error with the position and a sentence. */
#ifndef TWINSIFT_STATUS_H
#define TWINSIFT_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A program or module that contains the library and should not pass it on as its own is compiled with TWIN_STATIC, and so
 * is the library (cmake -DTWIN_STATIC=ON). */
#if defined(__GNUC__) && !defined(TWIN_STATIC)
#define TWIN_API __attribute__((visibility("default")))
#else
#define TWIN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Calls check their arguments in every build: a pointer that must not be NULL, a number or an enumerator out of range
 * is TWIN_EINVAL, and twin_error_last() names the argument. Calls that return a value return a harmless one then: 0,
 * false, NULL, "". Not checked is what only the caller can know: that a pointer is valid and its array long enough.
 * In every struct of options zeros are defaults, so that {0} is a complete set of options. */
typedef enum twin_status {
    TWIN_OK = 0,
    TWIN_EINVAL = -1,       /* invalid option or argument */
    TWIN_ENOMEM = -2,       /* out of memory */
    TWIN_EIO = -3,          /* opening, reading or writing failed */
    TWIN_EFORMAT = -4,      /* malformed input: damaged, truncated, or of another format */
    TWIN_EUNSUPPORTED = -5, /* valid, but not supported by this build or machine */
    TWIN_ELIMIT = -6,       /* more than the format or the type can hold */
    TWIN_ESTOPPED = -7,     /* a caller's callback asked to stop */
    TWIN_EBUSY = -8,        /* in use by another process or handle; try again later */
} twin_status;

/* Structs of options and of results end with `reserved` words, of which later versions make new members, so that they
 * keep their size and a program compiled before works unchanged. They are zero, as {0} makes them. A program that sets an
 * option which the library is too old to know gets TWIN_EINVAL. */
enum { TWIN_RESERVED = 8 };

/* What went wrong, where. `message` is one whole sentence without a full stop or a line end. */
typedef struct twin_error {
    twin_status status;
    uint64_t line;   /* counted from 1; 0 where there are no lines */
    uint64_t offset; /* bytes from the start of what was read */
    char message[512];
} twin_error;

/* What a long call is doing. Both strings stay valid. */
typedef struct twin_stage {
    const char *name; /* "reading", "verifying" */
    const char *unit; /* what `done` counts: "B" for bytes, "pairs"; NULL: steps, of which there are few */
} twin_stage;

/* Called while a long call runs, at least every 100 ms in every stage, so that the caller can show how far it is and
 * end it: false stops the call, which undoes what is unfinished and returns TWIN_ESTOPPED. `total` is 0 while it is not
 * known. The calling thread and its workers report, one at a time; it should return at once. NULL: no reports. */
typedef struct twin_progress {
    bool (*report)(void *context, const twin_stage *stage, uint64_t done, uint64_t total);
    void *context;
} twin_progress;

/* Calls `call`. Whatever long work that does on this thread, also by calls that take no progress, such as
 * twin_edit_distance(), reports to `progress` and is stopped by it. Returns what `call` returns, or TWIN_ESTOPPED. */
TWIN_API twin_status twin_progress_watch(twin_progress progress, twin_status (*call)(void *context), void *context);

/* A short description of a status; never NULL. */
TWIN_API const char *twin_status_text(twin_status status);

/* Why the last call of this thread that returned `status` did so: a sentence such as "slots must be 1 to 65536, not
 * 70000", or twin_status_text(status) when that says it all. Also for calls that take no twin_error. Never NULL; it
 * lives until the next call of this thread that fails. */
TWIN_API const char *twin_error_last(twin_status status);

#ifdef __cplusplus
}
#endif
#endif

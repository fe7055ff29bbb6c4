/* error.h — error messages. */
#ifndef TWIN_BASE_ERROR_H
#define TWIN_BASE_ERROR_H

#include <twinsift/status.h>

/* Fills `error`, unless it is NULL, and what twin_error_last() returns; returns `status`. The format accepts %m, the
 * text of errno. An argument may be the message of `error` or of twin_error_last(). */
twin_status twin__fail(twin_error *error, twin_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the offset at which a file is malformed. */
twin_status twin__fail_at(twin_error *error, twin_status status, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same after an inner call that returned `status`: keeps the sentence it left, or else uses the text of the
 * status. */
twin_status twin__fail_status(twin_error *error, twin_status status);

/* Out of memory. In line, as the next one, so that the static analyser sees that it never returns TWIN_OK. */
static inline twin_status twin__fail_memory(twin_error *error)
{
    twin__fail_status(error, TWIN_ENOMEM);
    return TWIN_ENOMEM;
}

/* "NAME must not be NULL". */
static inline twin_status twin__fail_null(twin_error *error, const char *name)
{
    twin__fail(error, TWIN_EINVAL, "%s must not be NULL", name);
    return TWIN_EINVAL;
}

/* The reserved words of options are zero; else `name` are those of a later version, and the call fails. */
twin_status twin__check_reserved(twin_error *error, const uint64_t reserved[TWIN_RESERVED], const char *name);

#endif

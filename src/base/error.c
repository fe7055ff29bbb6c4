/* error.c — error messages. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The last failure of this thread, for calls without a twin_error. */
static _Thread_local struct {
    twin_status status;
    char message[sizeof((twin_error *)NULL)->message];
} last;

static void fail(twin_error *error, twin_status status, uint64_t offset, const char *format, va_list arguments)
{
    char message[sizeof last.message]; /* an argument may be the message that is replaced */
    vsnprintf(message, sizeof message, format, arguments);
    memcpy(last.message, message, sizeof message);
    last.status = status;
    if (!error)
        return;
    memcpy(error->message, message, sizeof message);
    error->status = status;
    error->line = 0;
    error->offset = offset;
}

const char *twin_error_last(twin_status status)
{
    /* Out of memory and stopping are often reported without a sentence; an older one must not be taken for theirs. */
    bool plain = status == TWIN_OK || status == TWIN_ENOMEM || status == TWIN_ESTOPPED;
    return last.status == status && !plain ? last.message : twin_status_text(status);
}

twin_status twin__fail(twin_error *error, twin_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, 0, format, arguments);
    va_end(arguments);
    return status;
}

twin_status twin__fail_at(twin_error *error, twin_status status, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, offset, format, arguments);
    va_end(arguments);
    return status;
}

twin_status twin__fail_status(twin_error *error, twin_status status)
{
    return twin__fail(error, status, "%s", twin_error_last(status));
}

twin_status twin__check_reserved(twin_error *error, const uint64_t reserved[TWIN_RESERVED], const char *name)
{
    for (size_t i = 0; i < TWIN_RESERVED; i++)
        if (reserved[i])
            return twin__fail(
                error, TWIN_EINVAL,
                "the options of %s have one that this version does not know; begin them with {0}, or use "
                "the library that the program was compiled for",
                name);
    return TWIN_OK;
}

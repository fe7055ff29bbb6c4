/* error.c — a failure and its sentence. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static void fail(twin_error *error, twin_status status, uint64_t offset, const char *format, va_list arguments)
{
    if (!error)
        return;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    error->status = status;
    error->line = 0;
    error->offset = offset;
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
    return twin__fail(error, status, "%s", twin_status_text(status));
}

twin_status twin__fail_memory(twin_error *error)
{
    return twin__fail_status(error, TWIN_ENOMEM);
}

void twin__keep_first_failure(struct twin__first_failure *failure, size_t item, const twin_error *error)
{
    pthread_mutex_lock(&failure->lock);
    if (item < failure->item) {
        failure->item = item;
        failure->error = *error;
    }
    pthread_mutex_unlock(&failure->lock);
}

twin_status twin__first_failure(twin_error *out, const struct twin__first_failure *failure)
{
    if (out && failure->error.status != TWIN_OK)
        *out = failure->error;
    return failure->error.status;
}

/* fail.c — a failure and its sentence. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

twin_status twin__fail(twin_error *error, twin_status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->status = status;
    error->line = 0;
    error->offset = 0;
    return status;
}

twin_status twin__fail_memory(twin_error *error)
{
    return twin__fail(error, TWIN_ENOMEM, "%s", twin_status_text(TWIN_ENOMEM));
}

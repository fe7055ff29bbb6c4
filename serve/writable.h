/* writable.h — whether a file that is served may be written. */
#ifndef TWIN_SERVE_WRITABLE_H
#define TWIN_SERVE_WRITABLE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <twinsift/status.h>
#include <unistd.h>

/* TWIN_EIO and the reason if it is there and may not be. A store that is open for reading says only that. */
static inline twin_status may_be_written(const char *path, twin_error *error)
{
    if (access(path, W_OK) == 0 || errno == ENOENT)
        return TWIN_OK;
    *error = (twin_error){ .status = TWIN_EIO };
    snprintf(error->message, sizeof error->message, "%s cannot be written: %s", path, strerror(errno));
    return TWIN_EIO;
}

#endif

/* size.c — sizes in words. */
#include "size.h"

#include <stddef.h>
#include <stdio.h>

const char *write_size(char out[SIZE_ROOM], uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double size = (double)bytes;
    size_t power = 0;
    for (; size >= 1024; power++)
        size /= 1024;
    snprintf(out, SIZE_ROOM, "%.*f %s", power ? 2 : 0, size, units[power]);
    return out;
}

const char *write_decimal_size(char out[SIZE_ROOM], double bytes)
{
    static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
    size_t power = 0;
    for (; bytes >= 1000 && power < 4; power++)
        bytes /= 1000;
    snprintf(out, SIZE_ROOM, "%.*f %s", power ? 1 : 0, bytes, units[power]);
    return out;
}

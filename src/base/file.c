/* file.c — reading a file at an offset. */
#include "base/file.h"

#include <errno.h>
#include <unistd.h>

ssize_t twin__read_at(int fd, void *out, size_t length, uint64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(fd, (char *)out + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

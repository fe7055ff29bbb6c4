/* large_file.c — files that may be too large for the system's cache.
 *
 * A copy of a large file fills the cache with itself, and what is pushed out for it may be the very input that is still
 * to be read. Linux 6.14 can write without keeping (RWF_DONTCACHE): pages go to the disk at once, and are free when they
 * are there. Older systems, and file systems that cannot, refuse the first such write, and write as usual then. */
#include "large_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

struct large_file {
    int fd;
    uint64_t cached; /* bytes that are still left to the cache */
    int flags;       /* of writes after that */
};

static ssize_t write_some(struct large_file *file, const char *bytes, size_t length)
{
    struct iovec piece = { (char *)bytes, length }; /* only read */
    if (file->cached >= length || file->flags == 0) {
        file->cached -= file->cached >= length ? length : file->cached;
        return write(file->fd, bytes, length);
    }
    file->cached = 0;
    ssize_t written = pwritev2(file->fd, &piece, 1, -1, file->flags);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return written;
    file->flags = 0;
    return write(file->fd, bytes, length);
}

/* Fewer bytes than it was given are a failure to the C library. */
static ssize_t write_large(void *cookie, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t written = write_some(cookie, bytes + done, length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int close_large(void *cookie)
{
    struct large_file *file = cookie;
    int status = close(file->fd);
    free(file);
    return status;
}

FILE *large_file_open(int fd, uint64_t cached)
{
    struct large_file *file = malloc(sizeof *file);
    if (!file)
        return NULL;
    *file = (struct large_file){ fd, cached, RWF_DONTCACHE };
    FILE *out = fopencookie(file, "w", (cookie_io_functions_t){ .write = write_large, .close = close_large });
    if (!out)
        free(file);
    return out;
}

uint64_t large_file_cached(void)
{
    enum { SHARE = 10 };
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / SHARE : UINT64_MAX;
}

/* large_file.c — files that may be too large for the system's cache.
 *
 * Where a file will be is decided by ext4 block by block, which is a third of the time that writing takes. A file whose
 * length is known before has its blocks reserved instead, all at once. Other file systems gain nothing by that, and may
 * lose: btrfs does not compress what was reserved.
 *
 * A copy of a large file fills the cache with itself, and what is pushed out for it may be the very input that is still
 * to be read. Linux 6.14 can write without keeping (RWF_DONTCACHE): pages go to the disk at once, and are free when they
 * are there. Older systems, and file systems that cannot, refuse the first such write, and write as usual then. */
#include "large_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

struct large_file {
    int fd;
    uint64_t cached; /* bytes that are still left to the cache */
    int flags;       /* of writes after that */
    uint64_t written;
    bool is_reserved; /* it may have more room than it needs */
};

/* Reserves room for so many bytes, or as many as there is room for: whether there is enough is seen when it is used.
 * False: it would not save time. */
static bool reserve(int fd, uint64_t bytes)
{
#ifdef __linux__
    enum { LEAST_BYTES = 1 << 20 }; /* there may be many small files */
    struct statfs system;
    if (bytes < LEAST_BYTES || bytes > INT64_MAX || fstatfs(fd, &system) != 0 || system.f_type != EXT4_SUPER_MAGIC)
        return false;
    (void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    return true;
#else
    (void)fd, (void)bytes;
    return false;
#endif
}

static ssize_t write_some(struct large_file *file, const char *bytes, size_t length)
{
    if (file->cached >= length || file->flags == 0) {
        file->cached -= file->cached >= length ? length : file->cached;
        return write(file->fd, bytes, length);
    }
    file->cached = 0;
#ifdef __linux__
    struct iovec piece = { (char *)bytes, length }; /* only read */
    ssize_t written = pwritev2(file->fd, &piece, 1, -1, file->flags);
    if (written >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
        return written;
#endif
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
    ((struct large_file *)cookie)->written += done;
    return (ssize_t)done;
}

static int close_large(void *cookie)
{
    struct large_file *file = cookie;
    bool cut = !file->is_reserved || ftruncate(file->fd, (off_t)file->written) == 0;
    int status = close(file->fd);
    free(file);
    return cut ? status : -1;
}

FILE *large_file_open(int fd, uint64_t cached, uint64_t expected)
{
    struct large_file *file = malloc(sizeof *file);
    if (!file)
        return NULL;
    *file = (struct large_file){ fd, cached, RWF_DONTCACHE, 0, reserve(fd, expected) };
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

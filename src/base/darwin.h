/* darwin.h — what Linux has and macOS has not, as far as the sources use it: each does what its callers take as a
 * refusal of an old system, or the same more slowly. The build includes it in front of every file for macOS, and of none
 * for other systems. Compiled by tools/check_macos.sh, and not run. */
#ifndef TWIN_BASE_DARWIN_H
#define TWIN_BASE_DARWIN_H

#ifndef _REENTRANT
#define _REENTRANT /* lgamma_r() */
#endif
#include <crt_externs.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlocale.h>

#undef OVERFLOW     /* of <math.h>, an old name that nothing here means */
#define O_TMPFILE 0 /* a folder cannot be opened for writing, so that the file gets a name */
#define O_PATH O_RDONLY
#define st_mtim st_mtimespec
#define environ (*_NSGetEnviron())
#define fwrite_unlocked fwrite
#define pipe2 darwin_pipe2

static inline int darwin_pipe2(int ends[2], int flags)
{
    if (pipe(ends) != 0)
        return -1;
    if (flags & O_CLOEXEC)
        for (int i = 0; i < 2; i++)
            fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

static inline void *memrchr(const void *bytes, int byte, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes + length;
    while (at != bytes)
        if (*--at == (unsigned char)byte)
            return (void *)at;
    return NULL;
}

static inline ssize_t getrandom(void *out, size_t length, unsigned flags)
{
    (void)flags;
    arc4random_buf(out, length);
    return (ssize_t)length;
}

/* ---- files in memory: none, so that they are made in the temporary folder ---- */

#define MFD_CLOEXEC 0

static inline int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

/* ---- hints to the disk: not given ---- */

#define SYNC_FILE_RANGE_WRITE 0

static inline int sync_file_range(int fd, off_t from, off_t length, int flags)
{
    (void)fd, (void)from, (void)length, (void)flags;
    return 0;
}

/* ---- streams with functions of one's own, which here count in int ---- */

typedef struct cookie_io_functions {
    ssize_t (*read)(void *cookie, char *out, size_t room);
    ssize_t (*write)(void *cookie, const char *bytes, size_t length); /* 0: it failed */
    int (*seek)(void *cookie, off_t *offset, int whence);
    int (*close)(void *cookie);
} cookie_io_functions_t;

struct darwin_stream {
    void *cookie;
    cookie_io_functions_t does;
};

static inline int darwin_stream_write(void *stream, const char *bytes, int length)
{
    struct darwin_stream *own = stream;
    ssize_t written = own->does.write(own->cookie, bytes, (size_t)length);
    return written > 0 ? (int)written : -1;
}

static inline int darwin_stream_close(void *stream)
{
    struct darwin_stream *own = stream;
    int result = own->does.close(own->cookie);
    free(own);
    return result;
}

/* For writing only. */
static inline FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t does)
{
    struct darwin_stream *own = malloc(sizeof *own);
    (void)mode;
    if (!own)
        return NULL;
    *own = (struct darwin_stream){ cookie, does };
    FILE *file = funopen(own, NULL, darwin_stream_write, NULL, darwin_stream_close);
    if (!file)
        free(own);
    return file;
}
#endif

/* packed_file.c — writing compressed files through a FILE.
 *
 * fopencookie() makes a FILE of any writer, so whatever prints does not know whether its output is compressed. */
#include "packed_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

bool packed_by_name(const char *name)
{
    return ends_in(name, ".gz") || ends_in(name, ".zst");
}

bool packed_otherwise(const char *name)
{
    return ends_in(name, ".bz2") || ends_in(name, ".xz") || ends_in(name, ".lz4") || ends_in(name, ".zip");
}

/* ---- gzip ---- */

enum { BUFFER_BYTES = 1 << 18 };

/* A write that fails returns 0: stdio takes that for an error, and a negative number too, but glibc's documentation
 * asks for 0. */
static ssize_t write_gzip(void *cookie, const char *bytes, size_t length)
{
    enum { MOST = 1 << 30 }; /* gzwrite() counts in int */
    unsigned some = length < MOST ? (unsigned)length : MOST;
    int written = gzwrite(cookie, bytes, some);
    if (written > 0)
        return written;
    int kind;
    gzerror(cookie, &kind);
    errno = kind == Z_ERRNO && errno ? errno : EIO;
    return 0;
}

static int close_gzip(void *cookie)
{
    errno = 0;
    if (gzclose_w(cookie) == Z_OK)
        return 0;
    errno = errno ? errno : EIO;
    return -1;
}

static FILE *open_gzip(int fd)
{
    int own = dup(fd); /* what gzdopen() has been given can only be closed with the rest */
    gzFile file = own < 0 ? NULL : gzdopen(own, "wb6");
    FILE *out = NULL;
    if (file) {
        gzbuffer(file, BUFFER_BYTES);
        out = fopencookie(file, "w", (cookie_io_functions_t){ .write = write_gzip, .close = close_gzip });
    }
    if (out)
        close(fd);
    else if (file)
        gzclose_w(file);
    else if (own >= 0)
        close(own);
    return out;
}

/* ---- zstd ---- */

struct zstd {
    ZSTD_CCtx *context;
    int fd;
    size_t room;
    char *out;
};

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

static bool pack(struct zstd *zstd, const char *bytes, size_t length, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = { bytes, length, 0 };
    for (;;) {
        ZSTD_outBuffer out = { zstd->out, zstd->room, 0 };
        size_t left = ZSTD_compressStream2(zstd->context, &out, &in, end);
        if (ZSTD_isError(left)) {
            errno = ENOMEM;
            return false;
        }
        if (!write_all(zstd->fd, zstd->out, out.pos))
            return false;
        if (end == ZSTD_e_end ? left == 0 : in.pos == in.size)
            return true;
    }
}

static ssize_t write_zstd(void *cookie, const char *bytes, size_t length)
{
    return pack(cookie, bytes, length, ZSTD_e_continue) ? (ssize_t)length : 0;
}

static void free_zstd(struct zstd *zstd)
{
    ZSTD_freeCCtx(zstd->context);
    free(zstd->out);
    free(zstd);
}

static int close_zstd(void *cookie)
{
    struct zstd *zstd = cookie;
    bool good = pack(zstd, "", 0, ZSTD_e_end);
    int reason = errno;
    if (close(zstd->fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    free_zstd(zstd);
    errno = reason;
    return good ? 0 : -1;
}

static FILE *open_zstd(int fd)
{
    struct zstd *zstd = calloc(1, sizeof *zstd);
    if (!zstd)
        return NULL;
    zstd->fd = fd;
    zstd->room = ZSTD_CStreamOutSize();
    zstd->context = ZSTD_createCCtx();
    zstd->out = malloc(zstd->room);
    FILE *file = NULL;
    if (zstd->context && zstd->out) {
        ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_checksumFlag, 1);
        file = fopencookie(zstd, "w", (cookie_io_functions_t){ .write = write_zstd, .close = close_zstd });
    } else
        errno = ENOMEM;
    if (!file)
        free_zstd(zstd);
    return file;
}

FILE *packed_open(int fd, const char *name)
{
    return ends_in(name, ".gz") ? open_gzip(fd) : open_zstd(fd);
}

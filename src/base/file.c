/* file.c — reading and writing a file at an offset; temporary files; files that get their name when they are whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

bool twin__write_at(int fd, const void *bytes, size_t length, uint64_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, length - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

int twin__temporary_file(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char *path;
    if (asprintf(&path, "%s/twinsift-XXXXXX", folder) < 0) {
        errno = ENOMEM;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

/* ---- names ---- */

int twin__open_unnamed(const char *path, mode_t mode)
{
    if (access("/proc/self/fd", X_OK) != 0) { /* an empty root has none; link_unnamed() needs it */
        errno = EOPNOTSUPP;
        return -1;
    }
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, mode) : -1;
    int reason = errno == EISDIR || errno == EINVAL ? EOPNOTSUPP : errno; /* as systems without them say it */
    free(copy);
    errno = reason;
    return fd;
}

/* A link refuses a name that is taken. */
static bool link_unnamed(int fd, const char *name)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Whether a failure of fsync() means that bytes may be lost. What cannot be synced at all, such as a pipe or a folder of
 * some file systems, says so with other reasons. */
static bool is_loss(int reason)
{
    return reason == EIO || reason == ENOSPC || reason == EDQUOT;
}

/* A file that was opened to be synced: -1 and EACCES is one that its owner may not read, and nobody can sync. */
static bool sync_and_close(int fd)
{
    if (fd < 0)
        return errno == EACCES;
    bool good = fsync(fd) == 0 || !is_loss(errno);
    int reason = errno;
    close(fd);
    errno = reason;
    return good;
}

bool twin__sync_finished(struct twin__finished_file file)
{
    if (file.fd >= 0)
        return fsync(file.fd) == 0 || !is_loss(errno);
    return sync_and_close(open(file.temporary, O_RDONLY | O_CLOEXEC));
}

bool twin__sync_folder(const char *path)
{
    char *copy = strdup(path);
    if (!copy) {
        errno = ENOMEM;
        return false;
    }
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    return sync_and_close(folder);
}

static bool rename_or_remove(const char *temporary, const char *path)
{
    if (rename(temporary, path) == 0)
        return true;
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return false;
}

static bool link_and_remove(const char *temporary, const char *path)
{
    bool good = link(temporary, path) == 0;
    int reason = errno;
    unlink(temporary);
    errno = reason;
    return good;
}

/* A link cannot replace a file, and only a file with a name can be renamed. */
static bool name_unnamed(struct twin__finished_file file, const char *path, bool replace)
{
    return link_unnamed(file.fd, path) || (replace && errno == EEXIST && link_unnamed(file.fd, file.temporary) &&
                                           rename_or_remove(file.temporary, path));
}

bool twin__name_finished(struct twin__finished_file file, const char *path, bool replace)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = file.fd >= 0 ? name_unnamed(file, path, replace)
                : replace    ? rename_or_remove(file.temporary, path)
                             : link_and_remove(file.temporary, path);
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return good;
}

bool twin__name_file(struct twin__finished_file file, const char *path, bool replace)
{
    if (twin__sync_finished(file))
        return twin__name_finished(file, path, replace) && twin__sync_folder(path);
    int reason = errno;
    if (file.fd < 0)
        unlink(file.temporary);
    errno = reason;
    return false;
}

/* sync_log.c — a library to be loaded before others (LD_PRELOAD), which writes down in which order a program puts files on
 * the disk and names them.
 *
 * TWIN_SYNC_LOG names the file that gets a line for each event:
 *
 *     sync PATH           the file, or the folder, has been put on the disk
 *     name PATH           the file has got this name; it is on the disk as it is
 *     name-unsynced PATH  the same, but it was written to since it was put on the disk last, or never was
 *     write PATH          the file, which has a name, is written to in place; once for several writes in a row
 *     remove PATH         the name is gone
 *
 * With TWIN_SYNC_STOP=N the process is killed instead of the Nth event, as by SIGKILL from outside. With TWIN_SYNC_HOOK a
 * shell runs that command before each event, whose number it has as TWIN_SYNC_EVENT, while the process waits.
 *
 * What stdio writes is not seen. So a file counts as written to if its size or time of the last change has changed. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct synced {
    ino_t number;
    off_t bytes;
    struct timespec changed;
} files[MOST_FILES];
static size_t file_count;
static unsigned events;
static char last_written[PATH_MAX];

/* The function of the C library that the one of this name hides. */
static void *hidden(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}
#define CALL(name, type) ((type)hidden(name))

static bool is_as_synced(const struct stat *now)
{
    for (size_t i = file_count; i-- > 0;)
        if (files[i].number == now->st_ino)
            return files[i].bytes == now->st_size && files[i].changed.tv_sec == now->st_mtim.tv_sec &&
                   files[i].changed.tv_nsec == now->st_mtim.tv_nsec;
    return false;
}

static void note_synced(const struct stat *now)
{
    if (file_count == MOST_FILES)
        abort();
    files[file_count++] = (struct synced){ now->st_ino, now->st_size, now->st_mtim };
}

/* What it runs is not watched. */
static void run_hook(const char *hook)
{
    char number[64], path[PATH_MAX];
    snprintf(number, sizeof number, "TWIN_SYNC_EVENT=%u", events);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    char *const words[] = { (char *)"sh", (char *)"-c", (char *)hook, NULL }, *const variables[] = { number, path,
                                                                                                     NULL };
    pid_t shell;
    int status;
    if (posix_spawn(&shell, "/bin/sh", NULL, NULL, words, variables) != 0 || waitpid(shell, &status, 0) != shell ||
        status != 0)
        abort();
}

/* Under the lock. */
static void event(const char *what, const char *path)
{
    const char *log = getenv("TWIN_SYNC_LOG"), *stop = getenv("TWIN_SYNC_STOP"), *hook = getenv("TWIN_SYNC_HOOK");
    if (!log)
        return;
    events++;
    if (stop && events == strtoul(stop, NULL, 10))
        kill(getpid(), SIGKILL);
    if (hook)
        run_hook(hook);
    FILE *out = fopen(log, "ae");
    if (!out)
        abort();
    fprintf(out, "%s %s\n", what, path);
    fclose(out);
}

/* Where a descriptor leads; "(no name)" for a file without one. */
static void path_of(char out[PATH_MAX], int fd)
{
    char link[64];
    struct stat found;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    if (fstat(fd, &found) != 0 || (S_ISREG(found.st_mode) && found.st_nlink == 0))
        strcpy(out, "(no name)");
}

/* A name as a path from the root: that of its folder, and its own. */
static void whole_path(char out[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX], above[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
    if (!realpath(folder, above))
        above[0] = '\0';
    if (snprintf(out, PATH_MAX, "%s/%s", above, name) >= PATH_MAX)
        abort();
}

static int sync_with(const char *function, int fd)
{
    char path[PATH_MAX];
    struct stat now;
    pthread_mutex_lock(&lock);
    path_of(path, fd);
    event("sync", path);
    int status = CALL(function, int (*)(int))(fd);
    if (status == 0 && fstat(fd, &now) == 0)
        note_synced(&now);
    last_written[0] = '\0';
    pthread_mutex_unlock(&lock);
    return status;
}

int fsync(int fd)
{
    return sync_with("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_with("fdatasync", fd);
}

/* Before the file that `from` leads to, in whatever way, gets the name. */
static void note_name(const char *from, const char *to)
{
    char path[PATH_MAX];
    struct stat now;
    whole_path(path, to);
    event(stat(from, &now) == 0 && is_as_synced(&now) ? "name" : "name-unsynced", path);
    last_written[0] = '\0';
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    pthread_mutex_lock(&lock);
    if (access(to, F_OK) != 0) /* or it will fail */
        note_name(from, to);
    int status =
        CALL("linkat", int (*)(int, const char *, int, const char *, int))(from_folder, from, to_folder, to, flags);
    pthread_mutex_unlock(&lock);
    return status;
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int rename(const char *from, const char *to)
{
    pthread_mutex_lock(&lock);
    note_name(from, to);
    int status = CALL("rename", int (*)(const char *, const char *))(from, to);
    pthread_mutex_unlock(&lock);
    return status;
}

int unlink(const char *path)
{
    char whole[PATH_MAX];
    pthread_mutex_lock(&lock);
    if (access(path, F_OK) == 0) {
        whole_path(whole, path);
        event("remove", whole);
    }
    int status = CALL("unlink", int (*)(const char *))(path);
    pthread_mutex_unlock(&lock);
    return status;
}

static void note_write(int fd)
{
    char path[PATH_MAX];
    pthread_mutex_lock(&lock);
    path_of(path, fd);
    if (strcmp(path, "(no name)") != 0 && strcmp(path, last_written) != 0) {
        event("write", path);
        strcpy(last_written, path);
    }
    pthread_mutex_unlock(&lock);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    note_write(fd);
    return CALL("writev", ssize_t(*)(int, const struct iovec *, int))(fd, pieces, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    note_write(fd);
    return CALL("pwrite", ssize_t(*)(int, const void *, size_t, off_t))(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
    note_write(fd);
    return CALL("pwrite64", ssize_t(*)(int, const void *, size_t, off64_t))(fd, bytes, length, offset);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset)
{
    note_write(fd);
    return CALL("pwritev", ssize_t(*)(int, const struct iovec *, int, off_t))(fd, pieces, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset)
{
    note_write(fd);
    return CALL("pwritev64", ssize_t(*)(int, const struct iovec *, int, off64_t))(fd, pieces, count, offset);
}

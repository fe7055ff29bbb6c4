/* bloom_file.c — filters in files.
 *
 * A reader maps the file; a writer works on a copy in memory and replaces the file atomically, under a lock. What is in
 * the file is drawn in bloom_format.c. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "bloom/bloom_private.h"

static twin_status fail_system(twin_error *error, const char *path, const char *doing)
{
    return twin__fail(error, TWIN_EIO, "%s: could not be %s: %m", path, doing);
}

/* ---- opening ---- */

static twin_status map_file(void **map, size_t *size, int file, const char *path, twin_error *error)
{
    struct stat stat;
    if (fstat(file, &stat) != 0)
        return fail_system(error, path, "opened");
    if (!S_ISREG(stat.st_mode))
        return twin__fail(error, TWIN_EFORMAT, "%s: is not a regular file", path);
    if ((uint64_t)stat.st_size > SIZE_MAX)
        return twin__fail(error, TWIN_ELIMIT, "%s: is too large for this machine", path);
    if (stat.st_size == 0) /* which cannot be mapped */
        return twin__fail(error, TWIN_EFORMAT, "%s: is not a twinsift filter: it is empty", path);

    *size = (size_t)stat.st_size;
    *map = mmap(NULL, *size, PROT_READ, MAP_SHARED, file, 0);
    return *map == MAP_FAILED ? fail_system(error, path, "mapped") : TWIN_OK;
}

static twin_status open_mapped(twin_bloom **out, int file, const char *path, twin_bloom_open_options options,
                               bool keyless, twin_error *error)
{
    void *map = NULL;
    size_t size = 0;
    *out = NULL;
    twin_status status = map_file(&map, &size, file, path, error);
    if (status != TWIN_OK)
        return status;

    twin_bloom *bloom;
    status = twin__bloom_view(&bloom, map, size, path, options, keyless, error);
    if (!bloom) {
        munmap(map, size);
        return status;
    }
    bloom->memory = map;
    bloom->memory_bytes = size;
    *out = bloom;
    return TWIN_OK;
}

/* Turns a mapped filter into one in memory that can be changed. */
static twin_status copy_out(twin_bloom **bloom, const char *path, twin_error *error)
{
    twin_bloom *copy;
    twin_status status = twin_bloom_copy(&copy, *bloom);
    if (status != TWIN_OK)
        return twin__fail(error, status, "%s: %s", path, twin_status_text(status));
    twin_bloom_free(*bloom);
    *bloom = copy;
    return TWIN_OK;
}

/* Opens the file at `path`, called `name` in messages, and locks it as its writer. A writer replaces the file, so the
 * lock counts only if the name still refers to the file that was locked. */
static twin_status open_locked(int *out, const char *path, const char *name, twin_error *error)
{
    for (;;) {
        struct stat locked, named;
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0)
            return fail_system(error, name, "opened");
        if (flock(file, LOCK_EX | LOCK_NB) != 0) {
            bool busy = errno == EWOULDBLOCK;
            twin_status status = busy ? twin__fail(error, TWIN_EBUSY, "%s: is being written by another process", name)
                                      : fail_system(error, name, "locked");
            close(file);
            return status;
        }
        if (fstat(file, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
            locked.st_ino == named.st_ino) {
            *out = file;
            return TWIN_OK;
        }
        close(file);
    }
}

static twin_status open_to_write(twin_bloom **out, const char *path, twin_bloom_open_options options,
                                 twin_error *error)
{
    int lock = -1;
    twin_bloom *bloom = NULL;
    char *target = realpath(path, NULL); /* so that a symbolic link is followed, not replaced */
    if (!target)
        return fail_system(error, path, "opened");
    twin_status status = open_locked(&lock, target, path, error);
    if (status == TWIN_OK)
        status = open_mapped(&bloom, lock, path, options, false, error);
    if (status == TWIN_OK)
        status = copy_out(&bloom, path, error);
    if (status == TWIN_OK && bloom) {
        bloom->lock = lock;
        bloom->path = target;
        *out = bloom;
        return TWIN_OK;
    }
    if (lock >= 0)
        close(lock);
    free(target);
    twin_bloom_free(bloom);
    return status;
}

static twin_status open_to_read(twin_bloom **out, const char *path, twin_bloom_open_options options, bool keyless,
                                twin_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* avoids waiting for the other end of a pipe */
    if (file < 0)
        return fail_system(error, path, "opened");
    twin_status status = open_mapped(out, file, path, options, keyless, error);
    close(file);
    return status;
}

twin_status twin_bloom_open(twin_bloom **out, const char *path, twin_bloom_open_options options, twin_error *error)
{
    if (!out || !path)
        return twin__fail_null(error, out ? "path" : "out");
    *out = NULL;
    if ((unsigned)options.access > TWIN_BLOOM_WRITE)
        return twin__fail(error, TWIN_EINVAL, "unknown access %d", (int)options.access);
    twin_status status = twin__check_reserved(error, options.reserved, "opening a filter");
    if (status != TWIN_OK)
        return status;
    return options.access == TWIN_BLOOM_WRITE ? open_to_write(out, path, options, error)
                                              : open_to_read(out, path, options, false, error);
}

twin_status twin_bloom_inspect(twin_bloom_info *out, const char *path, twin_error *error)
{
    if (!out || !path)
        return twin__fail_null(error, out ? "path" : "out");
    twin_bloom *bloom = NULL;
    twin_status status = open_to_read(&bloom, path, (twin_bloom_open_options){ 0 }, true, error);
    if (status == TWIN_OK)
        twin_bloom_describe(out, bloom);
    twin_bloom_free(bloom);
    return status;
}

/* ---- writing ---- */

/* A file that has no name until it is complete, so that a killed writer leaves nothing behind. To replace another it
 * needs one for an instant, because a link cannot replace a file; where the file system has no files without a name,
 * from the start. What a writer killed then has left, the next writer of the filter removes: the name follows from
 * the filter's, and who has the lock is the only one to use it. */
struct aside {
    int file;
    bool named, locked; /* has its name; is written by who has the lock */
    char *name;
};

static twin_status open_aside(struct aside *aside, const char *path, mode_t mode, twin_error *error)
{
    size_t room = strlen(path) + 64;
    aside->file = -1;
    aside->named = false;
    aside->name = malloc(room);
    if (!aside->name)
        return twin__fail(error, TWIN_ENOMEM, "%s: out of memory", path);

    aside->file = twin__open_unnamed(path, mode);
    bool unknown = aside->file < 0 && errno == EOPNOTSUPP;
    if (aside->file < 0 && !unknown)
        return fail_system(error, path, "written");
    if (aside->locked) {
        snprintf(aside->name, room, "%s.twinsift-new", path);
        unlink(aside->name);
    } else {
        snprintf(aside->name, room, "%s.%ld-%d.new", path, (long)getpid(), aside->file);
    }
    if (unknown) {
        aside->file = open(aside->name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode);
        aside->named = aside->file >= 0;
    }
    return aside->file < 0 ? fail_system(error, path, "written") : TWIN_OK;
}

static void clear_aside(struct aside *aside)
{
    if (aside->named)
        unlink(aside->name);
    if (aside->file >= 0)
        close(aside->file);
    free(aside->name);
}

static twin_status give_name(struct aside *aside, const char *path, bool replace, twin_error *error)
{
    struct twin__finished_file file = { .fd = aside->named ? -1 : aside->file, .temporary = aside->name };
    bool good = twin__name_file(file, path, replace);
    aside->named = false;
    if (good)
        return TWIN_OK;
    return !replace && errno == EEXIST ? twin__fail(error, TWIN_EINVAL, "%s: already exists", path)
                                       : fail_system(error, path, "written");
}

/* How a filter replaces another. */
enum replacing {
    NOTHING,  /* an error if there is a file */
    WHATEVER, /* there was no file a moment ago */
    LOCKED,   /* the file that is locked */
    LOCK_AGAIN /* the same, and the new one is locked before it has its name: between two commits no other writer can get
                  the lock */
};

/* Writes the filter and gives it the name. `lock` becomes a descriptor of the new file if it is locked. */
static twin_status write_and_name(int *lock, const twin_bloom *bloom, const char *path, enum replacing what,
                                  twin_error *error)
{
    struct stat old;
    bool exists = what != NOTHING && stat(path, &old) == 0;
    struct aside aside = { .locked = what >= LOCKED };
    twin_status status = open_aside(&aside, path, 0666, error);
    if (status == TWIN_OK && exists && fchmod(aside.file, old.st_mode & 07777) != 0)
        status = fail_system(error, path, "written");
    if (status == TWIN_OK)
        status = twin__bloom_write(aside.file, bloom, path, error);
    if (status == TWIN_OK && what == LOCK_AGAIN && flock(aside.file, LOCK_EX | LOCK_NB) != 0)
        status = fail_system(error, path, "locked");
    if (status == TWIN_OK)
        status = give_name(&aside, path, what != NOTHING, error);
    if (status == TWIN_OK && what == LOCK_AGAIN) {
        *lock = aside.file;
        aside.file = -1;
    }
    clear_aside(&aside);
    return status;
}

twin_status twin_bloom_save(const twin_bloom *bloom, const char *path, bool replace, twin_error *error)
{
    if (!bloom || !path)
        return twin__fail_null(error, bloom ? "path" : "bloom");
    int lock = -1;
    char *target = replace ? realpath(path, NULL) : NULL;
    if (!target) /* no file to replace, or none may be replaced */
        return write_and_name(NULL, bloom, path, replace ? WHATEVER : NOTHING, error);

    twin_status status = open_locked(&lock, target, path, error);
    struct stat old;
    if (status == TWIN_OK && fstat(lock, &old) != 0)
        status = fail_system(error, path, "opened");
    bool is_empty = status == TWIN_OK && S_ISREG(old.st_mode) && old.st_size == 0;
    if (status == TWIN_OK && !is_empty && !twin__bloom_is_filter(lock))
        status = twin__fail(error, TWIN_EINVAL,
                            "%s: is not a filter, so it is not replaced; remove it or choose another name", path);
    if (status == TWIN_OK)
        status = write_and_name(NULL, bloom, target, LOCKED, error);
    if (lock >= 0)
        close(lock);
    free(target);
    return status;
}

twin_status twin_bloom_commit(twin_bloom *bloom, twin_error *error)
{
    if (!bloom)
        return twin__fail_null(error, "bloom");
    if (!bloom->path)
        return twin__fail(error, TWIN_EINVAL, "the filter was not opened for writing");
    if (bloom->stunted)
        return twin__fail(error, TWIN_ENOMEM, "%s: out of memory: the filter cannot grow any more", bloom->path);
    int lock = -1;
    twin_status status = write_and_name(&lock, bloom, bloom->path, LOCK_AGAIN, error);
    if (status != TWIN_OK)
        return status;
    close(bloom->lock);
    bloom->lock = lock;
    return TWIN_OK;
}

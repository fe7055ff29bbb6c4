/* replace.c — files that get their name when they are whole: new ones, and compacted ones.
 *
 * A file is written under a temporary name beside the one it will have, without a lock file, since nobody else knows
 * it. The process that creates a file in the place of another holds that one alone (flock);
 * everyone who has it open holds a shared lock.
 *
 * A compacted file takes the place of one that others may be reading. They keep the old file, but the two have the
 * same lock file, with a table of readers and the number of the last transaction. So the new file continues the
 * numbers of the old one: readers of either find a state with that number. Once the new file has been changed, a
 * reader of the old one that begins again finds none, and learns that the file was replaced. Writers keep one who
 * compacts out, and the other way round (environment.c). */
#include "store/replace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/background.h"
#include "base/error.h"
#include "base/file.h"
#include "base/stages.h"
#include "store/pages.h"
#include "store/transaction.h"

/* ---- names ---- */

char *twin__store_follow(const char *path)
{
    struct stat named;
    bool link = lstat(path, &named) == 0 && S_ISLNK(named.st_mode);
    char *file = link ? realpath(path, NULL) : NULL;
    return file ? file : strdup(path);
}

/* No two threads get the same. */
static char *temporary_name(const char *path)
{
    static atomic_uint given;
    char *name = NULL;
    return asprintf(&name, "%s.%ld-%u.new", path, (long)getpid(), atomic_fetch_add(&given, 1)) >= 0 ? name : NULL;
}

/* The process in the name of a temporary file of `base`; 0: it is not one. */
static long process_of(const char *name, const char *base)
{
    static const char digits[] = "0123456789";
    size_t length = strlen(base);
    if (strncmp(name, base, length) != 0 || name[length] != '.')
        return 0;
    const char *process = name + length + 1, *dash = process + strspn(process, digits);
    if (dash == process || *dash != '-')
        return 0;
    const char *end = dash + 1 + strspn(dash + 1, digits);
    return end > dash + 1 && strcmp(end, ".new") == 0 ? strtol(process, NULL, 10) : 0;
}

static void remove_leftovers(DIR *folder, const char *base)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        long process = process_of(entry->d_name, base);
        if (process && kill((pid_t)process, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
}

void twin__store_remove_leftovers(const char *path)
{
    char *for_folder = strdup(path), *for_base = strdup(path);
    DIR *folder = for_folder && for_base ? opendir(dirname(for_folder)) : NULL;
    if (folder) {
        remove_leftovers(folder, basename(for_base));
        closedir(folder);
    }
    free(for_folder);
    free(for_base);
}

twin_status twin__store_name_file(struct twin__finished_file file, const char *path, bool replace, twin_error *error)
{
    if (twin__name_file(file, path, replace))
        return TWIN_OK;
    return !replace && errno == EEXIST ? twin__fail(error, TWIN_EINVAL, "%s: already exists", path)
                                       : twin__fail(error, TWIN_EIO, "%s: could not be written: %m", path);
}

/* ---- files without a name ---- */

struct filling {
    unsigned flags; /* MDB_CREATE: the tables are made */
    twin__store_write *fill;
    void *context;
};

static twin_status open_and_fill(twin__store_txn *txn, void *context, twin_error *error)
{
    const struct filling *filling = context;
    int code = twin__environment_open_tables(txn->store->environment, txn->txn, filling->flags);
    return code == MDB_SUCCESS ? filling->fill(txn, filling->context, error) : twin__store_answer(txn, code, error);
}

static twin_status write_private(const char *temporary, const struct twin__store_schema *schema, mode_t mode,
                                 size_t map_bytes, struct filling filling, twin_error *error)
{
    twin__store store = { .path = (char *)temporary, .writable = true };
    twin_status status =
        twin__environment_open_private(&store.environment, temporary, schema, mode, map_bytes, error);
    if (status == TWIN_OK) {
        status = twin__store_transact(&store, open_and_fill, &filling, error);
        twin__environment_release(store.environment);
    }
    if (status != TWIN_OK)
        unlink(temporary);
    return status;
}

/* ---- creating ---- */

/* Holds the file that is to be replaced, which must be of the same kind, or empty; -1: there is none. */
static twin_status hold_old(int *held, const char *path, const struct twin__store_schema *schema, bool replace,
                            twin_error *error)
{
    struct stat found;
    *held = -1;
    if (lstat(path, &found) != 0)
        return TWIN_OK;
    if (!replace)
        return twin__fail(error, TWIN_EINVAL, "%s: already exists", path);
    twin_status status = twin__store_hold_file(held, path, LOCK_EX, error);
    if (status == TWIN_OK && fstat(*held, &found) == 0 && found.st_size > 0 &&
        !twin__store_is_of(schema, *held, path))
        status =
            twin__fail(error, TWIN_EINVAL, "%s: is not %s, so it is not replaced; remove it or choose another name",
                       path, schema->what);
    return status;
}

/* If that fails, the message has the name that was given. */
static twin_status try_to_make(const char *temporary, const char *path, mode_t mode, twin_error *error)
{
    int fd = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (fd < 0)
        return twin__fail(error, TWIN_EIO, "%s: could not be created: %m", path);
    close(fd);
    return TWIN_OK;
}

static twin_status create_file(const char *temporary, const char *path, const struct twin__store_schema *schema,
                               struct twin__store_create_options options, struct filling filling, twin_error *error)
{
    enum { MAP_BYTES = 1 << 20 };
    mode_t mode = options.secret ? 0600 : 0666;
    int held;
    twin_status status = hold_old(&held, path, schema, options.replace, error);
    unlink(temporary); /* of a process that had our number and died */
    if (status == TWIN_OK)
        status = try_to_make(temporary, path, mode, error);
    if (status == TWIN_OK)
        status = write_private(temporary, schema, mode, MAP_BYTES, filling, error);
    if (status == TWIN_OK)
        status = twin__store_name_file((struct twin__finished_file){ -1, temporary }, path, held >= 0, error);
    if (held >= 0)
        close(held);
    return status;
}

twin_status twin__store_create(const char *path, const struct twin__store_schema *schema,
                               struct twin__store_create_options options, twin__store_write *fill, void *context,
                               twin_error *error)
{
    char *file = twin__store_follow(path), *temporary = file ? temporary_name(file) : NULL;
    struct filling filling = { MDB_CREATE, fill, context };
    twin_status status =
        temporary ? create_file(temporary, file, schema, options, filling, error) : twin__fail_memory(error);
    free(file);
    free(temporary);
    return status;
}

/* ---- compacting ---- */

/* The copy begins with transaction 1, in the second meta page; the first is that of an empty file. It is given the
 * number of the state that was copied, for readers of the old file and of the new one look into the same lock file
 * for the number of the last transaction. */
static int renumber(int fd, uint64_t number)
{
    enum { PAGE_BYTES_AT = 40, TRANSACTION_AT = 144 };
    uint32_t page_bytes = 0;
    uint64_t before = number - 1;
    errno = EIO; /* of a file that is shorter than it should be */
    bool good = twin__read_at(fd, &page_bytes, sizeof page_bytes, PAGE_BYTES_AT) == (ssize_t)sizeof page_bytes &&
                twin__write_at(fd, &before, sizeof before, TRANSACTION_AT) &&
                twin__write_at(fd, &number, sizeof number, (uint64_t)page_bytes + TRANSACTION_AT);
    return good ? MDB_SUCCESS : errno;
}

/* LMDB writes the copy into a pipe, on a thread of its own, so that it can be stopped: when nobody reads any more, writing
 * fails. */
struct copying {
    MDB_env *env;
    int pipe; /* the end to be written */
    int code;
};

static void copy_into_pipe(void *context)
{
    struct copying *copying = context;
    sigset_t none_reads;
    sigemptyset(&none_reads);
    sigaddset(&none_reads, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &none_reads, NULL); /* for the life of this thread */
    copying->code = mdb_env_copyfd2(copying->env, copying->pipe, MDB_CP_COMPACT);
    close(copying->pipe);
}

/* Writes all that comes through the pipe to the file; *stopped becomes whether the call was told to stop before. */
static int take_from_pipe(bool *stopped, int fd, int pipe)
{
    enum { AT_ONCE = 1 << 16 };
    char *bytes = malloc(AT_ONCE);
    uint64_t done = 0;
    int code = bytes ? MDB_SUCCESS : ENOMEM;
    for (bool more = true; more && code == MDB_SUCCESS;) {
        *stopped = twin__report(&twin__stage_compacting, done, 0) != TWIN_OK;
        ssize_t got = *stopped ? 0 : read(pipe, bytes, AT_ONCE);
        if (got > 0 && !twin__write_at(fd, bytes, (size_t)got, done))
            code = errno;
        else if (got > 0)
            done += (uint64_t)got;
        else if (got == 0 || errno != EINTR) {
            code = got == 0 ? MDB_SUCCESS : errno;
            more = false;
        }
    }
    free(bytes);
    close(pipe);
    return code;
}

static int copy_in_pipe(bool *stopped, int fd, MDB_env *env)
{
    int ends[2];
    *stopped = false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    struct copying copying = { .env = env, .pipe = ends[1] };
    struct twin__background background = { 0 };
    if (!twin__background_start(&background, copy_into_pipe, &copying)) {
        close(ends[0]);
        close(ends[1]);
        return mdb_env_copyfd2(env, fd, MDB_CP_COMPACT);
    }
    int code = take_from_pipe(stopped, fd, ends[0]);
    twin__background_wait(&background);
    return code == MDB_SUCCESS ? copying.code : code;
}

/* Copies the store, whose last state is `number`, to a file that nobody else may read yet. It gets the owner of the old
 * one, if the process that compacts it may give it away, and its permissions. */
static int copy_to(bool *stopped, int fd, const twin__store *store, uint64_t number)
{
    struct stat old;
    int code = copy_in_pipe(stopped, fd, store->environment->env);
    if (code == MDB_SUCCESS)
        code = renumber(fd, number);
    if (code != MDB_SUCCESS)
        return code;
    bool good = fstat(store->environment->fd, &old) == 0 &&
                (fchown(fd, old.st_uid, old.st_gid) == 0 || errno == EPERM) && fchmod(fd, old.st_mode & 07777) == 0;
    return good ? MDB_SUCCESS : errno;
}

/* A copy of the store in a file without a name where there can be one; otherwise it is called `temporary` from the
 * beginning. */
static twin_status copy_compact(int *fd, bool *has_name, const twin__store *store, const char *temporary,
                                uint64_t number, twin_error *error)
{
    unlink(temporary);
    *fd = twin__open_unnamed(temporary, 0600);
    *has_name = *fd < 0;
    if (*has_name)
        *fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool stopped = false;
    int code = *fd >= 0 ? copy_to(&stopped, *fd, store, number) : errno;
    if (code == MDB_SUCCESS && !stopped)
        return TWIN_OK;
    if (*fd >= 0)
        close(*fd);
    unlink(temporary);
    return stopped ? twin__fail_status(error, TWIN_ESTOPPED)
                   : twin__store_fail_code(error, temporary, store->environment->schema, code);
}

/* Puts the copy in the place of the store, whose environment is released by that. */
static twin_status put_in_place(int copy, bool has_name, const char *temporary, twin__store *store, twin_error *error)
{
    struct twin__environment *e = store->environment;
    store->environment = NULL;
    struct twin__finished_file file = { has_name ? -1 : copy, temporary };
    twin_status status = twin__environment_replace(e, file, store->path, error);
    close(copy);
    return status;
}

static twin_status newest(uint64_t *out, twin__store *store, twin_error *error)
{
    twin__store_txn *txn;
    twin_status status = twin__store_begin_read(&txn, store, error);
    if (status != TWIN_OK)
        return status;
    *out = twin__store_number(txn);
    twin__store_end_read(txn);
    return TWIN_OK;
}

/* Nobody else writes, so what is copied is the last state. */
static twin_status compact_store(twin__store *store, const char *temporary, struct filling touch, twin_error *error)
{
    uint64_t number = 0;
    twin_status status = TWIN_OK;
    for (int i = 0; i < 2 && status == TWIN_OK && number % 2 == 0; i++) {
        status = twin__store_transact(store, touch.fill, touch.context, error);
        if (status == TWIN_OK)
            status = newest(&number, store, error);
    }
    int copy = -1;
    bool has_name = false;
    if (status == TWIN_OK)
        status = copy_compact(&copy, &has_name, store, temporary, number, error);
    return status == TWIN_OK ? put_in_place(copy, has_name, temporary, store, error) : status;
}

twin_status twin__store_compact(twin__store *store, twin__store_write *touch, void *context, twin_error *error)
{
    struct filling filling = { 0, touch, context };
    char *temporary = temporary_name(store->path);
    twin_status status = temporary ? compact_store(store, temporary, filling, error) : twin__fail_memory(error);
    free(temporary);
    return status;
}

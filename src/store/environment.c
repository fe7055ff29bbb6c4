/* environment.c — the LMDB environments that this process has open, each once.
 *
 * LMDB's locks are POSIX locks on the lock file, and those belong to the process: closing that file a second time, by
 * whatever descriptor, drops them, and another process may then overwrite pages that this one reads. So a file, known
 * by its device and inode under any name, has one environment in a process, which all handles share; the last one
 * closes it. Opening and closing happen under one lock, so that nobody meets an environment half open.
 *
 * An environment is opened for writing whenever the file permits it, so that a handle that writes may join one that
 * reads. What a handle may do, the handle checks.
 *
 * The lock file goes by the name of the file. One that took the name of a file that is still open here would share its
 * lock file, and is refused until the other is closed. A symbolic link is followed before anything is opened, so that
 * processes meet at one lock file; a hard link is a name of its own, and other processes that use it are not seen.
 *
 * A child made by fork() inherits the list but none of the locks: environments of another process are neither found nor
 * closed. (Closing one would close the lock file, and with it drop the locks that the child has taken itself.) */
#include "store/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/pages.h"
#include "store/replace.h"

/* Threads and processes that may read at once. */
enum { MOST_READERS = 1024 };

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* over the list, the counts of handles, and opening */
static struct twin__environment *environments;

/* A child of fork() finds the lock free, whatever other threads were doing. */
static void lock_list(void)
{
    pthread_mutex_lock(&list_lock);
}

static void unlock_list(void)
{
    pthread_mutex_unlock(&list_lock);
}

static void watch_forks(void)
{
    pthread_atfork(lock_list, unlock_list, unlock_list);
}

/* ---- messages ---- */

twin_status twin__store_fail_code(twin_error *error, const char *path, const struct twin__store_schema *schema,
                                  int code)
{
    switch (code) {
    case ENOMEM: return twin__fail_memory(error);
    case MDB_READERS_FULL:
        return twin__fail(error, TWIN_EBUSY, "%s: too many processes are reading it; try again later", path);
    case MDB_MAP_FULL:
    case MDB_MAP_RESIZED:
        return twin__fail(error, TWIN_EBUSY,
                          "%s: has outgrown its map while views of it were open; close them and try again", path);
    case MDB_PANIC: return twin__fail(error, TWIN_EIO, "%s: could not be written; open it again", path);
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
    case MDB_NOTFOUND: return twin__fail(error, TWIN_EFORMAT, "%s: is not %s of twinsift", path, schema->what);
    case MDB_KEYEXIST:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_BAD_VALSIZE: return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: %s", path, mdb_strerror(code));
    default: return twin__fail(error, TWIN_EIO, "%s: %s", path, mdb_strerror(code));
    }
}

twin_status twin__store_fail_replaced(twin_error *error, const char *path)
{
    return twin__fail(error, TWIN_EBUSY, "%s: was replaced; open it again", path);
}

/* ---- which file ---- */

static struct twin__file_identity identity_from(int failed, const struct stat *found)
{
    struct twin__file_identity identity = { 0 };
    if (!failed)
        identity = (struct twin__file_identity){ true, found->st_dev, found->st_ino };
    return identity;
}

static struct twin__file_identity identity_of(int fd)
{
    struct stat found;
    return identity_from(fstat(fd, &found), &found);
}

/* By its name: to open and close it would drop the locks. */
static struct twin__file_identity lock_file_of(const char *path)
{
    struct stat found;
    char *name = NULL;
    if (asprintf(&name, "%s-lock", path) < 0)
        return (struct twin__file_identity){ 0 };
    struct twin__file_identity identity = identity_from(stat(name, &found), &found);
    free(name);
    return identity;
}

static bool same(struct twin__file_identity a, struct twin__file_identity b)
{
    return a.known && b.known && a.device == b.device && a.inode == b.inode;
}

bool twin__environment_is_named(const struct twin__environment *e)
{
    struct stat named;
    return same(identity_from(stat(e->path, &named), &named), e->file);
}

static struct twin__environment *find(struct twin__file_identity file)
{
    struct twin__environment *found = environments;
    while (found && !(found->process == getpid() && same(found->file, file)))
        found = found->next;
    return found;
}

static bool lock_file_is_in_use(struct twin__file_identity lock_file)
{
    for (const struct twin__environment *e = environments; e; e = e->next)
        if (e->process == getpid() && same(e->lock_file, lock_file))
            return true;
    return false;
}

static bool is_open_here(int fd)
{
    lock_list();
    bool found = find(identity_of(fd)) != NULL;
    unlock_list();
    return found;
}

static twin_status fail_lock(twin_error *error, const char *path, int fd, int lock)
{
    if (errno != EWOULDBLOCK)
        return twin__fail(error, TWIN_EIO, "%s: could not be locked: %m", path);
    if (lock == LOCK_SH)
        return twin__fail(error, TWIN_EBUSY, "%s: is being replaced; try again later", path);
    if (is_open_here(fd))
        return twin__fail(error, TWIN_EBUSY, "%s: this process has it open; close it first", path);
    return twin__fail(error, TWIN_EBUSY, "%s: is in use by another process; try again when it is closed", path);
}

twin_status twin__store_hold_file(int *out, const char *path, int lock, twin_error *error)
{
    for (;;) {
        struct stat held, named;
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* or a pipe would have us wait for a writer */
        *out = fd;
        if (fd < 0)
            return twin__fail(error, TWIN_EIO, "%s: could not be opened: %m", path);
        if (flock(fd, lock | LOCK_NB) != 0)
            return fail_lock(error, path, fd, lock);
        if (fstat(fd, &held) != 0 || !S_ISREG(held.st_mode))
            return twin__fail(error, TWIN_EFORMAT, "%s: is not a file", path);
        if (stat(path, &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev)
            return TWIN_OK;
        close(fd); /* it was replaced between opening and locking */
    }
}

/* ---- opening and closing ---- */

/* `times` the size of the file, at least `smallest`. */
static size_t map_for(int fd, size_t times, size_t smallest)
{
    struct stat found;
    size_t bytes = fstat(fd, &found) == 0 ? times * (size_t)found.st_size : 0;
    bytes = bytes > smallest ? bytes : smallest;
    return (bytes + 65535) / 65536 * 65536;
}

/* Where addresses are scarce, a smaller map is taken, if the file fits into it; what is written may make it grow. */
static int open_lmdb(struct twin__environment *e, unsigned flags, mode_t mode)
{
    size_t least = map_for(e->fd, 1, (size_t)1 << 20);
    int code;
    do {
        mdb_env_close(e->env);
        e->env = NULL;
        code = mdb_env_create(&e->env);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_maxdbs(e->env, e->schema->count);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_maxreaders(e->env, MOST_READERS);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_mapsize(e->env, e->map_bytes);
        if (code == MDB_SUCCESS)
            code = mdb_env_open(e->env, e->path, MDB_NOSUBDIR | MDB_NOTLS | flags, mode);
    } while (code == ENOMEM && (e->map_bytes /= 2) >= least);
    return code;
}

static unsigned flags_of(enum twin__store_kind kind)
{
    static const unsigned flags[] = {
        [TWIN__STORE_NUMBERS] = MDB_INTEGERKEY,
        [TWIN__STORE_LISTS] = MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED,
        [TWIN__STORE_NAMES] = 0,
    };
    return flags[kind];
}

int twin__environment_open_tables(struct twin__environment *e, MDB_txn *txn, unsigned flags)
{
    int code = MDB_SUCCESS;
    for (unsigned i = 0; i < e->schema->count && code == MDB_SUCCESS; i++) {
        const struct twin__store_table *table = &e->schema->tables[i];
        unsigned found;
        code = mdb_dbi_open(txn, table->name, flags_of(table->kind) | flags, &e->tables[i]);
        if (code == MDB_SUCCESS)
            code = mdb_dbi_flags(txn, e->tables[i], &found);
        if (code == MDB_SUCCESS && found != flags_of(table->kind))
            code = MDB_INCOMPATIBLE;
    }
    return code;
}

/* Who writes holds a shared lock on a byte far behind the end of the file, and who compacts an exclusive one; they go
 * with the descriptor, which is LMDB's. A file that was replaced until here must not be written: TWIN_ESTOPPED. */
static twin_status lock_writers(struct twin__environment *e, twin_error *error)
{
    int data;
    struct flock lock = {
        .l_type = e->compacts ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 61, .l_len = 1
    };
    if (mdb_env_get_fd(e->env, &data) != MDB_SUCCESS || fcntl(data, F_OFD_SETLK, &lock) != 0)
        return errno != EAGAIN && errno != EACCES
                   ? twin__fail(error, TWIN_EIO, "%s: could not be locked: %m", e->path)
               : e->compacts ? twin__fail(error, TWIN_EBUSY,
                                          "%s: is being written by another process; try again later", e->path)
                             : twin__fail(error, TWIN_EBUSY,
                                          "%s: is being compacted by another process; try again later", e->path);
    return twin__environment_is_named(e) ? TWIN_OK : TWIN_ESTOPPED;
}

static twin_status open_checked(struct twin__environment *e, bool must_write, twin_error *error)
{
    twin_status status = twin__lock_file_check(e->path, error);
    if (status != TWIN_OK)
        return status;
    int dead, data, code = open_lmdb(e, 0, 0666);
    e->writable = code == MDB_SUCCESS;
    if (!must_write && (code == EACCES || code == EROFS || code == EPERM))
        code = open_lmdb(e, MDB_RDONLY, 0666);
    /* Without a lock file no writer knows of us: see store.h. */
    if (!must_write && (code == EACCES || code == EPERM))
        code = open_lmdb(e, MDB_RDONLY | MDB_NOLOCK, 0666);
    e->lock_file = lock_file_of(e->path); /* there may have been none before */
    if (code == EACCES || code == EROFS)
        return twin__fail(error, TWIN_EIO, "%s: it, or %s-lock beside it, cannot be written: %s", e->path, e->path,
                          strerror(code));
    if (code != MDB_SUCCESS)
        return twin__store_fail_code(error, e->path, e->schema, code);
    if (mdb_env_get_fd(e->env, &data) != MDB_SUCCESS || !same(identity_of(data), e->file))
        return TWIN_ESTOPPED;        /* it was replaced while we opened it */
    mdb_reader_check(e->env, &dead); /* readers that died would keep pages from being used again */
    if (must_write) {
        status = lock_writers(e, error);
        if (status != TWIN_OK)
            return status;
    }
    e->checked = must_write;
    status = must_write ? twin__environment_check_all(e, error) : TWIN_OK;
    return status == TWIN_OK ? twin__environment_find_tables(e, error) : status;
}

static struct twin__environment *new_environment(const char *path, const struct twin__store_schema *schema)
{
    struct twin__environment *e = calloc(1, sizeof *e);
    char *copy = strdup(path);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    *e = (struct twin__environment){
        .process = getpid(), .handles = 1, .schema = schema, .path = copy, .fd = -1, .writable = true
    };
    pthread_mutex_init(&e->writing, NULL);
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

static void destroy(struct twin__environment *e)
{
    mdb_env_close(e->env);
    twin__snapshot_free(e->newest);
    if (e->fd >= 0)
        close(e->fd);
    pthread_mutex_destroy(&e->writing);
    pthread_mutex_destroy(&e->lock);
    free(e->path);
    free(e);
}

/* Takes the descriptor over when it succeeds. */
static twin_status open_new(struct twin__environment **out, int fd, const char *path,
                            const struct twin__store_schema *schema, enum twin__store_access access,
                            twin_error *error)
{
    struct twin__environment *e = new_environment(path, schema);
    if (!e)
        return twin__fail_memory(error);
    e->fd = fd;
    e->compacts = access == TWIN__STORE_COMPACT;
    e->file = identity_of(fd);
    e->map_bytes = map_for(fd, 4, TWIN__STORE_MAP_BYTES);
    twin_status status = twin__store_check_head(e->fd, e->path, e->schema, error);
    if (status == TWIN_OK)
        status = open_checked(e, access != TWIN__STORE_READ, error);
    if (status != TWIN_OK) {
        e->fd = -1;
        destroy(e);
        return status;
    }
    e->next = environments;
    environments = *out = e;
    return TWIN_OK;
}

static bool same_schema(const struct twin__store_schema *a, const struct twin__store_schema *b)
{
    bool same = a->count == b->count;
    for (unsigned i = 0; a != b && same && i < a->count; i++)
        same = strcmp(a->tables[i].name, b->tables[i].name) == 0 && a->tables[i].kind == b->tables[i].kind;
    return same;
}

static twin_status share(struct twin__environment **out, struct twin__environment *e, const char *path,
                         const struct twin__store_schema *schema, enum twin__store_access access, twin_error *error)
{
    bool must_write = access == TWIN__STORE_WRITE;
    if (e->compacts)
        return twin__fail(error, TWIN_EBUSY, "%s: is being replaced; try again later", path);
    if (access == TWIN__STORE_COMPACT)
        return twin__fail(error, TWIN_EBUSY, "%s: this process has it open; close it first", path);
    if (!same_schema(e->schema, schema))
        return twin__store_fail_code(error, path, schema, MDB_INCOMPATIBLE);
    if (must_write && !e->writable)
        return twin__fail(error, TWIN_EBUSY,
                          "%s: this process has it open, from when it could not be written; "
                          "close it first",
                          path);
    twin_status status = must_write && !e->checked ? lock_writers(e, error) : TWIN_OK;
    if (status == TWIN_OK && must_write && !e->checked)
        status = twin__environment_check(e, error);
    if (status != TWIN_OK)
        return status == TWIN_ESTOPPED ? twin__store_fail_replaced(error, path) : status;
    e->checked |= must_write;
    e->handles++;
    *out = e;
    return TWIN_OK;
}

static twin_status share_or_open(struct twin__environment **out, int fd, const char *path,
                                 const struct twin__store_schema *schema, enum twin__store_access access,
                                 twin_error *error)
{
    struct stat named;
    struct twin__environment *e = find(identity_of(fd));
    if (!e && !same(identity_from(stat(path, &named), &named), identity_of(fd)))
        return TWIN_ESTOPPED; /* it was replaced while we waited */
    if (e)
        return share(out, e, path, schema, access, error);
    if (lock_file_is_in_use(lock_file_of(path))) { /* worth closing that one for, if it is a store */
        twin_status status = twin__store_check_head(fd, path, schema, error);
        return status != TWIN_OK
                   ? status
                   : twin__fail(error, TWIN_EBUSY,
                                "%s: this process still has the file open that had this name before", path);
    }
    return open_new(out, fd, path, schema, access, error);
}

static twin_status acquire(struct twin__environment **out, const char *path, const struct twin__store_schema *schema,
                           enum twin__store_access access, twin_error *error)
{
    int fd;
    *out = NULL;
    twin_status status = twin__store_hold_file(&fd, path, LOCK_SH, error);
    if (status == TWIN_OK) {
        lock_list();
        status = share_or_open(out, fd, path, schema, access, error);
        unlock_list();
    }
    if (fd >= 0 && !(*out && (*out)->fd == fd))
        close(fd);
    return status;
}

twin_status twin__environment_acquire(struct twin__environment **out, const char *path,
                                      const struct twin__store_schema *schema, enum twin__store_access access,
                                      twin_error *error)
{
    static pthread_once_t watching = PTHREAD_ONCE_INIT;
    pthread_once(&watching, watch_forks);
    twin_status status = TWIN_ESTOPPED;
    for (int attempt = 0; attempt < TWIN__STORE_MOST_ATTEMPTS && status == TWIN_ESTOPPED; attempt++)
        status = acquire(out, path, schema, access, error);
    return status == TWIN_ESTOPPED ? twin__store_fail_replaced(error, path) : status;
}

twin_status twin__environment_open_private(struct twin__environment **out, const char *path,
                                           const struct twin__store_schema *schema, mode_t mode, size_t map_bytes,
                                           twin_error *error)
{
    struct twin__environment *e = *out = new_environment(path, schema);
    if (!e)
        return twin__fail_memory(error);
    e->map_bytes = map_bytes;
    int code = open_lmdb(e, MDB_NOLOCK, mode);
    if (code == MDB_SUCCESS)
        return TWIN_OK;
    destroy(e);
    *out = NULL;
    return twin__store_fail_code(error, path, schema, code);
}

/* The caller holds the lock of the list. */
static void release(struct twin__environment *e)
{
    if (--e->handles > 0)
        return;
    struct twin__environment **link = &environments;
    while (*link && *link != e)
        link = &(*link)->next;
    if (*link) /* a private one is not in the list */
        *link = e->next;
    destroy(e);
}

void twin__environment_release(struct twin__environment *e)
{
    if (!e || e->process != getpid())
        return;
    lock_list();
    release(e);
    unlock_list();
}

twin_status twin__environment_replace(struct twin__environment *e, struct twin__finished_file file, const char *path,
                                      twin_error *error)
{
    lock_list();
    twin_status status = twin__store_name_file(file, path, true, error);
    release(e);
    unlock_list();
    return status;
}

/* store.c — handles and transactions.
 *
 * A transaction that reads is counted in its environment, because the map can only grow while nobody in the process
 * uses it. One that writes holds `writing` from its begin to its end, and while the map grows in between: LMDB makes
 * writers of all processes wait for each other, but leaves the map to the process. A transaction that found the map
 * full is begun again after it has grown. */
#include "store/store.h"
#include "store/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "store/replace.h"
#include "store/transaction.h"

/* ---- handles ---- */

twin_status twin__store_open(twin__store **out, const char *path, const struct twin__store_schema *schema,
                             enum twin__store_access access, twin_error *error)
{
    twin__store *store = calloc(1, sizeof *store);
    char *file = twin__store_follow(path);
    *out = NULL;
    twin_status status = store && file ? twin__environment_acquire(&store->environment, file, schema, access, error)
                                       : twin__fail_memory(error);
    if (status != TWIN_OK) {
        free(store);
        free(file);
        return status;
    }
    store->path = file;
    store->writable = access != TWIN__STORE_READ;
    if (store->writable)
        twin__store_remove_leftovers(file);
    *out = store;
    return TWIN_OK;
}

void twin__store_close(twin__store *store)
{
    if (!store)
        return;
    twin__environment_release(store->environment);
    free(store->path);
    free(store);
}

const char *twin__store_path(const twin__store *store)
{
    return store->path;
}

twin_status twin__store_fail_damaged(twin_error *error, const twin__store *store, const char *what)
{
    return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: %s", store->path, what);
}

static twin_status check_process(const twin__store *store, twin_error *error)
{
    return store->environment->process == getpid()
               ? TWIN_OK
               : twin__fail(error, TWIN_EINVAL, "%s: was opened by the parent process; open it again", store->path);
}

twin_status twin__store_check(twin__store *store, twin_error *error)
{
    twin_status status = check_process(store, error);
    return status == TWIN_OK ? twin__environment_check(store->environment, error) : status;
}

/* ---- the map ---- */

/* 0: as large as other processes have made it. False while this process reads. The caller holds `writing`. */
static bool resize_map(struct twin__environment *e, size_t bytes)
{
    MDB_envinfo info;
    pthread_mutex_lock(&e->lock);
    bool good = e->readers == 0 && mdb_env_set_mapsize(e->env, bytes) == MDB_SUCCESS;
    if (good && mdb_env_info(e->env, &info) == MDB_SUCCESS)
        e->map_bytes = info.me_mapsize;
    pthread_mutex_unlock(&e->lock);
    return good;
}

size_t twin__store_map(const twin__store *store)
{
    struct twin__environment *e = store->environment;
    pthread_mutex_lock(&e->lock);
    size_t bytes = e->map_bytes;
    pthread_mutex_unlock(&e->lock);
    return bytes;
}

bool twin__store_set_map(twin__store *store, size_t bytes)
{
    pthread_mutex_lock(&store->environment->writing);
    bool good = resize_map(store->environment, bytes);
    pthread_mutex_unlock(&store->environment->writing);
    return good;
}

/* ---- answers of LMDB ---- */

/* LMDB says EIO when less was written than it asked for, which mostly means that the disk is full, or that the file would
 * be larger than the process may make it. */
static int reason_of(int code, const char *path)
{
    enum { ALL_BUT_FULL = 1 << 20 };
    struct statvfs disk;
    struct stat file;
    struct rlimit most;
    if (code != EIO)
        return code;
    if (statvfs(path, &disk) == 0 && disk.f_bavail * disk.f_frsize < ALL_BUT_FULL)
        return ENOSPC;
    bool is_limited = getrlimit(RLIMIT_FSIZE, &most) == 0 && stat(path, &file) == 0 &&
                      (rlim_t)file.st_size + ALL_BUT_FULL > most.rlim_cur;
    return is_limited ? EFBIG : code;
}

twin_status twin__store_answer(twin__store_txn *txn, int code, twin_error *error)
{
    if (code == MDB_SUCCESS)
        return TWIN_OK;
    const twin__store *store = txn->store;
    txn->code = code;
    if (txn->writes && (code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO))
        return twin__fail(error, TWIN_EIO,
                          "%s: could not be written: %s; nothing of this batch was written, batches before it remain",
                          store->path, strerror(reason_of(code, store->path)));
    return twin__store_fail_code(error, store->path, store->environment->schema, code);
}

/* ---- writing ---- */

static twin_status write_once(twin__store_txn *txn, twin__store_write *write, void *context, twin_error *error)
{
    *txn = (twin__store_txn){ .store = txn->store, .writes = true };
    int code = mdb_txn_begin(txn->store->environment->env, NULL, 0, &txn->txn);
    if (code != MDB_SUCCESS)
        return twin__store_answer(txn, code, error);
    twin_status status = write(txn, context, error);
    if (status == TWIN_OK)
        return twin__store_answer(txn, twin__store_commit(txn), error);
    mdb_txn_abort(txn->txn);
    return status;
}

static twin_status write_and_grow(twin__store *store, twin__store_write *write, void *context, twin_error *error)
{
    struct twin__environment *e = store->environment;
    twin__store_txn txn = { .store = store };
    for (;;) {
        twin_status status = write_once(&txn, write, context, error);
        bool full = txn.code == MDB_MAP_FULL, resized = txn.code == MDB_MAP_RESIZED;
        if (status == TWIN_OK || !(full || resized) || !resize_map(e, full ? 2 * e->map_bytes : 0))
            return status;
    }
}

twin_status twin__store_transact(twin__store *store, twin__store_write *write, void *context, twin_error *error)
{
    if (!store->writable)
        return twin__fail(error, TWIN_EINVAL, "%s: was opened for reading only", store->path);
    twin_status status = check_process(store, error);
    if (status != TWIN_OK)
        return status;
    pthread_mutex_lock(&store->environment->writing);
    status = twin__environment_check_length(store->environment, error);
    if (status == TWIN_OK)
        status = write_and_grow(store, write, context, error);
    pthread_mutex_unlock(&store->environment->writing);
    return status;
}

/* ---- reading ---- */

twin_status twin__store_begin_read(twin__store_txn **out, twin__store *store, twin_error *error)
{
    struct twin__environment_reading reading;
    bool resized = false;
    *out = NULL;
    twin_status status = check_process(store, error);
    if (status != TWIN_OK)
        return status;
    twin__store_txn *txn = malloc(sizeof *txn);
    if (!txn)
        return twin__fail_memory(error);
    status = twin__environment_begin_read(&reading, &resized, store->environment, error);
    if (resized) {
        twin__store_set_map(store, 0);
        status = twin__environment_begin_read(&reading, &resized, store->environment, error);
    }
    if (status != TWIN_OK) {
        free(txn);
        return status;
    }
    *txn = (twin__store_txn){ .store = store, .txn = reading.txn, .map = reading.map };
    *out = txn;
    return TWIN_OK;
}

void twin__store_end_read(twin__store_txn *txn)
{
    if (!txn)
        return;
    struct twin__environment *e = txn->store->environment;
    if (e->process == getpid())
        twin__environment_end_read((struct twin__environment_reading){ txn->txn, txn->map }, e);
    free(txn);
}

uint64_t twin__store_number(const twin__store_txn *txn)
{
    return mdb_txn_id(txn->txn);
}

twin_status twin__store_measure(struct twin__store_sizes *out, const twin__store_txn *txn, twin_error *error)
{
    struct stat file;
    *out = (struct twin__store_sizes){ 0 };
    if (fstat(txn->store->environment->fd, &file) != 0)
        return twin__fail(error, TWIN_EIO, "%s: could not be read: %m", txn->store->path);
    out->file_bytes = (uint64_t)file.st_size;
    for (unsigned table = 0; table < txn->store->environment->schema->count; table++) {
        MDB_stat found;
        if (mdb_stat(txn->txn, twin__store_table_of(txn, table), &found) != MDB_SUCCESS)
            continue;
        out->records[table] = found.ms_entries;
        out->bytes[table] =
            (found.ms_branch_pages + found.ms_leaf_pages + found.ms_overflow_pages) * (uint64_t)found.ms_psize;
    }
    return TWIN_OK;
}

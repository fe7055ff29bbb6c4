/* environment_read.c — the states of a file that are read.
 *
 * A transaction of LMDB keeps the pages of its state from being used again; what is known of them is a snapshot,
 * which transactions of the same state share. A state that is overwritten before the transaction holds it fast is
 * given up for the next one. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "store/environment.h"
#include "store/pages.h"

static int begin_lmdb(MDB_txn **out, const struct twin__environment *e)
{
    int dead, code = mdb_txn_begin(e->env, NULL, MDB_RDONLY, out);
    if (code == MDB_READERS_FULL && mdb_reader_check(e->env, &dead) == MDB_SUCCESS && dead > 0)
        code = mdb_txn_begin(e->env, NULL, MDB_RDONLY, out);
    return code;
}

/* A file that was replaced has the transactions of the new one in its lock file. */
static twin_status fail_attempts(twin_error *error, const struct twin__environment *e)
{
    if (!twin__environment_is_named(e))
        return twin__store_fail_replaced(error, e->path);
    return twin__fail(error, TWIN_EBUSY, "%s: keeps changing while it is read; try again later", e->path);
}

/* A file never becomes shorter by what twinsift does, and to read behind its end is SIGBUS. Who looks before each
 * transaction notices, unless it happens during one. The caller holds e->lock. */
static twin_status check_length(const struct twin__environment *e, twin_error *error)
{
    const struct twin__snapshot *newest = e->newest;
    struct stat found;
    if (!newest || fstat(e->fd, &found) != 0 ||
        (uint64_t)found.st_size / newest->file.page_bytes >= newest->file.there)
        return TWIN_OK;
    return twin__fail(error, TWIN_EFORMAT, "%s: was cut short while it was open", e->path);
}

twin_status twin__environment_check_length(struct twin__environment *e, twin_error *error)
{
    pthread_mutex_lock(&e->lock);
    twin_status status = check_length(e, error);
    pthread_mutex_unlock(&e->lock);
    return status;
}

/* ---- checking ---- */

twin_status twin__environment_check_all(const struct twin__environment *e, twin_error *error)
{
    twin_status status = TWIN_EBUSY;
    for (int attempt = 0; attempt < TWIN__STORE_MOST_ATTEMPTS && status == TWIN_EBUSY; attempt++) {
        MDB_txn *txn;
        int code = begin_lmdb(&txn, e);
        if (code != MDB_SUCCESS)
            return twin__store_fail_code(error, e->path, e->schema, code);
        struct twin__pages_state state = { mdb_txn_id(txn), true };
        status = twin__store_check_pages(e->fd, e->path, e->schema, state, error);
        mdb_txn_abort(txn);
    }
    return status == TWIN_EBUSY ? fail_attempts(error, e) : status;
}

static void count_reader(struct twin__environment *e, bool begins)
{
    pthread_mutex_lock(&e->lock);
    e->readers = begins ? e->readers + 1 : e->readers - 1;
    pthread_mutex_unlock(&e->lock);
}

twin_status twin__environment_check(struct twin__environment *e, twin_error *error)
{
    twin_status status = twin__environment_check_length(e, error);
    if (status != TWIN_OK)
        return status;
    count_reader(e, true);
    status = twin__environment_check_all(e, error);
    count_reader(e, false);
    return status;
}

/* ---- reading ---- */

/* The snapshot of a transaction that reads: the newest, if it is of the same state. The caller holds e->lock. */
static twin_status find_snapshot(struct twin__snapshot **out, struct twin__environment *e, uint64_t number,
                                 twin_error *error)
{
    struct twin__snapshot *newest = e->newest;
    if (newest && newest->file.transaction == number) {
        newest->uses++;
        *out = newest;
        return TWIN_OK;
    }
    twin_status status = twin__snapshot_create(out, e->fd, e->path, e->schema, number, error);
    if (status != TWIN_OK)
        return status;
    (*out)->uses = 1;
    if (newest && newest->file.transaction > number)
        return TWIN_OK;
    if (newest && newest->uses == 0)
        twin__snapshot_free(newest);
    e->newest = *out;
    return TWIN_OK;
}

/* The newest is kept for the next transaction. */
static void leave_snapshot(struct twin__environment *e, struct twin__snapshot *snapshot)
{
    if (--snapshot->uses == 0 && snapshot != e->newest)
        twin__snapshot_free(snapshot);
}

/* LMDB does not say where its map is. It does say where a record of the main tree is, on a page that has its number in
 * front. NULL when that is not the root of the snapshot: LMDB looks at the number of the last transaction first and at
 * its meta page after that, and two transactions in between make it read a newer state under the old number
 * (docs/decisions/0038). */
static const unsigned char *find_map(MDB_txn *txn, const struct twin__snapshot *snapshot)
{
    const struct twin__page_file *file = &snapshot->file;
    const char *name = file->schema->tables[0].name;
    MDB_val key = { strlen(name), (void *)name }, value;
    MDB_dbi main;
    if (mdb_dbi_open(txn, NULL, 0, &main) != MDB_SUCCESS || mdb_get(txn, main, &key, &value) != MDB_SUCCESS)
        return NULL;
    const unsigned char *at = value.mv_data, *page = at - (uintptr_t)at % file->page_bytes;
    return twin__get8(page) == file->main.root ? page - file->main.root * file->page_bytes : NULL;
}

/* TWIN_EBUSY, without a sentence, when the state was overwritten before it was held fast. */
static twin_status begin_read(struct twin__environment_reading *out, bool *resized, struct twin__environment *e,
                              twin_error *error)
{
    int code = begin_lmdb(&out->txn, e);
    *resized = code == MDB_MAP_RESIZED;
    if (code != MDB_SUCCESS)
        return twin__store_fail_code(error, e->path, e->schema, code);
    twin_status status = find_snapshot(&out->map.snapshot, e, mdb_txn_id(out->txn), error);
    if (status == TWIN_OK) {
        out->map.pages = find_map(out->txn, out->map.snapshot);
        if (out->map.pages) {
            e->readers++;
            return TWIN_OK;
        }
        leave_snapshot(e, out->map.snapshot);
        status = TWIN_EBUSY;
    }
    mdb_txn_abort(out->txn);
    return status;
}

twin_status twin__environment_begin_read(struct twin__environment_reading *out, bool *resized,
                                         struct twin__environment *e, twin_error *error)
{
    twin_error reason = { 0 };
    pthread_mutex_lock(&e->lock);
    twin_status status = check_length(e, &reason) == TWIN_OK ? TWIN_EBUSY : TWIN_EFORMAT;
    for (int attempt = 0; attempt < TWIN__STORE_MOST_ATTEMPTS && status == TWIN_EBUSY && !reason.message[0];
         attempt++)
        status = begin_read(out, resized, e, &reason);
    pthread_mutex_unlock(&e->lock);
    if (status != TWIN_OK && reason.message[0])
        twin__fail(error, status, "%s", reason.message);
    else if (status != TWIN_OK)
        fail_attempts(error, e);
    return status;
}

/* A commit keeps the tables open that the transaction has opened. LMDB's answer. */
static int end_read(struct twin__environment_reading reading, struct twin__environment *e, bool commit)
{
    int code = MDB_SUCCESS;
    pthread_mutex_lock(&e->lock);
    if (commit)
        code = mdb_txn_commit(reading.txn);
    else
        mdb_txn_abort(reading.txn);
    leave_snapshot(e, reading.map.snapshot);
    e->readers--;
    pthread_mutex_unlock(&e->lock);
    return code;
}

void twin__environment_end_read(struct twin__environment_reading reading, struct twin__environment *e)
{
    end_read(reading, e, false);
}

twin_status twin__environment_find_tables(struct twin__environment *e, twin_error *error)
{
    struct twin__environment_reading reading;
    bool resized;
    twin_status status = twin__environment_begin_read(&reading, &resized, e, error);
    if (status != TWIN_OK)
        return status;
    int code = twin__environment_open_tables(e, reading.txn, 0);
    int end = end_read(reading, e, code == MDB_SUCCESS);
    code = code == MDB_SUCCESS ? end : code;
    return code == MDB_SUCCESS ? TWIN_OK : twin__store_fail_code(error, e->path, e->schema, code);
}

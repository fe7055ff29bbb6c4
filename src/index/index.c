/* index.c — the road, kept on disk: an index is created, opened and closed here, and every transaction begins and ends
 * here. */
#include <twinsift/index.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "index/index_private.h"
#include "store/claims.h"

static const struct {
    const char *name;
    unsigned flags;
} tables[TWIN__TABLES] = {
    [TWIN__META] = { "meta", 0 },
    [TWIN__DOCUMENTS] = { "documents", MDB_INTEGERKEY },
    [TWIN__ID_RUNS] = { "id-runs", MDB_INTEGERKEY },
    [TWIN__IDS] = { "ids", MDB_INTEGERKEY },
    [TWIN__SETS] = { "sets", MDB_INTEGERKEY },
    [TWIN__MEMBERS] = { "members", MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED },
    [TWIN__KEPT] = { "kept", MDB_INTEGERKEY },
    [TWIN__RUNS] = { "runs", MDB_INTEGERKEY },
    [TWIN__BANDS] = { "bands", MDB_INTEGERKEY },
};

/* Addresses, not memory: 64 GiB, or four times the file, is mapped ahead so that the map seldom has to grow, which
 * it cannot do under views. */
static const size_t MAP_BYTES = (size_t)64 << 30;

/* Threads and processes that may read at once. */
enum { READERS = 1024 };

static const char *const keep_names[] = {
    [TWIN_KEEP_SETS] = "sets",
    [TWIN_KEEP_TEXT] = "text",
    [TWIN_KEEP_NONE] = "none",
};

const char *twin_keep_name(twin_keep keep)
{
    return keep_names[keep];
}

twin_status twin_keep_from_name(twin_keep *out, const char *name)
{
    for (size_t i = 0; i < sizeof keep_names / sizeof keep_names[0]; i++)
        if (strcmp(name, keep_names[i]) == 0) {
            *out = (twin_keep)i;
            return TWIN_OK;
        }
    return TWIN_EINVAL;
}

/* ---- in words ---- */

static twin_status fail_code(twin_error *error, const char *path, int code)
{
    switch (code) {
    case ENOMEM: return twin__fail_memory(error);
    case MDB_READERS_FULL: return twin__fail(error, TWIN_EBUSY, "%s: too many are reading it; try again later", path);
    case MDB_MAP_FULL:
    case MDB_MAP_RESIZED:
        return twin__fail(error, TWIN_EBUSY,
                          "%s: has outgrown its map while views of it were open; close them and "
                          "try again",
                          path);
    case MDB_PANIC: return twin__fail(error, TWIN_EIO, "%s: could not be written; open it again", path);
    case MDB_VERSION_MISMATCH:
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
    case MDB_NOTFOUND: return twin__fail(error, TWIN_EFORMAT, "%s: is not an index of twinsift", path);
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_BAD_VALSIZE: return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: %s", path, mdb_strerror(code));
    default: return twin__fail(error, TWIN_EIO, "%s: %s", path, mdb_strerror(code));
    }
}

twin_status twin__fail_lmdb(twin_error *error, const twin_index *index, int code)
{
    return fail_code(error, index->path, code);
}

twin_status twin__fail_damaged(twin_error *error, const twin_index *index, const char *what)
{
    return twin__fail(error, TWIN_EFORMAT, "%s: is damaged: %s", index->path, what);
}

static twin_status fail_system(twin_error *error, const char *path, const char *doing)
{
    return twin__fail(error, TWIN_EIO, "%s: could not be %s: %m", path, doing);
}

bool twin__key_number(uint64_t *out, MDB_val key)
{
    if (key.mv_size != sizeof *out)
        return false;
    memcpy(out, key.mv_data, sizeof *out);
    return true;
}

uint32_t twin__index_id_hash(const twin_index *index, twin_text id)
{
    return (uint32_t)(twin_hash_bytes(index->options.scheme.shingle.hash, id.bytes, id.length) >> 32);
}

uint32_t twin__index_digest_hash(twin_digest digest)
{
    return (uint32_t)(digest.low >> 32);
}

/* ---- transactions ---- */

twin_status twin__get_counts(struct twin__counts *out, const twin_index *index, MDB_txn *txn, twin_error *error)
{
    MDB_val key = { 6, "counts" }, value;
    int code = mdb_get(txn, index->tables[TWIN__META], &key, &value);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    if (!twin__counts_decode(out, twin__bytes_of(value)))
        return twin__fail_damaged(error, index, "its counts do not fit their checksum");
    return TWIN_OK;
}

static int put_counts(struct twin__writing *writing)
{
    unsigned char record[TWIN__COUNTS_BYTES];
    writing->counts.transaction = mdb_txn_id(writing->txn);
    twin__counts_encode(record, &writing->counts);
    MDB_val key = { 6, "counts" }, value = { sizeof record, record };
    return mdb_put(writing->txn, writing->index->tables[TWIN__META], &key, &value, 0);
}

/* LMDB says EIO when less was written than it asked for, which mostly means that the disk is full. */
static int reason_of(int code, const char *path)
{
    enum { ALL_BUT_FULL = 1 << 20 };
    struct statvfs disk;
    bool full = code == EIO && statvfs(path, &disk) == 0 && disk.f_bavail * disk.f_frsize < ALL_BUT_FULL;
    return full ? ENOSPC : code;
}

twin_status twin__from_lmdb(struct twin__writing *writing, int code)
{
    if (code == MDB_SUCCESS)
        return TWIN_OK;
    writing->code = code;
    if (code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO)
        return twin__fail(writing->error, TWIN_EIO, "%s: could not be written: %s; the index is as it was before",
                          writing->index->path, strerror(reason_of(code, writing->index->path)));
    return twin__fail_lmdb(writing->error, writing->index, code);
}

/* Grows the map; not possible while this process reads. */
static bool grow_map(twin_index *index, bool as_others_did)
{
    pthread_mutex_lock(&index->lock);
    bool possible = index->views == 0;
    if (possible) {
        size_t bytes = as_others_did ? 0 : index->map_bytes * 2;
        possible = mdb_env_set_mapsize(index->env, bytes) == MDB_SUCCESS;
        MDB_envinfo info;
        if (possible && mdb_env_info(index->env, &info) == MDB_SUCCESS)
            index->map_bytes = info.me_mapsize;
    }
    pthread_mutex_unlock(&index->lock);
    return possible;
}

static twin_status write_once(struct twin__writing *writing, twin__write *write, void *context)
{
    twin_index *index = writing->index;
    writing->code = 0;
    int code = mdb_txn_begin(index->env, NULL, 0, &writing->txn);
    if (code != MDB_SUCCESS)
        return twin__from_lmdb(writing, code);
    twin_status status = twin__get_counts(&writing->counts, index, writing->txn, writing->error);
    if (status == TWIN_OK)
        status = write(writing, context);
    if (status == TWIN_OK)
        status = twin__from_lmdb(writing, put_counts(writing));
    if (status == TWIN_OK)
        return twin__from_lmdb(writing, twin__commit(writing));
    mdb_txn_abort(writing->txn);
    return status;
}

twin_status twin__transact(twin_index *index, twin__write *write, void *context, twin_error *error)
{
    if (!index->writable)
        return twin__fail(error, TWIN_EINVAL, "%s: was opened for reading only", index->path);
    struct twin__writing writing = { .index = index, .error = error };
    for (;;) {
        twin_status status = write_once(&writing, write, context);
        bool full = writing.code == MDB_MAP_FULL, resized = writing.code == MDB_MAP_RESIZED;
        if (status == TWIN_OK || !(full || resized) || !grow_map(index, resized))
            return status;
    }
}

static int begin_reading(MDB_txn **out, twin_index *index)
{
    int code = mdb_txn_begin(index->env, NULL, MDB_RDONLY, out);
    int dead;
    if (code == MDB_READERS_FULL && mdb_reader_check(index->env, &dead) == MDB_SUCCESS && dead > 0)
        code = mdb_txn_begin(index->env, NULL, MDB_RDONLY, out);
    return code;
}

twin_status twin__begin_read(MDB_txn **out, twin_index *index, twin_error *error)
{
    *out = NULL;
    pthread_mutex_lock(&index->lock);
    int code = begin_reading(out, index);
    if (code == MDB_MAP_RESIZED && index->views == 0 && mdb_env_set_mapsize(index->env, 0) == MDB_SUCCESS)
        code = begin_reading(out, index);
    index->views += code == MDB_SUCCESS;
    pthread_mutex_unlock(&index->lock);
    return code == MDB_SUCCESS ? TWIN_OK : twin__fail_lmdb(error, index, code);
}

void twin__end_read(twin_index *index, MDB_txn *txn)
{
    if (!txn)
        return;
    pthread_mutex_lock(&index->lock);
    mdb_txn_abort(txn);
    index->views--;
    pthread_mutex_unlock(&index->lock);
}

/* ---- opening ---- */

static twin_status fail_flock(twin_error *error, const char *path, int fd, int how)
{
    if (errno != EWOULDBLOCK)
        return fail_system(error, path, "locked");
    if (how == LOCK_SH)
        return twin__fail(error, TWIN_EBUSY, "%s: is being replaced; try again later", path);
    if (twin__refuse_claimed(fd, path, error) != TWIN_OK)
        return TWIN_EBUSY;
    return twin__fail(error, TWIN_EBUSY, "%s: is open elsewhere; try again when it is not", path);
}

/* Opens the file and holds it: nobody may replace it while the lock lasts. */
static twin_status hold_file(int *out, const char *path, int how, twin_error *error)
{
    for (;;) {
        struct stat held, named;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        *out = fd;
        if (fd < 0)
            return fail_system(error, path, "opened");
        if (flock(fd, how | LOCK_NB) != 0)
            return fail_flock(error, path, fd, how);
        if (fstat(fd, &held) != 0 || !S_ISREG(held.st_mode))
            return twin__fail(error, TWIN_EFORMAT, "%s: is not a file", path);
        if (stat(path, &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev)
            return TWIN_OK;
        close(fd); /* it was replaced between opening and locking */
    }
}

static size_t map_for(int fd, size_t smallest)
{
    struct stat stat_of;
    size_t bytes = fstat(fd, &stat_of) == 0 ? 4 * (size_t)stat_of.st_size : 0;
    bytes = bytes > smallest ? bytes : smallest;
    return (bytes + 65535) / 65536 * 65536;
}

/* Where addresses are scarce, a smaller map is taken. */
static int open_env(twin_index *index, unsigned flags, mode_t mode)
{
    size_t least = map_for(index->fd, (size_t)1 << 20);
    int code;
    do {
        mdb_env_close(index->env);
        index->env = NULL;
        code = mdb_env_create(&index->env);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_maxdbs(index->env, TWIN__TABLES);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_maxreaders(index->env, READERS);
        if (code == MDB_SUCCESS)
            code = mdb_env_set_mapsize(index->env, index->map_bytes);
        if (code == MDB_SUCCESS)
            code = mdb_env_open(index->env, index->path, MDB_NOSUBDIR | MDB_NOTLS | flags, mode);
    } while (code == ENOMEM && (index->map_bytes /= 2) >= least);
    return code;
}

static int open_tables(twin_index *index, MDB_txn *txn, unsigned flags)
{
    int code = MDB_SUCCESS;
    for (size_t i = 0; i < TWIN__TABLES && code == MDB_SUCCESS; i++)
        code = mdb_dbi_open(txn, tables[i].name, tables[i].flags | flags, &index->tables[i]);
    for (size_t i = 0; i < TWIN__TABLES && code == MDB_SUCCESS; i++) {
        unsigned found;
        code = mdb_dbi_flags(txn, index->tables[i], &found);
        if (code == MDB_SUCCESS && found != tables[i].flags)
            code = MDB_INCOMPATIBLE;
    }
    return code;
}

static twin_status read_format(twin_index *index, MDB_txn *txn, twin_error *error)
{
    MDB_val key = { 6, "format" }, value;
    int code = mdb_get(txn, index->tables[TWIN__META], &key, &value);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    const char *reason;
    twin_status status = twin__format_decode(&index->options, &reason, twin__bytes_of(value));
    index->stop_words = index->options.scheme.shingle.stop_words;
    if (status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED)
        return twin__fail(error, status, "%s: %s", index->path, reason);
    struct twin__counts counts = { 0 };
    if (status == TWIN_OK)
        status = twin__get_counts(&counts, index, txn, error);
    /* A writer may have gone on by two transactions between LMDB's look at the number and at the page: then what is
     * read is newer, and as whole. */
    if (status == TWIN_OK && counts.transaction < mdb_txn_id(txn))
        return twin__fail_damaged(error, index, "its counts are older than its last transaction");
    return status;
}

static twin_status prepare(twin_index *index, twin_error *error)
{
    twin_error reason = { 0 };
    twin_status status = twin_signer_create(&index->signer, &index->options.scheme, &reason);
    if (status != TWIN_OK)
        return twin__fail(error, status, "%s: %s", index->path, reason.message);
    index->options.scheme = *twin_signer_scheme(index->signer); /* from here on its own stop words */
    return TWIN_OK;
}

static twin_status read_tables(twin_index *index, twin_error *error)
{
    MDB_txn *txn;
    int code = begin_reading(&txn, index);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    code = open_tables(index, txn, 0);
    twin_status status = code == MDB_SUCCESS ? read_format(index, txn, error) : twin__fail_lmdb(error, index, code);
    if (status != TWIN_OK) {
        mdb_txn_abort(txn);
        return status;
    }
    code = mdb_txn_commit(txn); /* which keeps the tables open */
    return code == MDB_SUCCESS ? prepare(index, error) : twin__fail_lmdb(error, index, code);
}

/* The name itself, or, if it is that of a link, of the file behind it: LMDB's lock file stands beside the name, and whoever
 * came by another would have another; and a link is not to be replaced. To be freed; NULL when memory runs out. */
static char *follow(const char *path)
{
    struct stat named;
    bool link = lstat(path, &named) == 0 && S_ISLNK(named.st_mode);
    char *file = link ? realpath(path, NULL) : NULL;
    return file ? file : strdup(path);
}

/* NULL when memory runs out. */
static twin_index *index_new(const char *path)
{
    twin_index *index = calloc(1, sizeof *index);
    char *file = follow(path);
    if (!index || !file) {
        free(index);
        free(file);
        return NULL;
    }
    index->path = file;
    index->fd = -1;
    pthread_mutex_init(&index->lock, NULL);
    return index;
}

/* The file stays held. */
static void close_env(twin_index *index)
{
    mdb_env_close(index->env);
    index->env = NULL;
    twin__unclaim(index);
}

void twin_index_close(twin_index *index)
{
    if (!index)
        return;
    close_env(index);
    if (index->fd >= 0)
        close(index->fd);
    twin_signer_free(index->signer);
    free((void *)index->stop_words);
    pthread_mutex_destroy(&index->lock);
    free(index->path);
    free(index);
}

/* A reader may look while a transaction writes the meta pages; what seems damaged then is looked at again. */
static twin_status check_pages(const twin_index *index, twin_error *error)
{
    twin_status status = TWIN_EFORMAT;
    for (int attempt = 0; attempt < 5 && status == TWIN_EFORMAT; attempt++)
        status = twin__pages_check(index->fd, index->path, error);
    return status;
}

static twin_status open_held(twin_index *index, twin_index_access access, twin_error *error)
{
    index->writable = access == TWIN_INDEX_WRITE;
    twin_status status = twin__claim(index, index->fd, index->path, error);
    if (status == TWIN_OK)
        status = check_pages(index, error);
    if (status != TWIN_OK)
        return status;
    index->map_bytes = map_for(index->fd, MAP_BYTES);
    int code = open_env(index, index->writable ? 0 : MDB_RDONLY, 0666);
    twin__claim_lock_file(index, index->path);
    if (code == EACCES || code == EROFS)
        return twin__fail(error, TWIN_EIO, "%s: it, or %s-lock beside it, may not be written: %s", index->path,
                          index->path, strerror(code));
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    int dead;
    mdb_reader_check(index->env, &dead); /* those who died reading hold room */
    return read_tables(index, error);
}

twin_status twin_index_open(twin_index **out, const char *path, twin_index_access access, twin_error *error)
{
    twin_index *index = index_new(path);
    *out = NULL;
    if (!index)
        return twin__fail_memory(error);
    twin_status status = hold_file(&index->fd, index->path, LOCK_SH, error);
    if (status == TWIN_OK)
        status = open_held(index, access, error);
    if (status != TWIN_OK) {
        twin_index_close(index);
        return status;
    }
    *out = index;
    return TWIN_OK;
}

twin_index_options twin_index_options_of(const twin_index *index)
{
    return index->options;
}

/* ---- creating ---- */

static twin_status complete(twin_index_options *options, twin_error *error)
{
    if (options->format == TWIN_INPUT_SETS && options->keep == TWIN_KEEP_TEXT)
        return twin__fail(error, TWIN_EINVAL, "sets have no text to keep");
    if (options->scheme.measure != TWIN_JACCARD)
        return twin__fail(error, TWIN_EINVAL, "an index finds documents by their Jaccard similarity only");
    return twin_scheme_complete(&options->scheme, error);
}

static twin_status write_format(struct twin__writing *writing)
{
    twin_buffer record = { 0 };
    twin_status status = twin__format_encode(&record, &writing->index->options);
    MDB_val key = { 6, "format" }, value = { record.length, record.bytes };
    if (status == TWIN_OK)
        status = twin__from_lmdb(writing, mdb_put(writing->txn, writing->index->tables[TWIN__META], &key, &value, 0));
    else
        twin__fail(writing->error, status, "%s: %s", writing->index->path, twin_status_text(status));
    if (status == TWIN_OK)
        status = twin__from_lmdb(writing, put_counts(writing));
    twin_buffer_clear(&record);
    return status;
}

/* Fills a new file: no lock file is made for it, since nobody else knows its name. */
static twin_status write_new(twin_index *index, twin_error *error)
{
    struct twin__writing writing = { .index = index, .error = error };
    mode_t mode = index->options.scheme.shingle.hash.family == TWIN_HASH_SIP ? 0600 : 0666; /* the key lies in it */
    index->map_bytes = (size_t)1 << 20;
    int code = open_env(index, MDB_NOLOCK, mode);
    if (code == MDB_SUCCESS)
        code = mdb_txn_begin(index->env, NULL, 0, &writing.txn);
    if (code != MDB_SUCCESS)
        return twin__fail_lmdb(error, index, code);
    twin_status status = twin__from_lmdb(&writing, open_tables(index, writing.txn, MDB_CREATE));
    if (status == TWIN_OK)
        status = write_format(&writing);
    if (status == TWIN_OK)
        return twin__from_lmdb(&writing, mdb_txn_commit(writing.txn));
    mdb_txn_abort(writing.txn);
    return status;
}

static void sync_folder(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(copy);
}

/* Gives a finished file its name. `held` is a lock on the file it replaces, or -1 if there must be none. */
static twin_status name_file(const char *temporary, const char *path, int held, twin_error *error)
{
    bool good = held >= 0 ? rename(temporary, path) == 0 : link(temporary, path) == 0;
    if (!good && errno == EEXIST)
        twin__fail(error, TWIN_EINVAL, "%s: exists already", path);
    else if (!good)
        fail_system(error, path, "written");
    twin_status status = good ? TWIN_OK : errno == EEXIST ? TWIN_EINVAL : TWIN_EIO;
    if (held < 0 || !good)
        unlink(temporary);
    sync_folder(path);
    return status;
}

/* No two threads get the same. */
static char *temporary_name(const char *path)
{
    static atomic_uint given;
    char *name = NULL;
    return asprintf(&name, "%s.%ld-%u.new", path, (long)getpid(), atomic_fetch_add(&given, 1)) >= 0 ? name : NULL;
}

/* A name that nothing has yet, or a file that nobody has open. */
static twin_status hold_old(int *held, const char *path, bool replace, twin_error *error)
{
    struct stat stat_of;
    *held = -1;
    if (lstat(path, &stat_of) != 0)
        return TWIN_OK;
    if (!replace)
        return twin__fail(error, TWIN_EINVAL, "%s: exists already", path);
    return hold_file(held, path, LOCK_EX, error);
}

static twin_status create_aside(const char *temporary, const char *path, twin_index_options options, bool replace,
                                twin_error *error)
{
    int held;
    twin_status status = hold_old(&held, path, replace, error);
    twin_index *index = status == TWIN_OK ? index_new(temporary) : NULL;
    if (index) {
        unlink(temporary); /* of one who had our number and died */
        index->options = options;
        status = prepare(index, error);
        if (status == TWIN_OK)
            status = write_new(index, error);
        twin_index_close(index);
        if (status == TWIN_OK)
            status = name_file(temporary, path, held, error);
        else
            unlink(temporary);
    } else if (status == TWIN_OK)
        status = twin__fail_memory(error);
    if (held >= 0)
        close(held);
    return status;
}

twin_status twin_index_create(const char *path, twin_index_options options, bool replace, twin_error *error)
{
    twin_status status = complete(&options, error);
    if (status != TWIN_OK)
        return status;
    char *file = follow(path), *temporary = file ? temporary_name(file) : NULL;
    status = temporary ? create_aside(temporary, file, options, replace, error) : twin__fail_memory(error);
    free(file);
    free(temporary);
    return status;
}

/* ---- compacting ---- */

static twin_status tidy(struct twin__writing *writing, void *context)
{
    (void)context;
    twin_status status = twin__runs_merge_all(writing, TWIN__POSTINGS_SETS);
    if (status == TWIN_OK)
        status = twin__runs_merge_all(writing, TWIN__POSTINGS_IDS);
    return status == TWIN_OK ? twin__blocks_tidy(writing) : status;
}

static twin_status copy_compact(twin_index *index, const char *temporary, twin_error *error)
{
    struct stat stat_of;
    unlink(temporary);
    int code = mdb_env_copy2(index->env, temporary, MDB_CP_COMPACT);
    if (code == MDB_SUCCESS && stat(index->path, &stat_of) == 0 && chmod(temporary, stat_of.st_mode & 07777) != 0)
        code = errno;
    if (code == MDB_SUCCESS) {
        int fd = open(temporary, O_RDWR | O_CLOEXEC);
        code = fd >= 0 && fsync(fd) == 0 ? MDB_SUCCESS : errno;
        if (fd >= 0)
            close(fd);
    }
    if (code != MDB_SUCCESS)
        unlink(temporary);
    return code == MDB_SUCCESS ? TWIN_OK : fail_code(error, temporary, code);
}

/* The copy starts its transactions anew, and says so in its counts. */
static twin_status restart_counts(const char *temporary, twin_error *error)
{
    twin_index *index = index_new(temporary);
    if (!index)
        return twin__fail_memory(error);
    struct twin__writing writing = { .index = index, .error = error };
    index->map_bytes = MAP_BYTES;
    int code = open_env(index, MDB_NOLOCK, 0666);
    if (code == MDB_SUCCESS)
        code = mdb_txn_begin(index->env, NULL, 0, &writing.txn);
    if (code == MDB_SUCCESS)
        code = open_tables(index, writing.txn, 0);
    twin_status status = code == MDB_SUCCESS ? twin__get_counts(&writing.counts, index, writing.txn, error)
                                             : fail_code(error, temporary, code);
    if (status == TWIN_OK)
        status = twin__from_lmdb(&writing, put_counts(&writing));
    if (status == TWIN_OK)
        status = twin__from_lmdb(&writing, mdb_txn_commit(writing.txn));
    else
        mdb_txn_abort(writing.txn);
    twin_index_close(index);
    return status;
}

static twin_status compact_aside(twin_index *index, const char *temporary, twin_error *error)
{
    twin_status status = hold_file(&index->fd, index->path, LOCK_EX, error);
    if (status == TWIN_OK)
        status = open_held(index, TWIN_INDEX_WRITE, error);
    if (status == TWIN_OK)
        status = twin__transact(index, tidy, NULL, error);
    if (status == TWIN_OK)
        status = copy_compact(index, temporary, error);
    if (status != TWIN_OK)
        return status;
    status = restart_counts(temporary, error);
    close_env(index); /* before the name is the new file's: one who opens that has the same lock file */
    if (status == TWIN_OK)
        return name_file(temporary, index->path, index->fd, error);
    unlink(temporary);
    return status;
}

twin_status twin_index_compact(const char *path, twin_error *error)
{
    twin_index *index = index_new(path);
    char *temporary = index ? temporary_name(index->path) : NULL;
    twin_status status = temporary ? compact_aside(index, temporary, error) : twin__fail_memory(error);
    twin_index_close(index);
    free(temporary);
    return status;
}

/* store.h — tables in one file, changed by transactions.
 *
 * A store is an LMDB file (and FILE-lock, for the processes that have it open) with a fixed list of tables, the schema.
 * Any number of processes may read while one writes. A transaction is done whole or not at all: a process that dies, or
 * a disk that is full, leaves the last one that was committed. A reader sees the store as it was when it began to read.
 *
 * A process may open a file several times, under any names: the handles share one environment, which the last one
 * closes. Threads may share a handle. A transaction and its cursors belong to one thread at a time. A child made by
 * fork() must open the file itself: calls on what its parent opened are refused, and closing it leaves it alone.
 *
 * What is read points into the file's map, without a copy. It stays valid until the transaction ends or, inside a
 * transaction that writes, until it writes again; what earlier transactions wrote stays until the end in any case. */
#ifndef TWIN_STORE_STORE_H
#define TWIN_STORE_STORE_H

#include <twinsift/status.h>

#include "base/bytes.h"

/* ---- schema */

enum twin__store_kind {
    TWIN__STORE_NUMBERS, /* one value for each 64-bit number */
    TWIN__STORE_LISTS,   /* for each number values of one length, sorted by their bytes, each once */
    TWIN__STORE_NAMES,   /* one value for each name of the schema */
};

struct twin__store_table {
    const char *name;
    enum twin__store_kind kind;
};

/* A static value: handles refer to it. Tables are called by their place in it. */
struct twin__store_schema {
    const char *what; /* for messages, with its article: "an index" */
    const struct twin__store_table *tables;
    unsigned count;
    const char *const *names; /* a key of a table of names is a place among these */
};
enum { TWIN__STORE_MOST_TABLES = 16 };

typedef struct twin__store twin__store;
typedef struct twin__store_txn twin__store_txn;

/* What a transaction writes. When the map has to grow it is called again, from the start. What it returns except
 * TWIN_OK ends the transaction without a trace. It must not begin another transaction on the same file. */
typedef twin_status twin__store_write(twin__store_txn *txn, void *context, twin_error *error);

/* ---- files */

/* Writes a new file with what `fill` writes: whole, or not at all. A file that exists is replaced only if `replace`,
 * and nobody may have it open (TWIN_EBUSY). `secret`: only the owner may read it. */
struct twin__store_create_options {
    bool replace, secret;
};
twin_status twin__store_create(const char *path, const struct twin__store_schema *schema,
                               struct twin__store_create_options options, twin__store_write *fill, void *context,
                               twin_error *error);

enum twin__store_access {
    TWIN__STORE_READ,
    TWIN__STORE_WRITE,
    TWIN__STORE_COMPACT, /* writes, and nobody else writes; this process has no other handle of it */
};

/* Where FILE-lock can neither be created nor written (another user's folder), a store is opened for reading without it.
 * Then writers do not know of this reader: a transaction that reads is safe only until the second one after it has been
 * committed. FILE-lock is never written if it is a link, or not a lock file: TWIN_EINVAL.
 *
 * Opens a store; release it with twin__store_close(), after its transactions. Damaged, cut short or with other tables:
 * TWIN_EFORMAT. Being replaced, or written where it must not be: TWIN_EBUSY.
 *
 * A reader checks each page when it is first used, and a damaged one is TWIN_EFORMAT then. Opening a store
 * to write checks all of them first. So it can be read and written without dying of damage, unless pages are damaged
 * after they were checked. A file that is cut short while it is open is refused by the next transaction; it kills those
 * who are reading it (SIGBUS), as with everything that is mapped. */
twin_status twin__store_open(twin__store **out, const char *path, const struct twin__store_schema *schema,
                             enum twin__store_access access, twin_error *error);
void twin__store_close(twin__store *store);

/* Replaces the file of a store opened to COMPACT by a copy without free pages, after one or two transactions of
 * `touch`, which must write something. Who reads the old file meanwhile keeps it, until it begins to read again after
 * the new one was changed: then TWIN_EBUSY says that it was replaced. The handle can only be closed afterwards. */
twin_status twin__store_compact(twin__store *store, twin__store_write *touch, void *context, twin_error *error);

const char *twin__store_path(const twin__store *store);

/* Checks every page of the newest state, and that none is missing: TWIN_EFORMAT when one is damaged. What values
 * contain is not checked. */
twin_status twin__store_check(twin__store *store, twin_error *error);

/* The sentence that the file is damaged. */
twin_status twin__store_fail_damaged(twin_error *error, const twin__store *store, const char *what);

/* ---- transactions */

twin_status twin__store_transact(twin__store *store, twin__store_write *write, void *context, twin_error *error);

/* Begins and ends a transaction that reads. While it lasts the file cannot reuse the pages of what is removed, and
 * the map cannot grow. Ending NULL does nothing. */
twin_status twin__store_begin_read(twin__store_txn **out, twin__store *store, twin_error *error);
void twin__store_end_read(twin__store_txn *txn);

/* The transaction that made what is read, or the one that is being written; they are numbered from 1. A damaged number
 * can bring back the state of the transaction before: to notice that, write the number to a record each time. */
uint64_t twin__store_number(const twin__store_txn *txn);

/* ---- records */

/* The value of a key; out->at is NULL when there is none. */
twin_status twin__store_get(struct twin__bytes *out, twin__store_txn *txn, unsigned table, uint64_t key,
                            twin_error *error);

enum twin__store_put {
    TWIN__STORE_SET,    /* replaces the value, if there is one */
    TWIN__STORE_APPEND, /* the key is greater than all others of its table */
    TWIN__STORE_ADD,    /* to the values of a list, where it must not be */
};
twin_status twin__store_put(twin__store_txn *txn, unsigned table, uint64_t key, struct twin__bytes value,
                            enum twin__store_put how, twin_error *error);

/* Room for a value of `length` bytes in the file, to be filled before the transaction does anything else. */
twin_status twin__store_reserve(void **out, twin__store_txn *txn, unsigned table, uint64_t key, size_t length,
                                enum twin__store_put how, twin_error *error);

/* Deletes a record, or of a list one value; NULL: all of it. That there is none is damage. */
twin_status twin__store_delete(twin__store_txn *txn, unsigned table, uint64_t key, const struct twin__bytes *value,
                               twin_error *error);

/* The bytes of the file; of each table the records (of lists: values), and the bytes of its pages. */
struct twin__store_sizes {
    uint64_t file_bytes, records[TWIN__STORE_MOST_TABLES], bytes[TWIN__STORE_MOST_TABLES];
};
twin_status twin__store_measure(struct twin__store_sizes *out, const twin__store_txn *txn, twin_error *error);

/* ---- cursors: tables of numbers and of lists */

struct MDB_cursor;
struct twin__tree_cursor;
struct twin__store_cursor {
    twin__store_txn *txn; /* NULL: closed */
    struct MDB_cursor *handle;
    struct twin__tree_cursor *tree; /* of a transaction that reads, instead */
};

/* Close it before its transaction ends; a closed one, or {0}, may be closed again. */
twin_status twin__store_cursor_open(struct twin__store_cursor *out, twin__store_txn *txn, unsigned table,
                                    twin_error *error);
void twin__store_cursor_close(struct twin__store_cursor *cursor);

/* A record; value.at is NULL when there is none. */
struct twin__store_record {
    uint64_t key;
    struct twin__bytes value;
    uint64_t list_length; /* where a list was sought by its key (TWIN__STORE_AT): its values */
};

enum twin__store_move {
    TWIN__STORE_FIRST,
    TWIN__STORE_NEXT,
    TWIN__STORE_NEXT_IN_LIST, /* the next value of the same key */
};
twin_status twin__store_move(struct twin__store_record *out, struct twin__store_cursor *cursor,
                             enum twin__store_move move, twin_error *error);

enum twin__store_seek {
    TWIN__STORE_AT,           /* the key */
    TWIN__STORE_AT_OR_AFTER,  /* the least key that is not less */
    TWIN__STORE_AT_OR_BEFORE, /* the greatest key that is not greater */
};
twin_status twin__store_seek(struct twin__store_record *out, struct twin__store_cursor *cursor, uint64_t number,
                             enum twin__store_seek where, twin_error *error);

/* The first value of a list that is not less than `least`. */
twin_status twin__store_seek_value(struct twin__store_record *out, struct twin__store_cursor *cursor, uint64_t number,
                                   struct twin__bytes least, twin_error *error);

#endif

/* environment.h — the LMDB environments that this process has open, each once. */
#ifndef TWIN_STORE_ENVIRONMENT_H
#define TWIN_STORE_ENVIRONMENT_H

#include <lmdb.h>
#include <pthread.h>
#include <sys/types.h>

#include "base/file.h"
#include "store/tree.h"

/* A file, whatever it is called. */
struct twin__file_identity {
    bool known;
    dev_t device;
    ino_t inode;
};

struct twin__environment {
    struct twin__environment *next;
    struct twin__file_identity file, lock_file;
    pid_t process;  /* a child made by fork() has a copy of the list, but opened nothing */
    size_t handles; /* that share it */
    const struct twin__store_schema *schema;
    char *path; /* the name it was opened by, which is that of the lock file */
    int fd;     /* holds a lock on the file, so that nobody replaces it; -1: none */
    bool writable;
    bool compacts; /* nobody may share it */
    bool checked;  /* all pages, as a writer needs it; readers check what they use */
    MDB_env *env;
    MDB_dbi tables[TWIN__STORE_MOST_TABLES];
    pthread_mutex_t writing; /* held by the thread that writes, and while the map changes; taken before `lock` */
    pthread_mutex_t lock;    /* over those below */
    size_t readers;          /* transactions that read: the map cannot change under them */
    size_t map_bytes;
    struct twin__snapshot *newest; /* that was read; NULL: none yet */
};

/* What LMDB answered about a file, as a status and a sentence. */
twin_status twin__store_fail_code(twin_error *error, const char *path, const struct twin__store_schema *schema,
                                  int code);

twin_status twin__store_fail_replaced(twin_error *error, const char *path);

/* To open, or to begin to read: each attempt fails only if the file was replaced, or two transactions were committed,
 * while it began. */
enum { TWIN__STORE_MOST_ATTEMPTS = 100 };

/* Opens the file and locks it against replacement (LOCK_SH), or against everyone (LOCK_EX). `*out` is to be closed
 * unless it is -1, also after a failure. */
twin_status twin__store_hold_file(int *out, const char *path, int lock, twin_error *error);

/* The environment of the file: the one that this process has, or a new one. */
twin_status twin__environment_acquire(struct twin__environment **out, const char *path,
                                      const struct twin__store_schema *schema, enum twin__store_access access,
                                      twin_error *error);

/* An environment of a file that nobody else knows, without a lock file; its tables are not open yet. */
twin_status twin__environment_open_private(struct twin__environment **out, const char *path,
                                           const struct twin__store_schema *schema, mode_t mode, size_t map_bytes,
                                           twin_error *error);

/* Opens, or with MDB_CREATE makes, the tables; LMDB's answer. */
int twin__environment_open_tables(struct twin__environment *environment, MDB_txn *txn, unsigned flags);

/* Whether the name it was opened by still leads to its file. */
bool twin__environment_is_named(const struct twin__environment *environment);

/* Closes it when no handle is left. */
void twin__environment_release(struct twin__environment *environment);

/* Gives a finished file the name of an environment opened to COMPACT, and closes that, before anybody here can open
 * the new one: they have the same lock file. */
twin_status twin__environment_replace(struct twin__environment *environment, struct twin__finished_file file,
                                      const char *path, twin_error *error);

/* ---- environment_read.c */

/* Opens the tables that a file has. Until here LMDB has used the meta pages only, and from here on that of the main
 * tree. */
twin_status twin__environment_find_tables(struct twin__environment *environment, twin_error *error);

/* Checks every page, also what only a writer needs, of the newest state, held fast by a transaction that reads: before
 * others know of the environment; and at any time. */
twin_status twin__environment_check_all(const struct twin__environment *environment, twin_error *error);
twin_status twin__environment_check(struct twin__environment *environment, twin_error *error);

/* TWIN_EFORMAT when the file has become shorter since it was read last. */
twin_status twin__environment_check_length(struct twin__environment *environment, twin_error *error);

/* A transaction that reads: LMDB's, which keeps the pages of its state from being used again, and what is known of
 * them. */
struct twin__environment_reading {
    MDB_txn *txn;
    struct twin__tree_map map;
};

/* Begins to read, also where dead readers have to make room first. `*resized`: another process has made the map
 * larger, and so must this one; then TWIN_EBUSY. The environment counts its readers. */
twin_status twin__environment_begin_read(struct twin__environment_reading *out, bool *resized,
                                         struct twin__environment *environment, twin_error *error);
void twin__environment_end_read(struct twin__environment_reading reading, struct twin__environment *environment);

/* Addresses, not memory: 64 GiB, or four times the file, is mapped ahead so that the map seldom has to grow. */
#define TWIN__STORE_MAP_BYTES ((size_t)64 << 30)

/* ---- lock_file.c: FILE-lock, before LMDB opens it */

/* TWIN_OK when there is no FILE-lock, or it is LMDB's; TWIN_EINVAL when it is a link or any other file, which LMDB
 * would overwrite. Call it only while this process does not have the file open: closing the lock file drops its
 * locks. */
twin_status twin__lock_file_check(const char *path, twin_error *error);

#endif

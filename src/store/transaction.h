/* transaction.h — handles and transactions, as the files of the store see them. */
#ifndef TWIN_STORE_TRANSACTION_H
#define TWIN_STORE_TRANSACTION_H

#include "store/environment.h"

struct twin__store {
    struct twin__environment *environment;
    char *path; /* the name this handle was opened by */
    bool writable;
};

struct twin__store_txn {
    twin__store *store;
    MDB_txn *txn;
    bool writes;               /* then through LMDB; else through the map */
    struct twin__tree_map map; /* of one that reads */
    size_t written;            /* bytes of values */
    int code;                  /* what LMDB answered last when it failed; decides whether the map has to grow */
};

static inline MDB_dbi twin__store_table_of(const twin__store_txn *txn, unsigned table)
{
    return txn->store->environment->tables[table];
}

/* LMDB's answer as a status and a sentence; MDB_SUCCESS is TWIN_OK. */
twin_status twin__store_answer(twin__store_txn *txn, int code, twin_error *error);

/* flush.c: commits; LMDB's answer. */
int twin__store_commit(const twin__store_txn *txn);

#endif

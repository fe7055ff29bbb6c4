/* table.c — records: get, put, delete, and cursors. In a transaction that writes each call is one of LMDB's, with its
 * keys made and its answer put in words. One that reads does without LMDB (tree.c). */
#include <lmdb.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/transaction.h"

static MDB_val key_of(const uint64_t *number)
{
    return (MDB_val){ sizeof *number, (void *)number };
}

/* The key of a record: the number itself, or the name with that number. */
static MDB_val record_key(const twin__store_txn *txn, unsigned table, const uint64_t *number)
{
    const struct twin__store_schema *schema = txn->store->environment->schema;
    if (schema->tables[table].kind != TWIN__STORE_NAMES)
        return key_of(number);
    const char *name = schema->names[*number];
    return (MDB_val){ strlen(name), (void *)name };
}

static MDB_val value_of(struct twin__bytes bytes)
{
    return (MDB_val){ bytes.length, (void *)bytes.at };
}

static struct twin__bytes bytes_of_value(MDB_val value)
{
    return (struct twin__bytes){ value.mv_data, value.mv_size };
}

/* ---- single records ---- */

twin_status twin__store_get(struct twin__bytes *out, twin__store_txn *txn, unsigned table, uint64_t key,
                            twin_error *error)
{
    MDB_val k = record_key(txn, table, &key), value;
    if (!txn->writes)
        return twin__tree_get(out, txn->map, table, bytes_of_value(k), error);
    int code = mdb_get(txn->txn, twin__store_table_of(txn, table), &k, &value);
    *out = code == MDB_SUCCESS ? bytes_of_value(value) : (struct twin__bytes){ 0 };
    return code == MDB_NOTFOUND ? TWIN_OK : twin__store_answer(txn, code, error);
}

static unsigned flags_of(enum twin__store_put how)
{
    static const unsigned flags[] = {
        [TWIN__STORE_SET] = 0,
        [TWIN__STORE_APPEND] = MDB_APPEND,
        [TWIN__STORE_ADD] = MDB_NODUPDATA,
    };
    return flags[how];
}

/* For MDB_RESERVE, `value` becomes the room. */
static twin_status put_value(twin__store_txn *txn, unsigned table, uint64_t key, MDB_val *value, unsigned flags,
                             twin_error *error)
{
    MDB_val k = record_key(txn, table, &key);
    txn->written += value->mv_size;
    return twin__store_answer(txn, mdb_put(txn->txn, twin__store_table_of(txn, table), &k, value, flags), error);
}

twin_status twin__store_put(twin__store_txn *txn, unsigned table, uint64_t key, struct twin__bytes value,
                            enum twin__store_put how, twin_error *error)
{
    MDB_val v = value_of(value);
    return put_value(txn, table, key, &v, flags_of(how), error);
}

twin_status twin__store_reserve(void **out, twin__store_txn *txn, unsigned table, uint64_t key, size_t length,
                                enum twin__store_put how, twin_error *error)
{
    MDB_val v = { length, NULL };
    twin_status status = put_value(txn, table, key, &v, MDB_RESERVE | flags_of(how), error);
    *out = v.mv_data;
    return status;
}

twin_status twin__store_delete(twin__store_txn *txn, unsigned table, uint64_t key, const struct twin__bytes *value,
                               twin_error *error)
{
    MDB_val k = record_key(txn, table, &key), v = value ? value_of(*value) : (MDB_val){ 0 };
    int code = mdb_del(txn->txn, twin__store_table_of(txn, table), &k, value ? &v : NULL);
    return code == MDB_NOTFOUND
               ? twin__store_fail_damaged(error, txn->store, "a record that is to be removed is missing")
               : twin__store_answer(txn, code, error);
}

/* ---- cursors ---- */

twin_status twin__store_cursor_open(struct twin__store_cursor *out, twin__store_txn *txn, unsigned table,
                                    twin_error *error)
{
    *out = (struct twin__store_cursor){ .txn = txn };
    if (!txn->writes) {
        out->tree = malloc(sizeof *out->tree);
        if (!out->tree)
            return twin__fail_memory(error);
        twin__tree_cursor_init(out->tree, txn->map, table);
        return TWIN_OK;
    }
    return twin__store_answer(txn, mdb_cursor_open(txn->txn, twin__store_table_of(txn, table), &out->handle), error);
}

void twin__store_cursor_close(struct twin__store_cursor *cursor)
{
    if (cursor->handle)
        mdb_cursor_close(cursor->handle);
    free(cursor->tree);
    *cursor = (struct twin__store_cursor){ 0 };
}

/* Makes a record of where the cursor went. */
static twin_status arrive(struct twin__store_record *out, const struct twin__store_cursor *cursor, int code,
                          MDB_val key, MDB_val value, twin_error *error)
{
    *out = (struct twin__store_record){ 0 };
    if (code == MDB_NOTFOUND)
        return TWIN_OK;
    if (code != MDB_SUCCESS)
        return twin__store_answer(cursor->txn, code, error);
    if (key.mv_size != sizeof out->key)
        return twin__store_fail_damaged(error, cursor->txn->store, "a key is not a number");
    *out = (struct twin__store_record){ .key = twin__get8(key.mv_data), .value = bytes_of_value(value) };
    return TWIN_OK;
}

twin_status twin__store_move(struct twin__store_record *out, struct twin__store_cursor *cursor,
                             enum twin__store_move move, twin_error *error)
{
    static const MDB_cursor_op steps[] = {
        [TWIN__STORE_FIRST] = MDB_FIRST,
        [TWIN__STORE_NEXT] = MDB_NEXT,
        [TWIN__STORE_NEXT_IN_LIST] = MDB_NEXT_DUP,
    };
    MDB_val key = { 0 }, value = { 0 };
    if (cursor->tree)
        return twin__tree_move(out, cursor->tree, move, error);
    int code = mdb_cursor_get(cursor->handle, &key, &value, steps[move]);
    return arrive(out, cursor, code, key, value, error);
}

static uint64_t list_length(const struct twin__store_cursor *cursor)
{
    size_t count = 0; /* which stays so in a table without lists */
    if (cursor->tree)
        return twin__tree_list_length(cursor->tree);
    return mdb_cursor_count(cursor->handle, &count) == MDB_SUCCESS ? count : 0;
}

static twin_status seek(struct twin__store_record *out, struct twin__store_cursor *cursor, uint64_t number,
                        enum twin__store_seek where, twin_error *error)
{
    MDB_val key = key_of(&number), value = { 0 };
    if (cursor->tree)
        return twin__tree_seek(out, cursor->tree, number, where, error);
    int code = mdb_cursor_get(cursor->handle, &key, &value, where == TWIN__STORE_AT ? MDB_SET_KEY : MDB_SET_RANGE);
    if (where == TWIN__STORE_AT_OR_BEFORE) {
        if (code == MDB_NOTFOUND)
            code = mdb_cursor_get(cursor->handle, &key, &value, MDB_LAST);
        else if (code == MDB_SUCCESS && key.mv_size == sizeof number && twin__get8(key.mv_data) > number)
            code = mdb_cursor_get(cursor->handle, &key, &value, MDB_PREV);
    }
    return arrive(out, cursor, code, key, value, error);
}

twin_status twin__store_seek(struct twin__store_record *out, struct twin__store_cursor *cursor, uint64_t number,
                             enum twin__store_seek where, twin_error *error)
{
    twin_status status = seek(out, cursor, number, where, error);
    if (status == TWIN_OK && out->value.at && where == TWIN__STORE_AT)
        out->list_length = list_length(cursor);
    return status;
}

twin_status twin__store_seek_value(struct twin__store_record *out, struct twin__store_cursor *cursor, uint64_t number,
                                   struct twin__bytes least, twin_error *error)
{
    MDB_val key = key_of(&number), value = value_of(least);
    if (cursor->tree)
        return twin__tree_seek_value(out, cursor->tree, number, least, error);
    int code = mdb_cursor_get(cursor->handle, &key, &value, MDB_GET_BOTH_RANGE);
    return arrive(out, cursor, code, key, value, error);
}

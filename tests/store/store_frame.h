/* store_frame.h — what the tests of the store share: a folder, a store in it, and calls that must succeed or fail. */
#ifndef STORE_FRAME_H
#define STORE_FRAME_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// cmocka wants the headers above
#include <cmocka.h>
#include <lmdb.h>

#include "base/random.h"
#include "scale.h"
#include "store/map.h"
#include "store/store.h"
#include "store_folder.h"

enum { META, NUMBERS, LISTS };
static const struct twin__store_table tables[] = {
    [META] = { "meta", TWIN__STORE_NAMES },
    [NUMBERS] = { "numbers", TWIN__STORE_NUMBERS },
    [LISTS] = { "lists", TWIN__STORE_LISTS },
};
static const char *const meta_names[] = { "mark" };
static const struct twin__store_schema schema = { "a test", tables, 3, meta_names };
static const struct twin__store_create_options replace = { .replace = true };

static twin_error failure; /* of the last call that failed */

static inline void check_good(twin_status status, int line)
{
    if (status != TWIN_OK)
        fail_msg("line %d: %s: %s", line, twin_status_text(status), failure.message);
}
#define GOOD(call) check_good(call, __LINE__)

/* A call that must fail with this status and these words. */
static inline void check_bad(twin_status wanted, const char *words, twin_status status, int line)
{
    if (status != wanted || !strstr(failure.message, words))
        fail_msg("line %d: %d \"%s\", not %d \"%s\"", line, status, failure.message, wanted, words);
}
#define BAD(wanted, words, call) check_bad(wanted, words, call, __LINE__)

static inline twin__store *open_store(enum twin__store_access access)
{
    twin__store *store;
    GOOD(twin__store_open(&store, path, &schema, access, &failure));
    return store;
}

/* ---- writing functions ---- */

/* Writes a number under a name. */
static inline twin_status write_mark(twin__store_txn *txn, void *context, twin_error *error)
{
    return twin__store_put(txn, META, 0, (struct twin__bytes){ context, sizeof(uint64_t) }, TWIN__STORE_SET, error);
}

static inline twin_status write_mark_and_fail(twin__store_txn *txn, void *context, twin_error *error)
{
    twin_status status = write_mark(txn, context, error);
    return status == TWIN_OK ? TWIN_ESTOPPED : status;
}

static inline void create(uint64_t mark)
{
    unlink(path); /* what a test has damaged may not be a store any more, and is then not replaced */
    GOOD(twin__store_create(path, &schema, replace, write_mark, &mark, &failure));
}

static inline void set_mark(twin__store *store, uint64_t mark)
{
    GOOD(twin__store_transact(store, write_mark, &mark, &failure));
}

static inline uint64_t mark_seen(twin__store_txn *txn)
{
    struct twin__bytes mark;
    GOOD(twin__store_get(&mark, txn, META, 0, &failure));
    assert_true(mark.at && mark.length == sizeof(uint64_t));
    return twin__get8(mark.at);
}

static inline uint64_t mark_in(twin__store *store)
{
    twin__store_txn *txn;
    GOOD(twin__store_begin_read(&txn, store, &failure));
    uint64_t mark = mark_seen(txn);
    twin__store_end_read(txn);
    return mark;
}

static inline uint64_t file_bytes(twin__store *store)
{
    twin__store_txn *txn;
    struct twin__store_sizes sizes;
    GOOD(twin__store_begin_read(&txn, store, &failure));
    GOOD(twin__store_measure(&sizes, txn, &failure));
    twin__store_end_read(txn);
    return sizes.file_bytes;
}

static inline size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    while (readdir(open_folder))
        count++;
    closedir(open_folder);
    return count - 2;
}

enum { LARGE = 3 << 20 };

static inline twin_status write_large(twin__store_txn *txn, void *context, twin_error *error)
{
    unsigned *calls = context;
    void *room;
    ++*calls;
    twin_status status = twin__store_reserve(&room, txn, NUMBERS, 7, LARGE, TWIN__STORE_SET, error);
    if (status == TWIN_OK)
        memset(room, 'x', LARGE);
    return status;
}

static inline twin_status delete_missing(twin__store_txn *txn, void *context, twin_error *error)
{
    return twin__store_delete(txn, NUMBERS, *(const uint64_t *)context, NULL, error);
}

#endif

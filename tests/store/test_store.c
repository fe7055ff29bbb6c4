/* test_store.c — the store on its own: against a plain array, under kills, damage, and several handles of one file. */
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

enum { META, NUMBERS, LISTS };
static const struct twin__store_table tables[] = {
    [META] = { "meta", TWIN__STORE_NAMES },
    [NUMBERS] = { "numbers", TWIN__STORE_NUMBERS },
    [LISTS] = { "lists", TWIN__STORE_LISTS },
};
static const char *const meta_names[] = { "mark" };
static const struct twin__store_schema schema = { "a test", tables, 3, meta_names };
static const struct twin__store_create_options replace = { .replace = true };

static char folder[64], path[96], other_path[96];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_store.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    unlink(path);
    unlink(lock_path);
    unlink(other_path);
    return rmdir(folder); /* which fails when anything else was left behind */
}

static twin_error failure; /* of the last call that failed */

static void check_good(twin_status status, int line)
{
    if (status != TWIN_OK)
        fail_msg("line %d: %s: %s", line, twin_status_text(status), failure.message);
}
#define GOOD(call) check_good(call, __LINE__)

/* A call that must fail with this status and these words. */
static void check_bad(twin_status wanted, const char *words, twin_status status, int line)
{
    if (status != wanted || !strstr(failure.message, words))
        fail_msg("line %d: %d \"%s\", not %d \"%s\"", line, status, failure.message, wanted, words);
}
#define BAD(wanted, words, call) check_bad(wanted, words, call, __LINE__)

static twin__store *open_store(enum twin__store_access access)
{
    twin__store *store;
    GOOD(twin__store_open(&store, path, &schema, access, &failure));
    return store;
}

/* ---- writing functions ---- */

/* Writes a number under a name. */
static twin_status write_mark(twin__store_txn *txn, void *context, twin_error *error)
{
    return twin__store_put(txn, META, 0, (struct twin__bytes){ context, sizeof(uint64_t) }, TWIN__STORE_SET, error);
}

static twin_status write_mark_and_fail(twin__store_txn *txn, void *context, twin_error *error)
{
    twin_status status = write_mark(txn, context, error);
    return status == TWIN_OK ? TWIN_ESTOPPED : status;
}

static void create(uint64_t mark)
{
    unlink(path); /* what a test has damaged may not be a store any more, and is then not replaced */
    GOOD(twin__store_create(path, &schema, replace, write_mark, &mark, &failure));
}

static void set_mark(twin__store *store, uint64_t mark)
{
    GOOD(twin__store_transact(store, write_mark, &mark, &failure));
}

static uint64_t mark_seen(twin__store_txn *txn)
{
    struct twin__bytes mark;
    GOOD(twin__store_get(&mark, txn, META, 0, &failure));
    assert_true(mark.at && mark.length == sizeof(uint64_t));
    return twin__get8(mark.at);
}

static uint64_t mark_in(twin__store *store)
{
    twin__store_txn *txn;
    GOOD(twin__store_begin_read(&txn, store, &failure));
    uint64_t mark = mark_seen(txn);
    twin__store_end_read(txn);
    return mark;
}

static uint64_t file_bytes(twin__store *store)
{
    twin__store_txn *txn;
    struct twin__store_sizes sizes;
    GOOD(twin__store_begin_read(&txn, store, &failure));
    GOOD(twin__store_measure(&sizes, txn, &failure));
    twin__store_end_read(txn);
    return sizes.file_bytes;
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    while (readdir(open_folder))
        count++;
    closedir(open_folder);
    return count - 2;
}

/* ---- creating ---- */

static void a_file_is_created_whole_or_not_at_all(void **state)
{
    (void)state;
    uint64_t one = 1, two = 2;
    BAD(TWIN_ESTOPPED, "", twin__store_create(path, &schema, replace, write_mark_and_fail, &one, &failure));
    assert_int_equal(files_in_folder(), 0);
    GOOD(twin__store_create(path, &schema, (struct twin__store_create_options){ .secret = true }, write_mark, &one,
                            &failure));
    assert_int_equal(files_in_folder(), 1);
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 077, 0);

    BAD(TWIN_EINVAL, "already exists",
        twin__store_create(path, &schema, (struct twin__store_create_options){ 0 }, write_mark, &two, &failure));
    BAD(TWIN_ESTOPPED, "", twin__store_create(path, &schema, replace, write_mark_and_fail, &two, &failure));
    twin__store *store = open_store(TWIN__STORE_READ);
    assert_int_equal(mark_in(store), 1);
    BAD(TWIN_EBUSY, "this process has it open",
        twin__store_create(path, &schema, replace, write_mark, &two, &failure));
    twin__store_close(store);
    create(2);
    store = open_store(TWIN__STORE_READ);
    assert_int_equal(mark_in(store), 2);
    BAD(TWIN_EINVAL, "reading only", twin__store_transact(store, write_mark, &one, &failure));
    twin__store_close(store);
}

enum { LARGE = 3 << 20 };

static twin_status write_large(twin__store_txn *txn, void *context, twin_error *error)
{
    unsigned *calls = context;
    void *room;
    ++*calls;
    twin_status status = twin__store_reserve(&room, txn, NUMBERS, 7, LARGE, TWIN__STORE_SET, error);
    if (status == TWIN_OK)
        memset(room, 'x', LARGE);
    return status;
}

static void the_map_grows_and_the_transaction_begins_again(void **state)
{
    (void)state;
    unsigned calls = 0;
    GOOD(twin__store_create(path, &schema, replace, write_large, &calls, &failure)); /* whose map is 1 MiB at first */
    assert_true(calls > 1);
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    assert_true(twin__store_set_map(store, 1 << 18));
    calls = 0;
    GOOD(twin__store_transact(store, write_large, &calls, &failure));
    assert_true(calls > 1 && twin__store_map(store) > LARGE);
    assert_int_equal(mark_in(store), 1);
    twin__store_close(store);
}

static void under_a_reader_the_map_stays_and_so_does_the_store(void **state)
{
    (void)state;
    unsigned calls = 0;
    twin__store_txn *txn;
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE), *reader = open_store(TWIN__STORE_READ);
    assert_true(twin__store_set_map(store, 1 << 18));
    GOOD(twin__store_begin_read(&txn, reader, &failure)); /* of another handle: the map is the same */
    assert_false(twin__store_set_map(store, 1 << 20));
    BAD(TWIN_EBUSY, "views of it were open", twin__store_transact(store, write_large, &calls, &failure));
    assert_int_equal(mark_seen(txn), 1);
    twin__store_end_read(txn);
    GOOD(twin__store_transact(store, write_large, &calls, &failure));
    twin__store_close(reader);
    twin__store_close(store);
}

/* ---- records ---- */

enum { KEYS = 60, VALUES = 8, VALUE_BYTES = 4 };

struct model {
    size_t length[KEYS]; /* of the value, bytes of key; 0: none */
    bool listed[KEYS][VALUES];
};

static struct twin__bytes list_value(unsigned char out[VALUE_BYTES], unsigned i)
{
    memset(out, 0, VALUE_BYTES);
    out[VALUE_BYTES - 1] = (unsigned char)(10 * i);
    return (struct twin__bytes){ out, VALUE_BYTES };
}

struct step {
    struct model *model;
    uint64_t random;
};

static twin_status change_number(twin__store_txn *txn, struct model *model, uint64_t *random, twin_error *error)
{
    static char bytes[5000];
    uint64_t key = twin__random_below(random, KEYS);
    size_t length = twin__random_below(random, 3) ? 1 + twin__random_below(random, sizeof bytes) : 0;
    twin_status status = TWIN_OK;
    memset(bytes, (int)key, length);
    if (length)
        status = twin__store_put(txn, NUMBERS, key, (struct twin__bytes){ bytes, length }, TWIN__STORE_SET, error);
    else if (model->length[key])
        status = twin__store_delete(txn, NUMBERS, key, NULL, error);
    model->length[key] = length;
    return status;
}

static twin_status change_list(twin__store_txn *txn, struct model *model, uint64_t *random, twin_error *error)
{
    unsigned char bytes[VALUE_BYTES];
    uint64_t key = twin__random_below(random, KEYS);
    unsigned which = (unsigned)twin__random_below(random, VALUES);
    struct twin__bytes value = list_value(bytes, which);
    twin_status status = model->listed[key][which] ? twin__store_delete(txn, LISTS, key, &value, error)
                                                   : twin__store_put(txn, LISTS, key, value, TWIN__STORE_ADD, error);
    model->listed[key][which] = !model->listed[key][which];
    return status;
}

static twin_status change_some(twin__store_txn *txn, void *context, twin_error *error)
{
    struct step *step = context;
    twin_status status = TWIN_OK;
    for (int i = 0; i < 20 && status == TWIN_OK; i++)
        status = twin__random_below(&step->random, 2) ? change_number(txn, step->model, &step->random, error)
                                                      : change_list(txn, step->model, &step->random, error);
    return status;
}

static uint64_t list_length(const struct model *model, uint64_t key)
{
    uint64_t length = 0;
    for (size_t i = 0; i < VALUES; i++)
        length += model->listed[key][i];
    return length;
}

/* The keys of the model around each key, found by cursor as they are found by walking the array. */
static void compare_seeks(twin__store_txn *txn, const struct model *model)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record;
    GOOD(twin__store_cursor_open(&cursor, txn, NUMBERS, &failure));
    for (uint64_t key = 0; key < KEYS; key++) {
        uint64_t after = key, before = key + 1;
        while (after < KEYS && !model->length[after])
            after++;
        while (before > 0 && !model->length[before - 1])
            before--;
        GOOD(twin__store_seek(&record, &cursor, key, TWIN__STORE_AT, &failure));
        assert_int_equal(record.value.at != NULL, model->length[key] > 0);
        GOOD(twin__store_seek(&record, &cursor, key, TWIN__STORE_AT_OR_AFTER, &failure));
        assert_int_equal(record.value.at ? record.key : KEYS, after);
        GOOD(twin__store_seek(&record, &cursor, key, TWIN__STORE_AT_OR_BEFORE, &failure));
        assert_int_equal(record.value.at ? record.key + 1 : 0, before);
    }
    twin__store_cursor_close(&cursor);
}

static void compare_numbers(twin__store_txn *txn, const struct model *model)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record;
    GOOD(twin__store_cursor_open(&cursor, txn, NUMBERS, &failure));
    GOOD(twin__store_move(&record, &cursor, TWIN__STORE_FIRST, &failure));
    uint64_t records = 0;
    for (uint64_t key = 0; key < KEYS; key++) {
        struct twin__bytes value;
        GOOD(twin__store_get(&value, txn, NUMBERS, key, &failure));
        assert_int_equal(value.length, model->length[key]);
        if (!model->length[key]) {
            assert_null(value.at);
            continue;
        }
        assert_int_equal(*((const char *)value.at + value.length - 1), key);
        assert_int_equal(record.key, key);
        assert_ptr_equal(record.value.at, value.at); /* neither is a copy */
        GOOD(twin__store_move(&record, &cursor, TWIN__STORE_NEXT, &failure));
        records++;
    }
    assert_null(record.value.at);
    twin__store_cursor_close(&cursor);
    struct twin__store_sizes sizes;
    GOOD(twin__store_measure(&sizes, txn, &failure));
    assert_int_equal(sizes.records[NUMBERS], records);
}

static void compare_lists(twin__store_txn *txn, const struct model *model)
{
    struct twin__store_cursor cursor;
    struct twin__store_record record;
    unsigned char bytes[VALUE_BYTES];
    GOOD(twin__store_cursor_open(&cursor, txn, LISTS, &failure));
    for (uint64_t key = 0; key < KEYS; key++) {
        GOOD(twin__store_seek(&record, &cursor, key, TWIN__STORE_AT, &failure));
        assert_int_equal(record.list_length, list_length(model, key));
        for (unsigned i = 0; i < VALUES; i++)
            if (model->listed[key][i]) {
                struct twin__bytes wanted = list_value(bytes, i);
                assert_memory_equal(record.value.at, wanted.at, wanted.length);
                GOOD(twin__store_move(&record, &cursor, TWIN__STORE_NEXT_IN_LIST, &failure));
            }
        assert_null(record.value.at);
        struct twin__bytes least = list_value(bytes, 3); /* the first that is not less */
        GOOD(twin__store_seek_value(&record, &cursor, key, least, &failure));
        unsigned next = 3;
        while (next < VALUES && !model->listed[key][next])
            next++;
        assert_int_equal(record.value.at ? ((const unsigned char *)record.value.at)[VALUE_BYTES - 1] : 10 * VALUES,
                         10 * next);
    }
    twin__store_cursor_close(&cursor);
}

static void compare(twin__store *store, const struct model *model)
{
    twin__store_txn *txn;
    GOOD(twin__store_begin_read(&txn, store, &failure));
    compare_numbers(txn, model);
    compare_seeks(txn, model);
    compare_lists(txn, model);
    twin__store_end_read(txn);
}

static void a_store_holds_what_an_array_holds(void **state)
{
    (void)state;
    enum { STEPS = SANITIZED ? 40 : 150 };
    static struct model model, before;
    memset(&model, 0, sizeof model);
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    struct step step = { &model, 31 };
    for (int i = 0; i < STEPS; i++) {
        twin__store_txn *txn;
        before = model;
        GOOD(twin__store_begin_read(&txn, store, &failure));
        GOOD(twin__store_transact(store, change_some, &step, &failure));
        compare_numbers(txn, &before); /* a reader sees what was there when it began */
        compare_lists(txn, &before);
        twin__store_end_read(txn);
        compare(store, &model);
        if (i % 25 == 24) {
            twin__store_close(store);
            store = open_store(TWIN__STORE_WRITE);
        }
    }
    twin__store_close(store);
}

static twin_status append(twin__store_txn *txn, void *context, twin_error *error)
{
    const uint64_t *key = context;
    return twin__store_put(txn, NUMBERS, *key, (struct twin__bytes){ "x", 1 }, TWIN__STORE_APPEND, error);
}

static twin_status delete_missing(twin__store_txn *txn, void *context, twin_error *error)
{
    return twin__store_delete(txn, NUMBERS, *(const uint64_t *)context, NULL, error);
}

static void what_should_not_be_is_refused_without_a_trace(void **state)
{
    (void)state;
    uint64_t five = 5, four = 4, mark = 9;
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    GOOD(twin__store_transact(store, append, &five, &failure));
    BAD(TWIN_EFORMAT, "is damaged", twin__store_transact(store, append, &four, &failure)); /* out of order */
    BAD(TWIN_EFORMAT, "is missing", twin__store_transact(store, delete_missing, &four, &failure));
    BAD(TWIN_ESTOPPED, "", twin__store_transact(store, write_mark_and_fail, &mark, &failure));
    assert_int_equal(mark_in(store), 1);
    twin__store_close(store);
}

/* ---- death ---- */

static twin_status write_and_die(twin__store_txn *txn, void *context, twin_error *error)
{
    twin_status status = write_mark(txn, context, error);
    raise(SIGKILL);
    return status;
}

/* A child commits `mark`, and is killed while it writes the next. */
static void write_in_child(uint64_t mark)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        twin__store *store;
        uint64_t next = mark + 1000;
        if (twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, NULL) == TWIN_OK &&
            twin__store_transact(store, write_mark, &mark, NULL) == TWIN_OK)
            twin__store_transact(store, write_and_die, &next, NULL);
        _exit(1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_killed_writer_leaves_its_last_transaction(void **state)
{
    (void)state;
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    for (uint64_t mark = 2; mark < 6; mark++) {
        write_in_child(mark); /* which has the lock of writers when it dies */
        assert_int_equal(mark_in(store), mark);
        set_mark(store, 10 * mark);
        assert_int_equal(mark_in(store), 10 * mark);
    }
    twin__store_close(store);
}

/* ---- several handles ---- */

static void handles_share_one_file(void **state)
{
    (void)state;
    for (int order = 0; order < 4; order++) {
        twin__store_txn *old;
        create(1);
        twin__store *reader = open_store(TWIN__STORE_READ), *writer = open_store(TWIN__STORE_WRITE);
        GOOD(twin__store_begin_read(&old, reader, &failure));
        set_mark(writer, 2);
        assert_int_equal(mark_seen(old), 1);
        twin__store_end_read(old);
        assert_int_equal(mark_in(reader), 2);
        twin__store *alone;
        BAD(TWIN_EBUSY, "this process has it open",
            twin__store_open(&alone, path, &schema, TWIN__STORE_COMPACT, &failure));
        if (order % 2) {
            twin__store_close(reader);
            set_mark(writer, 3);
            if (order / 2)
                reader = open_store(TWIN__STORE_READ);
            twin__store_close(writer);
            if (order / 2) {
                assert_int_equal(mark_in(reader), 3);
                twin__store_close(reader);
            }
        } else {
            twin__store_close(writer);
            assert_int_equal(mark_in(reader), 2);
            twin__store_close(reader);
        }
        alone = open_store(TWIN__STORE_COMPACT); /* nothing was left open */
        twin__store_close(alone);
    }
}

enum { THREADS = 4, ROUNDS = SANITIZED ? 15 : 60 };

static twin_status count_up(twin__store_txn *txn, void *context, twin_error *error)
{
    uint64_t mark = mark_seen(txn) + 1;
    (void)context;
    return write_mark(txn, &mark, error);
}

/* Opens, writes, reads and closes as others do the same. */
static void *count_through_a_handle(void *context)
{
    atomic_bool *good = context;
    for (int round = 0; round < ROUNDS; round++) {
        twin__store *store;
        twin__store_txn *txn = NULL;
        bool done = twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, NULL) == TWIN_OK &&
                    twin__store_begin_read(&txn, store, NULL) == TWIN_OK &&
                    twin__store_transact(store, count_up, NULL, NULL) == TWIN_OK;
        uint64_t before = done ? mark_seen(txn) : 0;
        twin__store_end_read(txn);
        if (!done || mark_in(store) <= before)
            atomic_store(good, false);
        twin__store_close(store);
    }
    return NULL;
}

static void threads_open_write_and_close_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    atomic_bool good = true;
    create(0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_through_a_handle, &good), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(good);
    twin__store *store = open_store(TWIN__STORE_READ);
    assert_int_equal(mark_in(store), THREADS * ROUNDS);
    twin__store_close(store);
}

/* Root may write anything, so it becomes another user here. */
static void become(uid_t user)
{
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    const char *names[] = { folder, path, lock_path };
    assert_int_equal(seteuid(0), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(chown(names[i], user, (gid_t)-1), 0);
    assert_int_equal(seteuid(user), 0);
}

/* A file that may only be read is opened so; a handle that wants to write does not join it. */
static void a_file_that_cannot_be_written_is_read(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    bool root = geteuid() == 0;
    twin__store *writer;
    create(1);
    twin__store_close(open_store(TWIN__STORE_READ)); /* which makes the lock file */
    if (root)
        become(NOBODY);
    assert_int_equal(chmod(path, 0400), 0);
    BAD(TWIN_EIO, "cannot be written", twin__store_open(&writer, path, &schema, TWIN__STORE_WRITE, &failure));
    twin__store *reader = open_store(TWIN__STORE_READ);
    assert_int_equal(mark_in(reader), 1);
    assert_int_equal(chmod(path, 0600), 0);
    BAD(TWIN_EBUSY, "could not be written", twin__store_open(&writer, path, &schema, TWIN__STORE_WRITE, &failure));
    twin__store_close(reader);
    set_mark(writer = open_store(TWIN__STORE_WRITE), 2);
    twin__store_close(writer);
    if (root)
        become(0);
}

static void a_store_in_a_folder_that_cannot_be_written_is_read(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    bool root = geteuid() == 0;
    twin__store *writer;
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    create(1);
    unlink(lock_path);
    assert_int_equal(chmod(folder, 0555), 0);
    if (root)
        assert_int_equal(seteuid(NOBODY), 0);
    twin__store *reader = open_store(TWIN__STORE_READ);
    assert_int_equal(mark_in(reader), 1);
    twin__store_close(reader);
    BAD(TWIN_EIO, "cannot be written", twin__store_open(&writer, path, &schema, TWIN__STORE_WRITE, &failure));
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
}

/* LMDB would write its table of readers over it. */
static void a_lock_file_that_is_something_else_is_left_alone(void **state)
{
    (void)state;
    twin__store *store;
    char lock_path[128], other[128], line[16] = "";
    snprintf(lock_path, sizeof lock_path, "%s-lock", path);
    snprintf(other, sizeof other, "%s/notes", folder);
    create(1);
    for (int way = 0; way < 2; way++) { /* a link, and a file */
        unlink(lock_path);
        FILE *file = fopen(way ? lock_path : other, "w");
        assert_true(file && fputs("notes", file) >= 0 && fclose(file) == 0);
        assert_true(way || symlink("notes", lock_path) == 0);
        BAD(TWIN_EINVAL, "is not its lock file", twin__store_open(&store, path, &schema, TWIN__STORE_READ, &failure));
        BAD(TWIN_EINVAL, "is not its lock file",
            twin__store_open(&store, path, &schema, TWIN__STORE_COMPACT, &failure));
        file = fopen(way ? lock_path : other, "r");
        assert_true(file && fgets(line, sizeof line, file) && fclose(file) == 0);
        assert_string_equal(line, "notes");
    }
    unlink(other);
    unlink(lock_path);
    twin__store_close(open_store(TWIN__STORE_READ));
}

/* Of a process that died while it compacted; those of others, and other files, stay. */
static void leftovers_are_removed_by_the_next_writer(void **state)
{
    (void)state;
    char dead[128], live[128], other[128];
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child); /* so that its number is nobody's */
    snprintf(dead, sizeof dead, "%s.%ld-3.new", path, (long)child);
    snprintf(live, sizeof live, "%s.%ld-999.new", path, (long)getpid());
    snprintf(other, sizeof other, "%s.%ld-3.newer", path, (long)child);
    const char *names[] = { dead, live, other };
    create(1);
    for (size_t i = 0; i < 3; i++) {
        FILE *file = fopen(names[i], "w");
        assert_true(file && fclose(file) == 0);
    }
    twin__store_close(open_store(TWIN__STORE_READ));
    assert_int_equal(access(dead, F_OK), 0);
    twin__store_close(open_store(TWIN__STORE_WRITE));
    assert_int_equal(access(dead, F_OK), -1);
    assert_int_equal(access(live, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    unlink(live);
    unlink(other);
}

static twin__store *of_parent;

static void a_child_leaves_alone_what_its_parent_opened(void **state)
{
    (void)state;
    int status = 0;
    create(1);
    of_parent = open_store(TWIN__STORE_WRITE);
    pid_t child = fork();
    if (child == 0) {
        twin__store *own;
        twin__store_txn *txn;
        uint64_t mark = 2;
        bool good = twin__store_begin_read(&txn, of_parent, NULL) == TWIN_EINVAL &&
                    twin__store_transact(of_parent, write_mark, &mark, NULL) == TWIN_EINVAL &&
                    twin__store_open(&own, path, &schema, TWIN__STORE_WRITE, NULL) == TWIN_OK;
        twin__store_close(of_parent);
        _exit(good && twin__store_transact(own, write_mark, &mark, NULL) == TWIN_OK ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(mark_in(of_parent), 2);
    twin__store_close(of_parent);
}

/* ---- compaction ---- */

static void a_compacted_store_holds_the_same_in_less(void **state)
{
    (void)state;
    unsigned calls = 0;
    uint64_t key = 7, mark = 5;
    create(1);
    twin__store *store = open_store(TWIN__STORE_COMPACT), *other;
    GOOD(twin__store_transact(store, write_large, &calls, &failure));
    GOOD(twin__store_transact(store, delete_missing, &key, &failure)); /* which is there this time */
    uint64_t large = file_bytes(store);
    BAD(TWIN_EBUSY, "being replaced", twin__store_open(&other, path, &schema, TWIN__STORE_READ, &failure));
    BAD(TWIN_ESTOPPED, "", twin__store_compact(store, write_mark_and_fail, &mark, &failure));
    assert_int_equal(mark_in(store), 1);
    enum { NOBODY = 65534 };
    struct stat old, new;
    assert_int_equal(chmod(path, 0640), 0);
    if (geteuid() == 0)
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
    assert_int_equal(stat(path, &old), 0);
    GOOD(twin__store_compact(store, write_mark, &mark, &failure));
    twin__store_close(store);
    assert_int_equal(stat(path, &new), 0);
    assert_true(new.st_uid == old.st_uid &&new.st_gid == old.st_gid &&new.st_mode == old.st_mode);
    store = open_store(TWIN__STORE_READ);
    uint64_t small = file_bytes(store);
    assert_true(large > LARGE && small < large / 10);
    assert_int_equal(mark_in(store), 5);
    twin__store_close(store);
    assert_int_equal(files_in_folder(), 2); /* with the lock file */
}

/* One of two processes that take turns. */
struct turns {
    int in, out;
};

static bool pass_turn(struct turns turns)
{
    char byte = 1;
    return write(turns.out, &byte, 1) == 1;
}

static bool wait_turn(struct turns turns)
{
    char byte;
    return read(turns.in, &byte, 1) == 1;
}

/* Reads before, while and after the file is replaced, and after the new one was changed. */
static bool reads_all_the_time(struct turns turns)
{
    twin__store *store, *writer = NULL;
    twin__store_txn *txn;
    if (twin__store_open(&store, path, &schema, TWIN__STORE_READ, NULL) != TWIN_OK ||
        twin__store_begin_read(&txn, store, NULL) != TWIN_OK || !pass_turn(turns) || !wait_turn(turns))
        return false;
    bool good = mark_seen(txn) == 1; /* compacted meanwhile */
    twin__store_end_read(txn);
    good = good && mark_in(store) == 5 && pass_turn(turns) && wait_turn(turns);
    twin_error error = { 0 };
    good = good && twin__store_begin_read(&txn, store, &error) == TWIN_EBUSY && strstr(error.message, "was replaced");
    twin__store_close(store);
    good = good && twin__store_open(&store, path, &schema, TWIN__STORE_READ, NULL) == TWIN_OK && mark_in(store) == 6;
    twin__store_close(store);
    good = good && twin__store_open(&writer, path, &schema, TWIN__STORE_WRITE, NULL) == TWIN_OK && pass_turn(turns) &&
           wait_turn(turns);
    twin__store_close(writer);
    return good;
}

static void readers_of_other_processes_keep_the_file_that_is_compacted(void **state)
{
    (void)state;
    int there[2], back[2], status;
    uint64_t mark = 5;
    create(1);
    assert_true(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(reads_all_the_time((struct turns){ there[0], back[1] }) ? 0 : 1);
    struct turns turns = { back[0], there[1] };
    close(there[0]); /* so that the end of the child is noticed */
    close(back[1]);

    assert_true(wait_turn(turns));
    twin__store *store = open_store(TWIN__STORE_COMPACT);
    GOOD(twin__store_compact(store, write_mark, &mark, &failure));
    twin__store_close(store);
    assert_true(pass_turn(turns) && wait_turn(turns));
    store = open_store(TWIN__STORE_WRITE);
    set_mark(store, 6);
    GOOD(twin__store_check(store, &failure));
    twin__store_close(store);
    assert_true(pass_turn(turns) && wait_turn(turns)); /* it writes now */
    BAD(TWIN_EBUSY, "is being written by another process",
        twin__store_open(&store, path, &schema, TWIN__STORE_COMPACT, &failure));
    assert_true(pass_turn(turns));
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    store = open_store(TWIN__STORE_COMPACT);
    twin__store_close(store);
    close(there[1]);
    close(back[0]);
}

/* ---- files of others, and damage ---- */

/* A file of another program: tables of other names, or none at all. */
static void make_foreign(const char *name)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    unlink(path);
    assert_int_equal(mdb_env_create(&env), MDB_SUCCESS);
    assert_int_equal(mdb_env_set_maxdbs(env, 4), MDB_SUCCESS);
    assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR, 0600), MDB_SUCCESS);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), MDB_SUCCESS);
    assert_int_equal(mdb_dbi_open(txn, name, MDB_CREATE, &dbi), MDB_SUCCESS);
    for (int i = 0; i < 500; i++) {
        MDB_val key = { sizeof i, &i }, value = { 4, "meta" };
        assert_int_equal(mdb_put(txn, dbi, &key, &value, 0), MDB_SUCCESS);
    }
    assert_int_equal(mdb_txn_commit(txn), MDB_SUCCESS);
    mdb_env_close(env);
}

static void write_whole(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void files_of_others_are_refused(void **state)
{
    (void)state;
    twin__store *store;
    const char *words = "is not a test of twinsift";
    make_foreign(NULL);
    BAD(TWIN_EFORMAT, words, twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, &failure));
    make_foreign("meta");
    BAD(TWIN_EFORMAT, words, twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, &failure));
    write_whole("", 0);
    BAD(TWIN_EFORMAT, "is empty, not a test", twin__store_open(&store, path, &schema, TWIN__STORE_READ, &failure));
    char page[8192];
    memset(page, 'x', sizeof page);
    write_whole(page, sizeof page);
    BAD(TWIN_EFORMAT, "is not a test", twin__store_open(&store, path, &schema, TWIN__STORE_READ, &failure));
    write_whole(page, 100);
    BAD(TWIN_EFORMAT, "too short to be a test", twin__store_open(&store, path, &schema, TWIN__STORE_READ, &failure));
    BAD(TWIN_EIO, "could not be opened", twin__store_open(&store, other_path, &schema, TWIN__STORE_READ, &failure));
    BAD(TWIN_EFORMAT, "is not a file", twin__store_open(&store, folder, &schema, TWIN__STORE_READ, &failure));
}

/* Also where the file is open, with its own tables. */
static void other_tables_are_refused(void **state)
{
    (void)state;
    static const struct twin__store_table renamed[] = { { "meta", TWIN__STORE_NAMES },
                                                        { "numbers", TWIN__STORE_NUMBERS },
                                                        { "others", TWIN__STORE_LISTS } };
    static const struct twin__store_table kinds[] = { { "meta", TWIN__STORE_NAMES },
                                                      { "numbers", TWIN__STORE_LISTS },
                                                      { "lists", TWIN__STORE_LISTS } };
    static const struct twin__store_schema others[] = { { "another", renamed, 3, meta_names },
                                                        { "another", kinds, 3, meta_names },
                                                        { "another", tables, 2, meta_names } };
    create(1);
    twin__store *store = NULL, *second;
    for (int open = 0; open < 2; open++) {
        for (size_t i = 0; i < 3; i++)
            BAD(TWIN_EFORMAT, "is not another of twinsift",
                twin__store_open(&second, path, &others[i], TWIN__STORE_READ, &failure));
        if (!store)
            store = open_store(TWIN__STORE_WRITE);
    }
    assert_int_equal(mark_in(store), 1);
    twin__store_close(store);
}

static void a_file_cut_short_is_refused(void **state)
{
    (void)state;
    unsigned calls = 0;
    twin__store *store;
    struct stat whole;
    create(1);
    store = open_store(TWIN__STORE_WRITE);
    GOOD(twin__store_transact(store, write_large, &calls, &failure));
    twin__store_close(store);
    assert_int_equal(stat(path, &whole), 0);
    for (off_t length = whole.st_size - 4096; length > 0; length = length * 2 / 3) {
        assert_int_equal(truncate(path, length), 0);
        BAD(TWIN_EFORMAT, path, twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, &failure));
        if (twin__store_open(&store, path, &schema, TWIN__STORE_READ, &failure) == TWIN_OK) {
            BAD(TWIN_EFORMAT, path, twin__store_check(store, &failure));
            twin__store_close(store);
        }
    }
}

enum { SMALL = 200, SMALL_BYTES = 100 };

static twin_status write_small(twin__store_txn *txn, void *context, twin_error *error)
{
    (void)context;
    char value[SMALL_BYTES];
    twin_status status = TWIN_OK;
    for (uint64_t key = 0; key < SMALL && status == TWIN_OK; key++) {
        memset(value, (int)key, sizeof value);
        status = twin__store_put(txn, NUMBERS, key, (struct twin__bytes){ value, sizeof value }, TWIN__STORE_APPEND,
                                 error);
    }
    return status;
}

/* Damages the page in which the value of a key lies: its first pointer. */
static void damage_page_of(uint64_t key)
{
    char value[SMALL_BYTES];
    struct stat found;
    memset(value, (int)key, sizeof value);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &found), 0);
    char *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    const char *at = memmem(bytes, (size_t)found.st_size, value, sizeof value);
    assert_non_null(at);
    bytes[(at - bytes) / 4096 * 4096 + 17] ^= 1;
    munmap(bytes, (size_t)found.st_size);
    close(fd);
}

/* Opening does not read all pages; what is used is checked all the same, and so is all of it before anything is
 * written. */
static void a_damaged_page_is_reported_when_it_is_used(void **state)
{
    (void)state;
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    twin__store_txn *txn;
    struct twin__store_cursor cursor;
    struct twin__store_record record;
    size_t good = 0, bad = 0;
    GOOD(twin__store_transact(store, write_small, NULL, &failure));
    twin__store_close(store);
    damage_page_of(SMALL / 2);

    BAD(TWIN_EFORMAT, "is damaged: page", twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, &failure));
    store = open_store(TWIN__STORE_READ);
    BAD(TWIN_EFORMAT, "is damaged: page", twin__store_check(store, &failure));
    GOOD(twin__store_begin_read(&txn, store, &failure));
    for (uint64_t key = 0; key < SMALL / 3; key++) {
        struct twin__bytes value;
        GOOD(twin__store_get(&value, txn, NUMBERS, key, &failure));
        assert_int_equal(*(const unsigned char *)value.at, key);
    }
    GOOD(twin__store_cursor_open(&cursor, txn, NUMBERS, &failure));
    for (uint64_t key = 0; key < SMALL; key++)
        if (twin__store_seek(&record, &cursor, key, TWIN__STORE_AT, &failure) == TWIN_OK) {
            assert_int_equal(record.value.length, SMALL_BYTES);
            good++;
        } else
            bad++;
    assert_true(good >= SMALL / 3 && bad > 0);
    twin__store_cursor_close(&cursor);
    twin__store_end_read(txn);
    twin__store_close(store);
}

/* Some bits of the meta pages mean nothing to a reader; then the store is whole. One in the number of the transaction
 * may bring back the one before. */
static void a_bit_flipped_in_the_meta_pages_is_refused_or_harmless(void **state)
{
    (void)state;
    enum { META_BYTES = 152, PAGE = 4096 };
    size_t refused = 0;
    create(1);
    twin__store *store = open_store(TWIN__STORE_WRITE);
    set_mark(store, 2);
    twin__store_close(store);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t bit = 0; bit < 2 * META_BYTES * 8; bit += 1 + 4 * SANITIZED) {
        off_t at = (off_t)(bit / 8 % META_BYTES + (bit / 8 < META_BYTES ? 0 : PAGE));
        unsigned char old, flipped;
        assert_int_equal(pread(fd, &old, 1, at), 1);
        flipped = (unsigned char)(old ^ 1u << bit % 8);
        assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
        twin_status status = twin__store_open(&store, path, &schema, TWIN__STORE_READ, NULL);
        if (status == TWIN_OK) {
            status = twin__store_check(store, &failure);
            if (status == TWIN_OK)
                assert_in_range(mark_in(store), 1, 2);
            twin__store_close(store);
        }
        refused += status != TWIN_OK;
        assert_int_equal(pwrite(fd, &old, 1, at), 1);
    }
    close(fd);
    assert_true(refused > META_BYTES * 8 / 2 / (1 + 4 * SANITIZED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_created_whole_or_not_at_all),
        cmocka_unit_test(the_map_grows_and_the_transaction_begins_again),
        cmocka_unit_test(under_a_reader_the_map_stays_and_so_does_the_store),
        cmocka_unit_test(a_store_holds_what_an_array_holds),
        cmocka_unit_test(what_should_not_be_is_refused_without_a_trace),
        cmocka_unit_test(a_killed_writer_leaves_its_last_transaction),
        cmocka_unit_test(handles_share_one_file),
        cmocka_unit_test(threads_open_write_and_close_at_once),
        cmocka_unit_test(a_file_that_cannot_be_written_is_read),
        cmocka_unit_test(a_store_in_a_folder_that_cannot_be_written_is_read),
        cmocka_unit_test(a_lock_file_that_is_something_else_is_left_alone),
        cmocka_unit_test(leftovers_are_removed_by_the_next_writer),
        cmocka_unit_test(a_child_leaves_alone_what_its_parent_opened),
        cmocka_unit_test(a_compacted_store_holds_the_same_in_less),
        cmocka_unit_test(readers_of_other_processes_keep_the_file_that_is_compacted),
        cmocka_unit_test(files_of_others_are_refused),
        cmocka_unit_test(other_tables_are_refused),
        cmocka_unit_test(a_file_cut_short_is_refused),
        cmocka_unit_test(a_damaged_page_is_reported_when_it_is_used),
        cmocka_unit_test(a_bit_flipped_in_the_meta_pages_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

/* test_store_sharing.c — several handles, threads and processes of one file; compaction under them. */
#include "store_frame.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_share_one_file),
        cmocka_unit_test(threads_open_write_and_close_at_once),
        cmocka_unit_test(a_file_that_cannot_be_written_is_read),
        cmocka_unit_test(a_store_in_a_folder_that_cannot_be_written_is_read),
        cmocka_unit_test(a_lock_file_that_is_something_else_is_left_alone),
        cmocka_unit_test(leftovers_are_removed_by_the_next_writer),
        cmocka_unit_test(a_child_leaves_alone_what_its_parent_opened),
        cmocka_unit_test(a_compacted_store_holds_the_same_in_less),
        cmocka_unit_test(readers_of_other_processes_keep_the_file_that_is_compacted),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

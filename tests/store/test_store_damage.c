/* test_store_damage.c — files of others, and damage. */
#include "store_frame.h"

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

/* The pages that are gone are mapped still, and to touch one is SIGBUS. */
static void a_file_cut_short_while_it_is_open_is_refused(void **state)
{
    (void)state;
    for (off_t length = 3 * 4096; length >= 0; length -= 4096) {
        unsigned calls = 0;
        create(1);
        twin__store *store = open_store(TWIN__STORE_WRITE);
        twin__store_txn *txn;
        GOOD(twin__store_transact(store, write_large, &calls, &failure));
        GOOD(twin__store_begin_read(&txn, store, &failure));
        twin__store_end_read(txn);
        assert_int_equal(truncate(path, length), 0);
        BAD(TWIN_EFORMAT, "was cut short", twin__store_begin_read(&txn, store, &failure));
        BAD(TWIN_EFORMAT, "was cut short", twin__store_check(store, &failure));
        BAD(TWIN_EFORMAT, "was cut short", twin__store_transact(store, write_large, &calls, &failure));
        twin__store_close(store);
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
        cmocka_unit_test(files_of_others_are_refused),
        cmocka_unit_test(other_tables_are_refused),
        cmocka_unit_test(a_file_cut_short_is_refused),
        cmocka_unit_test(a_file_cut_short_while_it_is_open_is_refused),
        cmocka_unit_test(a_damaged_page_is_reported_when_it_is_used),
        cmocka_unit_test(a_bit_flipped_in_the_meta_pages_is_refused_or_harmless),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

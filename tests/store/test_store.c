/* test_store.c — the store on its own: files that are created, records against a plain array, kills. */
#include "store_frame.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_created_whole_or_not_at_all),
        cmocka_unit_test(the_map_grows_and_the_transaction_begins_again),
        cmocka_unit_test(under_a_reader_the_map_stays_and_so_does_the_store),
        cmocka_unit_test(a_store_holds_what_an_array_holds),
        cmocka_unit_test(what_should_not_be_is_refused_without_a_trace),
        cmocka_unit_test(a_killed_writer_leaves_its_last_transaction),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

/* test_environment_read.c — readers beside a writer whose transactions follow each other as fast as they can.
 *
 * Between any two steps of a reader that begins, several transactions may be committed. In memory (/dev/shm) that takes
 * some microseconds, and threads that outnumber the processors are interrupted at any point, so that in a second readers
 * meet each such case many times. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
// cmocka wants the headers above
#include <cmocka.h>

#include "scale.h"
#include "store/pages.h"
#include "store/store.h"

static const struct twin__store_table tables[] = { { "meta", TWIN__STORE_NAMES } };
static const char *const names[] = { "mark" };
static const struct twin__store_schema schema = { "a test", tables, 1, names };

enum { READERS = 6, TRANSACTIONS = QUICK ? 1000 : 4000 };
static char path[64];
static atomic_bool is_written;

static void expect_good(twin_status status, const twin_error *error)
{
    if (status != TWIN_OK)
        fprintf(stderr, "%s\n", error->message);
    if (status != TWIN_OK)
        abort(); /* cmocka can only end a test in the thread that runs it */
}

static twin_status write_mark(twin__store_txn *txn, void *context, twin_error *error)
{
    return twin__store_put(txn, 0, 0, (struct twin__bytes){ context, sizeof(uint64_t) }, TWIN__STORE_SET, error);
}

/* The marks that it sees never go back. */
static void *read_marks(void *context)
{
    twin__store *store = context;
    twin_error error = { 0 };
    uint64_t last = 0;
    while (!is_written) {
        twin__store_txn *txn;
        struct twin__bytes mark;
        expect_good(twin__store_begin_read(&txn, store, &error), &error);
        expect_good(twin__store_get(&mark, txn, 0, 0, &error), &error);
        if (!mark.at || twin__get8(mark.at) < last || twin__get8(mark.at) > TRANSACTIONS)
            abort();
        last = twin__get8(mark.at);
        twin__store_end_read(txn);
    }
    return NULL;
}

static void *read_heads(void *unused)
{
    (void)unused;
    twin_error error = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (!is_written)
        expect_good(twin__store_check_head(fd, path, &schema, &error), &error);
    close(fd);
    return NULL;
}

static void a_fast_writer_does_not_disturb_readers(void **state)
{
    (void)state;
    uint64_t mark = 0;
    twin__store *store;
    twin_error error = { 0 };
    pthread_t readers[READERS];
    snprintf(path, sizeof path, "/dev/shm/test_environment_read.%ld", (long)getpid());
    if (access("/dev/shm", W_OK) != 0)
        skip();
    expect_good(
        twin__store_create(path, &schema, (struct twin__store_create_options){ 0 }, write_mark, &mark, &error),
        &error);
    expect_good(twin__store_open(&store, path, &schema, TWIN__STORE_WRITE, &error), &error);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, i % 3 == 2 ? read_heads : read_marks, store), 0);
    while (++mark <= TRANSACTIONS)
        expect_good(twin__store_transact(store, write_mark, &mark, &error), &error);
    is_written = true;
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    twin__store_close(store);
    unlink(path);
    strcat(path, "-lock");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_fast_writer_does_not_disturb_readers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

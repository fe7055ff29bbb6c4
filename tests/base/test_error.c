/* test_error.c — failures carry a message, and the first of several counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <twinsift/exec.h>

#include "base/error.h"

static void a_failure_fills_the_error(void **state)
{
    (void)state;
    twin_error error;
    memset(&error, 0xAA, sizeof error);
    errno = ENOENT;
    assert_int_equal(twin__fail(&error, TWIN_EIO, "%s, line %d: %m", "a file", 12), TWIN_EIO);
    assert_int_equal(error.status, TWIN_EIO);
    assert_string_equal(error.message, "a file, line 12: No such file or directory");
    assert_true(error.line == 0 && error.offset == 0);
    assert_int_equal(twin__fail_at(&error, TWIN_EFORMAT, 7, "byte %d", 7), TWIN_EFORMAT);
    assert_string_equal(error.message, "byte 7");
    assert_true(error.status == TWIN_EFORMAT && error.line == 0 && error.offset == 7);
    assert_int_equal(twin__fail(NULL, TWIN_EFORMAT, "%s", "nobody listens"), TWIN_EFORMAT);
    assert_int_equal(twin__fail_at(NULL, TWIN_EFORMAT, 7, "%s", "nobody listens"), TWIN_EFORMAT);
    assert_int_equal(twin__fail_memory(&error), TWIN_ENOMEM);
    assert_string_equal(error.message, twin_status_text(TWIN_ENOMEM));
}

static void the_last_failure_of_the_thread_is_known(void **state)
{
    (void)state;
    twin_error error;
    twin__fail(NULL, TWIN_EINVAL, "slots must be 1 to %d, not %d", 65536, 70000);
    assert_string_equal(twin_error_last(TWIN_EINVAL), "slots must be 1 to 65536, not 70000");
    /* A call that failed otherwise left no sentence of that kind. */
    assert_string_equal(twin_error_last(TWIN_ENOMEM), twin_status_text(TWIN_ENOMEM));
    assert_string_equal(twin_error_last(TWIN_OK), twin_status_text(TWIN_OK));
    twin__fail(&error, TWIN_EIO, "%s: %s", "file", twin_error_last(TWIN_EINVAL));
    assert_string_equal(twin_error_last(TWIN_EIO), "file: slots must be 1 to 65536, not 70000");
    assert_string_equal(error.message, "file: slots must be 1 to 65536, not 70000");
    assert_string_equal(twin_error_last(TWIN_EINVAL), twin_status_text(TWIN_EINVAL));
}

struct caller {
    pthread_t thread;
    struct twin__first_failure failure;
};

/* Fails in every thread but that of the caller; a worker's number does not say which thread it is. */
static void fail_elsewhere(void *context, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end, (void)worker;
    struct caller *caller = context;
    twin_error error;
    if (pthread_equal(pthread_self(), caller->thread))
        return;
    twin__fail(&error, TWIN_EFORMAT, "met by a worker");
    twin__keep_first_failure(&caller->failure, 0, &error);
}

static void another_thread_has_failures_of_its_own(void **state)
{
    (void)state;
    struct caller caller = { pthread_self(), TWIN__NO_FAILURE };
    twin__fail(NULL, TWIN_EFORMAT, "met here");
    while (caller.failure.item != 0) /* until the other thread got an item */
        twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, 2 }, 1000, 1, fail_elsewhere, &caller);
    assert_string_equal(twin_error_last(TWIN_EFORMAT), "met here");
    assert_int_equal(twin__first_failure(NULL, &caller.failure), TWIN_EFORMAT);
    assert_string_equal(twin_error_last(TWIN_EFORMAT), "met by a worker");
}

static void a_sentence_that_is_too_long_is_cut(void **state)
{
    (void)state;
    twin_error error;
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(twin__fail(&error, TWIN_EIO, "%s", name), TWIN_EIO);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void fail_every_third(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (i % 3 == 2 && i > 100) {
            twin_error error = { .status = i == 101 ? TWIN_EFORMAT : TWIN_EIO, .line = i };
            twin__keep_first_failure(context, i, &error);
        }
}

static void the_first_failure_counts_whoever_met_it(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 7; workers += 3) {
        struct twin__first_failure failure = TWIN__NO_FAILURE;
        twin_error error = { .line = 5 };
        assert_int_equal(twin__first_failure(&error, &failure), TWIN_OK);
        assert_int_equal(error.line, 5);
        twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, workers }, 1000, 1, fail_every_third, &failure);
        assert_int_equal(twin__first_failure(NULL, &failure), TWIN_EFORMAT);
        assert_int_equal(twin__first_failure(&error, &failure), TWIN_EFORMAT);
        assert_int_equal(error.line, 101);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_fills_the_error),
        cmocka_unit_test(the_last_failure_of_the_thread_is_known),
        cmocka_unit_test(another_thread_has_failures_of_its_own),
        cmocka_unit_test(a_sentence_that_is_too_long_is_cut),
        cmocka_unit_test(the_first_failure_counts_whoever_met_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

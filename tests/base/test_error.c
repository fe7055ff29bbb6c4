/* test_error.c — failures carry a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

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

static void *fail_there(void *context)
{
    (void)context;
    twin__fail(NULL, TWIN_EFORMAT, "met by another thread");
    return NULL;
}

static void another_thread_has_failures_of_its_own(void **state)
{
    (void)state;
    pthread_t thread;
    twin__fail(NULL, TWIN_EFORMAT, "met here");
    assert_int_equal(pthread_create(&thread, NULL, fail_there, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(twin_error_last(TWIN_EFORMAT), "met here");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_fills_the_error),
        cmocka_unit_test(the_last_failure_of_the_thread_is_known),
        cmocka_unit_test(another_thread_has_failures_of_its_own),
        cmocka_unit_test(a_sentence_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

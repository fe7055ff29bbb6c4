/* test_background.c — a task that runs in a thread of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/background.h"

struct task {
    pthread_t who;
    int done;
};

static void do_task(void *context)
{
    struct task *task = context;
    task->who = pthread_self();
    task->done++;
}

static void a_task_is_done_when_it_was_waited_for(void **state)
{
    (void)state;
    struct twin__background background = { 0 };
    struct task task = { 0 };
    twin__background_wait(&background); /* no task is running */
    for (int i = 1; i <= 100; i++) {
        assert_true(twin__background_start(&background, do_task, &task));
        twin__background_wait(&background);
        twin__background_wait(&background);
        assert_int_equal(task.done, i);
        assert_false(pthread_equal(task.who, pthread_self()));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_done_when_it_was_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

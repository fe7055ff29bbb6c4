/* test_stages.c — the watch over a long call: who reports, how often, and what stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>
#include <unistd.h>

#include "base/background.h"
#include "base/clock.h"
#include "base/exec.h"
#include "base/stages.h"

struct seen {
    pthread_t caller;
    unsigned calls, by_caller, stop_at, overlaps;
    atomic_int inside;
    const twin_stage *stage;
    uint64_t done, total;
};

static bool report(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    struct seen *seen = context;
    seen->overlaps += atomic_fetch_add(&seen->inside, 1) != 0;
    seen->calls++;
    seen->by_caller += pthread_equal(seen->caller, pthread_self()) != 0;
    seen->stage = stage;
    seen->done = done;
    seen->total = total;
    atomic_fetch_sub(&seen->inside, 1);
    return seen->calls != seen->stop_at;
}

static void begin(struct twin__watch *watch, struct seen *seen)
{
    seen->caller = pthread_self();
    twin__watch_begin(watch, (twin_progress){ report, seen }, &twin__stage_reading);
}

static void nothing_is_watched_without_a_progress(void **unused)
{
    (void)unused;
    struct twin__watch watch;
    assert_int_equal(twin__poll(), TWIN_OK);
    assert_int_equal(twin__report(&twin__stage_joining, 1, 2), TWIN_OK);
    assert_int_equal(twin__poll_pause(), -1);
    twin__watch_begin(&watch, (twin_progress){ 0 }, &twin__stage_reading);
    assert_null(twin__watch_here());
    assert_int_equal(twin__watch_end(&watch, TWIN_EIO, NULL), TWIN_EIO);
}

static void false_stops_for_good(void **unused)
{
    (void)unused;
    struct seen seen = { .stop_at = 2 };
    struct twin__watch watch;
    twin_error error = { 0 };
    begin(&watch, &seen);
    assert_int_equal(twin__report(&twin__stage_joining, 1, 9), TWIN_OK);
    assert_ptr_equal(seen.stage, &twin__stage_joining);
    assert_true(seen.done == 1 && seen.total == 9);
    assert_int_equal(twin__report(&twin__stage_joining, 2, 9), TWIN_ESTOPPED);
    assert_int_equal(twin__report(&twin__stage_joining, 3, 9), TWIN_ESTOPPED);
    assert_int_equal(twin__poll(), TWIN_ESTOPPED);
    assert_int_equal(seen.calls, 2);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, &error), TWIN_ESTOPPED);
    assert_int_equal(error.status, TWIN_ESTOPPED);
    assert_int_equal(twin__poll(), TWIN_OK);
}

static void polls_repeat_the_last_report(void **unused)
{
    (void)unused;
    struct seen seen = { 0 };
    struct twin__watch watch;
    begin(&watch, &seen);
    twin__report(&twin__stage_joining, 5, 9);
    double end = twin__seconds() + 0.4;
    while (twin__seconds() < end)
        assert_int_equal(twin__poll(), TWIN_OK);
    assert_true(seen.calls >= 4 && seen.calls <= 10); /* one in 50 ms, where the clock steps by up to 10 */
    assert_true(seen.stage == &twin__stage_joining && seen.done == 5 && seen.total == 9);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_OK);
}

static bool ask(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    struct seen inner = { .stop_at = 1 };
    struct twin__watch watch;
    assert_null(twin__watch_here()); /* what the callback calls is not part of the call */
    begin(&watch, &inner);
    assert_int_equal(twin__report(&twin__stage_joining, 1, 1), TWIN_ESTOPPED);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_ESTOPPED);
    ++*(int *)context;
    return true;
}

static void a_callback_may_make_calls_of_its_own(void **unused)
{
    (void)unused;
    int calls = 0;
    struct twin__watch watch;
    twin__watch_begin(&watch, (twin_progress){ ask, &calls }, &twin__stage_reading);
    assert_int_equal(twin__report(&twin__stage_joining, 1, 1), TWIN_OK);
    assert_ptr_equal(twin__watch_here(), &watch);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_OK);
    assert_int_equal(calls, 1);
}

/* ---- loops */

struct sleeping {
    unsigned milliseconds;
    atomic_uint done;
    bool only_others; /* the calling thread has little to do */
    pthread_t caller;
};

static void sleep_some(void *context, size_t begin_item, size_t end, int worker)
{
    (void)worker;
    struct sleeping *sleeping = context;
    atomic_fetch_add(&sleeping->done, (unsigned)(end - begin_item));
    bool is_caller = pthread_equal(sleeping->caller, pthread_self());
    usleep(1000 * (sleeping->only_others && is_caller ? 100 : sleeping->milliseconds));
}

static void loops_report_and_stop_on_every_executor(void **unused)
{
    (void)unused;
    for (int kind = TWIN_EXEC_SERIAL; kind <= TWIN_EXEC_OPENMP; kind++) {
        twin_exec exec;
        if (twin_exec_make(&exec, (twin_executor)kind, 3) != TWIN_OK)
            continue;
        struct seen seen = { .stop_at = 3 };
        struct sleeping sleeping = { .milliseconds = 2 };
        struct twin__watch watch;
        begin(&watch, &seen);
        assert_int_equal(twin__exec_run(exec, 100000, 1, sleep_some, &sleeping, NULL), TWIN_ESTOPPED);
        assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_ESTOPPED);
        assert_true(sleeping.done < 90000);
        assert_int_equal(seen.overlaps, 0);
    }
}

static void the_calling_thread_reports_while_it_waits_for_others(void **unused)
{
    (void)unused;
    struct seen seen = { 0 };
    struct sleeping sleeping = { .milliseconds = 600, .only_others = true, .caller = pthread_self() };
    struct twin__watch watch;
    begin(&watch, &seen);
    twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, 2 }, 2, 1, sleep_some, &sleeping);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_OK);
    assert_true(sleeping.done == 2);
    assert_true(seen.by_caller >= 3); /* of twelve */
}

static void poll_for_a_while(void *context)
{
    (void)context;
    for (double end = twin__seconds() + 0.3; twin__seconds() < end;)
        (void)twin__poll();
}

static void a_background_task_reports_for_its_caller(void **unused)
{
    (void)unused;
    struct seen seen = { 0 };
    struct twin__watch watch;
    struct twin__background background = { 0 };
    begin(&watch, &seen);
    if (twin__background_start(&background, poll_for_a_while, NULL))
        twin__background_wait(&background);
    assert_int_equal(twin__watch_end(&watch, TWIN_OK, NULL), TWIN_OK);
    assert_true(seen.calls >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_watched_without_a_progress),
        cmocka_unit_test(false_stops_for_good),
        cmocka_unit_test(polls_repeat_the_last_report),
        cmocka_unit_test(a_callback_may_make_calls_of_its_own),
        cmocka_unit_test(loops_report_and_stop_on_every_executor),
        cmocka_unit_test(the_calling_thread_reports_while_it_waits_for_others),
        cmocka_unit_test(a_background_task_reports_for_its_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

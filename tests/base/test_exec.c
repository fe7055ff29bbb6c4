/* test_exec.c — every executor produces the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/exec.h>

#include "base/error.h"
#include "base/exec.h"
#include "base/random.h"

enum { ITEMS = 5000, WORKERS = 7 };

static const size_t counts[] = { 0, 1, 2, 6, 7, 8, 100, ITEMS };
static const size_t pieces[] = { 1, 2, 3, 7, 64, ITEMS - 1, ITEMS, ITEMS + 1, SIZE_MAX / 2 + 1, SIZE_MAX };
static const int worker_counts[] = { 1, 2, 7 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What one loop leaves behind, and what it watches while it runs. Plain fields are written without locks on
 * purpose: the thread sanitizer would see two workers that share a number or an item. */
struct trace {
    uint64_t out[ITEMS];
    unsigned visits[ITEMS];
    size_t last_begin[WORKERS]; /* scratch: one element per worker, begin + 1 */
    size_t n, piece;
    int workers;
    atomic_int inside[WORKERS];
    atomic_bool broken;
};

static void work(void *context, size_t begin, size_t end, int worker)
{
    struct trace *trace = context;
    if (worker < 0 || worker >= trace->workers || begin >= end || end > trace->n || end - begin > trace->piece) {
        atomic_store(&trace->broken, true);
        return;
    }
    bool alone = atomic_fetch_add(&trace->inside[worker], 1) == 0;
    bool increasing = begin + 1 > trace->last_begin[worker];
    bool aligned = begin % trace->piece == 0 && (end == trace->n || end - begin == trace->piece);
    if (!alone || !increasing || !aligned)
        atomic_store(&trace->broken, true);
    trace->last_begin[worker] = begin + 1;
    for (size_t i = begin; i < end; i++) {
        trace->out[i] = twin__mix(i + 1);
        trace->visits[i]++;
    }
    atomic_fetch_sub(&trace->inside[worker], 1);
}

static void check_loop(struct trace *trace, twin_exec exec, size_t n, size_t piece)
{
    memset(trace, 0, sizeof *trace);
    trace->n = n;
    trace->piece = piece;
    trace->workers = exec.workers;
    twin_exec_for(exec, n, piece, work, trace);
    assert_false(atomic_load(&trace->broken));
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(trace->visits[i], i < n);
        assert_true(trace->out[i] == (i < n ? twin__mix(i + 1) : 0));
    }
}

static void every_executor_does_each_item_once(void **state)
{
    (void)state;
    struct trace *trace = malloc(sizeof *trace);
    assert_non_null(trace);
    for (twin_executor kind = TWIN_EXEC_SERIAL; kind <= TWIN_EXEC_OPENMP; kind++)
        for (size_t w = 0; w < COUNT(worker_counts); w++) {
            twin_exec exec;
            twin_status status = twin_exec_make(&exec, kind, worker_counts[w]);
            if (status == TWIN_EUNSUPPORTED && kind == TWIN_EXEC_OPENMP)
                continue;
            assert_int_equal(status, TWIN_OK);
            for (size_t c = 0; c < COUNT(counts); c++)
                for (size_t p = 0; p < COUNT(pieces); p++)
                    check_loop(trace, exec, counts[c], pieces[p]);
        }
    free(trace);
}

static void note_order(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    size_t *expected = context;
    assert_int_equal(begin, *expected);
    *expected = end;
}

static void serial_pieces_come_in_order(void **state)
{
    (void)state;
    twin_exec exec;
    assert_int_equal(twin_exec_make(&exec, TWIN_EXEC_SERIAL, 5), TWIN_OK);
    assert_int_equal(exec.workers, 1);
    size_t reached = 0;
    twin_exec_for(exec, 1000, 7, note_order, &reached);
    assert_int_equal(reached, 1000);
}

struct meeting {
    atomic_int present, numbers; /* a bit for each worker's number */
};

/* Waits until a second worker is inside too, or gives up, which the test then sees. */
static void meet(void *context, size_t begin, size_t end, int worker)
{
    (void)begin, (void)end;
    struct meeting *meeting = context;
    atomic_fetch_or(&meeting->numbers, 1 << worker);
    atomic_fetch_add(&meeting->present, 1);
    for (int turns = 0; atomic_load(&meeting->present) < 2 && turns < 10000000; turns++)
        sched_yield();
}

static void two_workers_run_at_once(void **state)
{
    (void)state;
    for (twin_executor kind = TWIN_EXEC_PTHREADS; kind <= TWIN_EXEC_OPENMP; kind++) {
        twin_exec exec;
        if (twin_exec_make(&exec, kind, 2) == TWIN_EUNSUPPORTED)
            continue;
        struct meeting meeting = { 0 };
        twin_exec_for(exec, 2, 1, meet, &meeting);
        assert_int_equal(atomic_load(&meeting.present), 2);
        assert_int_equal(atomic_load(&meeting.numbers), 3);
    }
}

struct listeners {
    struct meeting meeting;
    pthread_t caller;
    atomic_int of_term, of_pipe; /* how many threads take the signal */
    atomic_bool caller_listens;
};

static bool takes(int signal)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return !sigismember(&blocked, signal);
}

static void count_listeners(void *context, size_t begin, size_t end, int worker)
{
    struct listeners *listeners = context;
    atomic_fetch_add(&listeners->of_term, takes(SIGTERM));
    atomic_fetch_add(&listeners->of_pipe, takes(SIGPIPE));
    if (pthread_equal(pthread_self(), listeners->caller))
        atomic_store(&listeners->caller_listens, takes(SIGTERM));
    meet(&listeners->meeting, begin, end, worker);
}

/* Threads of OpenMP live on when a loop is done: one that took signals could end the process while another thread has them
 * wait. A broken pipe is of whoever writes. */
static void signals_are_left_to_the_threads_of_the_program(void **state)
{
    (void)state;
    for (twin_executor kind = TWIN_EXEC_PTHREADS; kind <= TWIN_EXEC_OPENMP; kind++) {
        twin_exec exec;
        if (twin_exec_make(&exec, kind, 2) == TWIN_EUNSUPPORTED)
            continue;
        struct listeners listeners = { .caller = pthread_self() };
        twin_exec_for(exec, 2, 1, count_listeners, &listeners);
        assert_int_equal(atomic_load(&listeners.of_term), 1);
        assert_true(atomic_load(&listeners.caller_listens));
        assert_int_equal(atomic_load(&listeners.of_pipe), 2);
        assert_true(takes(SIGTERM));
    }
}

struct line {
    uint64_t scratch[WORKERS]; /* filled by work, read by hand_in of the same worker */
    uint64_t gathered[200];
    size_t count;
};

static void prepare(void *context, size_t item, int worker)
{
    struct line *line = context;
    line->scratch[worker] = twin__mix(item);
    for (size_t turns = twin__mix(item) % 4; turns > 0; turns--)
        sched_yield(); /* so that later items are ready first */
}

static void gather(void *context, size_t item, int worker)
{
    struct line *line = context;
    if (item == line->count)
        line->gathered[line->count++] = line->scratch[worker];
}

static void what_is_handed_in_comes_in_order(void **state)
{
    (void)state;
    for (twin_executor kind = TWIN_EXEC_SERIAL; kind <= TWIN_EXEC_OPENMP; kind++)
        for (size_t w = 0; w < COUNT(worker_counts); w++) {
            twin_exec exec;
            if (twin_exec_make(&exec, kind, worker_counts[w]) == TWIN_EUNSUPPORTED)
                continue;
            struct line line = { .count = 0 };
            twin__exec_in_order(exec, COUNT(line.gathered), prepare, gather, &line);
            assert_int_equal(line.count, COUNT(line.gathered));
            for (size_t i = 0; i < line.count; i++)
                assert_true(line.gathered[i] == twin__mix(i));
        }
}

static void inner(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    atomic_fetch_add((atomic_size_t *)context, end - begin);
}

static void outer(void *context, size_t begin, size_t end, int worker)
{
    (void)worker;
    twin_exec exec = { TWIN_EXEC_PTHREADS, 2 };
    for (size_t i = begin; i < end; i++)
        twin_exec_for(exec, 10, 3, inner, context);
}

static void a_loop_may_run_inside_a_loop(void **state)
{
    (void)state;
    atomic_size_t sum = 0;
    twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, 3 }, 20, 1, outer, &sum);
    assert_int_equal(atomic_load(&sum), 200);
}

static void zero_workers_means_the_processors_allowed(void **state)
{
    (void)state;
    cpu_set_t before, one;
    twin_exec exec;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(twin_exec_make(&exec, TWIN_EXEC_PTHREADS, 0), TWIN_OK);
    assert_int_equal(exec.workers, CPU_COUNT(&before));

    int first = 0;
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    twin_status status = twin_exec_make(&exec, TWIN_EXEC_PTHREADS, 0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(status, TWIN_OK);
    assert_int_equal(exec.workers, 1);
}

static void wrong_numbers_are_refused(void **state)
{
    (void)state;
    twin_exec exec;
    assert_int_equal(twin_exec_make(&exec, TWIN_EXEC_PTHREADS, -1), TWIN_EINVAL);
    assert_int_equal(twin_exec_make(&exec, TWIN_EXEC_PTHREADS, TWIN_EXEC_MAX_WORKERS + 1), TWIN_EINVAL);
    assert_int_equal(twin_exec_make(&exec, (twin_executor)3, 1), TWIN_EINVAL);
    assert_int_equal(twin_exec_make(&exec, TWIN_EXEC_PTHREADS, TWIN_EXEC_MAX_WORKERS), TWIN_OK);
    assert_int_equal(exec.workers, TWIN_EXEC_MAX_WORKERS);
}

static void executors_have_names(void **state)
{
    (void)state;
    assert_string_equal(twin_name_of(TWIN_NAMES_EXECUTOR, TWIN_EXEC_SERIAL), "serial");
    assert_string_equal(twin_name_of(TWIN_NAMES_EXECUTOR, TWIN_EXEC_PTHREADS), "pthreads");
    assert_string_equal(twin_name_of(TWIN_NAMES_EXECUTOR, TWIN_EXEC_OPENMP), "openmp");
    assert_string_equal(twin_name_of(TWIN_NAMES_EXECUTOR, 9), "");
}

/* ---- loops that may fail ---- */

/* Item 101 is malformed; later ones fail in another way, or leave it to the status. */
static twin_status fail_from_101_on(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    (void)worker;
    atomic_size_t *pieces_done = context;
    atomic_fetch_add(pieces_done, 1);
    for (size_t i = begin; i < end; i++) {
        if (i == 101)
            return twin__fail(error, TWIN_EFORMAT, "item %zu is malformed", i);
        if (i > 101)
            return i % 2 ? TWIN_ENOMEM : twin__fail(error, TWIN_EIO, "item %zu cannot be read", i);
    }
    return TWIN_OK;
}

static void the_first_failure_is_returned_whoever_met_it(void **state)
{
    (void)state;
    for (int workers = 1; workers <= WORKERS; workers += 3)
        for (size_t piece = 1; piece <= 100; piece += 33) {
            twin_exec exec = { TWIN_EXEC_PTHREADS, workers };
            atomic_size_t pieces_done = 0;
            twin_error error = { .line = 5 };
            assert_int_equal(twin__exec_try(exec, 101, piece, fail_from_101_on, &pieces_done, &error), TWIN_OK);
            assert_int_equal(error.line, 5); /* left alone */
            atomic_store(&pieces_done, 0);
            assert_int_equal(twin__exec_try(exec, 1000, piece, fail_from_101_on, &pieces_done, &error), TWIN_EFORMAT);
            assert_string_equal(error.message, "item 101 is malformed");
            assert_string_equal(twin_error_last(TWIN_EFORMAT), "item 101 is malformed");
            assert_int_equal(atomic_load(&pieces_done), (999 + piece) / piece);
            assert_int_equal(twin__exec_try(exec, 1000, piece, fail_from_101_on, &pieces_done, NULL), TWIN_EFORMAT);
        }
}

static twin_status run_out_of_memory(void *context, size_t begin, size_t end, int worker, twin_error *error)
{
    (void)context, (void)begin, (void)end, (void)worker, (void)error;
    return TWIN_ENOMEM;
}

static void a_status_without_a_sentence_gets_its_own(void **state)
{
    (void)state;
    twin_error error = { 0 };
    assert_int_equal(twin__exec_try((twin_exec){ 0 }, 1, 1, run_out_of_memory, NULL, &error), TWIN_ENOMEM);
    assert_int_equal(error.status, TWIN_ENOMEM);
    assert_string_equal(error.message, twin_status_text(TWIN_ENOMEM));
}

struct order {
    size_t failing_work, failing_hand_in, handed_in;
};

static twin_status work_unless_failing(void *context, size_t item, int worker, twin_error *error)
{
    (void)worker;
    const struct order *order = context;
    return item == order->failing_work ? twin__fail(error, TWIN_EIO, "work on %zu", item) : TWIN_OK;
}

static twin_status hand_in_unless_failing(void *context, size_t item, int worker, twin_error *error)
{
    (void)worker;
    struct order *order = context;
    if (item == order->failing_hand_in)
        return twin__fail(error, TWIN_EFORMAT, "handing in %zu", item);
    order->handed_in += order->handed_in == item ? 1 : ITEMS;
    return TWIN_OK;
}

static void nothing_is_handed_in_from_the_first_failure_on(void **state)
{
    (void)state;
    for (int workers = 1; workers <= WORKERS; workers += 3) {
        twin_exec exec = { TWIN_EXEC_PTHREADS, workers };
        struct order order = { .failing_work = 500, .failing_hand_in = 40 };
        twin_error error;
        assert_int_equal(
            twin__exec_try_in_order(exec, 1000, work_unless_failing, hand_in_unless_failing, &order, &error),
            TWIN_EFORMAT);
        assert_string_equal(error.message, "handing in 40");
        assert_int_equal(order.handed_in, 40);

        order = (struct order){ .failing_work = 40, .failing_hand_in = 500 };
        assert_int_equal(
            twin__exec_try_in_order(exec, 1000, work_unless_failing, hand_in_unless_failing, &order, &error),
            TWIN_EIO);
        assert_string_equal(error.message, "work on 40");
        assert_int_equal(order.handed_in, 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_executor_does_each_item_once),
        cmocka_unit_test(serial_pieces_come_in_order),
        cmocka_unit_test(two_workers_run_at_once),
        cmocka_unit_test(signals_are_left_to_the_threads_of_the_program),
        cmocka_unit_test(what_is_handed_in_comes_in_order),
        cmocka_unit_test(a_loop_may_run_inside_a_loop),
        cmocka_unit_test(zero_workers_means_the_processors_allowed),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(executors_have_names),
        cmocka_unit_test(the_first_failure_is_returned_whoever_met_it),
        cmocka_unit_test(a_status_without_a_sentence_gets_its_own),
        cmocka_unit_test(nothing_is_handed_in_from_the_first_failure_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

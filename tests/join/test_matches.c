/* test_matches.c — matches that are sorted on disk, against sorting all of them in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/random.h"
#include "base/stages.h"
#include "join/matches.h"
#include "join/verify.h"
#include "numbers.h"

enum { MATCHES = 3000, DOCUMENTS = 40 };

/* What was added, each pair as one number, without repeats. */
struct expected {
    uint64_t pairs[MATCHES];
    size_t count, visited, stop;
};

/* The similarity follows from the pair, as it does in a search that finds it again. */
static double similarity_of(uint64_t pair)
{
    return (double)(pair % 97) / 97;
}

static void add(twin_matches *matches, struct expected *expected, uint64_t *seed)
{
    uint32_t a = (uint32_t)twin__random_below(seed, DOCUMENTS), b = (uint32_t)twin__random_below(seed, DOCUMENTS);
    uint64_t pair = (uint64_t)a << 32 | b;
    assert_int_equal(twin__matches_add(matches, (twin_match){ a, b, similarity_of(pair) }), TWIN_OK);
    expected->pairs[expected->count++] = pair;
}

static bool check_next(void *context, twin_match match)
{
    struct expected *expected = context;
    assert_true(expected->visited < expected->count);
    uint64_t pair = expected->pairs[expected->visited++];
    assert_true(match.a == pair >> 32 && match.b == (uint32_t)pair && match.similarity == similarity_of(pair));
    return expected->visited != expected->stop;
}

static void matches_come_in_order_and_once(void **state)
{
    (void)state;
    static const size_t most[] = { 1, 3, 100, MATCHES - 1 };
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        static struct expected expected;
        twin_matches matches = { 0 };
        uint64_t seed = i, count;
        expected = (struct expected){ 0 };
        assert_int_equal(twin__match_runs_create(&matches, most[i], NULL), TWIN_OK);
        for (size_t m = 0; m < MATCHES; m++)
            add(&matches, &expected, &seed);
        assert_int_equal(twin__matches_total(&matches), MATCHES);
        assert_true(twin__matches_on_disk(&matches));
        assert_true(matches.count <= most[i]);
        expected.count = make_set(expected.pairs, expected.count);
        assert_int_equal(twin__matches_visit_sorted(&matches, check_next, &expected), TWIN_OK);
        assert_int_equal(expected.visited, expected.count);
        assert_int_equal(twin__matches_count_sorted(&count, &matches), TWIN_OK);
        assert_int_equal(count, expected.count);
        expected.visited = 0;
        expected.stop = 5;
        assert_int_equal(twin__matches_visit_sorted(&matches, check_next, &expected), TWIN_ESTOPPED);
        assert_int_equal(expected.visited, 5);
        twin__matches_clear(&matches);
    }
}

static void a_failure_to_write_is_kept(void **state)
{
    (void)state;
    static struct expected expected;
    twin_matches matches = { 0 };
    twin_error error = { 0 };
    uint64_t seed = 1;
    assert_int_equal(twin__match_runs_create(&matches, 10, "/no/such/folder"), TWIN_OK);
    for (size_t m = 0; m < 100; m++)
        add(&matches, &expected, &seed);
    assert_int_equal(twin__match_runs_failure(&error, matches.runs), TWIN_EIO);
    assert_non_null(strstr(error.message, "/no/such/folder"));
    assert_int_equal(twin__matches_visit_sorted(&matches, check_next, &expected), TWIN_EIO);
    assert_int_equal(expected.visited, 0);
    assert_int_equal(twin__match_runs_failure(&error, NULL), TWIN_OK);
    twin__matches_clear(&matches);
}

/* Draws matches of this many documents; returns the sum of their pairs, which a sort must not change. */
static uint64_t draw(twin_matches *matches, size_t count, uint32_t documents)
{
    uint64_t seed = count, sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)twin__random_below(&seed, documents),
                 b = (uint32_t)twin__random_below(&seed, documents);
        assert_int_equal(twin__matches_add(matches, (twin_match){ a, b, 1 }), TWIN_OK);
        sum += (uint64_t)a << 32 | b;
    }
    return sum;
}

static void few_and_many_matches_are_sorted(void **state)
{
    (void)state;
    static const size_t counts[] = { 0, 1, 2, 100, 125, 126, 2000, 20000 };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        twin_matches matches = { 0 };
        uint64_t sum = draw(&matches, counts[i], 1000);
        twin__matches_sort(&matches);
        assert_int_equal(matches.count, counts[i]);
        for (size_t m = 0; m < matches.count; m++) {
            const twin_match *at = &matches.items[m];
            assert_true(m == 0 || at[-1].a < at->a || (at[-1].a == at->a && at[-1].b <= at->b));
            sum -= (uint64_t)at->a << 32 | at->b;
        }
        assert_int_equal(sum, 0);
        assert_int_equal(twin__matches_add(&matches, (twin_match){ 1, 2, 1 }), TWIN_OK);
        twin__matches_clear(&matches);
    }
}

static bool refuse(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)context, (void)stage, (void)done, (void)total;
    return false;
}

static twin_status sort_after_stop(void *context)
{
    assert_int_equal(twin__report(&twin__stage_joining, 0, 0), TWIN_ESTOPPED);
    twin__matches_sort(context);
    return TWIN_OK;
}

static void a_sort_ends_when_its_call_is_stopped(void **state)
{
    (void)state;
    twin_matches matches = { 0 };
    uint64_t sum = draw(&matches, 20000, 1000);
    twin_match first = matches.items[0];
    assert_int_equal(twin_progress_watch((twin_progress){ refuse, NULL }, sort_after_stop, &matches), TWIN_ESTOPPED);
    assert_int_equal(matches.count, 20000);
    assert_true(matches.items[0].a == first.a && matches.items[0].b == first.b);
    for (size_t m = 0; m < matches.count; m++)
        sum -= (uint64_t)matches.items[m].a << 32 | matches.items[m].b;
    assert_int_equal(sum, 0);
    twin__matches_clear(&matches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_come_in_order_and_once),
        cmocka_unit_test(a_failure_to_write_is_kept),
        cmocka_unit_test(few_and_many_matches_are_sorted),
        cmocka_unit_test(a_sort_ends_when_its_call_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

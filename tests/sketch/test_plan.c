/* test_plan.c — plans against brute force, curves against long doubles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <twinsift/plan.h>

#include "random_unit.h"

/* The formula as it is written, by repeated multiplication. */
static double slow_probability(size_t bands, size_t rows, double similarity)
{
    long double caught = 1, missed = 1;
    for (size_t i = 0; i < rows; i++)
        caught *= similarity;
    for (size_t i = 0; i < bands; i++)
        missed *= 1 - caught;
    return (double)(1 - missed);
}

static void the_curve_has_the_numbers_of_the_lecture(void **state)
{
    (void)state;
    static const double expected[] = { .006, .047, .186, .470, .802, .975 };
    for (int i = 0; i < 6; i++) {
        double p = twin_plan_probability((twin_plan){ .bands = 20, .rows = 5 }, (i + 2) / 10.0);
        assert_true(fabs(p - expected[i]) <= .0005);
    }
    assert_true(fabs(twin_plan_probability((twin_plan){ .bands = 20, .rows = 5 }, .8) - .9996) <= .00005);
}

static void the_curve_is_the_formula(void **state)
{
    (void)state;
    for (size_t bands = 1; bands <= 60; bands++)
        for (size_t rows = 1; rows <= 30; rows++)
            for (int i = 0; i <= 20; i++) {
                twin_plan plan = { bands, rows };
                double p = twin_plan_probability(plan, i / 20.0), slow = slow_probability(bands, rows, i / 20.0);
                assert_true(fabs(p - slow) <= 1e-14);
            }
}

static void the_curve_is_exact_at_its_ends(void **state)
{
    (void)state;
    assert_true(twin_plan_probability((twin_plan){ 7, 3 }, 0) == 0);
    assert_true(twin_plan_probability((twin_plan){ 7, 3 }, 1) == 1);
    /* b·J^r to first order, where 1 - (1 - J^r)^b taken literally is 0. */
    double tiny = twin_plan_probability((twin_plan){ 20, 5 }, 1e-5);
    assert_true(fabs(tiny / 20e-25 - 1) < 1e-12);
    /* What is missed near J = 1: (1 - J^r)^b ≈ (5·2^-40)^1 to first order, relative error about 2·2^-40. */
    double missed = 1 - twin_plan_probability((twin_plan){ 1, 5 }, 1 - 0x1p-40);
    assert_true(fabs(missed / (5 * 0x1p-40) - 1) < 1e-4);
}

static const twin_plan_point lecture_reject = { .6, .01 }, lecture_accept = { .9, .99 };

static void the_lecture_gets_15_rows_and_20_bands(void **state)
{
    (void)state;
    twin_plan plan;
    assert_int_equal(twin_plan_from_errors(&plan, lecture_reject, lecture_accept, 65536), TWIN_OK);
    assert_int_equal(plan.rows, 15);
    assert_int_equal(plan.bands, 20);
    assert_int_equal(twin_plan_from_errors(&plan, lecture_reject, lecture_accept, 300), TWIN_OK);
    assert_int_equal(twin_plan_from_errors(&plan, lecture_reject, lecture_accept, 299), TWIN_ELIMIT);
}

/* The smallest product, more rows among equals, by trying all of them; zeros when there is none. */
static twin_plan smallest(twin_plan_point reject, twin_plan_point accept, size_t most)
{
    for (size_t slots = 1; slots <= most; slots++)
        for (size_t rows = slots; rows > 0; rows--) {
            if (slots % rows != 0)
                continue;
            size_t bands = slots / rows;
            if (slow_probability(bands, rows, reject.similarity) <= reject.probability &&
                slow_probability(bands, rows, accept.similarity) >= accept.probability)
                return (twin_plan){ bands, rows };
        }
    return (twin_plan){ 0, 0 };
}

static void no_smaller_product_satisfies_both(void **state)
{
    (void)state;
    enum { MOST = 320 };
    uint64_t seed = 7;
    size_t met = 0, beyond = 0;
    for (int i = 0; i < 150; i++) {
        double low = .9 * random_unit(&seed), high = low + (1 - low) * random_unit(&seed);
        twin_plan_point reject = { low, .001 + .3 * random_unit(&seed) };
        twin_plan_point accept = { high, .6 + .399 * random_unit(&seed) };
        if (i == 0) {
            reject = lecture_reject;
            accept = lecture_accept;
        }
        twin_plan expected = smallest(reject, accept, MOST), plan = { 0, 0 };
        twin_status status = twin_plan_from_errors(&plan, reject, accept, MOST);
        assert_int_equal(status, expected.rows ? TWIN_OK : TWIN_ELIMIT);
        assert_int_equal(plan.rows, expected.rows);
        assert_int_equal(plan.bands, expected.bands);
        met += status == TWIN_OK;
        beyond += status != TWIN_OK;
    }
    assert_true(met > 20 && beyond > 5); /* both kinds were tried */
}

static void contradictory_points_are_refused(void **state)
{
    (void)state;
    static const struct {
        twin_plan_point reject, accept;
    } wrong[] = {
        { { .9, .01 }, { .6, .99 } },  /* the wrong way round */
        { { .7, .01 }, { .7, .99 } },  /* both at one similarity */
        { { .6, 0 }, { .9, .99 } },    /* never, although similar */
        { { .6, .01 }, { .9, 1 } },    /* always, although not equal */
        { { 1, .5 }, { 1, .4 } },      /* equal sets are always found */
        { { 0, .01 }, { 0, .5 } },     /* disjoint ones never */
        { { -.1, .01 }, { .9, .99 } }, /* outside 0 .. 1 */
        { { .6, -.1 }, { .9, .99 } },  { { .6, .01 }, { 1.1, .99 } }, { { .6, .01 }, { .9, 1.1 } },
        { { NAN, .01 }, { .9, .99 } }, { { .6, NAN }, { .9, .99 } },  { { .6, .01 }, { NAN, .99 } },
        { { .6, .01 }, { .9, NAN } },
    };
    twin_plan plan;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(twin_plan_from_errors(&plan, wrong[i].reject, wrong[i].accept, 1000), TWIN_EINVAL);
    assert_int_equal(twin_plan_from_errors(&plan, lecture_reject, lecture_accept, 0), TWIN_ELIMIT);
    assert_int_equal(twin_plan_from_errors(&plan, lecture_reject, (twin_plan_point){ 1, 1 }, 1000), TWIN_OK);
    assert_int_equal(plan.bands, 1);
    assert_int_equal(plan.rows, 10); /* .6^9 = .0101, .6^10 = .0060 */
}

static void slots_are_spent_on_the_most_rows_that_still_reach(void **state)
{
    (void)state;
    twin_plan plan;
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ .8, .999 }, 128), TWIN_OK);
    assert_int_equal(plan.rows, 5);
    assert_int_equal(plan.bands, 25);

    uint64_t seed = 11;
    for (int i = 0; i < 2000; i++) {
        size_t slots = 1 + twin__random_below(&seed, 300), best = 1;
        twin_plan_point accept = { random_unit(&seed), random_unit(&seed) };
        for (size_t rows = 1; rows <= slots; rows++)
            if (slow_probability(slots / rows, rows, accept.similarity) >= accept.probability)
                best = rows;
        assert_int_equal(twin_plan_from_slots(&plan, accept, slots), TWIN_OK);
        assert_int_equal(plan.rows, best);
        assert_int_equal(plan.bands, slots / best);
    }
}

static void slots_that_cannot_reach_come_as_near_as_they_can(void **state)
{
    (void)state;
    twin_plan plan;
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ .01, .999 }, 16), TWIN_OK);
    assert_int_equal(plan.rows, 1);
    assert_int_equal(plan.bands, 16);
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ 1, 1 }, SIZE_MAX), TWIN_OK);
    assert_true(plan.rows == SIZE_MAX && plan.bands == 1);
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ .8, .999 }, 0), TWIN_EINVAL);
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ .8, NAN }, 9), TWIN_EINVAL);
    assert_int_equal(twin_plan_from_slots(&plan, (twin_plan_point){ 1.8, .9 }, 9), TWIN_EINVAL);
}

static void slots_follow_from_the_error(void **state)
{
    (void)state;
    assert_int_equal(twin_plan_slots(.05), 400);
    /* 1/i is seldom a double, but the slots are i² all the same; a slightly smaller error needs one more. */
    for (size_t i = 1; i <= 1000; i++) {
        assert_int_equal(twin_plan_slots(1.0 / (double)i), i * i);
        assert_int_equal(twin_plan_slots(1.0 / (double)i * (1 - 1e-12)), i * i + 1);
    }
    assert_int_equal(twin_plan_slots(.3), 12); /* 11.1 */
    assert_int_equal(twin_plan_slots(0), 0);
    assert_int_equal(twin_plan_slots(-.1), 0);
    assert_int_equal(twin_plan_slots(1.0001), 0);
    assert_int_equal(twin_plan_slots(NAN), 0);
    assert_true(twin_plan_slots(1e-300) == SIZE_MAX);
}

/* Worked out apart with 50 decimals: ceil(m·ln(1/p)/ln²2), round(n/m·ln 2), (1 - (1 - 1/n)^(km))^k. */
static void bloom_sizes_are_the_formulas(void **state)
{
    (void)state;
    static const struct {
        uint64_t items;
        double asked;
        uint64_t cells;
        unsigned functions;
        double probability;
    } known[] = {
        { 1000000u, 0.01, 9585059u, 7, 0.0100392170480028 },
        { 1000000000u, 0.01, 9585058378u, 7, 0.0100392176577464 },
        { 97661u, 0.0001, 1872173u, 13, 0.000100134738087918 },
        { 1u, 0.5, 2u, 1, 0.500000000000000 },
        { 1000u, 0.5, 1443u, 1, 0.500046872011148 },
        { 1u, 0.9, 1u, 1, 1 },
        { 1000000000u, 0.000001, 28755175133u, 20, 0.00000100004985419770 },
        { 1000000000000u, 0.001, 14377587566052u, 10, 0.00100002492688375 },
        { 123456789u, 0.003, 1492712336u, 8, 0.00301142024049583 },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        twin_plan_bloom plan;
        assert_int_equal(twin_plan_for_bloom(&plan, known[i].items, known[i].asked), TWIN_OK);
        assert_true(plan.cells == known[i].cells);
        assert_true(plan.bytes == known[i].cells / 8 + (known[i].cells % 8 != 0));
        assert_int_equal(plan.functions, known[i].functions);
        assert_true(fabs(plan.probability / known[i].probability - 1) < 1e-9);
    }
}

static void bloom_sizes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    twin_plan_bloom plan;
    assert_int_equal(twin_plan_for_bloom(&plan, 0, .01), TWIN_EINVAL);
    assert_int_equal(twin_plan_for_bloom(&plan, 10, 0), TWIN_EINVAL);
    assert_int_equal(twin_plan_for_bloom(&plan, 10, 1), TWIN_EINVAL);
    assert_int_equal(twin_plan_for_bloom(&plan, 10, -.5), TWIN_EINVAL);
    assert_int_equal(twin_plan_for_bloom(&plan, 10, NAN), TWIN_EINVAL);
    assert_int_equal(twin_plan_for_bloom(&plan, UINT64_MAX, .01), TWIN_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_has_the_numbers_of_the_lecture),
        cmocka_unit_test(the_curve_is_the_formula),
        cmocka_unit_test(the_curve_is_exact_at_its_ends),
        cmocka_unit_test(the_lecture_gets_15_rows_and_20_bands),
        cmocka_unit_test(no_smaller_product_satisfies_both),
        cmocka_unit_test(contradictory_points_are_refused),
        cmocka_unit_test(slots_are_spent_on_the_most_rows_that_still_reach),
        cmocka_unit_test(slots_that_cannot_reach_come_as_near_as_they_can),
        cmocka_unit_test(slots_follow_from_the_error),
        cmocka_unit_test(bloom_sizes_are_the_formulas),
        cmocka_unit_test(bloom_sizes_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_thresholds.c — thresholds are quantiles of the scores they see, and stay useful where labels are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "mail/thresholds.h"

enum { MESSAGES = 100000 };

/* About normal: the sum of twelve uniform numbers. */
static double draw(uint64_t *state, double mean, double deviation)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(twin__random_next(state) >> 11) * 0x1p-53;
    return mean + deviation * sum;
}

/* What became of the second half of the messages, when the thresholds have settled. */
struct seen {
    uint64_t own, others, own_above, own_below, others_above;
};

/* Of the others, which score about -1, one in `wrong` is of the label, under the wrong name. */
static struct seen play(struct twin__thresholds *t, double own_mean, uint64_t wrong)
{
    struct seen out = { 0 };
    uint64_t state = 5, taught[2] = { 0 };
    for (int i = 0; i < MESSAGES; i++) {
        bool positive = twin__random_below(&state, 2), is_wrong = wrong && twin__random_below(&state, wrong) == 0;
        double score = draw(&state, positive || is_wrong ? own_mean : -1, 1);
        if (i >= MESSAGES / 2 && positive) {
            out.own++;
            out.own_above += score > t->above;
            out.own_below += score < t->below;
        } else if (i >= MESSAGES / 2 && !is_wrong) {
            out.others++;
            out.others_above += score > t->above;
        }
        twin__thresholds_move(t, score, positive, taught[positive]++);
    }
    return out;
}

static void few_of_the_others_are_above(void **state_unused)
{
    (void)state_unused;
    struct twin__thresholds t = twin__thresholds_first();
    struct seen seen = play(&t, 6, 0);
    /* 25,000 others, of which 1.25 in a thousand are 31; four deviations of a Poisson number are 22. */
    assert_in_range(seen.others_above, 31 - 22, 31 + 22);
    assert_true((double)seen.own_above > 0.99 * (double)seen.own);
    assert_true(seen.own_below == 0);
}

static void wrong_labels_do_not_raise_it_above_everything(void **state_unused)
{
    (void)state_unused;
    struct twin__thresholds t = twin__thresholds_first();
    struct seen seen = play(&t, 3.5, 8);
    assert_true(t.above <= t.usual && fabs(t.usual - 3.5) < 0.5);
    assert_true(2 * seen.own_above > seen.own);
    assert_true((double)seen.others_above < 0.002 * (double)seen.others);
}

static void few_of_its_own_are_below(void **state_unused)
{
    (void)state_unused;
    /* A hundredth of the label's messages is below -1.1, and half a hundredth below -1.35: within the bounds. */
    struct twin__thresholds t = twin__thresholds_first();
    struct seen seen = play(&t, 1.22, 0);
    double expected = 0.005 * (double)seen.own;
    assert_true(fabs((double)seen.own_below - expected) < 5 * sqrt(expected));
    /* Whatever happens they stay within bounds. */
    for (int i = 0; i < 1000; i++)
        twin__thresholds_move(&t, i % 2 ? -100 : 100, i % 2, 0);
    assert_true(t.below >= -1.5 && t.below <= -1 && t.above >= 1 && t.above <= t.usual && t.usual <= 4);
}

static void what_is_out_of_bounds_is_bounded(void **state_unused)
{
    (void)state_unused;
    struct twin__thresholds first = twin__thresholds_first();
    struct twin__thresholds t = twin__thresholds_within((struct twin__thresholds){ .above = 2.5 });
    assert_true(t.above == first.above && t.below == first.below && t.usual == first.usual);
    t = twin__thresholds_within((struct twin__thresholds){ -1e300, 1e300, INFINITY });
    assert_true(t.above == 2 && t.below == -1 && t.usual == 4);
    t = twin__thresholds_within((struct twin__thresholds){ NAN, NAN, NAN });
    assert_true(isfinite(t.above) && isfinite(t.below) && isfinite(t.usual));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_of_the_others_are_above),
        cmocka_unit_test(wrong_labels_do_not_raise_it_above_everything),
        cmocka_unit_test(few_of_its_own_are_below),
        cmocka_unit_test(what_is_out_of_bounds_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

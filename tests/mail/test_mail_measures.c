/* test_mail_measures.c — the measures against their definitions, taken literally. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mail/mail_measures.h"
#include <math.h>

#include "random_unit.h"

enum { MESSAGES = 60, ROUNDS = 200 };

/* Scores with few values, so that many tie. */
static void make(twin__mail_judgement *out, uint64_t *state)
{
    for (int i = 0; i < MESSAGES; i++) {
        bool spam = twin__random_below(state, 2);
        double score = (double)twin__random_below(state, 10) / 10;
        out[i] = (twin__mail_judgement){ score, spam, score > 0.45 };
    }
    out[0].is_spam = true;
    out[1].is_spam = false;
}

/* Pairs of a good message and a spam, one by one. */
static double slow_area(const twin__mail_judgement *list)
{
    double wrong = 0, pairs = 0;
    for (int i = 0; i < MESSAGES; i++)
        for (int j = 0; j < MESSAGES; j++)
            if (!list[i].is_spam && list[j].is_spam) {
                pairs++;
                wrong += list[i].score > list[j].score ? 1 : list[i].score < list[j].score ? 0 : 0.5;
            }
    return 100 * wrong / pairs;
}

/* The least spam missed over all thresholds that lose at most `level` percent of the good mail. */
static double slow_missed(const twin__mail_judgement *list, double level)
{
    double best = 100;
    for (int t = 0; t <= 10; t++) {
        double good = 0, lost = 0, spam = 0, missed = 0, threshold = t / 10.0;
        for (int i = 0; i < MESSAGES; i++) {
            bool above = list[i].score >= threshold - 1e-12;
            *(list[i].is_spam ? &spam : &good) += 1;
            lost += !list[i].is_spam && above;
            missed += list[i].is_spam && !above;
        }
        if (100 * lost / good <= level + 1e-9 && 100 * missed / spam < best)
            best = 100 * missed / spam;
    }
    return best;
}

static void the_measures_are_their_definitions(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (int round = 0; round < ROUNDS; round++) {
        twin__mail_judgement list[MESSAGES];
        twin__mail_measures got;
        make(list, &state);
        assert_int_equal(twin__mail_measure(&got, list, MESSAGES, (twin__mail_measure_options){ 0 }), TWIN_OK);
        assert_true(fabs(got.roca.percent - slow_area(list)) < 1e-9);
        for (size_t i = 0; i < TWIN__MAIL_LEVELS; i++) {
            assert_true(fabs(got.sm_at[i] - slow_missed(list, twin__mail_level(i))) < 1e-9);
            assert_true(got.sm_between[i] <= got.sm_at[i] + 1e-9);
        }
        uint64_t lost = 0, missed = 0;
        for (int i = 0; i < MESSAGES; i++) {
            lost += !list[i].is_spam && list[i].called_spam;
            missed += list[i].is_spam && !list[i].called_spam;
        }
        assert_int_equal(got.good_lost, lost);
        assert_int_equal(got.spam_missed, missed);
        assert_true(fabs(got.hm.percent - 100.0 * (double)lost / (double)got.good) < 1e-9);
        assert_true(got.hm.low <= got.hm.percent && got.hm.percent <= got.hm.high);
    }
}

static void perfect_reversed_and_tied_scores_have_known_areas(void **unused)
{
    (void)unused;
    const twin__mail_judgement perfect[] = { { .1, false, false }, { .9, true, true } };
    const twin__mail_judgement reversed[] = { { .9, false, true }, { .1, true, false } };
    const twin__mail_judgement tied[] = { { 1, false, true }, { 1, true, true }, { 1, false, true } };
    twin__mail_measures got;
    assert_int_equal(twin__mail_measure(&got, perfect, 2, (twin__mail_measure_options){ 0 }), TWIN_OK);
    assert_true(got.roca.percent == 0 && got.hm.percent == 0 && got.sm.percent == 0 && got.sm_at[0] == 0);
    assert_int_equal(twin__mail_measure(&got, reversed, 2, (twin__mail_measure_options){ 0 }), TWIN_OK);
    assert_true(got.roca.percent == 100 && got.sm_at[0] == 100);
    assert_int_equal(twin__mail_measure(&got, tied, 3, (twin__mail_measure_options){ 0 }), TWIN_OK);
    assert_true(got.roca.percent == 50);
    assert_int_equal(got.distinct_scores, 1);
}

/* 10 of 1000 on both sides: the logistic average of equal rates is that rate. 1 % and 9 %: by hand. */
static void the_logistic_average_lies_between_the_rates(void **unused)
{
    (void)unused;
    static twin__mail_judgement list[2000];
    twin__mail_measures got;
    for (int i = 0; i < 2000; i++)
        list[i] = (twin__mail_judgement){ 0, i < 1000, i < 1000 ? i >= 10 : i >= 1990 };
    assert_int_equal(twin__mail_measure(&got, list, 2000, (twin__mail_measure_options){ 0 }), TWIN_OK);
    assert_true(fabs(got.lam - 1) < 1e-9);
    for (int i = 10; i < 90; i++)
        list[i].called_spam = false;
    assert_int_equal(twin__mail_measure(&got, list, 2000, (twin__mail_measure_options){ 0 }), TWIN_OK);
    double mean = (log(.01 / .99) + log(.09 / .91)) / 2;
    assert_true(fabs(got.lam - 100 / (1 + exp(-mean))) < 1e-9);
}

/* Scores of 400 good and 400 spam messages that differ by one standard deviation: the interval has the truth in it, and
 * is about four standard errors wide. The variance of the area is below A(1-A)/min(m, n) (Birnbaum and Klose). */
static void the_interval_is_as_wide_as_chance(void **unused)
{
    (void)unused;
    static twin__mail_judgement list[800];
    uint64_t state = 11;
    for (int i = 0; i < 800; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++)
            sum += random_unit(&state);
        list[i] = (twin__mail_judgement){ sum - 6 + (i < 400), i < 400, false };
    }
    twin__mail_measures got, again;
    twin__mail_measure_options options = { .resamples = 200, .seed = 3 };
    assert_int_equal(twin__mail_measure(&got, list, 800, options), TWIN_OK);
    assert_int_equal(twin__mail_measure(&again, list, 800, options), TWIN_OK);
    assert_true(got.roca.low < got.roca.percent && got.roca.percent < got.roca.high);
    double area = got.roca.percent / 100, most = 4 * 100 * sqrt(area * (1 - area) / 400);
    assert_true(got.roca.high - got.roca.low < most && got.roca.high - got.roca.low > most / 8);
    assert_true(got.roca.low == again.roca.low && got.roca.high == again.roca.high);
}

static void what_one_class_cannot_give_is_not_a_number(void **unused)
{
    (void)unused;
    const twin__mail_judgement spam[] = { { 1, true, true } };
    const twin__mail_judgement broken[] = { { NAN, true, true } };
    twin__mail_measures got;
    assert_int_equal(twin__mail_measure(&got, spam, 1, (twin__mail_measure_options){ .resamples = 9 }), TWIN_OK);
    assert_true(isnan(got.roca.percent) && isnan(got.hm.percent) && isnan(got.lam) && isnan(got.sm_at[0]));
    assert_true(got.sm.percent == 0);
    assert_int_equal(twin__mail_measure(&got, NULL, 0, (twin__mail_measure_options){ 0 }), TWIN_OK);
    assert_int_equal(twin__mail_measure(&got, broken, 1, (twin__mail_measure_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin__mail_measure(NULL, spam, 1, (twin__mail_measure_options){ 0 }), TWIN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_measures_are_their_definitions),
        cmocka_unit_test(perfect_reversed_and_tied_scores_have_known_areas),
        cmocka_unit_test(the_logistic_average_lies_between_the_rates),
        cmocka_unit_test(the_interval_is_as_wide_as_chance),
        cmocka_unit_test(what_one_class_cannot_give_is_not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

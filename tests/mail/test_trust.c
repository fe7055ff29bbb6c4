/* test_trust.c — labels that contradict what is known: one is doubted, many are not. */
#include "made_mail.h"

#include <math.h>

static struct twin__model model;

/* A model of 600 messages of each kind; every `wrong`-th is learnt under the label of the other. */
static void begin_with(unsigned wrong)
{
    begin(&model);
    for (unsigned i = 0; i < 1200; i++)
        learn(&model, i, i % 2, wrong && i % wrong == 7 ? 1 - i % 2 : i % 2);
}

/* ---- tests */

static void trust_is_the_probability_of_a_right_label(void **unused)
{
    (void)unused;
    /* One label in twenty is wrong, and the evidence gives odds of 19 to 1 against this one: both are as likely. */
    assert_true(fabs(twin__trust_of(0.05, log(19)) - 0.5) < 1e-12);
    assert_true(fabs(twin__trust_of(0.05, 0) - 0.95) < 1e-12);
    assert_true(fabs(twin__trust_of(0.001, log(111)) - 0.9) < 1e-4);
    /* Nothing is certain. */
    assert_true(twin__trust_of(0.05, 50) > 0.05 && twin__trust_of(0.05, 1000) > 0.05);
}

static void only_what_contradicts_is_doubted(void **unused)
{
    (void)unused;
    double trust[TWIN_MAIL_MAX_LABELS];
    struct message m;
    twin_mail_verdict verdict;
    begin_with(20);
    make(&m, &model, 5000, SPAM, 0);
    twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
    assert_true(twin__model_trust(trust, &model, &verdict, SPAM) >= 1);
    double doubted = twin__model_trust(trust, &model, &verdict, HAM);
    assert_true(doubted < 0.5 && trust[SPAM] <= doubted);
    twin__model_clear(&model);

    /* Where labels were right so far, they are right now. */
    begin_with(0);
    twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
    verdict.evidence[0].score = 3;
    assert_true(twin__model_trust(trust, &model, &verdict, HAM) > 0.9);
    twin__model_clear(&model);
}

/* Wrong labels neither pull all scores together nor turn the next copy. */
static void wrong_labels_do_little_harm(void **unused)
{
    (void)unused;
    double clean = 0, wrong = 0, turned = 0;
    begin_with(0);
    for (uint64_t i = 0; i < 50; i++)
        clean += score(&model, 6000 + i, SPAM, 0) - score(&model, 6000 + i, HAM, 0);
    twin__model_clear(&model);
    begin_with(20);
    for (uint64_t i = 0; i < 50; i++)
        wrong += score(&model, 6000 + i, SPAM, 0) - score(&model, 6000 + i, HAM, 0);
    double before = score(&model, 7000, SPAM, 1);
    learn(&model, 7000, SPAM, HAM);
    turned = score(&model, 7000, SPAM, 1) - before;
    twin__model_clear(&model);
    assert_true(wrong > 0.75 * clean);
    assert_true(-turned < 0.5 * before);
}

/* When somebody wants what was spam the filter follows, though it doubts the first labels. */
static void what_is_repeated_is_believed(void **unused)
{
    (void)unused;
    begin_with(20);
    unsigned lessons = 0;
    for (; lessons < 20 && score(&model, 7000, SPAM, 50) > 0; lessons++) {
        learn_copy(&model, 7000, SPAM, lessons, HAM);
        learn(&model, 8000 + lessons, SPAM, SPAM);
    }
    assert_true(lessons > 1 && lessons < 10);
    twin__model_clear(&model);
}

static void a_correction_is_believed_at_once(void **unused)
{
    (void)unused;
    struct message m;
    twin_mail_effect effect;
    begin_with(20);
    assert_true(score(&model, 7000, SPAM, 1) > 0);
    make(&m, &model, 7000, SPAM, 0);
    assert_int_equal(twin__model_learn(&effect, &model, &m.item, HAM, 1000, true), TWIN_OK);
    assert_true(score(&model, 7000, SPAM, 0) < 0 && score(&model, 7000, SPAM, 1) < 0);
    twin__model_clear(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trust_is_the_probability_of_a_right_label),
        cmocka_unit_test(only_what_contradicts_is_doubted),
        cmocka_unit_test(wrong_labels_do_little_harm),
        cmocka_unit_test(what_is_repeated_is_believed),
        cmocka_unit_test(a_correction_is_believed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

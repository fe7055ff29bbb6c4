/* test_trust.c — labels that contradict what is known: one is doubted, many are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "mail/model.h"

/* ---- a model, and messages of two kinds: a third of the words is of the kind, a third of all mail, a third its own */

enum { WORDS = 60, OF_THE_KIND = 20, SPAM = 0, HAM = 1 };

struct message {
    uint32_t words[WORDS], windows[WORDS];
    struct twin__mail_item item;
};

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Of one number and kind all copies have the same words but the last, and each is another message. */
static void make(struct message *out, const struct twin__model *model, uint64_t number, unsigned kind, uint64_t copy)
{
    uint64_t state = 2 * number + kind;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t place = (uint32_t)twin__random_below(&state, OF_THE_KIND) + 100 * i;
        if (i % 3 == 1)
            place += 6000 * (kind + 1);
        if (i % 3 == 2)
            place = 20000 + (uint32_t)(twin__mix(number * WORDS + i) % 100000);
        out->words[i] = place;
        out->windows[i] = place + TWIN__FEATURE_PLACES / 2;
    }
    out->words[WORDS - 1] += (uint32_t)copy;
    qsort(out->words, WORDS, sizeof out->words[0], by_place);
    qsort(out->windows, WORDS, sizeof out->windows[0], by_place);
    out->item = (struct twin__mail_item){ .id = twin__mix(number * 1000 + kind * 100 + copy),
                                          .features = { .places = { out->words, out->windows },
                                                        .counts = { WORDS, WORDS } } };
    out->item.signature = twin__mail_sign(model->hasher, &out->item.features);
}

static void learn_copy(struct twin__model *model, uint64_t number, unsigned kind, uint64_t copy, unsigned label)
{
    struct message m;
    twin_mail_effect effect;
    make(&m, model, number, kind, copy);
    assert_int_equal(twin__model_learn(&effect, model, &m.item, label, 1000, false), TWIN_OK);
}

static void learn(struct twin__model *model, uint64_t number, unsigned kind, unsigned label)
{
    learn_copy(model, number, kind, 0, label);
}

static double score(struct twin__model *model, uint64_t number, unsigned kind, uint64_t copy)
{
    struct message m;
    twin_mail_verdict verdict;
    make(&m, model, number, kind, copy);
    twin__model_judge(&verdict, NULL, model, &m.item, TWIN_MAIL_ALL, false);
    return verdict.log_odds;
}

static struct twin__model model;

/* A model of 600 messages of each kind; every `wrong`-th is learnt under the label of the other. */
static void begin(unsigned wrong)
{
    const uint64_t key[2] = { 3, 4 };
    unsigned label;
    assert_int_equal(twin__model_init(&model, (twin_mail_options){ .without_texts = true }, key), TWIN_OK);
    assert_int_equal(twin__model_add_label(&label, &model, TWIN_MAIL_GOOD, NULL), TWIN_OK); /* adds both */
    assert_true(label == HAM && twin__model_label(&model, TWIN_MAIL_SPAM) == SPAM);
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
    begin(20);
    make(&m, &model, 5000, SPAM, 0);
    twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
    assert_true(twin__model_trust(trust, &model, &verdict, SPAM) >= 1);
    double doubted = twin__model_trust(trust, &model, &verdict, HAM);
    assert_true(doubted < 0.5 && trust[SPAM] <= doubted);
    twin__model_clear(&model);

    /* Where labels were right so far, they are right now. */
    begin(0);
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
    begin(0);
    for (uint64_t i = 0; i < 50; i++)
        clean += score(&model, 6000 + i, SPAM, 0) - score(&model, 6000 + i, HAM, 0);
    twin__model_clear(&model);
    begin(20);
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
    begin(20);
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
    begin(20);
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

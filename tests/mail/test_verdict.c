/* test_verdict.c — what is called spam or good when little is known of one side. */
#include "made_mail.h"

#include <string.h>

enum { NEITHER = 2 }; /* the kind of messages with no words of good mail or of spam, but with those of all mail */

static struct twin__model model;

/* Teaches so many of each kind, mixed. */
static void teach(uint64_t spam, uint64_t good)
{
    begin(&model);
    uint64_t more = spam > good ? spam : good;
    for (uint64_t i = 0; i < more; i++) {
        if (i * spam / more != (i + 1) * spam / more)
            learn(&model, i, SPAM, SPAM);
        if (i * good / more != (i + 1) * good / more)
            learn(&model, i, HAM, HAM);
    }
}

/* How many of 200 new messages of a kind are called so. */
static unsigned called(unsigned kind, const char *label)
{
    unsigned count = 0;
    for (uint64_t i = 0; i < 200; i++) {
        struct message m;
        twin_mail_verdict verdict;
        make(&m, &model, 10000 + i, kind, 0);
        twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
        count += verdict.label && strcmp(verdict.label, label) == 0;
    }
    return count;
}

static void much_spam_and_little_good_mail_condemns_no_good_mail(void **unused)
{
    (void)unused;
    for (uint64_t good = 1; good <= 16; good *= 2) {
        teach(300, good);
        assert_int_equal(called(HAM, "spam") + called(NEITHER, "spam"), 0);
        twin__model_clear(&model);
    }
}

static void much_good_mail_and_little_spam_lets_no_spam_pass(void **unused)
{
    (void)unused;
    for (uint64_t spam = 1; spam <= 16; spam *= 2) {
        teach(spam, 300);
        assert_int_equal(called(SPAM, "ham") + called(NEITHER, "ham"), 0);
        twin__model_clear(&model);
    }
}

static void as_many_of_each_are_told_apart(void **unused)
{
    (void)unused;
    teach(20, 20);
    assert_true(called(SPAM, "ham") == 0 && called(HAM, "spam") == 0);
    assert_true(called(HAM, "ham") > 90);
    twin__model_clear(&model);
    teach(200, 200);
    assert_true(called(SPAM, "spam") > 100 && called(HAM, "ham") > 190);
    twin__model_clear(&model);
}

/* The words of `spam` spam messages and of `good` good ones, together. */
static void pad(struct twin__mail_item *out, uint32_t words[], uint32_t windows[], uint64_t spam, uint64_t good)
{
    struct message m;
    uint32_t count = 0;
    for (uint64_t i = 0; i < spam + good; i++) {
        make(&m, &model, 10000 + i, i < spam ? SPAM : HAM, 0);
        for (int k = 0; k < WORDS; k++, count++) {
            words[count] = m.words[k];
            windows[count] = m.windows[k];
        }
    }
    qsort(words, count, sizeof *words, by_place);
    qsort(windows, count, sizeof *windows, by_place);
    *out = (struct twin__mail_item){ .id = 1, .features = seen_features(words, windows, count) };
    out->signature = twin__mail_sign(model.hasher, &out->features);
}

/* However many good words follow, a message that begins like spam is not called good; one that begins like good mail is. */
static void what_begins_like_spam_is_not_called_good(void **unused)
{
    (void)unused;
    enum { MOST = 96 };
    static uint32_t words[MOST * WORDS], windows[MOST * WORDS], first[MOST * WORDS], first_windows[MOST * WORDS];
    struct twin__mail_item item, opening;
    twin_mail_verdict verdict;
    teach(300, 300);
    pad(&item, words, windows, 16, 80);
    twin__model_judge(&verdict, NULL, &model, &item, TWIN_MAIL_ALL, false);
    assert_string_equal(verdict.label, "ham");
    for (uint64_t spam = 0; spam <= 16; spam += 16) {
        pad(&opening, first, first_windows, spam, 16 - spam);
        item.opening = opening.features;
        twin__model_judge(&verdict, NULL, &model, &item, TWIN_MAIL_ALL, false);
        assert_int_equal(verdict.step, spam ? TWIN_MAIL_OPENING : TWIN_MAIL_BELOW);
        assert_true(spam ? !verdict.label : verdict.label && strcmp(verdict.label, "ham") == 0);
    }
    twin__model_clear(&model);
}

/* What is seen of it is spam, but it came in a way that nobody has seen: headers and hosts are strange. */
static void a_message_that_came_in_a_strange_way_is_unsure(void **unused)
{
    (void)unused;
    static uint32_t strange[WORDS];
    struct message m;
    twin_mail_verdict verdict;
    teach(600, 600);
    make(&m, &model, 5000, SPAM, 0);
    m.item.features.counts[TWIN__SEEN_WINDOWS] = WORDS * 9 / 20; /* so that it is not all too clear */
    twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
    assert_int_equal(verdict.step, TWIN_MAIL_ABOVE);
    assert_true(strcmp(verdict.label, "spam") == 0 && verdict.known > 0.5);
    for (uint32_t i = 0; i < WORDS; i++)
        strange[i] = 150000 + i;
    m.item.features.places[TWIN__OTHER_WORDS] = strange;
    m.item.features.counts[TWIN__OTHER_WORDS] = WORDS;
    twin__model_judge(&verdict, NULL, &model, &m.item, TWIN_MAIL_ALL, false);
    assert_int_equal(verdict.step, TWIN_MAIL_UNKNOWN_WORDS);
    assert_true(!verdict.label && verdict.known < 0.1);
    twin__model_clear(&model);
}

static void each_step_has_a_name_and_a_sentence(void **unused)
{
    (void)unused;
    for (int i = 0; i < TWIN_MAIL_STEPS; i++) {
        const twin_mail_step_info *step = twin_mail_step_about((twin_mail_step)i);
        assert_non_null(step->name);
        assert_true(step->sentence[strlen(step->sentence) - 1] == '.');
    }
    assert_null(twin_mail_step_about(TWIN_MAIL_STEPS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_spam_and_little_good_mail_condemns_no_good_mail),
        cmocka_unit_test(much_good_mail_and_little_spam_lets_no_spam_pass),
        cmocka_unit_test(as_many_of_each_are_told_apart),
        cmocka_unit_test(what_begins_like_spam_is_not_called_good),
        cmocka_unit_test(a_message_that_came_in_a_strange_way_is_unsure),
        cmocka_unit_test(each_step_has_a_name_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

/* What has as much of both is neither, though its score is that of good mail; with more good words it is good. */
static void spam_with_good_words_is_not_called_good(void **unused)
{
    (void)unused;
    enum { PARTS = 32, MOST = 64 };
    static uint32_t words[(PARTS + MOST) * WORDS], windows[(PARTS + MOST) * WORDS];
    struct twin__mail_item item;
    twin_mail_verdict verdict;
    unsigned contested = 0;
    teach(300, 300);
    for (uint64_t good = 0; good <= MOST; good++) {
        pad(&item, words, windows, PARTS, good);
        twin__model_judge(&verdict, NULL, &model, &item, TWIN_MAIL_ALL, false);
        const twin_mail_evidence *e = &verdict.evidence[0];
        contested += e->is_contested;
        assert_true(!e->is_contested || (e->score < e->below && !verdict.label));
    }
    assert_true(contested > 0);
    assert_string_equal(verdict.label, "ham");
    twin__model_clear(&model);
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
        assert_true(verdict.evidence[0].is_contested == (spam > 0));
        assert_true(spam ? !verdict.label : verdict.label && strcmp(verdict.label, "ham") == 0);
    }
    twin__model_clear(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_spam_and_little_good_mail_condemns_no_good_mail),
        cmocka_unit_test(much_good_mail_and_little_spam_lets_no_spam_pass),
        cmocka_unit_test(as_many_of_each_are_told_apart),
        cmocka_unit_test(spam_with_good_words_is_not_called_good),
        cmocka_unit_test(what_begins_like_spam_is_not_called_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

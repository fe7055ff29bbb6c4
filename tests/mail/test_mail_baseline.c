/* test_mail_baseline.c — the published filters do what their papers say. */
#include "mail/mail_baseline.h"
#include <stdio.h>

#include "message_frame.h"

static const twin_message *message_of(const char *from, const char *text)
{
    static char raw[8192];
    snprintf(raw, sizeof raw, "From: %s\nSubject: hello\n\n%s\n", from, text);
    return read_text(raw);
}

static const char prize[] =
    "you have won the first prize in our great draw and we will send it to you when you give us the "
    "number of your account and the name of the bank that you use for all of your money";
static const char prize_again[] =
    "you have won the first prize in our great draw and we will send it to him when you give us the "
    "number of your account and the name of the bank that you use for all of your money";
static const char report[] =
    "please find below the minutes of the meeting on Tuesday which was about the budget for next "
    "year and the plans of the two working groups";

static twin__mail_opinion judge(twin__mail_baseline *filter, const char *from, const char *text)
{
    twin__mail_opinion opinion;
    assert_int_equal(twin__mail_baseline_judge(&opinion, filter, message_of(from, text)), TWIN_OK);
    return opinion;
}

static twin__mail_baseline *create(twin__mail_baseline_options options)
{
    twin__mail_baseline *filter;
    assert_int_equal(twin__mail_baseline_create(&filter, options), TWIN_OK);
    return filter;
}

static void learn(twin__mail_baseline *filter, const char *from, const char *text)
{
    assert_int_equal(twin__mail_baseline_learn(filter, message_of(from, text)), TWIN_OK);
}

static void what_is_similar_to_spam_is_spam(void **unused)
{
    (void)unused;
    twin__mail_baseline *filter = create((twin__mail_baseline_options){ .kind = TWIN__MAIL_RULE });
    assert_false(judge(filter, "a@example.org", prize).is_spam);
    learn(filter, "a@example.org", prize);
    assert_true(judge(filter, "b@example.org", prize).score == 1);
    twin__mail_opinion again = judge(filter, "b@example.org", prize_again);
    /* "it to you", "to you when" and "you when you" have become others: of 29 shingles that begin with a stop word 26 are
       left, J is 26/32. Four standard errors of 400 slots are 0.08. */
    assert_true(again.is_spam && again.score > 0.8125 - 0.08 && again.score < 0.8125 + 0.08);
    assert_false(judge(filter, "b@example.org", report).is_spam);
    twin__mail_baseline_free(filter);
}

static void a_message_without_shingles_is_spam_by_the_rule(void **unused)
{
    (void)unused;
    twin__mail_baseline *filter = create((twin__mail_baseline_options){ .kind = TWIN__MAIL_RULE });
    assert_true(judge(filter, "a@example.org", "Thank you").is_spam); /* a stop word, but not two words after it */
    assert_true(judge(filter, "a@example.org", "Regards, Hans Meier").is_spam);
    assert_false(judge(filter, "a@example.org", "Thank you very much").is_spam);
    twin__mail_baseline_free(filter);
}

static void a_sender_of_two_spam_messages_is_filtered(void **unused)
{
    (void)unused;
    twin__mail_baseline *filter = create((twin__mail_baseline_options){ .kind = TWIN__MAIL_RULE });
    learn(filter, "bulk@example.org", prize);
    assert_false(judge(filter, "bulk@example.org", report).is_spam);
    learn(filter, "bulk@example.org", prize);
    assert_true(judge(filter, "bulk@example.org", report).is_spam);
    assert_false(judge(filter, "ann@example.org", report).is_spam);
    twin__mail_baseline_free(filter);
}

static void a_forest_is_deepest_for_copies(void **unused)
{
    (void)unused;
    for (int by_edits = 0; by_edits < 2; by_edits++) {
        twin__mail_baseline *filter =
            create((twin__mail_baseline_options){ .kind = TWIN__MAIL_FOREST, .by_edits = by_edits });
        assert_true(judge(filter, "a@example.org", prize).score == 0);
        learn(filter, "a@example.org", prize);
        learn(filter, "a@example.org", prize); /* twice is no error */
        double copy = judge(filter, "b@example.org",
                            "You have WON the first: prize in our great draw! And we will "
                            "send it to you when you give us the number of your account and the "
                            "name of the bank that you use for all of your money.")
                          .score;
        double near = judge(filter, "b@example.org", prize_again).score;
        double far = judge(filter, "b@example.org", report).score;
        assert_true(copy == 1); /* only letters count */
        /* By edits short texts are mostly padding, which is alike. */
        assert_true(by_edits ? near >= far : near > far && near < 1);
        twin__mail_baseline_free(filter);
    }
}

static void mistakes_are_refused(void **unused)
{
    (void)unused;
    twin__mail_baseline *filter = NULL;
    twin__mail_opinion opinion;
    assert_int_equal(twin__mail_baseline_create(NULL, (twin__mail_baseline_options){ 0 }), TWIN_EINVAL);
    assert_int_equal(twin__mail_baseline_create(&filter, (twin__mail_baseline_options){ .kind = 7 }), TWIN_EINVAL);
    assert_int_equal(twin__mail_baseline_create(&filter, (twin__mail_baseline_options){ .threshold = 2 }),
                     TWIN_EINVAL);
    assert_int_equal(twin__mail_baseline_create(
                         &filter, (twin__mail_baseline_options){ .kind = TWIN__MAIL_FOREST, .trees = 1000 }),
                     TWIN_EINVAL);
    assert_null(filter);
    assert_int_equal(twin__mail_baseline_judge(&opinion, NULL, message_of("a@example.org", prize)), TWIN_EINVAL);
    assert_int_equal(twin__mail_baseline_learn(NULL, NULL), TWIN_EINVAL);
    twin__mail_baseline_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_similar_to_spam_is_spam),
        cmocka_unit_test(a_message_without_shingles_is_spam_by_the_rule),
        cmocka_unit_test(a_sender_of_two_spam_messages_is_filtered),
        cmocka_unit_test(a_forest_is_deepest_for_copies),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, create_reader, free_reader);
}

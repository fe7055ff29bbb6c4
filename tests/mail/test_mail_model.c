/* test_mail_model.c — what a model learns, how it judges, and what it forgets. */
#include "two_kinds.h"

#include "foreign_locale.h"

static void nothing_learnt_is_unsure(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    twin_mail_verdict verdict = check(mail, 1, true);
    assert_null(verdict.label);
    assert_true(fabs(verdict.score - 0.5) < 1e-12);
    assert_int_equal(verdict.reason, TWIN_MAIL_BY_NOTHING);
    twin_mail_close(mail);
}

static void one_side_alone_condemns_nothing_but_copies(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    learn(mail, 1, true);
    learn(mail, 2, true);
    assert_null(check(mail, 3, false).label);
    twin_mail_verdict verdict = check(mail, 1, true);
    assert_called(&verdict, "spam");
    twin_mail_close(mail);
    mail = make((twin_mail_options){ 0 });
    learn(mail, 1, false);
    assert_null(check(mail, 3, true).label);
    twin_mail_close(mail);
}

static void it_learns_from_ten_messages_of_each_kind(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(learn(mail, i, true), TWIN_MAIL_LEARNT);
        assert_int_equal(learn(mail, i, false), TWIN_MAIL_LEARNT);
    }
    for (uint64_t i = 100; i < 130; i++) {
        assert_true(score(mail, i, true) > 0);
        assert_true(score(mail, i, false) < 0);
    }
    twin_mail_close(mail);
}

static void learning_twice_changes_nothing(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 5; i++) {
        learn(mail, i, true);
        learn(mail, i, false);
    }
    double before = score(mail, 77, true);
    assert_int_equal(learn(mail, 3, true), TWIN_MAIL_KNOWN);
    assert_int_equal(learn(mail, 0, false), TWIN_MAIL_KNOWN);
    assert_true(score(mail, 77, true) == before);
    twin_mail_close(mail);
}

/* What hosts add on the way, and filters, does not make it another message. */
static void a_header_more_is_the_same_message(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    char text[ROOM], longer[2 * ROOM];
    twin_mail_effect effect;
    size_t length = write_message(text, 1, true);
    learn(mail, 1, true);
    int n =
        snprintf(longer, sizeof longer, "Delivered-To: me@example.net\nX-Spam-Flag: YES\n%.*s", (int)length, text);
    assert_int_equal(twin_mail_learn(&effect, mail, read_bytes(longer, (size_t)n), "spam", 0, NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_KNOWN);
    twin_mail_close(mail);
}

/* The same message with other headers has a score of its own, whichever was checked before. */
static void a_verdict_does_not_depend_on_the_one_before(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 20; i++)
        learn(mail, i, i % 2);
    char text[ROOM + 64];
    size_t header = (size_t)sprintf(text, "X-Offer: pills casino\n");
    size_t length = header + write_message(text + header, 100, true);
    const twin_mail_check_options all = { 0 };
    twin_mail_verdict first, with, without;
    assert_int_equal(twin_mail_check(&first, mail, read_bytes(text, length), all, NULL), TWIN_OK);
    assert_int_equal(twin_mail_check(&without, mail, message_of(100, true), all, NULL), TWIN_OK);
    assert_int_equal(twin_mail_check(&with, mail, read_bytes(text, length), all, NULL), TWIN_OK);
    assert_true(first.log_odds == with.log_odds);
    assert_true(first.log_odds != without.log_odds);
    twin_mail_close(mail);
}

/* Words that nobody else has. */
static const twin_message *message_of_words(uint64_t number, int words)
{
    static char text[1 << 16];
    uint64_t state = number;
    int n = snprintf(text, sizeof text, "From: a%d@example.org\n\n", (int)number);
    for (int i = 0; i < words; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "w%08x\n", (unsigned)twin__random_next(&state));
    return read_bytes(text, (size_t)n);
}

/* When every place of the table was taught something, words that were never learnt share places with others. */
static void what_is_not_known_is_said_however_much_was_learnt(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    twin_mail_verdict verdict;
    for (uint64_t i = 0; i < 300; i++) {
        learn(mail, i, true);
        learn(mail, i, false);
        assert_int_equal(twin_mail_learn(NULL, mail, message_of_words(i, 5000), i % 2 ? "spam" : "ham", 1000, NULL),
                         TWIN_OK);
        if (i % 100 < 99)
            continue;
        /* The share of usual places is counted on 512: a standard error of .022, of what is known twice that. */
        assert_int_equal(
            twin_mail_check(&verdict, mail, message_of_words(999, 5000), (twin_mail_check_options){ 0 }, NULL),
            TWIN_OK);
        assert_true(verdict.known < 0.15);
        assert_true(check(mail, 999, false).known > 0.9);
    }
    twin_mail_close(mail);
}

/* A table of offers: `rows` of them, with words and links that are new in each message. */
static const twin_message *page_of(uint64_t number, int rows)
{
    static char text[ROOM];
    uint64_t state = number;
    int n = snprintf(text, ROOM, "From: a%d@b%d.example\nContent-Type: text/html\n\n<html><body><table><tr><td><h1>",
                     (int)number, (int)number);
    for (int i = 0; i < rows; i++)
        n += snprintf(text + n, ROOM - (size_t)n,
                      "<tr><td><a href='http://x%x.example/'><img src='y'><b>w%x</b></a><td><font><i>w%x</i></font>"
                      "<td><span><u>w%x</u></span><p>w%x<hr>",
                      (unsigned)twin__random_next(&state), (unsigned)twin__random_next(&state),
                      (unsigned)twin__random_next(&state), (unsigned)twin__random_next(&state),
                      (unsigned)twin__random_next(&state));
    n += snprintf(text + n, ROOM - (size_t)n, "</table><ul><li><em>w%x<li><a href='z'>stop</a></ul><center><small>",
                  (unsigned)twin__random_next(&state));
    return read_bytes(text, (size_t)n);
}

/* Other words, other links, a row more: the structure is the same, in memory and where it is lent. */
static void the_same_template_is_known(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    twin_mail_verdict verdict;
    for (uint64_t i = 0; i < 10; i++) {
        assert_int_equal(twin_mail_learn(NULL, mail, page_of(i, 3), "spam", 1000, NULL), TWIN_OK);
        learn(mail, i, false);
    }
    commit(mail);
    for (int lent = 0; lent < 2; lent++) {
        assert_int_equal(twin_mail_check(&verdict, mail, page_of(99, 4), (twin_mail_check_options){ 0 }, NULL),
                         TWIN_OK);
        assert_int_equal(verdict.evidence[0].nearest.alike, 10);
        assert_int_equal(verdict.evidence[0].nearest.copies, 0);
        assert_int_equal(verdict.evidence[0].nearest_other.alike, 0);
        verdict = check(mail, 99, true); /* has no HTML */
        assert_int_equal(verdict.evidence[0].nearest.alike, 0);
        twin_mail_close(mail);
        mail = lent ? NULL : open_file(TWIN_MAIL_READ);
    }
}

static void a_correction_turns_the_message_and_its_copies(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 30; i++) {
        learn(mail, i, true);
        learn(mail, i, false);
    }
    twin_mail_verdict verdict = check(mail, 5, true);
    assert_called(&verdict, "spam");
    twin_mail_effect effect;
    assert_int_equal(twin_mail_correct(&effect, mail, message_of(5, true), "ham", 2000, NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_CORRECTED);
    verdict = check(mail, 5, true);
    assert_called(&verdict, "ham");

    char copy[ROOM];
    size_t length = write_message(copy, 5, true);
    length += (size_t)snprintf(copy + length, ROOM - length, "regards\n");
    assert_int_equal(twin_mail_check(&verdict, mail, read_bytes(copy, length), (twin_mail_check_options){ 0 }, NULL),
                     TWIN_OK);
    assert_true(verdict.log_odds < 0); /* although 29 messages much like it are spam */
    assert_int_equal(twin_mail_correct(&effect, mail, message_of(5, true), "ham", 2000, NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_KNOWN);

    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 60);
    assert_int_equal(info.labels[0].messages, 29);
    twin_mail_close(mail);
}

static void what_is_forgotten_is_nobodys_lookalike(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    twin_mail_effect effect;
    learn(mail, 1, true);
    learn(mail, 2, false);
    twin_mail_verdict verdict = check(mail, 1, true);
    assert_true(verdict.evidence[0].nearest.similarity > 0.99);
    assert_int_equal(verdict.evidence[0].senders.address, 1);
    assert_int_equal(twin_mail_forget(&effect, mail, message_of(1, true), NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_FORGOTTEN);
    verdict = check(mail, 1, true);
    assert_true(verdict.evidence[0].nearest.similarity < 0.01);
    assert_int_equal(verdict.evidence[0].senders.address, 0);
    assert_int_equal(twin_mail_forget(&effect, mail, message_of(1, true), NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_UNKNOWN);
    twin_mail_close(mail);
}

static void a_flood_of_one_label_does_not_make_it_unsure(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ .keep_messages = 50 });
    twin_mail_info info;
    for (uint64_t i = 0; i < 40; i++)
        learn(mail, i, i % 2);
    for (uint64_t i = 100; i < 300; i++)
        learn(mail, i, true);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    for (size_t i = 0; i < info.count; i++)
        assert_int_equal(info.labels[i].messages, strcmp(info.labels[i].name, "spam") == 0 ? 50 : 0);
    twin_mail_verdict verdict = check(mail, 500, true);
    assert_true(verdict.evidence[0].content > 0);
    assert_string_equal(verdict.label, "spam");
    verdict = check(mail, 500, false);
    assert_true(verdict.evidence[0].content < 0);
    twin_mail_close(mail);
}

static void old_messages_expire_by_number_and_age(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ .keep_messages = 50 });
    twin_mail_info info;
    for (uint64_t i = 0; i < 200; i++)
        learn(mail, i, i % 2);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 50);
    assert_int_equal(info.learnt, 200);
    assert_int_equal(learn(mail, 199, true), TWIN_MAIL_KNOWN);
    assert_int_equal(learn(mail, 1, true), TWIN_MAIL_LEARNT); /* no longer known */
    twin_mail_close(mail);

    mail = make((twin_mail_options){ .keep_messages = 20 });
    learn(mail, 1, true);
    for (uint64_t i = 0; i < 100; i++) /* each uses a number, though only one message is remembered */
        assert_int_equal(twin_mail_learn(NULL, mail, message_of(2, true), i % 2 ? "spam" : "ham", 0, NULL), TWIN_OK);
    assert_int_equal(learn(mail, 2, true), TWIN_MAIL_KNOWN);
    assert_int_equal(learn(mail, 1, true), TWIN_MAIL_LEARNT);
    twin_mail_close(mail);

    mail = make((twin_mail_options){ .keep_days = 10 });
    for (int64_t day = 0; day < 100; day++)
        assert_int_equal(twin_mail_learn(NULL, mail, message_of((uint64_t)day, true), "spam", 86400 * day, NULL),
                         TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 11);
    twin_mail_close(mail);

    /* a clock that was years ahead for a while keeps nothing from expiring */
    mail = make((twin_mail_options){ .keep_days = 10 });
    for (int64_t day = 0; day < 100; day++)
        assert_int_equal(twin_mail_learn(NULL, mail, message_of((uint64_t)day, true), "spam",
                                         86400 * (day < 20 ? 3650 + day : day), NULL),
                         TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 11);
    twin_mail_close(mail);

    /* and one that is years ahead for some messages does not make it forget all others */
    mail = make((twin_mail_options){ .keep_days = 10 });
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(twin_mail_learn(NULL, mail, message_of((uint64_t)i, true), "spam",
                                         i < 50 || i > 54 ? 86400 : 86400 * 3650, NULL),
                         TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 90);
    twin_mail_close(mail);
}

static void any_labels_work(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 40; i++)
        assert_int_equal(twin_mail_learn(NULL, mail, message_of(i, i % 2), i % 2 ? "promotions" : "primary", 1, NULL),
                         TWIN_OK);
    for (uint64_t i = 100; i < 110; i++) {
        twin_mail_verdict verdict = check(mail, i, true);
        assert_called(&verdict, "promotions");
        verdict = check(mail, i, false);
        assert_called(&verdict, "primary");
    }
    assert_int_equal(twin_mail_learn(NULL, mail, message_of(1, true), "not a label", 1, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_learn(NULL, mail, message_of(1, true), "unsure", 1, NULL), TWIN_EINVAL);
    twin_mail_close(mail);
}

/* In Turkish the small letter of I is not i; in Latin letters of one byte \xe9 is a letter. */
static void labels_and_messages_are_the_same_in_any_locale(void **unused)
{
    (void)unused;
    begin_foreign_locale();
    twin_mail *mail = make((twin_mail_options){ 0 });
    twin_mail_effect effect;
    static const char *const copies[] = { "Message-ID: <1@example.org>\n\ntext\n",
                                          "message-id: <1@example.org>\n\ntext\n" };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(twin_mail_learn(&effect, mail, read_text(copies[i]), "spam", 1, NULL), TWIN_OK);
        assert_int_equal(effect, i ? TWIN_MAIL_KNOWN : TWIN_MAIL_LEARNT);
    }
    assert_int_equal(twin_mail_learn(NULL, mail, message_of(1, true), "caf\xe9", 1, NULL), TWIN_EINVAL);
    twin_mail_close(mail);
    end_foreign_locale();
}

/* One label after the other, as folders are learnt. */
static void the_order_of_labels_does_not_matter_much(void **unused)
{
    (void)unused;
    static const char *const labels[] = { "ham", "spam", "primary", "promotions" };
    for (int pair = 0; pair < 2; pair++) {
        int sure = 0;
        twin_mail *mail = make((twin_mail_options){ 0 });
        for (int spam = 0; spam < 2; spam++)
            for (uint64_t i = 0; i < 30; i++)
                assert_int_equal(twin_mail_learn(NULL, mail, message_of(i, spam), labels[2 * pair + spam], 1, NULL),
                                 TWIN_OK);
        for (uint64_t i = 100; i < 120; i++)
            for (int spam = 0; spam < 2; spam++) {
                twin_mail_verdict verdict = check(mail, i, spam);
                assert_true(!verdict.label || strcmp(verdict.label, labels[2 * pair + spam]) == 0);
                sure += verdict.label != NULL;
            }
        assert_true(sure >= 10); /* of 40; when promotions come last, primary is unsure */
        twin_mail_close(mail);
    }
}

static void trusted_senders_send_no_spam(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 30; i++) {
        learn(mail, i, true);
        learn(mail, i, false);
    }
    twin_bloom *trusted;
    assert_int_equal(twin_bloom_create(&trusted, (twin_bloom_options){ .items = 10 }), TWIN_OK);
    twin_bloom_add(trusted, "offer2@bulk.example.org", 23);
    twin_mail_verdict verdict;
    twin_mail_check_options options = { .trusted = trusted };
    assert_int_equal(twin_mail_check(&verdict, mail, message_of(2, true), options, NULL), TWIN_OK);
    assert_called(&verdict, "ham");
    assert_int_equal(verdict.reason, TWIN_MAIL_BY_SENDER);
    assert_int_equal(twin_mail_check(&verdict, mail, message_of(3, true), options, NULL), TWIN_OK);
    assert_called(&verdict, "spam");
    twin_bloom_free(trusted);
    twin_mail_close(mail);
}

/* The nearest message that is found is the nearest of all, and words are explained by their weights. */
static void evidence_is_what_it_says(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 30; i++) {
        learn(mail, i, true);
        learn(mail, i, false);
    }
    twin_mail_verdict verdict = check(mail, 7, true);
    assert_int_equal(verdict.count, 1);
    assert_string_equal(verdict.evidence[0].label, "spam");
    assert_int_equal(verdict.evidence[0].nearest.number, 14);
    assert_true(verdict.evidence[0].nearest.similarity > 0.99);
    twin_mail_known known;
    assert_int_equal(twin_mail_known_at(&known, mail, 14, NULL), TWIN_OK);
    assert_string_equal(known.label, "spam");
    assert_int_equal(known.time, 1007);
    assert_int_equal(twin_mail_known_at(&known, mail, 60, NULL), TWIN_EINVAL);
    for (uint64_t i = 28; i < 32; i++) { /* of which 30 and 31 were not learnt */
        bool found;
        known = (twin_mail_known){ .label = NULL };
        assert_int_equal(twin_mail_find(&known, &found, mail, message_of(i, false), NULL), TWIN_OK);
        assert_true(found == (i < 30));
        assert_true(found ? strcmp(known.label, "ham") == 0 && known.time == 1000 + (int64_t)i : !known.label);
    }

    twin_mail_word words[5];
    size_t count = 5;
    assert_int_equal(twin_mail_explain(words, &count, mail, "spam", message_of(7, true), NULL), TWIN_OK);
    assert_int_equal(count, 5);
    for (size_t i = 1; i < count; i++)
        assert_true(fabs(words[i - 1].weight) >= fabs(words[i].weight));
    assert_true(words[0].weight > 0);
    twin_mail_close(mail);
}

/* Every ninth message is learnt under the wrong label: it has that label, and a score that goes with it. */
static void scores_do_not_contradict_labels(void **unused)
{
    (void)unused;
    twin_mail *mail = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 90; i++)
        assert_int_equal(
            twin_mail_learn(NULL, mail, message_of(i, i % 2), i % 2 == (i % 9 != 4) ? "spam" : "ham", 1, NULL),
            TWIN_OK);
    for (uint64_t i = 0; i < 90; i++) {
        twin_mail_verdict verdict = check(mail, i, i % 2);
        bool spam = i % 2 == (i % 9 != 4);
        assert_string_equal(verdict.label, spam ? "spam" : "ham");
        assert_true(verdict.log_odds == verdict.evidence[0].score); /* what the evidence says stays */
        assert_true(spam ? verdict.score > 0.7 : verdict.score < 0.3);
    }
    twin_mail_close(mail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_learnt_is_unsure),
        cmocka_unit_test(one_side_alone_condemns_nothing_but_copies),
        cmocka_unit_test(it_learns_from_ten_messages_of_each_kind),
        cmocka_unit_test(learning_twice_changes_nothing),
        cmocka_unit_test(a_header_more_is_the_same_message),
        cmocka_unit_test(a_verdict_does_not_depend_on_the_one_before),
        cmocka_unit_test(what_is_not_known_is_said_however_much_was_learnt),
        cmocka_unit_test(the_same_template_is_known),
        cmocka_unit_test(a_correction_turns_the_message_and_its_copies),
        cmocka_unit_test(what_is_forgotten_is_nobodys_lookalike),
        cmocka_unit_test(a_flood_of_one_label_does_not_make_it_unsure),
        cmocka_unit_test(old_messages_expire_by_number_and_age),
        cmocka_unit_test(any_labels_work),
        cmocka_unit_test(labels_and_messages_are_the_same_in_any_locale),
        cmocka_unit_test(the_order_of_labels_does_not_matter_much),
        cmocka_unit_test(trusted_senders_send_no_spam),
        cmocka_unit_test(scores_do_not_contradict_labels),
        cmocka_unit_test(evidence_is_what_it_says),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

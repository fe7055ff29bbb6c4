/* test_mail_commits.c — models in files judge like those in memory, whoever writes, reads, compacts and borrows them. */
#include "two_kinds.h"

#include <sys/stat.h>

#include "scale.h"

static void a_file_gives_the_same_verdicts(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *memory = make((twin_mail_options){ 0 }), *file = open_file(TWIN_MAIL_WRITE);
    for (uint64_t i = 0; i < 300; i++) {
        learn(memory, i, i % 3 == 0);
        learn(file, i, i % 3 == 0);
        if (i % 50 == 0)
            commit(file);
        if (i % 100 == 99) { /* a correction of something in an earlier block, too */
            twin_mail_correct(NULL, memory, message_of(i - 99, (i - 99) % 3 == 0), "ham", 5, NULL);
            twin_mail_correct(NULL, file, message_of(i - 99, (i - 99) % 3 == 0), "ham", 5, NULL);
        }
    }
    commit(file);
    twin_mail_close(file);
    file = open_file(TWIN_MAIL_READ);
    for (uint64_t i = 250; i < 350; i++)
        for (int spam = 0; spam < 2; spam++) {
            twin_mail_verdict a = check(memory, i, spam), b = check(file, i, spam);
            assert_true(a.log_odds == b.log_odds && a.threshold == b.threshold);
            assert_true(a.evidence[0].below == b.evidence[0].below && a.evidence[0].above == a.threshold);
            assert_int_equal(a.evidence[0].nearest.number, b.evidence[0].nearest.number);
            assert_int_equal(a.evidence[0].senders.domain, b.evidence[0].senders.domain);
        }
    twin_mail_info a, b;
    assert_int_equal(twin_mail_describe(&a, memory, NULL), TWIN_OK);
    assert_int_equal(twin_mail_describe(&b, file, NULL), TWIN_OK);
    assert_int_equal(a.messages, b.messages);
    assert_int_equal(a.right, b.right);
    assert_int_equal(a.unsure, b.unsure);
    assert_true(b.bytes > 0 && b.weight_bytes > 0);
    twin_mail_close(memory);
    twin_mail_close(file);
}

/* Of a model that is only read senders are counted record by record; one that learns makes filters of them. */
static void senders_of_forgotten_messages_do_not_count(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *file = open_file(TWIN_MAIL_WRITE);
    learn(file, 1, true);
    learn(file, 8, true); /* the same sender */
    learn(file, 2, false);
    assert_int_equal(twin_mail_forget(NULL, file, message_of(1, true), NULL), TWIN_OK);
    commit(file);
    twin_mail_close(file);
    file = open_file(TWIN_MAIL_READ);
    assert_int_equal(check(file, 15, true).evidence[0].senders.address, 1);
    twin_mail_close(file);
    file = open_file(TWIN_MAIL_WRITE);
    learn(file, 3, false);
    assert_int_equal(check(file, 15, true).evidence[0].senders.address, 1);
    twin_mail_close(file);
}

/* Seven senders of one domain, of 300 messages each: a filter counts to 255, and so does who goes through records. */
static void frequent_senders_count_the_same_in_filters_and_records(void **unused)
{
    (void)unused;
    enum { MESSAGES = 2100, MOST = 255 };
    create_file((twin_mail_options){ 0 });
    twin_mail *file = open_file(TWIN_MAIL_WRITE);
    for (uint64_t i = 0; i < MESSAGES; i++)
        learn(file, i, true);
    twin_mail_verdict by_filter = check(file, MESSAGES, true);
    commit(file);
    twin_mail_close(file);
    file = open_file(TWIN_MAIL_READ);
    twin_mail_verdict by_record = check(file, MESSAGES, true);
    assert_int_equal(by_filter.evidence[0].senders.address, MOST);
    assert_int_equal(by_record.evidence[0].senders.address, MOST);
    assert_int_equal(by_record.evidence[0].senders.domain, by_filter.evidence[0].senders.domain);
    assert_true(by_record.log_odds == by_filter.log_odds);
    twin_mail_close(file);
}

/* Each commit writes what changed; now and then everything is written again. Both give the model that was in memory. */
static void small_commits_add_up(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *memory = make((twin_mail_options){ 0 });
    enum { ROUNDS = SANITIZED ? 15 : 40 };
    for (uint64_t i = 0; i < ROUNDS; i++) {
        twin_mail *file = open_file(TWIN_MAIL_WRITE); /* half of the time what was written is loaded again */
        learn(memory, i, i % 3 == 0);
        learn(file, i, i % 3 == 0);
        commit(file);
        learn(memory, 1000 + i, i % 2 == 0);
        learn(file, 1000 + i, i % 2 == 0);
        commit(file);
        twin_mail_close(file);
        if (i % 10 == 0) {
            file = open_file(TWIN_MAIL_READ);
            assert_true(score(file, 5000, i % 20 == 0) == score(memory, 5000, i % 20 == 0));
            twin_mail_close(file);
        }
    }
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(twin_mail_compact(path, (twin_progress){ 0 }, NULL), TWIN_OK);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size < before.st_size);
    assert_int_equal(after.st_mode & 077, 0);
    twin_mail *file = open_file(TWIN_MAIL_READ);
    for (uint64_t i = 0; i < ROUNDS; i++) { /* the first checks read signatures in the file, the others in memory */
        twin_mail_verdict a = check(memory, i, i % 3 == 0), b = check(file, i, i % 3 == 0);
        assert_true(a.log_odds == b.log_odds);
        assert_int_equal(a.evidence[0].nearest.number, b.evidence[0].nearest.number);
        assert_int_equal(a.evidence[0].nearest.copies, b.evidence[0].nearest.copies);
        assert_int_equal(a.reason, b.reason);
    }
    twin_mail_close(file);
    twin_mail_close(memory);
}

static uint64_t used_by(uint64_t commits)
{
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    twin_mail_info info;
    for (uint64_t i = 0; i < 100; i++)
        learn(mail, i, i % 2);
    commit(mail);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    uint64_t before = info.weight_bytes;
    for (uint64_t i = 0; i < commits; i++) {
        learn(mail, 100 + i, i % 2);
        commit(mail);
    }
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    twin_mail_close(mail);
    return info.weight_bytes - before;
}

/* Three megabytes of weights are not written anew for one message, and changes do not pile up. */
static void a_commit_writes_what_changed(void **unused)
{
    (void)unused;
    uint64_t few = used_by(5), many = used_by(60);
    assert_true(few > 0 && few < 200 << 10);
    assert_true(many < 4 << 20);
}

static void what_is_lent_stays_as_it_was_when_the_file_changes(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *writer = open_file(TWIN_MAIL_WRITE), *lender, *borrowers[8];
    for (uint64_t i = 0; i < 40; i++)
        learn(writer, i, i % 2);
    commit(writer);
    lender = open_file(TWIN_MAIL_READ);
    assert_int_equal(twin_mail_borrow(&borrowers[0], lender, NULL), TWIN_OK);
    twin_mail_verdict before = check(borrowers[0], 500, true);
    for (uint64_t i = 1; i < 8; i++) { /* each time there is a newer commit */
        learn(writer, 100 + i, i % 2);
        commit(writer);
        assert_int_equal(twin_mail_borrow(&borrowers[i], lender, NULL), TWIN_OK);
        assert_true(check(borrowers[i], 500, true).log_odds == before.log_odds);
        assert_true(check(borrowers[0], 500, true).log_odds == before.log_odds);
    }
    for (size_t i = 0; i < 8; i++)
        twin_mail_close(borrowers[i]);
    twin_mail_info info; /* used itself, it has the newest */
    assert_int_equal(twin_mail_describe(&info, lender, NULL), TWIN_OK);
    assert_int_equal(info.messages, 47);
    twin_mail_close(lender);
    twin_mail_close(writer);
}

static void assert_newer(bool wanted, twin_mail *mail)
{
    bool newer = !wanted;
    assert_int_equal(twin_mail_has_newer(&newer, mail, NULL), TWIN_OK);
    assert_int_equal(newer, wanted);
}

static void a_handle_knows_whether_there_is_a_newer_commit(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *writer = open_file(TWIN_MAIL_WRITE), *reading, *borrower, *memory;
    learn(writer, 1, true);
    commit(writer);
    assert_newer(false, writer);
    reading = open_file(TWIN_MAIL_READ);
    assert_int_equal(twin_mail_borrow(&borrower, reading, NULL), TWIN_OK);
    assert_newer(false, reading);
    assert_newer(false, borrower);
    learn(writer, 2, false);
    assert_newer(false, borrower); /* it is not committed */
    commit(writer);
    assert_newer(false, writer);
    assert_newer(true, reading);
    assert_newer(true, borrower);
    twin_mail_close(borrower);
    check(reading, 3, true); /* which loads it */
    assert_newer(false, reading);
    assert_int_equal(twin_mail_create_in_memory(&memory, (twin_mail_options){ 0 }), TWIN_OK);
    assert_newer(false, memory);
    twin_mail_close(memory);
    twin_mail_close(reading);
    twin_mail_close(writer);
}

static void borrowers_judge_alike(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE), *other, *one, *two;
    for (uint64_t i = 0; i < 50; i++)
        learn(mail, i, i % 2);
    commit(mail);
    other = open_file(TWIN_MAIL_READ);
    assert_int_equal(twin_mail_borrow(&one, other, NULL), TWIN_OK);
    assert_int_equal(twin_mail_borrow(&two, other, NULL), TWIN_OK);
    for (uint64_t i = 40; i < 70; i++) {
        assert_true(score(one, i, i % 2) == score(mail, i, i % 2));
        assert_true(score(two, i, i % 2) == score(mail, i, i % 2));
    }
    assert_int_equal(twin_mail_learn(NULL, one, message_of(1, true), "spam", 1, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_borrow(NULL, other, NULL), TWIN_EINVAL);
    twin_mail_close(one);
    twin_mail_close(two);
    twin_mail_close(other);
    twin_mail_close(mail);
}

static void a_reader_sees_what_is_committed(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *writer = open_file(TWIN_MAIL_WRITE), *other = open_file(TWIN_MAIL_READ);
    for (uint64_t i = 0; i < 10; i++) {
        learn(writer, i, true);
        learn(writer, i, false);
    }
    assert_null(check(other, 1, true).label);
    commit(writer);
    assert_true(score(other, 50, true) == score(writer, 50, true));
    assert_int_equal(twin_mail_learn(NULL, other, message_of(1, true), "spam", 1, NULL), TWIN_EINVAL);
    struct stat is;
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(is.st_mode & 077, 0);
    twin_mail_close(writer);
    twin_mail_close(other);
}

/* Two learners: what each learnt is there, in the order of the commits. */
static void two_learners_lose_nothing(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *a = open_file(TWIN_MAIL_WRITE), *b = open_file(TWIN_MAIL_WRITE),
              *both = make((twin_mail_options){ 0 });
    for (uint64_t i = 0; i < 20; i++)
        learn(a, i, true);
    for (uint64_t i = 0; i < 20; i++)
        learn(b, i, false);
    commit(a);
    commit(b);
    for (uint64_t i = 0; i < 40; i++)
        learn(both, i % 20, i < 20);
    assert_true(score(a, 50, true) == score(both, 50, true));
    assert_true(score(b, 50, true) == score(both, 50, true));
    twin_mail_close(a);
    twin_mail_close(b);
    twin_mail_close(both);
}

static void expired_blocks_leave_the_file(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ .keep_messages = 100 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    for (uint64_t i = 0; i < 1500; i++) {
        learn(mail, i, i % 2);
        if (i % 170 == 0)
            commit(mail);
    }
    commit(mail);
    twin_mail_info info;
    double expected = score(mail, 3000, true);
    twin_mail_close(mail);
    mail = open_file(TWIN_MAIL_READ);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, 100);
    assert_true(info.message_bytes < 60000);
    assert_true(score(mail, 3000, true) == expected);
    twin_mail_close(mail);
}

static void what_is_no_model_is_refused(void **unused)
{
    (void)unused;
    twin_mail *mail = NULL;
    twin_error error = { 0 };
    assert_int_equal(twin_mail_open(&mail, other_path, TWIN_MAIL_READ, &error), TWIN_EIO);
    FILE *file = fopen(other_path, "w");
    assert_non_null(file);
    for (int i = 0; i < 10000; i++)
        fputs("this is no model\n", file);
    fclose(file);
    assert_int_equal(twin_mail_open(&mail, other_path, TWIN_MAIL_READ, &error), TWIN_EFORMAT);
    assert_non_null(strstr(error.message, "other"));
    assert_null(mail);
    create_file((twin_mail_options){ 0 });
    assert_int_equal(twin_mail_create(path, (twin_mail_options){ 0 }, false, &error), TWIN_EINVAL);
    assert_int_equal(twin_mail_open(NULL, path, TWIN_MAIL_READ, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_check(NULL, NULL, NULL, (twin_mail_check_options){ 0 }, NULL), TWIN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senders_of_forgotten_messages_do_not_count),
        cmocka_unit_test(frequent_senders_count_the_same_in_filters_and_records),
        cmocka_unit_test(a_file_gives_the_same_verdicts),
        cmocka_unit_test(small_commits_add_up),
        cmocka_unit_test(a_commit_writes_what_changed),
        cmocka_unit_test(a_handle_knows_whether_there_is_a_newer_commit),
        cmocka_unit_test(borrowers_judge_alike),
        cmocka_unit_test(what_is_lent_stays_as_it_was_when_the_file_changes),
        cmocka_unit_test(a_reader_sees_what_is_committed),
        cmocka_unit_test(two_learners_lose_nothing),
        cmocka_unit_test(expired_blocks_leave_the_file),
        cmocka_unit_test(what_is_no_model_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

/* test_models.c — threads check with snapshots of a model while it is learnt from. */
#include "serve/models.h"

#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char folder[64], file[96];

static int make_folder(void **unused)
{
    (void)unused;
    snprintf(folder, sizeof folder, "models.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/one.twin", folder);
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static int remove_folder(void **unused)
{
    (void)unused;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static twin_text message(char room[512], unsigned number, bool spam)
{
    int length = snprintf(
        room, 512,
        "From: %s%u@%s\nMessage-ID: <%u.%d@x>\nSubject: %s %u\n\n%s number %u, with a few words of its own: %s\n",
        spam ? "offers" : "ann", number % 7, spam ? "shop.example" : "club.example", number, spam,
        spam ? "cheap watches" : "minutes of the club", number,
        spam ? "buy replica watches now and win a prize" : "the rowing club meets on thursday", number * 17,
        spam ? "casino lottery pills bargain discount" : "boats oars river training lunch calendar");
    return (twin_text){ room, (size_t)length };
}

static struct models *start(bool per_user)
{
    twin_error error = { 0 };
    struct models *models;
    twin_status status = models_start(
        &models, (struct models_options){ .path = per_user ? folder : file, .per_user = per_user, .create = true },
        &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    return models;
}

static twin_mail_effect change(struct models *models, const char *user, enum model_change what, unsigned number,
                               bool spam)
{
    char room[512];
    twin_mail_effect effect;
    twin_error error = { 0 };
    struct model_order order = { user, what, spam ? "spam" : "ham", message(room, number, spam) };
    assert_int_equal(models_change(&effect, models, order, &error), TWIN_OK);
    return effect;
}

/* The number of messages that a handle taken now knows. */
static uint64_t known(struct models *models, const char *user)
{
    struct model_use use;
    twin_mail_info info;
    twin_error error = { 0 };
    assert_int_equal(models_take(&use, models, user, &error), TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, use.mail, &error), TWIN_OK);
    models_give_back(models, &use);
    return info.messages;
}

static uint64_t known_to_file(const char *path)
{
    twin_mail *mail;
    twin_mail_info info;
    assert_int_equal(twin_mail_open(&mail, path, TWIN_MAIL_READ, NULL), TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    twin_mail_close(mail);
    return info.messages;
}

static void what_is_acknowledged_is_in_the_file_and_in_the_next_handle(void **unused)
{
    (void)unused;
    struct models *models = start(false);
    assert_int_equal(known(models, NULL), 0);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(change(models, NULL, MODEL_LEARN, i, i % 2), TWIN_MAIL_LEARNT);
        assert_int_equal(known_to_file(file), i + 1);
        assert_int_equal(known(models, NULL), i + 1);
    }
    assert_int_equal(change(models, NULL, MODEL_LEARN, 1, true), TWIN_MAIL_KNOWN);
    assert_int_equal(change(models, NULL, MODEL_FORGET, 1, true), TWIN_MAIL_FORGOTTEN);
    assert_int_equal(known_to_file(file), 5);
    models_stop(models);
}

static void a_handle_sees_one_state_as_long_as_it_is_out(void **unused)
{
    (void)unused;
    struct models *models = start(false);
    struct model_use before;
    twin_mail_info info;
    change(models, NULL, MODEL_LEARN, 100, true);
    assert_int_equal(models_take(&before, models, NULL, NULL), TWIN_OK);
    assert_int_equal(twin_mail_describe(&info, before.mail, NULL), TWIN_OK);
    uint64_t then = info.messages;
    change(models, NULL, MODEL_LEARN, 101, true);
    assert_int_equal(twin_mail_describe(&info, before.mail, NULL), TWIN_OK);
    assert_int_equal(info.messages, then);
    assert_int_equal(known(models, NULL), then + 1);
    models_give_back(models, &before);
    models_stop(models);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits for it, a minute, since the machine may be busy; how many seconds it took. */
static double until_known(struct models *models, uint64_t messages)
{
    double begun = now();
    while (known(models, NULL) != messages && now() < begun + 60)
        usleep(20000);
    assert_int_equal(known(models, NULL), messages);
    return now() - begun;
}

/* On a busy machine one of ten times will do. */
static void commits_of_others_are_noticed_within_a_second(void **unused)
{
    (void)unused;
    char room[512];
    struct models *models = start(false);
    uint64_t then = known(models, NULL);
    twin_mail *other;
    twin_message_reader *reader;
    const twin_message *read;
    assert_int_equal(twin_message_reader_create(&reader, (twin_message_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_mail_open(&other, file, TWIN_MAIL_WRITE, NULL), TWIN_OK);
    double least = 60;
    for (int turn = 0; turn < 10 && least >= 1; turn++) {
        assert_int_equal(twin_message_read(&read, reader, message(room, 500 + turn, true)), TWIN_OK);
        assert_int_equal(twin_mail_learn(NULL, other, read, "spam", 1, NULL), TWIN_OK);
        assert_int_equal(twin_mail_commit(other, NULL), TWIN_OK);
        double took = until_known(models, ++then);
        least = took < least ? took : least;
    }
    assert_true(least < 1);
    /* The one who writes notices as well, and keeps what the other has learnt. */
    change(models, NULL, MODEL_LEARN, 550, true);
    assert_int_equal(known_to_file(file), then + 1);
    twin_mail_close(other);
    twin_message_reader_free(reader);
    models_stop(models);
}

/* File systems take times from a clock that ticks every few milliseconds, so that two commits may leave the same size and
 * the same time. Here the time is set back; the size comes out the same once pages are used again. */
static void a_commit_that_leaves_size_and_time_of_the_file_is_noticed(void **unused)
{
    (void)unused;
    char room[512];
    bool same = false;
    twin_mail *other;
    twin_message_reader *reader;
    const twin_message *read;
    struct models *models = start(false);
    uint64_t then = known(models, NULL);
    assert_int_equal(twin_message_reader_create(&reader, (twin_message_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_mail_open(&other, file, TWIN_MAIL_WRITE, NULL), TWIN_OK);
    assert_int_equal(twin_message_read(&read, reader, message(room, 600, true)), TWIN_OK);
    for (int turn = 0; turn < 20; turn++) {
        struct stat before, after;
        assert_int_equal(stat(file, &before), 0);
        if (turn % 2 == 0)
            assert_int_equal(twin_mail_learn(NULL, other, read, "spam", 1, NULL), TWIN_OK);
        else
            assert_int_equal(twin_mail_forget(NULL, other, read, NULL), TWIN_OK);
        assert_int_equal(twin_mail_commit(other, NULL), TWIN_OK);
        struct timespec times[2] = { { 0, UTIME_OMIT }, before.st_mtim };
        assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
        assert_int_equal(stat(file, &after), 0);
        same |= after.st_size == before.st_size;
        until_known(models, then + (turn % 2 == 0));
    }
    twin_mail_close(other);
    twin_message_reader_free(reader);
    models_stop(models);
    assert_true(same);
}

static void users_have_models_of_their_own(void **unused)
{
    (void)unused;
    struct models *models = start(true);
    change(models, "ann", MODEL_LEARN, 1, true);
    change(models, "bob@example.org", MODEL_LEARN, 1, true);
    change(models, "bob@example.org", MODEL_LEARN, 2, false);
    assert_int_equal(known(models, "ann"), 1);
    assert_int_equal(known(models, "bob@example.org"), 2);
    assert_int_equal(known(models, "nobody"), 0);
    for (int i = 0; i < 100; i++) { /* more than are kept open */
        char user[16];
        snprintf(user, sizeof user, "user%d", i);
        assert_int_equal(known(models, user), 0);
    }
    assert_true(models_count(models).open <= 33);
    assert_int_equal(known(models, "bob@example.org"), 2);
    static const char *const bad[] = { "..", "a/b", ".hidden", "a b", "\xC3\xA4" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct model_use use;
        assert_int_equal(models_take(&use, models, bad[i], NULL), TWIN_EINVAL);
    }
    models_stop(models);
}

static void a_damaged_model_leaves_the_snapshot_in_use(void **unused)
{
    (void)unused;
    struct models *models = start(false);
    uint64_t then = known(models, NULL);
    char other[128];
    snprintf(other, sizeof other, "%s/damaged", folder);
    FILE *out = fopen(other, "w");
    for (int i = 0; i < 10000; i++)
        fputs("no model", out);
    fclose(out);
    assert_int_equal(rename(other, file), 0);
    for (int i = 0; models_count(models).failures == 0 && i < 3000; i++)
        usleep(20000);
    assert_int_equal(known(models, NULL), then);
    assert_true(models_count(models).failures > 0);
    struct model_order order = { NULL, MODEL_LEARN, "spam", { "Subject: x\n\nx\n", 14 } };
    twin_mail_effect effect;
    twin_error error = { 0 };
    assert_int_not_equal(models_change(&effect, models, order, &error), TWIN_OK);
    assert_true(error.message[0]);
    models_stop(models);
    assert_int_equal(unlink(file), 0);
}

static void copy_file(const char *to, const char *from)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t got;
    assert_true(in && out);
    while ((got = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, got, out), got);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void a_model_that_is_compacted_or_restored_is_used_and_learns(void **unused)
{
    (void)unused;
    struct models *models = start(false);
    char backup[128], one[512];
    twin_error error = { 0 };
    snprintf(backup, sizeof backup, "%s/backup", folder);
    change(models, NULL, MODEL_LEARN, 7001, true);
    uint64_t then = known(models, NULL);
    copy_file(backup, file);
    change(models, NULL, MODEL_LEARN, 7002, true);
    struct model_use use;
    assert_int_equal(models_take(&use, models, NULL, &error), TWIN_OK);
    assert_int_equal(rename(backup, file), 0);
    usleep(600000); /* it has been noticed, and waits for the handle */
    models_give_back(models, &use);
    until_known(models, then);
    assert_int_equal(change(models, NULL, MODEL_LEARN, 7002, true), TWIN_MAIL_LEARNT);
    for (int i = 0; i < 3; i++) { /* also at once, before it was noticed */
        copy_file(backup, file);
        assert_int_equal(rename(backup, file), 0);
        struct model_order order = { NULL, MODEL_LEARN, "spam", message(one, 7003, true) };
        twin_mail_effect effect;
        assert_int_equal(models_change(&effect, models, order, &error), TWIN_OK);
        assert_int_equal(effect, i == 0 ? TWIN_MAIL_LEARNT : TWIN_MAIL_KNOWN);
    }
    assert_int_equal(known(models, NULL), then + 2);
    models_stop(models);
    assert_int_equal(unlink(file), 0);
}

/* ---- threads */

struct crowd {
    struct models *models;
    atomic_uint next;
    atomic_bool ended;
    atomic_uint checked;
};

enum { LEARNERS = 3, CHECKERS = 3, EACH = 40 };

static void *learn_many(void *context)
{
    struct crowd *crowd = context;
    for (int i = 0; i < EACH; i++) {
        unsigned number = atomic_fetch_add(&crowd->next, 1);
        char room[512];
        twin_mail_effect effect;
        struct model_order order = { NULL, MODEL_LEARN, number % 2 ? "spam" : "ham",
                                     message(room, number, number % 2) };
        if (models_change(&effect, crowd->models, order, NULL) != TWIN_OK || effect != TWIN_MAIL_LEARNT)
            abort();
    }
    return NULL;
}

static void *check_many(void *context)
{
    struct crowd *crowd = context;
    twin_message_reader *reader;
    const twin_message *read;
    char room[512];
    twin_mail_verdict verdict;
    if (twin_message_reader_create(&reader, (twin_message_options){ 0 }) != TWIN_OK)
        abort();
    while (!atomic_load(&crowd->ended)) {
        struct model_use use;
        unsigned number = atomic_fetch_add(&crowd->checked, 1);
        if (models_take(&use, crowd->models, NULL, NULL) != TWIN_OK ||
            twin_message_read(&read, reader, message(room, number % 999, number % 2)) != TWIN_OK ||
            twin_mail_check(&verdict, use.mail, read, (twin_mail_check_options){ 0 }, NULL) != TWIN_OK)
            abort();
        models_give_back(crowd->models, &use);
    }
    twin_message_reader_free(reader);
    return NULL;
}

static void many_threads_learn_and_check_at_once(void **unused)
{
    (void)unused;
    struct crowd crowd = { .models = start(false), .next = 1000 };
    pthread_t learners[LEARNERS], checkers[CHECKERS];
    for (int i = 0; i < CHECKERS; i++)
        assert_int_equal(pthread_create(&checkers[i], NULL, check_many, &crowd), 0);
    for (int i = 0; i < LEARNERS; i++)
        assert_int_equal(pthread_create(&learners[i], NULL, learn_many, &crowd), 0);
    for (int i = 0; i < LEARNERS; i++)
        pthread_join(learners[i], NULL);
    atomic_store(&crowd.ended, true);
    for (int i = 0; i < CHECKERS; i++)
        pthread_join(checkers[i], NULL);
    assert_int_equal(known(crowd.models, NULL), LEARNERS * EACH);
    struct models_counts counts = models_count(crowd.models);
    assert_int_equal(counts.changes, LEARNERS * EACH);
    assert_true(counts.commits < LEARNERS * EACH); /* those that wait together are committed together */
    models_stop(crowd.models);
}

static void count_done(void *context, const struct model_outcome *outcome)
{
    int *count = context;
    *count += outcome->status == TWIN_OK;
}

static void a_full_queue_refuses_and_an_end_writes_what_waits(void **unused)
{
    (void)unused;
    struct models *models;
    assert_int_equal(
        models_start(&models, (struct models_options){ .path = file, .create = true, .queue_bytes = 500 }, NULL),
        TWIN_OK);
    char room[512];
    twin_error error = { 0 };
    uint64_t then = known(models, NULL);
    struct model_order order = { NULL, MODEL_LEARN, "spam", { room, 0 } };
    order.message = message(room, 5000, true);
    int done = 0;
    twin_status first = models_submit(models, order, count_done, &done, &error);
    order.message = message(room, 5001, true);
    twin_status second = models_submit(models, order, count_done, &done, &error);
    order.message = message(room, 5002, true);
    twin_status third = models_submit(models, order, count_done, &done, &error);
    assert_int_equal(first, TWIN_OK);
    assert_true(second == TWIN_EBUSY || third == TWIN_EBUSY);
    models_stop(models);
    assert_true(done >= 1);
    assert_int_equal(known_to_file(file), then + (uint64_t)done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_acknowledged_is_in_the_file_and_in_the_next_handle),
        cmocka_unit_test(a_handle_sees_one_state_as_long_as_it_is_out),
        cmocka_unit_test(commits_of_others_are_noticed_within_a_second),
        cmocka_unit_test(a_commit_that_leaves_size_and_time_of_the_file_is_noticed),
        cmocka_unit_test(a_damaged_model_leaves_the_snapshot_in_use),
        cmocka_unit_test(a_model_that_is_compacted_or_restored_is_used_and_learns),
        cmocka_unit_test(many_threads_learn_and_check_at_once),
        cmocka_unit_test(a_full_queue_refuses_and_an_end_writes_what_waits),
        cmocka_unit_test(users_have_models_of_their_own),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

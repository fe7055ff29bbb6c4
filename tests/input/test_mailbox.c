/* test_mailbox.c — messages from files, mbox files, Maildirs and folders. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/mbox.h"
#include "input_log.h"

static const twin_input_options mail = { .format = TWIN_INPUT_MAIL };

#define FROM "From ann@example.org Mon Jan  1 10:00:00 2024\n"

static void put(const char *name, const char *text)
{
    write_file(path_of(name), text, strlen(text));
}

/* What is read from a file of this text; also in chunks of one message, and fetched again. */
static struct log read_box(const char *text, twin_mbox dialect)
{
    twin_input_options options = { .format = TWIN_INPUT_MAIL, .mbox = dialect };
    put("box", text);
    twin_input *input = open_one(path_of("box"), options);
    struct log log = read_all(input);
    check_fetching(input, &log);
    twin_input_free(input);
    options.chunk_bytes = 1;
    input = open_one(path_of("box"), options);
    struct log again = read_all(input);
    check_same_logs(&log, &again);
    twin_input_free(input);
    clear_log(&again);
    return log;
}

static void check_box(const char *text, twin_mbox dialect, const char *const *wanted)
{
    struct log log = read_box(text, dialect);
    size_t count = 0;
    for (; wanted[count]; count++) {
        assert_true(count < log.count);
        assert_string_equal(log.seen[count].text, wanted[count]);
    }
    assert_int_equal(log.count, count);
    clear_log(&log);
}

static void a_file_is_one_message(void **state_unused)
{
    (void)state_unused;
    check_box("Subject: x\n\nFrom here it is text\n", TWIN_MBOX_AUTO,
              (const char *[]){ "Subject: x\n\nFrom here it is text\n", NULL });
    check_box("", TWIN_MBOX_AUTO, (const char *[]){ "", NULL });
    check_box(FROM "A: 1\n\n" FROM "A: 2\n\n", TWIN_MBOX_NONE,
              (const char *[]){ FROM "A: 1\n\n" FROM "A: 2\n\n", NULL });
}

static void messages_of_an_mbox_are_numbered(void **state_unused)
{
    (void)state_unused;
    struct log log = read_box(FROM "A: 1\n\none\n\n" FROM "A: 2\n\ntwo\n", TWIN_MBOX_AUTO);
    assert_int_equal(log.count, 2);
    char wanted[600];
    snprintf(wanted, sizeof wanted, "%s:2", path_of("box"));
    assert_string_equal(log.seen[1].id, wanted);
    assert_string_equal(log.seen[0].text, "A: 1\n\none\n");
    assert_string_equal(log.seen[1].text, "A: 2\n\ntwo\n");
    clear_log(&log);
}

static void sentences_are_not_from_lines(void **state_unused)
{
    (void)state_unused;
    check_box(FROM "A: 1\n\nFrom here on\nFrom 10:15 to 11:20\nFrom 2024 on\n\n" FROM "A: 2\n\n", TWIN_MBOX_AUTO,
              (const char *[]){ "A: 1\n\nFrom here on\nFrom 10:15 to 11:20\nFrom 2024 on\n", "A: 2\n", NULL });
}

static void dialects_undo_their_quoting(void **state_unused)
{
    (void)state_unused;
    const char *text = FROM "A: 1\n\n>From me\n>>From you\n> From us\n\n" FROM "A: 2\n\n";
    check_box(text, TWIN_MBOX_O, (const char *[]){ "A: 1\n\nFrom me\n>>From you\n> From us\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_RD, (const char *[]){ "A: 1\n\nFrom me\n>From you\n> From us\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_AUTO, (const char *[]){ "A: 1\n\nFrom me\n>From you\n> From us\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_CL, (const char *[]){ "A: 1\n\nFrom me\n>>From you\n> From us\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_CL2, (const char *[]){ "A: 1\n\n>From me\n>>From you\n> From us\n", "A: 2\n", NULL });
}

static void a_right_content_length_is_believed(void **state_unused)
{
    (void)state_unused;
    /* The body has a whole From line, 46 bytes, and a quoted one, 10 bytes, which is as it was sent. */
    const char *text = FROM "Content-Length: 56\n\n" FROM ">From you\n\n" FROM "A: 2\n\n";
    check_box(text, TWIN_MBOX_AUTO, (const char *[]){ "Content-Length: 56\n\n" FROM ">From you\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_CL, (const char *[]){ "Content-Length: 56\n\n" FROM "From you\n", "A: 2\n", NULL });
    check_box(text, TWIN_MBOX_RD, (const char *[]){ "Content-Length: 56\n", ">From you\n", "A: 2\n", NULL });
    /* A wrong one is not. */
    const char *wrong = FROM "Content-Length: 9\n\n>From you and me\n\n" FROM "A: 2\n\n";
    check_box(wrong, TWIN_MBOX_AUTO, (const char *[]){ "Content-Length: 9\n\nFrom you and me\n", "A: 2\n", NULL });
    const char *huge = FROM "Content-Length: 99999999999999999999\n\nx\n\n" FROM "A: 2\n\n";
    check_box(huge, TWIN_MBOX_AUTO,
              (const char *[]){ "Content-Length: 99999999999999999999\n\nx\n", "A: 2\n", NULL });
}

static void returns_are_kept(void **state_unused)
{
    (void)state_unused;
    check_box(
        "From a@b Mon Jan  1 10:00:00 2024\r\nA: 1\r\n\r\nx\r\n\r\nFrom a@b Mon Jan  1 10:00:00 2024\r\nA: 2\r\n",
        TWIN_MBOX_AUTO, (const char *[]){ "A: 1\r\n\r\nx\r\n", "A: 2\r\n", NULL });
}

/* Messages lie across the windows of the scanner, whose length is a mebibyte. */
static void a_long_mbox_is_divided_as_a_short_one(void **state_unused)
{
    (void)state_unused;
    enum { MESSAGES = 60 };
    char *text = malloc(8 << 20), *at = text;
    assert_non_null(text);
    for (int i = 0; i < MESSAGES; i++) {
        at += sprintf(at, FROM "A: %d\n\n", i);
        memset(at, 'x', (size_t)(i * 2003));
        at += i * 2003;
        at += sprintf(at, "\nFrom %d\n\n", i);
    }
    write_file(path_of("box"), text, (size_t)(at - text));
    twin_input *input = open_one(path_of("box"), mail);
    struct log log = read_all(input);
    assert_int_equal(log.count, MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
        char head[16];
        int length = snprintf(head, sizeof head, "A: %d\n\n", i);
        assert_memory_equal(log.seen[i].text, head, length);
        assert_int_equal(log.seen[i].text_length, length + i * 2003 + snprintf(NULL, 0, "\nFrom %d\n", i));
    }
    clear_log(&log);
    twin_input_free(input);
    free(text);
}

/* Bytes that this process has read so far; 0 where the system does not say. */
static uint64_t bytes_read(void)
{
    char line[64] = "";
    FILE *file = fopen("/proc/self/io", "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    return strncmp(line, "rchar: ", 7) == 0 ? strtoull(line + 7, NULL, 10) : 0;
}

/* Lengths that lead far beyond the window, into the middle of a message. To look there takes a few hundred bytes. */
static void false_lengths_take_no_longer(void **state_unused)
{
    (void)state_unused;
    enum { MESSAGES = 20000, LENGTH = 1500000, MOST = 64 << 20 };
    char *text = malloc(4 << 20), *at = text;
    assert_non_null(text);
    for (int i = 0; i < MESSAGES; i++)
        at += sprintf(at, FROM "Content-Length: %d\nA: %05d\n\nFrom nobody at all\n\n", LENGTH, i);
    write_file(path_of("box"), text, (size_t)(at - text));
    free(text);
    uint64_t before = bytes_read();
    twin_input *input = open_one(path_of("box"), (twin_input_options){ .format = TWIN_INPUT_MAIL, .chunk_bytes = 1 });
    assert_true(bytes_read() - before < MOST);
    assert_int_equal(twin_input_chunks(input), MESSAGES);
    twin_input_free(input);
}

static void a_maildir_has_its_messages(void **state_unused)
{
    (void)state_unused;
    static const char *const folders[] = { "M", "M/cur", "M/new", "M/tmp", "M/.Sent", "M/.Sent/cur", "M/.Sent/tmp" };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        make_folder(folders[i]);
    put("M/cur/1.host:2,S", "A: seen\n\n");
    put("M/cur/2.host:2,DS", "A: draft\n\n");
    put("M/cur/3.host:2,ST", "A: deleted\n\n");
    put("M/new/4.host", "A: new\n\n");
    put("M/new/.nfs1", "A: hidden\n\n");
    put("M/tmp/5.host", "A: unfinished\n\n");
    put("M/dovecot-uidlist", "3 V1\n");
    put("M/.Sent/cur/6.host:2,", "A: sent\n\n");
    put("M/.Sent/maildirfolder", "");
    twin_input *input = open_one(path_of("M"), mail);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_int_equal(twin_input_folder_info(input, 0).hidden, 2); /* .Sent, and .nfs1 in new */
    clear_log(&log);
    twin_input_free(input);

    twin_input_options all = mail;
    all.hidden = true;
    input = open_one(path_of("M"), all);
    log = read_all(input);
    check_fetching(input, &log);
    assert_int_equal(log.count, 3);
    assert_string_equal(log.seen[0].text, "A: sent\n\n");
    assert_string_equal(log.seen[1].text, "A: seen\n\n");
    assert_string_equal(log.seen[2].text, "A: new\n\n");
    assert_non_null(strstr(log.seen[1].id, "/M/cur/1.host:2,S"));
    clear_log(&log);
    twin_input_free(input);
}

static void a_folder_may_mix_files_and_boxes(void **state_unused)
{
    (void)state_unused;
    make_folder("mixed");
    put("mixed/a.eml", "A: 1\n\n");
    put("mixed/b", FROM "A: 2\n\n" FROM "A: 3\n\n");
    put("mixed/c.eml", "A: 4\n\n");
    if (geteuid() != 0)
        assert_int_equal(chmod(path_of("mixed/a.eml"), 0), 0);
    else
        assert_int_equal(remove(path_of("mixed/a.eml")), 0);
    twin_input *input = open_one(path_of("mixed"), mail);
    assert_int_equal(remove(path_of("mixed/c.eml")), 0); /* it goes while we look */
    struct log log = read_all(input);
    check_fetching(input, &log);
    const struct seen *last = &log.seen[log.count - 1];
    assert_string_equal(last[-2].text, "A: 2\n");
    assert_string_equal(last[-1].text, "A: 3\n");
    assert_true(last->is_problem);
    assert_int_equal(last->kind, TWIN_PROBLEM_UNREADABLE);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, last[-1].position, 0), TWIN_OK);
    assert_non_null(strstr(words.bytes, "/mixed/b:2"));
    twin_buffer_clear(&words);
    clear_log(&log);
    twin_input_free(input);
}

static void a_pipe_is_read(void **state_unused)
{
    (void)state_unused;
    int ends[2];
    const char *text = FROM "A: 1\n\n" FROM "A: 2\n\n";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    twin_input *input = open_one(path, mail);
    struct log log = read_all(input);
    assert_int_equal(log.count, 2);
    assert_string_equal(log.seen[1].text, "A: 2\n");
    clear_log(&log);
    twin_input_free(input);
    close(ends[0]);
}

static void a_long_message_is_cut(void **state_unused)
{
    (void)state_unused;
    put("long", "A: 1\n\n0123456789");
    twin_input *input = open_one(path_of("long"), (twin_input_options){ .format = TWIN_INPUT_MAIL, .max_bytes = 10 });
    struct log log = read_all(input);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.seen[0].text, "A: 1\n\n0123");
    clear_log(&log);
    twin_input_free(input);
    check_refused(path_of("long"), (twin_input_options){ .format = TWIN_INPUT_MAIL, .mbox = (twin_mbox)9 },
                  TWIN_EINVAL, "dialect");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_file_is_one_message),
        IN_A_FOLDER(messages_of_an_mbox_are_numbered),
        IN_A_FOLDER(sentences_are_not_from_lines),
        IN_A_FOLDER(dialects_undo_their_quoting),
        IN_A_FOLDER(a_right_content_length_is_believed),
        IN_A_FOLDER(returns_are_kept),
        IN_A_FOLDER(a_long_mbox_is_divided_as_a_short_one),
        IN_A_FOLDER(false_lengths_take_no_longer),
        IN_A_FOLDER(a_maildir_has_its_messages),
        IN_A_FOLDER(a_folder_may_mix_files_and_boxes),
        IN_A_FOLDER(a_pipe_is_read),
        IN_A_FOLDER(a_long_message_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_mail_texts.c — the beginnings of texts that a model keeps, and does not keep. */
#include "model_frame.h"

enum { ROOM = 8192 };

/* Message `number`, with a text of its own. */
static const twin_message *message_of(int number)
{
    static char raw[ROOM];
    const twin_message *message;
    int length = snprintf(raw, sizeof raw,
                          "From: a%d@example.org\nSubject: number %d\nMessage-ID: <%d@x>\n\nText %d of many.\n",
                          number, number, number, number);
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ raw, (size_t)length }), TWIN_OK);
    return message;
}

static void learn(twin_mail *mail, int number)
{
    assert_int_equal(
        twin_mail_learn(NULL, mail, message_of(number), number % 2 ? "spam" : "ham", 1000 + number, NULL), TWIN_OK);
}

/* The text of message `place` is that of `number`; -1: it has none. */
static void assert_kept(twin_mail *mail, uint64_t place, int number)
{
    twin_buffer text = { 0 };
    char wanted[64] = "";
    if (number >= 0)
        snprintf(wanted, sizeof wanted, "number %d\nText %d of many.\n", number, number);
    assert_int_equal(twin_mail_text(&text, mail, place, NULL), TWIN_OK);
    assert_int_equal(text.length, strlen(wanted));
    if (text.length)
        assert_memory_equal(text.bytes, wanted, text.length);
    twin_buffer_clear(&text);
}

static void texts_are_kept_in_the_file(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    for (int i = 0; i < 50; i++) {
        learn(mail, i);
        assert_kept(mail, (uint64_t)i, i); /* before it is in the file */
        if (i % 7 == 0)
            commit(mail);
    }
    commit(mail);
    twin_mail *other = open_file(TWIN_MAIL_READ);
    for (int i = 0; i < 50; i++) {
        assert_kept(mail, (uint64_t)i, i);
        assert_kept(other, (uint64_t)i, i);
    }
    twin_mail *borrowed;
    assert_int_equal(twin_mail_borrow(&borrowed, other, NULL), TWIN_OK);
    for (int i = 0; i < 50; i++)
        assert_kept(borrowed, (uint64_t)i, i);
    twin_mail_close(borrowed);
    twin_buffer text = { 0 };
    assert_int_equal(twin_mail_text(&text, other, 50, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_text(NULL, other, 1, NULL), TWIN_EINVAL);
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, other, NULL), TWIN_OK);
    assert_true(info.keeps_texts);
    twin_mail_close(mail);
    twin_mail_close(other);
}

static void what_is_forgotten_has_no_text(void **unused)
{
    (void)unused;
    twin_mail_effect effect;
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    for (int i = 0; i < 20; i++)
        learn(mail, i);
    commit(mail);
    assert_int_equal(twin_mail_forget(&effect, mail, message_of(3), NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_FORGOTTEN);
    /* Learnt and forgotten between two commits; and learnt again under another label, with a number of its own. */
    learn(mail, 20);
    assert_int_equal(twin_mail_forget(&effect, mail, message_of(20), NULL), TWIN_OK);
    assert_int_equal(twin_mail_learn(&effect, mail, message_of(5), "ham", 2000, NULL), TWIN_OK);
    assert_int_equal(effect, TWIN_MAIL_CORRECTED);
    commit(mail);
    twin_buffer text = { 0 };
    assert_int_equal(twin_mail_text(&text, mail, 3, NULL), TWIN_EINVAL);
    assert_int_equal(twin_mail_text(&text, mail, 5, NULL), TWIN_EINVAL);
    assert_kept(mail, 4, 4);
    assert_kept(mail, 19, 19);
    assert_kept(mail, 21, 5);
    twin_mail_close(mail);
}

static void old_texts_expire_with_their_messages(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ .keep_messages = 40 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    for (int i = 0; i < 200; i++) {
        learn(mail, i);
        if (i % 9 == 0)
            commit(mail);
    }
    commit(mail);
    twin_buffer text = { 0 };
    assert_int_equal(twin_mail_text(&text, mail, 159, NULL), TWIN_EINVAL);
    for (int i = 160; i < 200; i++)
        assert_kept(mail, (uint64_t)i, i);
    /* All at once, and more than there is room for. */
    for (int i = 200; i < 400; i++)
        learn(mail, i);
    commit(mail);
    twin_mail_close(mail);
    mail = open_file(TWIN_MAIL_READ);
    for (int i = 360; i < 400; i++)
        assert_kept(mail, (uint64_t)i, i);
    twin_mail_close(mail);
}

static void two_writers_keep_the_texts_of_both(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ 0 });
    twin_mail *one = open_file(TWIN_MAIL_WRITE), *other = open_file(TWIN_MAIL_WRITE);
    learn(one, 1);
    learn(other, 2);
    learn(other, 3);
    commit(one);
    commit(other); /* does its part again after that of the first */
    twin_mail *mail = open_file(TWIN_MAIL_READ);
    assert_kept(mail, 0, 1);
    assert_kept(mail, 1, 2);
    assert_kept(mail, 2, 3);
    twin_mail_close(one);
    twin_mail_close(other);
    twin_mail_close(mail);
}

static void a_model_without_texts_keeps_none(void **unused)
{
    (void)unused;
    create_file((twin_mail_options){ .without_texts = true });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    learn(mail, 1);
    assert_kept(mail, 0, -1);
    commit(mail);
    twin_mail_close(mail);
    mail = open_file(TWIN_MAIL_WRITE); /* the choice is in the file */
    learn(mail, 2);
    commit(mail);
    assert_kept(mail, 1, -1);
    twin_mail_info info;
    assert_int_equal(twin_mail_describe(&info, mail, NULL), TWIN_OK);
    assert_false(info.keeps_texts);
    twin_mail_close(mail);
    assert_int_equal(twin_mail_create_in_memory(&mail, (twin_mail_options){ .key = key }), TWIN_OK);
    learn(mail, 1);
    assert_kept(mail, 0, -1);
    twin_mail_close(mail);
}

static void long_texts_are_cut_between_characters(void **unused)
{
    (void)unused;
    static char raw[3 * ROOM];
    const twin_message *message;
    twin_buffer text = { 0 };
    size_t n = (size_t)snprintf(raw, sizeof raw, "Subject: x\nContent-Type: text/plain; charset=utf-8\n\na");
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(raw + n, sizeof raw - n, "€");
    assert_int_equal(twin_message_read(&message, reader, (twin_text){ raw, n }), TWIN_OK);
    create_file((twin_mail_options){ 0 });
    twin_mail *mail = open_file(TWIN_MAIL_WRITE);
    assert_int_equal(twin_mail_learn(NULL, mail, message, "spam", 1, NULL), TWIN_OK);
    commit(mail);
    assert_int_equal(twin_mail_text(&text, mail, 0, NULL), TWIN_OK);
    assert_true(text.length > 1990 && text.length <= 2000);
    assert_int_equal((text.length - 3) % 3, 0); /* "x", the line end, "a" */
    twin_buffer same = { 0 };
    assert_int_equal(twin_mail_text_of(&same, message), TWIN_OK);
    assert_int_equal(same.length, text.length);
    assert_memory_equal(same.bytes, text.bytes, text.length);
    twin_buffer_clear(&text);
    twin_buffer_clear(&same);
    twin_mail_close(mail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_kept_in_the_file),
        cmocka_unit_test(what_is_forgotten_has_no_text),
        cmocka_unit_test(old_texts_expire_with_their_messages),
        cmocka_unit_test(two_writers_keep_the_texts_of_both),
        cmocka_unit_test(a_model_without_texts_keeps_none),
        cmocka_unit_test(long_texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, begin, end);
}

/* test_pass.c — messages passed on with headers added. */
#include <twinsift/message.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static twin_text text_of(const char *text)
{
    return (twin_text){ text, strlen(text) };
}

static void check(const char *raw, const char *wanted)
{
    twin_message_header added[] = { { text_of("X-Spam-Flag"), text_of("YES") },
                                    { text_of("X-Other"), text_of("one\n two") } };
    twin_buffer out = { 0 };
    assert_int_equal(twin_message_pass(&out, text_of(raw), added, 2), TWIN_OK);
    if (out.length != strlen(wanted) || memcmp(out.bytes, wanted, out.length) != 0)
        fail_msg("\"%.*s\", not \"%s\"", (int)out.length, out.bytes, wanted);
    twin_buffer_clear(&out);
}

static void headers_are_added_at_the_top(void **state_unused)
{
    (void)state_unused;
    check("A: 1\n\nbody\n", "X-Spam-Flag: YES\nX-Other: one\n two\nA: 1\n\nbody\n");
    check("A: 1\r\n\r\nbody\r\n", "X-Spam-Flag: YES\r\nX-Other: one\r\n two\r\nA: 1\r\n\r\nbody\r\n");
    check("From a@b Mon\nA: 1\n\nbody\n", "From a@b Mon\nX-Spam-Flag: YES\nX-Other: one\n two\nA: 1\n\nbody\n");
    check("A: no line end", "X-Spam-Flag: YES\nX-Other: one\n two\nA: no line end");
    check("", "X-Spam-Flag: YES\nX-Other: one\n two\n");
}

static void forged_headers_are_removed(void **state_unused)
{
    (void)state_unused;
    check("A: 1\nx-spam-flag: no\n folded\nX-SPAM-SCORE : 3\nX-Twinsift: x\nx-other: y\nX-Spam-Status: kept\n\n"
          "X-Spam-Flag: body\n",
          "X-Spam-Flag: YES\nX-Other: one\n two\nA: 1\nX-Spam-Status: kept\n\nX-Spam-Flag: body\n");
}

static void a_body_without_headers_stays_a_body(void **state_unused)
{
    (void)state_unused;
    check("just text\n", "X-Spam-Flag: YES\nX-Other: one\n two\n\njust text\n");
    check("\nbody\n", "X-Spam-Flag: YES\nX-Other: one\n two\n\nbody\n");
}

static void bytes_stay_as_they_are(void **state_unused)
{
    (void)state_unused;
    twin_buffer out = { 0 };
    const char raw[] = "A: \xff\n\n\0\x01\r\n\xfe";
    assert_int_equal(twin_message_pass(&out, (twin_text){ raw, sizeof raw - 1 }, NULL, 0), TWIN_OK);
    assert_int_equal(out.length, sizeof raw - 1);
    assert_memory_equal(out.bytes, raw, out.length);
    twin_buffer_clear(&out);
}

static void what_would_break_the_message_is_refused(void **state_unused)
{
    (void)state_unused;
    static const char *const bad[][2] = { { "X Y", "1" }, { "X:", "1" },  { "", "1" },    { "X", "1\nY: 2" },
                                          { "X", "1\n" }, { "X\n", "1" }, { "X", "\x01" } };
    twin_buffer out = { 0 };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        twin_message_header added = { text_of(bad[i][0]), text_of(bad[i][1]) };
        assert_int_equal(twin_message_pass(&out, text_of("A: 1\n"), &added, 1), TWIN_EINVAL);
    }
    assert_int_equal(out.length, 0);
    assert_int_equal(twin_message_pass(NULL, text_of(""), NULL, 0), TWIN_EINVAL);
    assert_int_equal(twin_message_pass(&out, text_of(""), NULL, 1), TWIN_EINVAL);
    twin_buffer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_added_at_the_top),
        cmocka_unit_test(forged_headers_are_removed),
        cmocka_unit_test(a_body_without_headers_stays_a_body),
        cmocka_unit_test(bytes_stay_as_they_are),
        cmocka_unit_test(what_would_break_the_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

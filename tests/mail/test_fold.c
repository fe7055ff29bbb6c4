/* test_fold.c — disguised text and what it is compared as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mail/message_private.h"

static void check(const char *text, const char *wanted, bool wanted_disguised)
{
    twin_buffer out = { 0 }, scratch = { 0 };
    bool disguised;
    assert_int_equal(twin__message_fold(&out, &disguised, &scratch, (twin_text){ text, strlen(text) }), TWIN_OK);
    if (out.length != strlen(wanted) || (out.length > 0 && memcmp(out.bytes, wanted, out.length) != 0))
        fail_msg("\"%s\" became \"%.*s\", not \"%s\"", text, (int)out.length, out.bytes, wanted);
    assert_int_equal(disguised, wanted_disguised);
    twin_buffer_clear(&out);
    twin_buffer_clear(&scratch);
}

static void ascii_is_normalised(void **state_unused)
{
    (void)state_unused;
    check("  Buy \n NOW ", "buy now", false);
}

static void invisible_characters_are_dropped(void **state_unused)
{
    (void)state_unused;
    check("vi\u200ba\u2060g\ufeffra", "viagra", true);
    check("vi\u3164ag\u034fra", "viagra", true);
    check("hyphen\u00adation", "hyphenation", false);
    check("می\u200cخواهم", "میخواهم", false); /* Persian is written so */
    check("a \u200b b", "a b", false);
    check("\u200b", "", false);
}

static void lookalikes_are_replaced_in_mixed_words(void **state_unused)
{
    (void)state_unused;
    check("p\u0430yp\u0430l", "paypal", true);
    check("\u0420ayPal", "paypal", true); /* a capital Er */
    check("\u0392ank acc\u03bfunt", "bank account", true);
    check("ᴠɪᴀɢʀᴀ", "viagra", true);
    check("\u0440\u0430\u0443", "\u0440\u0430\u0443", false); /* all Cyrillic: may be a word */
    check("привет", "привет", false);
    check("wi-fi роутер", "wi-fi роутер", false);
    check("iPhone\u0436", "iphone\u0436", false); /* a letter that looks like no other */
    check("Größe café", "grösse café", false);
}

static void styled_letters_are_plain_ones(void **state_unused)
{
    (void)state_unused;
    check("𝐯𝐢𝐚𝐠𝐫𝐚", "viagra", true);
    check("ｃａｓｉｎｏ", "casino", false); /* as Japanese mail has it */
    check("v\u0336i\u0336a\u0336g\u0336r\u0336a\u0336", "viagra", true);
}

/* What the loops do to any text, one letter at a time, must be what they do to its words one by one. */
static void words_are_independent(void **state_unused)
{
    (void)state_unused;
    check("p\u0430yp\u0430l привет p\u0430yp\u0430l", "paypal привет paypal", true);
    check("привет,p\u0430yp\u0430l", "привет,paypal", true);
    check("привет\u2014p\u0430yp\u0430l", "привет\u2014paypal", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_is_normalised),
        cmocka_unit_test(invisible_characters_are_dropped),
        cmocka_unit_test(lookalikes_are_replaced_in_mixed_words),
        cmocka_unit_test(styled_letters_are_plain_ones),
        cmocka_unit_test(words_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

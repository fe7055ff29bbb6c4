/* test_status.c — every status has its own text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <twinsift/twinsift.h>

enum { LAST = TWIN_ESTOPPED };

static void every_status_has_words_of_its_own(void **state)
{
    (void)state;
    const char *unknown = twin_status_text((twin_status)(LAST - 1));
    for (int s = TWIN_OK; s >= LAST; s--) {
        const char *words = twin_status_text((twin_status)s);
        assert_true(strlen(words) > 0);
        assert_string_not_equal(words, unknown);
        for (int other = TWIN_OK; other > s; other--)
            assert_string_not_equal(words, twin_status_text((twin_status)other));
    }
}

static void strange_numbers_have_words_too(void **state)
{
    (void)state;
    assert_string_equal(twin_status_text((twin_status)1), twin_status_text((twin_status)-1000));
    assert_true(strlen(twin_status_text((twin_status)1)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_words_of_its_own),
        cmocka_unit_test(strange_numbers_have_words_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

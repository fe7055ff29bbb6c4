/* test_version.c — the version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <twinsift/twinsift.h>

static void the_library_has_the_version_of_its_headers(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d", TWINSIFT_VERSION_MAJOR, TWINSIFT_VERSION_MINOR,
             TWINSIFT_VERSION_PATCH);
    assert_string_equal(twin_version(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_has_the_version_of_its_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

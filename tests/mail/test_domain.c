/* test_domain.c — hosts that are known have the registered domains that they had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "mail/domain.h"

/* Of 2,000 hosts many share a place; some are too long, have no registered domain, or none that is shorter. */
static void known_hosts_have_the_same_domains(void **unused)
{
    (void)unused;
    static const char *const ends[] = { "com", "co.uk", "example.org", "1.2", "kawasaki.jp", "" };
    struct twin__known_hosts *known = calloc(1, sizeof *known);
    uint64_t random = 1;
    assert_non_null(known);
    for (int i = 0; i < 20000; i++) {
        char host[128];
        unsigned number = (unsigned)(twin__random_next(&random) % 2000);
        const char *end = ends[number % 6];
        if (number % 7 == 0)
            snprintf(host, sizeof host, "%s", end);
        else
            snprintf(host, sizeof host, "%s%u.%s",
                     number % 5 ? "www.h" : "a-very-long-name-of-a-host-that-is-not-kept.", number, end);
        twin_text text = { host, strlen(host) };
        twin_text expected = twin__registered_domain(NULL, text), found = twin__registered_domain(known, text);
        assert_int_equal(found.length, expected.length);
        assert_ptr_equal(found.bytes, expected.bytes);
    }
    free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(known_hosts_have_the_same_domains) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

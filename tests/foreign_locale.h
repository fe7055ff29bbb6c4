/* foreign_locale.h — a locale with a decimal comma, letters beyond ASCII in single bytes, and Turkish rules, where the
 * small letter of I is not i. It is made for the test: machines rarely have one installed. */
#ifndef TEST_FOREIGN_LOCALE_H
#define TEST_FOREIGN_LOCALE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* localedef returns 1 for its warnings, of categories that are not defined. */
#define MAKE_LOCALE                                                                                                  \
    "cd \"$LOCPATH\" && { printf 'LC_CTYPE\\ncopy \"tr_TR\"\\nEND LC_CTYPE\\n';"                                     \
    "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND LC_NUMERIC\\n'; } >source"    \
    " && localedef -c -i ./source -f ISO-8859-9 ./foreign >log 2>&1"

static inline int run_in_shell(const char *command)
{
    return system(command); /* NOLINT(cert-env33-c): commands of this file alone */
}

static inline void end_foreign_locale(void)
{
    setlocale(LC_ALL, "C");
    assert_int_equal(run_in_shell("rm -r \"$LOCPATH\""), 0);
    unsetenv("LOCPATH");
}

/* Skips the test, and says so, where localedef or what it reads is missing. */
static inline void begin_foreign_locale(void)
{
    char where[] = "/tmp/twinsift-test-XXXXXX", half[8];
    assert_non_null(mkdtemp(where));
    setenv("LOCPATH", where, 1);
    bool made = run_in_shell(MAKE_LOCALE) != -1 && setlocale(LC_ALL, "foreign");
    if (!made) {
        end_foreign_locale();
        print_message("localedef cannot make a locale here: skipped\n");
        skip();
    }
    snprintf(half, sizeof half, "%.1f", 0.5);
    assert_string_equal(half, "0,5");
}

#endif

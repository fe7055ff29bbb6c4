/* test_options.c — values of options: what each kind reads, shows and refuses; and that names are those of the
 * library. */
#include "support/options.h"
#include "support/shared_options.h" /* before cmocka.h, whose fail() is a macro */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static uint64_t count_of(const char *text)
{
    uint64_t number;
    assert_true(scan_count(&number, text));
    return number;
}

static void counts_may_have_a_scale(void **state)
{
    (void)state;
    assert_int_equal(count_of("0"), 0);
    assert_int_equal(count_of("1000000"), 1000000);
    assert_int_equal(count_of("1e6"), 1000000);
    assert_int_equal(count_of("1.5e6"), 1500000);
    assert_int_equal(count_of("1.5M"), 1500000);
    assert_int_equal(count_of("0.25k"), 250);
    assert_int_equal(count_of("12.50e1"), 125);
    assert_int_equal(count_of("2G"), 2000000000);
    assert_int_equal(count_of("2T"), 2000000000000);
    assert_int_equal(count_of("18446744073709551615"), UINT64_MAX);
    assert_int_equal(count_of("18446744073709551616"), UINT64_MAX);
    assert_int_equal(count_of("1e99"), UINT64_MAX);
    assert_int_equal(count_of("99999999999999999999G"), UINT64_MAX);
}

static void what_is_no_whole_number_is_no_count(void **state)
{
    (void)state;
    static const char *const wrong[] = { "",    " 1",   "1 ",      "-1",   "+1",    "x",     "1x",
                                         "1KK", "1.5",  "1.2345K", "1e",   "1e-3",  "1e+",   "e3",
                                         ".5K", "1..0", "1.0.0",   "0x10", "1e3e3", "1_000", "inf" };
    uint64_t number;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (scan_count(&number, wrong[i]))
            fail_msg("\"%s\" is read as %llu", wrong[i], (unsigned long long)number);
}

static void bytes_may_have_a_unit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {
        { "2000", 2000 },      { "2000B", 2000 }, { "2G", 2000000000 },          { "2GB", 2000000000 },
        { "2gb", 2000000000 }, { "1.5KB", 1500 }, { "2GiB", (uint64_t)2 << 30 }, { "1.5MiB", 3 << 19 },
        { "0.3KiB", 307 },     { "1e3B", 1000 },  { "1TiB", (uint64_t)1 << 40 }, { "99999999TiB", UINT64_MAX },
    };
    static const char *const wrong[] = { "",    "B",    "GB",   "iB",   "2iB",   "2Gi",
                                         "2XB", "2GBB", "2 GB", "-2GB", "2GiBB", "1.5B" };
    uint64_t number;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        assert_true(scan_bytes(&number, right[i].text));
        assert_int_equal(number, right[i].bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (scan_bytes(&number, wrong[i]))
            fail_msg("\"%s\" is read as %llu", wrong[i], (unsigned long long)number);
}

static const struct option_row *row_named(const char *name)
{
    for (const struct option_row *row = shared_option_rows; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    fail_msg("no option --%s", name);
    return NULL;
}

/* The number of a choice is the value of the enum: a table in another order would mix them up. */
static void choices_are_those_of_the_library(void **state)
{
    (void)state;
    char name[OPTION_VALUE_ROOM];
    for (unsigned i = 0; word_at(name, row_named("hash")->choices, i); i++)
        assert_string_equal(name, twin_name_of(TWIN_NAMES_HASH_FAMILY, i));
    for (unsigned i = 0; word_at(name, row_named("sketch")->choices, i); i++)
        assert_string_equal(name, twin_name_of(TWIN_NAMES_SKETCH, i));
    for (unsigned i = 0; word_at(name, row_named("executor")->choices, i); i++)
        assert_string_equal(name, twin_name_of(TWIN_NAMES_EXECUTOR, i));
    for (unsigned i = 0; word_at(name, row_named("keep")->choices, i); i++)
        assert_string_equal(name, twin_name_of(TWIN_NAMES_KEEP, i));
}

static void words_are_counted_from_0(void **state)
{
    (void)state;
    char word[OPTION_VALUE_ROOM];
    assert_int_equal(word_number("first all none", "first"), 0);
    assert_int_equal(word_number("first all none", "none"), 2);
    assert_int_equal(word_number("first all none", "al"), -1);
    assert_int_equal(word_number("first all none", "all none"), -1);
    assert_int_equal(word_number("", ""), -1);
    assert_true(word_at(word, "first all none", 1));
    assert_string_equal(word, "all");
    assert_false(word_at(word, "first all none", 3));
}

/* Every row has what --help, completion and reading need. */
static void shared_rows_are_complete(void **state)
{
    (void)state;
    for (const struct option_row *row = shared_option_rows; row->name; row++) {
        assert_non_null(row->help);
        assert_non_null(row->kind);
        assert_true(strlen(row->help) > 0 && row->help[strlen(row->help) - 1] != '.');
        assert_true(row->offset < sizeof(struct shared_options));
        assert_true(row->kind == &option_help || row->kind == &option_version || row->kind->read);
        for (const struct option_row *other = shared_option_rows; other < row; other++) {
            assert_string_not_equal(row->name, other->name);
            assert_true(!row->letter || row->letter != other->letter);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_may_have_a_scale),  cmocka_unit_test(what_is_no_whole_number_is_no_count),
        cmocka_unit_test(bytes_may_have_a_unit),    cmocka_unit_test(choices_are_those_of_the_library),
        cmocka_unit_test(words_are_counted_from_0), cmocka_unit_test(shared_rows_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

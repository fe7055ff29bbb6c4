/* test_record.c — the same record as a tab-separated line and as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "support/record.h"

static char written[1024];

#define TEXT(literal) ((twin_text){ literal, sizeof(literal) - 1 })

static const char *record(bool json, void (*fill)(struct record *record))
{
    memset(written, 0, sizeof written);
    FILE *out = fmemopen(written, sizeof written - 1, "w");
    assert_non_null(out);
    struct record one = record_begin(out, json);
    fill(&one);
    record_end(&one);
    assert_int_equal(fclose(out), 0);
    return written;
}

static void fill_pair(struct record *record)
{
    record_id(record, "a", TEXT("x\ty\\"), false);
    record_id(record, "b", TEXT("17"), true);
    record_fixed(record, "similarity", 0.8, 4);
}

static void a_record_is_a_line_or_an_object(void **state)
{
    (void)state;
    assert_string_equal(record(false, fill_pair), "x\\x09y\\x5C\t17\t0.8000\n");
    assert_string_equal(record(true, fill_pair), "{\"a\":\"x\\ty\\\\\",\"b\":17,\"similarity\":0.8000}\n");
}

static void fill_all(struct record *record)
{
    record_string(record, "s", "t");
    record_object(record, "o");
    record_count(record, "n", UINT64_MAX);
    record_object_end(record);
    record_list(record, "l");
    record_list(record, NULL);
    record_number(record, NULL, 0.5, 10);
    record_number(record, NULL, 1e-20, 3);
    record_list_end(record);
    record_list(record, NULL);
    record_list_end(record);
    record_list_end(record);
    record_flag(record, "f", false);
    record_null(record, "z");
    record_fixed(record, "nan", NAN, 4);
    record_number(record, "inf", -INFINITY, 4);
}

static void objects_and_lists_nest(void **state)
{
    (void)state;
    assert_string_equal(record(true, fill_all),
                        "{\"s\":\"t\",\"o\":{\"n\":18446744073709551615},"
                        "\"l\":[[0.5,1e-20],[]],\"f\":false,\"z\":null,\"nan\":null,\"inf\":null}\n");
}

static void fill_nothing(struct record *record)
{
    (void)record;
}

static void a_record_may_be_empty(void **state)
{
    (void)state;
    assert_string_equal(record(true, fill_nothing), "{}\n");
    assert_string_equal(record(false, fill_nothing), "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_a_line_or_an_object),
        cmocka_unit_test(objects_and_lists_nest),
        cmocka_unit_test(a_record_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

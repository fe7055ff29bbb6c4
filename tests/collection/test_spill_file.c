/* test_spill_file.c — arrays in temporary files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "collection/spill_file.h"

enum { NUMBERS = 400000 };

static void what_was_appended_is_there(void **state)
{
    (void)state;
    struct twin__spill spill;
    assert_int_equal(twin__spill_open(&spill, "/tmp", 1 << 20), TWIN_OK);
    for (uint64_t i = 0; i < NUMBERS; i++)
        assert_int_equal(twin__spill_append(&spill, &i, sizeof i), TWIN_OK);
    assert_int_equal(twin__spill_map(&spill), TWIN_OK);
    assert_int_equal(spill.length, NUMBERS * sizeof(uint64_t));
    const uint64_t *numbers = (const uint64_t *)(const void *)spill.bytes;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint64_t at = i * 7919 % NUMBERS; /* here and there */
        twin__spill_touch(&spill, TWIN__SPILL_AROUND);
        assert_int_equal(numbers[at], at);
    }
    twin__spill_clear(&spill);
}

/* Kilobytes of files that are mapped and count as memory of the process. */
static long resident_of_files(void)
{
    char line[256];
    long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RssFile:", 8) == 0)
            kilobytes = strtol(line + 8, NULL, 10);
    if (file)
        fclose(file);
    return kilobytes;
}

/* 64 MB are read, in order and at random, and no more than 1 MB, and what the system maps around a page, is ever
 * counted. */
static void pages_are_given_back(void **state)
{
    (void)state;
    enum { MEGABYTES = 64, MOST_KILOBYTES = 8 << 10 };
    static char megabyte[1 << 20];
    struct twin__spill spill;
    assert_int_equal(twin__spill_open(&spill, "/tmp", 1 << 20), TWIN_OK);
    for (int i = 0; i < MEGABYTES; i++) {
        memset(megabyte, i, sizeof megabyte);
        assert_int_equal(twin__spill_append(&spill, megabyte, sizeof megabyte), TWIN_OK);
    }
    assert_int_equal(twin__spill_map(&spill), TWIN_OK);
    long before = resident_of_files(), most = before;
    if (before < 0) {
        print_message("the kernel does not say how much of a file is in memory: skipped\n");
        skip();
    }
    for (size_t i = 0; i < spill.length; i += 4096) {
        twin__spill_touch(&spill, 4096);
        assert_int_equal((unsigned char)spill.bytes[i], i >> 20);
        if (i % (1 << 18) == 0 && resident_of_files() > most)
            most = resident_of_files();
    }
    uint64_t seed = 1;
    for (int i = 0; i < 5000; i++) {
        size_t at = twin__random_below(&seed, spill.length);
        twin__spill_touch(&spill, TWIN__SPILL_AROUND);
        assert_int_equal((unsigned char)spill.bytes[at], at >> 20);
        if (i % 16 == 0 && resident_of_files() > most)
            most = resident_of_files();
    }
    assert_true(most - before < MOST_KILOBYTES);
    twin__spill_clear(&spill);
}

static void nothing_is_an_array_too(void **state)
{
    (void)state;
    struct twin__spill spill;
    assert_int_equal(twin__spill_open(&spill, "/tmp", 1), TWIN_OK);
    assert_int_equal(twin__spill_append(&spill, NULL, 0), TWIN_OK);
    assert_int_equal(twin__spill_map(&spill), TWIN_OK);
    assert_int_equal(spill.length, 0);
    twin__spill_touch(&spill, 1 << 20);
    twin__spill_clear(&spill);
    assert_int_equal(twin__spill_open(&spill, "/nowhere/at/all", 1), TWIN_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_appended_is_there),
        cmocka_unit_test(pages_are_given_back),
        cmocka_unit_test(nothing_is_an_array_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_kernels_mark.c — every variant fills and marks bins as looking at one number after the other does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"

enum { BITS = 4, BINS = 1 << BITS, MOST = 150 };

static size_t mark_slowly(uint8_t *marks, uint64_t *missed, const uint64_t *bins, const uint64_t *items, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t bin = items[i] >> (64 - BITS), lane = 0;
        while (lane < BIN_ROOM && bins[bin * BIN_ROOM + lane] != items[i])
            lane++;
        if (lane < BIN_ROOM)
            marks[bin] |= (uint8_t)(1u << lane);
        else
            missed[count++] = items[i];
    }
    return count;
}

static void check(const uint64_t *bins, const uint64_t *given, size_t n)
{
    uint8_t expected_marks[BINS] = { 1 };
    uint64_t expected[MOST];
    size_t count = mark_slowly(expected_marks, expected, bins, given, n);
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        uint8_t marks[BINS] = { 1 }; /* stays marked */
        uint64_t *items = malloc((n + 1) * sizeof *items), *missed = malloc((n + 1) * sizeof *missed);
        assert_true(items && missed);
        memcpy(items + 1, given, n * sizeof *items); /* ends where its memory ends, and is not aligned to vectors */
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        assert_int_equal(twin__kernels()->mark_items(marks, missed, bins, 64 - BITS, items + 1, n), count);
        assert_memory_equal(missed, expected, count * sizeof *missed);
        assert_memory_equal(marks, expected_marks, sizeof marks);
        free(items);
        free(missed);
    }
}

/* Numbers from a small range: many are there, some more than once in a bin, some more than once among the items. */
static void every_variant_marks_the_first_of_equal_numbers(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    _Alignas(64) uint64_t bins[BINS * BIN_ROOM];
    for (size_t n = 0; n < MOST; n++) {
        uint64_t items[MOST], range = 1 + n % 24;
        for (size_t i = 0; i < BINS * BIN_ROOM; i++)
            bins[i] = (uint64_t)(i / BIN_ROOM) << (64 - BITS) | twin__random_next(&state) % range;
        for (size_t i = 0; i < n; i++)
            items[i] = twin__random_next(&state) >> (64 - BITS) << (64 - BITS) | twin__random_next(&state) % range;
        check(bins, items, n);
    }
}

/* ---- filling ---- */

struct table {
    _Alignas(64) uint64_t bins[BINS * BIN_ROOM];
    uint8_t held[BINS];
    uint64_t strays[MOST];
    size_t stray_count;
};

/* The places of the first bin hold what belongs to the last, and the others what belongs to the first. */
static void make_empty(struct table *table)
{
    memset(table, 0, sizeof *table);
    memset(table->bins, 0xFF, BIN_ROOM * sizeof table->bins[0]);
}

static bool is_in_bin(const struct table *table, size_t bin, uint64_t item)
{
    for (size_t i = 0; i < table->held[bin]; i++)
        if (table->bins[bin * BIN_ROOM + i] == item)
            return true;
    return false;
}

static void fill_slowly(struct table *table, const uint64_t *items, size_t n)
{
    make_empty(table);
    for (size_t i = 0; i < n; i++) {
        size_t bin = items[i] >> (64 - BITS);
        if (is_in_bin(table, bin, items[i]))
            continue;
        if (table->held[bin] < BIN_ROOM)
            table->bins[bin * BIN_ROOM + table->held[bin]++] = items[i];
        else
            table->strays[table->stray_count++] = items[i];
    }
}

/* Numbers from a small range: some come again, and some find their bin full. */
static void every_variant_fills_bins_with_different_numbers(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    size_t strays = 0;
    for (size_t n = 0; n < MOST; n++) {
        struct table expected, table;
        uint64_t *items = malloc((n + 1) * sizeof *items), range = 1 + n % 24;
        assert_non_null(items);
        for (size_t i = 1; i <= n; i++) /* ends where its memory ends, and is not aligned to vectors */
            items[i] = twin__random_next(&state) >> (64 - BITS) << (64 - BITS) | twin__random_next(&state) % range;
        fill_slowly(&expected, items + 1, n);
        strays += expected.stray_count;
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            assert_int_equal(twin_cpu_use(level), TWIN_OK);
            make_empty(&table);
            size_t count = twin__kernels()->fill_bins(table.bins, table.held, table.strays, 64 - BITS, items + 1, n);
            assert_int_equal(count, expected.stray_count);
            assert_memory_equal(table.strays, expected.strays, count * sizeof *table.strays);
            assert_memory_equal(table.held, expected.held, sizeof table.held);
            assert_memory_equal(table.bins, expected.bins, sizeof table.bins);
        }
        free(items);
    }
    assert_true(strays > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_marks_the_first_of_equal_numbers),
        cmocka_unit_test(every_variant_fills_bins_with_different_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

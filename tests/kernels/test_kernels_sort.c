/* test_kernels_sort.c — every variant sorts bins and drops repeats as the header specifies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "numbers.h"
#include "scale.h"

enum { MOST_BINS = 40, MOST_HELD = 12 };

/* Numbers of which some are equal and some the greatest there is. */
static uint64_t any_number(uint64_t *state)
{
    uint64_t kind = twin__random_below(state, 8);
    return kind == 0 ? UINT64_MAX : kind == 1 ? 0 : kind == 2 ? (uint64_t)1 << 63 : twin__random_next(state);
}

/* ---- bins */

struct bins {
    size_t count, stride, numbers;
    uint32_t held[MOST_BINS];
    uint64_t rows[BIN_ROOM * (MOST_BINS + 1)]; /* also where no number is there is something */
};

/* No bin holds more than `most`. */
static void fill(struct bins *bins, size_t count, size_t most, uint64_t *state)
{
    bins->count = count;
    bins->stride = count + twin__random_below(state, 2);
    bins->numbers = 0;
    for (size_t i = 0; i < BIN_ROOM * bins->stride; i++)
        bins->rows[i] = any_number(state);
    for (size_t b = 0; b < count; b++)
        bins->numbers += bins->held[b] = (uint32_t)twin__random_below(state, most + 1);
}

/* The header's words: each bin has its own sort. */
static void check_sorted(const uint64_t *out, const struct bins *bins)
{
    size_t at = 0;
    for (size_t b = 0; b < bins->count; b++) {
        uint64_t expected[BIN_ROOM];
        size_t count = bins->held[b] < BIN_ROOM ? bins->held[b] : BIN_ROOM;
        for (size_t k = 0; k < count; k++)
            expected[k] = bins->rows[k * bins->stride + b];
        qsort(expected, count, sizeof expected[0], by_value);
        assert_memory_equal(out + at, expected, count * sizeof expected[0]);
        at += bins->held[b];
    }
    assert_int_equal(at, bins->numbers);
}

static void check_bins(const struct bins *bins)
{
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        uint64_t *out = malloc((bins->numbers + 1) * sizeof *out);
        assert_non_null(out);
        out[bins->numbers] = 77; /* must stay */
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        twin__kernels()->sort_bins(out, bins->numbers, bins->rows, bins->stride, bins->held, bins->count);
        check_sorted(out, bins);
        assert_int_equal(out[bins->numbers], 77);
        free(out);
    }
}

static void every_row_sorts_bins(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    static struct bins bins;
    for (size_t count = 0; count <= MOST_BINS; count += 8)
        for (size_t most = 0; most <= MOST_HELD; most++)
            for (int round = 0; round < (QUICK ? 10 : 100); round++) {
                fill(&bins, count, most, &state);
                check_bins(&bins);
            }
}

/* A network sorts everything if it sorts all zeros and ones: 256 bins, full, with one pattern each. */
static void every_row_sorts_every_order(void **unused)
{
    (void)unused;
    enum { ALL = 1 << BIN_ROOM };
    static uint64_t rows[BIN_ROOM * ALL], out[BIN_ROOM * ALL];
    uint32_t held[ALL];
    for (size_t bin = 0; bin < ALL; bin++) {
        held[bin] = BIN_ROOM;
        for (size_t k = 0; k < BIN_ROOM; k++)
            rows[k * ALL + bin] = (bin >> k & 1) << 63;
    }
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        twin__kernels()->sort_bins(out, BIN_ROOM * ALL, rows, ALL, held, ALL);
        for (size_t bin = 0; bin < ALL; bin++) {
            size_t ones = (size_t)__builtin_popcountll(bin);
            for (size_t k = 0; k < BIN_ROOM; k++)
                assert_int_equal(out[bin * BIN_ROOM + k] >> 63, k >= BIN_ROOM - ones);
        }
    }
}

/* ---- repeats */

static size_t drop_one_by_one(uint64_t *out, const uint64_t *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || items[i] != items[i - 1])
            out[kept++] = items[i];
    return kept;
}

static void check_repeats(const uint64_t *given, size_t n)
{
    enum { MOST = 200 };
    uint64_t expected[MOST];
    size_t kept = drop_one_by_one(expected, given, n);
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        uint64_t *items = malloc((n + 1) * sizeof *items);
        assert_non_null(items);
        memcpy(items, given, n * sizeof *items);
        items[n] = 77; /* must stay */
        assert_int_equal(twin_cpu_use(level), TWIN_OK);
        assert_int_equal(twin__kernels()->drop_repeats(items, n), kept);
        assert_memory_equal(items, expected, kept * sizeof *items);
        assert_int_equal(items[n], 77);
        free(items);
    }
}

/* From all equal to none, with zero and the greatest number at the ends. */
static void every_row_drops_repeats(void **unused)
{
    (void)unused;
    uint64_t state = 2, items[200];
    for (size_t n = 0; n <= sizeof items / sizeof items[0]; n++)
        for (uint64_t one_in = 1; one_in <= 64; one_in *= 2)
            for (int from_end = 0; from_end < 2; from_end++) {
                uint64_t last = from_end ? UINT64_MAX - n : 0;
                for (size_t i = 0; i < n; i++)
                    items[i] = last += twin__random_below(&state, one_in) != 0;
                check_repeats(items, n);
                for (size_t i = 0; from_end && i < n / 3; i++)
                    items[n - 1 - i] = UINT64_MAX;
                check_repeats(items, n);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_sorts_bins),
        cmocka_unit_test(every_row_sorts_every_order),
        cmocka_unit_test(every_row_drops_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sort.c — sorting numbers of any distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/sort.h"
#include "kernels/sort_bytes.h"
#include "numbers.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Ways to make the i-th of n numbers; all but the first are not well mixed. */
typedef uint64_t pattern(size_t i, size_t n);

static uint64_t mixed(size_t i, size_t n)
{
    return twin__mix(i * 3 + n);
}
static uint64_t increasing(size_t i, size_t n)
{
    (void)n;
    return i;
}
static uint64_t decreasing(size_t i, size_t n)
{
    return n - i;
}
static uint64_t equal(size_t i, size_t n)
{
    (void)i, (void)n;
    return 0x123456789ABCDEFu;
}
static uint64_t equal_leading_bits(size_t i, size_t n)
{
    return 0xABCDEFull << 40 | (n - i);
}
static uint64_t equal_last_bits(size_t i, size_t n)
{
    return (n - i) << 44 | 0xFFFFF;
}
static uint64_t few_values(size_t i, size_t n)
{
    return twin__mix(i + n) & 0xF000000000000001u;
}
/* Mixed except for a block of close numbers, which two digits leave in decreasing order. */
static uint64_t one_bad_block(size_t i, size_t n)
{
    return i < n / 2 ? twin__mix(i) : 0x8000000000000000u | (n - i);
}
static uint64_t extremes(size_t i, size_t n)
{
    (void)n;
    return i % 3 == 0 ? UINT64_MAX - i % 2 : i % 3 == 1 ? i % 2 : (uint64_t)1 << 63;
}

/* Mixed but for one item in five that is always the same: a ruler in a text. */
static uint64_t one_repeated(size_t i, size_t n)
{
    return i % 5 == 0 ? 0x5555555555555555u : twin__mix(i + n);
}
/* Mixed but for a crowd that shares a bin, where there is room for eight. */
static uint64_t crowd(size_t i, size_t n, size_t size)
{
    return i < size ? 0x7777777700000000u | (size - i) : twin__mix(i + n);
}
static uint64_t crowd_that_fits(size_t i, size_t n)
{
    return crowd(i, n, n / 5);
}
static uint64_t crowd_too_large(size_t i, size_t n)
{
    return crowd(i, n, n / 4 + 9);
}
/* Bins that hold the greatest number, which also marks unused elements. */
static uint64_t greatest_among_mixed(size_t i, size_t n)
{
    return i % 7 == 3 ? UINT64_MAX : i % 7 == 5 ? 0 : twin__mix(i * 5 + n);
}

static pattern *const patterns[] = {
    mixed,         increasing, decreasing,   equal,           equal_leading_bits, equal_last_bits,      few_values,
    one_bad_block, extremes,   one_repeated, crowd_that_fits, crowd_too_large,    greatest_among_mixed,
};

static void check_level(twin_cpu level, const uint64_t *given, const uint64_t *expected, size_t n)
{
    /* One number behind each array must stay as it was. */
    uint64_t *items = malloc((n + 1) * sizeof *items), *spare = malloc((n + 1) * sizeof *spare);
    assert_true(items && spare);
    memcpy(items, given, n * sizeof *items);
    items[n] = spare[n] = 77;
    assert_int_equal(twin_cpu_use(level), TWIN_OK);
    twin__sort(items, n, spare, n);
    assert_memory_equal(items, expected, n * sizeof *items);
    assert_true(items[n] == 77 && spare[n] == 77);

    size_t room = twin__sort_room(n);
    free(spare);
    spare = malloc((room + 1) * sizeof *spare);
    assert_true(spare && room >= n);
    memcpy(items, given, n * sizeof *items);
    spare[room] = 77;
    twin__sort(items, n, spare, room);
    assert_memory_equal(items, expected, n * sizeof *items);
    assert_true(items[n] == 77 && spare[room] == 77);
    free(items);
    free(spare);
}

static void check_sort(pattern *make, size_t n)
{
    uint64_t *given = malloc(n * sizeof *given + 1), *expected = malloc(n * sizeof *expected + 1);
    assert_true(given && expected);
    for (size_t i = 0; i < n; i++)
        given[i] = expected[i] = make(i, n);
    qsort(expected, n, sizeof *expected, by_value);
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level))
        check_level(level, given, expected, n);
    twin_cpu_use(twin__cpu_best());
    free(given);
    free(expected);
}

static void every_pattern_sorts_as_qsort_does(void **state)
{
    (void)state;
    /* Around the steps where the road changes, the number of digits or their width, or the stride of the bins. */
    static const size_t sizes[] = { 100,  127,  128,  129,  255,    256,     257,           300,          1000, 2000,
                                    2047, 2048, 2049, 2080, 4095,   4096,    4097,          4128,         5000, 6000,
                                    8191, 8192, 8193, 9999, 100000, 1 << 17, (1 << 17) - 1, (1 << 17) + 1 };
    for (size_t p = 0; p < COUNT(patterns); p++) {
        for (size_t n = 0; n < 70; n++)
            check_sort(patterns[p], n);
        for (size_t s = 0; s < COUNT(sizes) - (QUICK ? 2 : 0); s++)
            check_sort(patterns[p], sizes[s]);
    }
}

/* Bins that overflow by chance, one item or many: a thousand pages of mixed items. */
static void every_page_sorts_as_qsort_does(void **state)
{
    (void)state;
    enum { PAGES = QUICK ? 100 : 1000 };
    for (size_t page = 0; page < PAGES; page++)
        check_sort(page % 2 ? mixed : one_repeated, 17 + page * 2503 / PAGES);
}

static double seconds_to_sort(uint64_t *items, uint64_t *spare, pattern *make, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items[i] = make(i, n);
    clock_t begun = clock();
    twin__sort(items, n, spare, n);
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* A page is sorted by bins, a book by digits; each must stay clear of steps that grow with the square. A quadratic sort
 * would need 10^11 steps for the book, minutes, and 3 * 10^10 for the pages; ours needs some 10^7 and 10^8. */
static void no_pattern_takes_quadratic_time(void **state)
{
    (void)state;
    enum { MANY = SANITIZED ? 200000 : 1000000, PAGE = 8192, PAGES = SANITIZED ? 30 : QUICK ? 300 : 2000 };
    uint64_t *items = malloc(MANY * sizeof *items), *spare = malloc(MANY * sizeof *spare);
    assert_true(items && spare);
    for (size_t p = 0; p < COUNT(patterns); p++) {
        double pages = 0;
        for (size_t page = 0; page < PAGES; page++)
            pages += seconds_to_sort(items, spare, patterns[p], PAGE);
        assert_true(pages < (QUICK ? 20 : 5));
        assert_true(seconds_to_sort(items, spare, patterns[p], MANY) < (QUICK ? 20 : 5));
        size_t wrong = 0;
        for (size_t i = 1; i < MANY; i++)
            wrong += items[i - 1] > items[i];
        assert_int_equal(wrong, 0);
    }
    free(items);
    free(spare);
}

static void sorting_in_place_needs_little_room(void **state)
{
    (void)state;
    enum { MANY = 30000, ROOM = 700 };
    uint64_t *items = malloc(MANY * sizeof *items), *expected = malloc(MANY * sizeof *expected), spare[ROOM];
    assert_true(items && expected);
    for (size_t p = 0; p < COUNT(patterns); p++)
        for (size_t n = 0; n <= MANY; n = n < 3 ? n + 1 : n * 3)
            for (size_t room = 1; room <= ROOM; room = room < ROOM / 8 ? room * 8 : room + ROOM / 2) {
                for (size_t i = 0; i < n; i++)
                    items[i] = expected[i] = patterns[p](i, n);
                qsort(expected, n, sizeof *expected, by_value);
                twin__sort_in_place(items, n, spare, room);
                if (n)
                    assert_memory_equal(items, expected, n * sizeof *items);
            }
    free(items);
    free(expected);
}

static void sorting_by_the_high_half_keeps_the_rest_in_order(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static const uint32_t groups[] = { 1, 2, 100, 5000, UINT32_MAX };
    uint64_t seed = 1;
    uint64_t *items = malloc(MANY * sizeof *items), *spare = malloc(MANY * sizeof *spare);
    uint64_t *expected = malloc(MANY * sizeof *expected), *again = malloc(MANY * sizeof *again);
    assert_true(items && spare && expected && again);
    for (size_t g = 0; g < COUNT(groups); g++)
        for (size_t n = 0; n <= MANY; n = n < 40 ? n + 1 : n * 10) {
            /* The low halves increase, so that keeping their order is the same as sorting by all bits. */
            for (size_t i = 0; i < n; i++)
                items[i] = expected[i] = twin__random_below(&seed, groups[g]) << 32 | i;
            qsort(expected, n, sizeof *expected, by_value);
            memcpy(again, items, n * sizeof *items);
            twin__sort_by_high_half(items, spare, n);
            assert_memory_equal(items, expected, n * sizeof *items);
            for (unsigned bytes = 4; bytes <= 8; bytes++) {
                memcpy(items, again, n * sizeof *items);
                twin__sort_by_bytes(items, spare, n, bytes);
                assert_memory_equal(items, expected, n * sizeof *items);
            }
        }
    free(items);
    free(spare);
    free(expected);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_sorts_as_qsort_does),
        cmocka_unit_test(every_page_sorts_as_qsort_does),
        cmocka_unit_test(no_pattern_takes_quadratic_time),
        cmocka_unit_test(sorting_in_place_needs_little_room),
        cmocka_unit_test(sorting_by_the_high_half_keeps_the_rest_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

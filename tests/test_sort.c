/* test_sort.c — numbers in order, whatever they look like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random.h"
#include "scale.h"
#include "sort.h"

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
/* Mixed but for a block of lookalikes, which two digits leave in decreasing order. */
static uint64_t one_bad_block(size_t i, size_t n)
{
    return i < n / 2 ? twin__mix(i) : 0x8000000000000000u | (n - i);
}
static uint64_t extremes(size_t i, size_t n)
{
    (void)n;
    return i % 3 == 0 ? UINT64_MAX - i % 2 : i % 3 == 1 ? i % 2 : (uint64_t)1 << 63;
}

static pattern *const patterns[] = { mixed,           increasing, decreasing,    equal,   equal_leading_bits,
                                     equal_last_bits, few_values, one_bad_block, extremes };

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_sort(pattern *make, size_t n)
{
    /* One number behind each array must stay as it was. */
    uint64_t *items = malloc((n + 1) * sizeof *items), *spare = malloc((n + 1) * sizeof *spare);
    uint64_t *expected = malloc((n + 1) * sizeof *expected);
    assert_true(items && spare && expected);
    for (size_t i = 0; i < n; i++)
        items[i] = expected[i] = make(i, n);
    items[n] = spare[n] = 77;
    qsort(expected, n, sizeof *expected, by_value);
    twin__sort(items, spare, n);
    assert_memory_equal(items, expected, n * sizeof *items);
    assert_true(items[n] == 77 && spare[n] == 77);
    free(items);
    free(spare);
    free(expected);
}

static void every_pattern_sorts_as_qsort_does(void **state)
{
    (void)state;
    /* Around the steps where the number of digits or their width changes. */
    static const size_t sizes[] = { 16,   17,   100,  1000,   2047,          2048,    2049,
                                    4095, 4096, 4097, 100000, (1 << 17) - 1, 1 << 17, (1 << 17) + 1 };
    for (size_t p = 0; p < COUNT(patterns); p++) {
        for (size_t n = 0; n < 70; n++)
            check_sort(patterns[p], n);
        for (size_t s = 0; s < COUNT(sizes); s++)
            check_sort(patterns[p], sizes[s]);
    }
}

/* A sort that is quadratic on a pattern would need 10^11 steps here, minutes; ours needs some 10^7. */
static void no_pattern_takes_quadratic_time(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    uint64_t *items = malloc(MANY * sizeof *items), *spare = malloc(MANY * sizeof *spare);
    assert_true(items && spare);
    for (size_t p = 0; p < COUNT(patterns); p++) {
        for (size_t i = 0; i < MANY; i++)
            items[i] = patterns[p](i, MANY);
        clock_t begun = clock();
        twin__sort(items, spare, MANY);
        assert_true((double)(clock() - begun) / CLOCKS_PER_SEC < (SANITIZED ? 20 : 5));
        for (size_t i = 1; i < MANY; i++)
            assert_true(items[i - 1] <= items[i]);
    }
    free(items);
    free(spare);
}

static void sorting_by_the_high_half_keeps_the_rest_in_order(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static const uint32_t groups[] = { 1, 2, 100, 5000, UINT32_MAX };
    uint64_t seed = 1;
    uint64_t *items = malloc(MANY * sizeof *items), *spare = malloc(MANY * sizeof *spare);
    uint64_t *expected = malloc(MANY * sizeof *expected);
    assert_true(items && spare && expected);
    for (size_t g = 0; g < COUNT(groups); g++)
        for (size_t n = 0; n <= MANY; n = n < 40 ? n + 1 : n * 10) {
            /* The low halves increase, so that keeping their order is the same as sorting by all bits. */
            for (size_t i = 0; i < n; i++)
                items[i] = expected[i] = twin__random_below(&seed, groups[g]) << 32 | i;
            qsort(expected, n, sizeof *expected, by_value);
            twin__sort_by_high_half(items, spare, n);
            assert_memory_equal(items, expected, n * sizeof *items);
        }
    free(items);
    free(spare);
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_sorts_as_qsort_does),
        cmocka_unit_test(no_pattern_takes_quadratic_time),
        cmocka_unit_test(sorting_by_the_high_half_keeps_the_rest_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

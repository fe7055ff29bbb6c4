/* test_kernels_weights.c — every variant sums weights and finds heads as the specification does, bit for bit. */
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

enum { VALUES = 1000, MOST = 100 };

/* Arrays end where their memory ends, so that a sanitizer sees a step too far. */
static void every_variant_gives_the_same_sum(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (size_t stride = 1; stride <= 2; stride++)
        for (size_t n = 0; n <= MOST; n++) {
            float *values = malloc(VALUES * stride * sizeof *values);
            uint32_t *places = malloc((n + 1) * sizeof *places);
            assert_true(values && places);
            uint32_t *at = places + 1;
            for (size_t i = 0; i < VALUES * stride; i++)
                values[i] = (float)twin__random_next(&state) * 1e-19f - 0.7f;
            long double sum = 0;
            for (size_t i = 0; i < n; i++) {
                at[i] = (uint32_t)(twin__random_next(&state) % VALUES);
                sum += (long double)values[stride * at[i]];
            }
            double expected = twin__sum_at_scalar(values, stride, at, n);
            assert_true((double)sum - expected < 1e-12 && expected - (double)sum < 1e-12);
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                double found = twin__kernels()->sum_at(values, stride, at, n);
                assert_memory_equal(&found, &expected, sizeof found);
            }
            free(values);
            free(places);
        }
}

static void every_variant_counts_the_same_bytes(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (size_t n = 0; n <= 3 * MOST; n++) {
        uint8_t *a = malloc(n + 1), *b = malloc(n + 1);
        assert_true(a && b);
        size_t equal = 0;
        for (size_t i = 1; i <= n; i++) {
            a[i] = (uint8_t)(twin__random_next(&state) % 3);
            b[i] = (uint8_t)(twin__random_next(&state) % 3);
            equal += a[i] == b[i];
        }
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            assert_int_equal(twin_cpu_use(level), TWIN_OK);
            assert_int_equal(twin__kernels()->agree_bytes(a + 1, b + 1, n), equal);
        }
        free(a);
        free(b);
    }
}

static void every_variant_finds_the_same_equal_bytes(void **unused)
{
    (void)unused;
    enum { ROWS = 5, WORDS = 3 };
    uint64_t state = 5, equal[ROWS * WORDS];
    uint32_t counts[ROWS];
    for (size_t words = 1; words <= WORDS; words++) {
        size_t width = 64 * words;
        uint8_t *rows = malloc((ROWS + 1) * width); /* as long as is read: beyond it nothing may be */
        assert_non_null(rows);
        for (size_t i = 0; i < (ROWS + 1) * width; i++)
            rows[i] = (uint8_t)(twin__random_below(&state, 2) * 129);
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            assert_int_equal(twin_cpu_use(level), TWIN_OK);
            twin__kernels()->equal_bytes(equal, counts, rows, rows + width, words, ROWS);
            for (size_t i = 0; i < ROWS; i++) {
                size_t count = 0;
                for (size_t k = 0; k < width; k++) {
                    bool same = rows[k] == rows[(i + 1) * width + k];
                    assert_int_equal(equal[i * words + k / 64] >> k % 64 & 1, same);
                    count += same;
                }
                assert_int_equal(counts[i], count);
            }
        }
        free(rows);
    }
}

static size_t find_slowly(uint32_t *out, const uint8_t (*heads)[HEAD_BYTES], size_t n, const uint8_t *head,
                          unsigned least)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned equal = 0;
        for (int k = 0; k < HEAD_BYTES; k++)
            equal += heads[i][k] == head[k];
        if (equal >= least)
            out[count++] = (uint32_t)i;
    }
    return count;
}

static void every_variant_finds_the_same_heads(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    for (size_t n = 0; n <= MOST; n++)
        for (unsigned least = 0; least <= HEAD_BYTES; least += 4) {
            uint8_t(*heads)[HEAD_BYTES] = malloc((n + 1) * sizeof *heads);
            uint32_t *found = malloc((n + 1) * sizeof *found), *expected = malloc((n + 1) * sizeof *expected);
            assert_true(heads && found && expected);
            for (size_t i = 0; i <= n; i++)
                for (int k = 0; k < HEAD_BYTES; k++) /* two values: about half of the bytes agree */
                    heads[i][k] = twin__random_next(&state) % 2 ? 0 : 200;
            uint8_t(*at)[HEAD_BYTES] = heads + 1;
            size_t count = find_slowly(expected, at, n, heads[0], least);
            for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
                assert_int_equal(twin_cpu_use(level), TWIN_OK);
                assert_int_equal(twin__kernels()->near_heads(found, at, n, heads[0], least), count);
                assert_memory_equal(found, expected, count * sizeof *found);
            }
            free(heads);
            free(found);
            free(expected);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_gives_the_same_sum),
        cmocka_unit_test(every_variant_counts_the_same_bytes),
        cmocka_unit_test(every_variant_finds_the_same_equal_bytes),
        cmocka_unit_test(every_variant_finds_the_same_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

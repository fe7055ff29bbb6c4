/* test_kernels_bits.c — every variant counts common bits as counting one bit after the other does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <twinsift/exec.h>

#include "base/random.h"
#include "kernels/kernels.h"

enum { WORDS = 600 }; /* more than twice what fits into the bytes of a vector */

static size_t count_slowly(const uint64_t *a, const uint64_t *b, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < 64 * n; i++)
        count += (a[i / 64] >> i % 64 & 1) && (b[i / 64] >> i % 64 & 1);
    return count;
}

/* Arrays end where their memory ends, so that a sanitizer sees a step too far. */
static void every_variant_counts_at_every_length(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (size_t n = 0; n <= WORDS; n += n < 80 ? 1 : 37) {
        uint64_t *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
        assert_true(a && b);
        uint64_t *x = a + 1, *y = b + 1;
        for (size_t i = 0; i < n; i++) {
            x[i] = n % 3 ? twin__random_next(&state) : UINT64_MAX;
            y[i] = n % 3 ? twin__random_next(&state) : UINT64_MAX;
        }
        size_t expected = count_slowly(x, y, n);
        for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
            assert_int_equal(twin_cpu_use(level), TWIN_OK);
            assert_int_equal(twin__kernels()->common_bits(x, y, n), expected);
        }
        free(a);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_variant_counts_at_every_length) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

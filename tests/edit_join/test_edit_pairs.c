/* test_edit_pairs.c — packed pairs are sorted, in bins or not, and repeats are dropped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "edit_join/edit_pairs.h"
#include "numbers.h"

static void a_pair_is_what_was_packed(void **unused)
{
    (void)unused;
    const uint32_t last = TWIN__PACKED_DOCUMENTS - 1;
    uint64_t pair = twin__packed_pair(last, 7, TWIN__PACKED_INDELS);
    assert_true(twin__packed_a(pair) == 7 && twin__packed_b(pair) == last &&
                twin__packed_indels(pair) == TWIN__PACKED_INDELS);
    assert_true(twin__packed_pair(1, 2, 200) < twin__packed_pair(1, 3, 0));
    assert_true(twin__packed_pair(1, last, 200) < twin__packed_pair(2, 3, 0));
}

/* As many as are sorted at once, and more; documents few and many, so that bins are empty, crowded, or one. */
static void pairs_are_sorted_and_repeats_dropped(void **unused)
{
    (void)unused;
    static const struct {
        size_t count;
        uint64_t documents;
    } kinds[] = { { 0, 10 }, { 1, 10 }, { 1000, 40 }, { 1200000, 3 }, { 1200000, 5000 }, { 1200000, 200000000 } };
    uint64_t state = 9;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct twin__edit_pairs pairs = { 0 };
        uint64_t *expected = malloc((kinds[k].count + 1) * sizeof *expected);
        size_t distinct = 0;
        assert_non_null(expected);
        for (size_t i = 0; i < kinds[k].count; i++) {
            uint32_t a = (uint32_t)twin__random_below(&state, kinds[k].documents);
            uint32_t b = (uint32_t)twin__random_below(&state, kinds[k].documents) + 1;
            expected[i] = twin__packed_pair(a, a + b, a % 3);
            assert_int_equal(twin__edit_pairs_add(&pairs, expected[i]), TWIN_OK);
        }
        qsort(expected, kinds[k].count, sizeof *expected, by_value);
        for (size_t i = 0; i < kinds[k].count; i++)
            if (i == 0 || expected[i] != expected[i - 1])
                expected[distinct++] = expected[i];
        assert_int_equal(twin__edit_pairs_sort(&pairs), TWIN_OK);
        assert_int_equal(pairs.count, distinct);
        assert_memory_equal(pairs.items, expected, distinct * sizeof *expected);
        free(expected);
        free(pairs.items);
    }
}

/* Ten pairs over and over take no more memory than the repeats that may wait to be dropped. */
static void repeats_do_not_fill_the_memory(void **unused)
{
    (void)unused;
    struct twin__edit_pairs pairs = { 0 }, all = { 0 };
    for (uint32_t i = 0; i < 5000000; i++)
        assert_int_equal(twin__edit_pairs_add_once(&pairs, twin__packed_pair(i % 10, 20, 1)), TWIN_OK);
    assert_true(pairs.capacity <= 1 << 21);
    pairs.compared = 3;
    assert_int_equal(twin__edit_pairs_move(&all, &pairs), TWIN_OK);
    assert_int_equal(twin__edit_pairs_add(&pairs, twin__packed_pair(1, 2, 0)), TWIN_OK);
    pairs.compared = 4;
    assert_int_equal(twin__edit_pairs_move(&all, &pairs), TWIN_OK);
    assert_int_equal(twin__edit_pairs_sort(&all), TWIN_OK);
    assert_true(all.count == 11 && all.compared == 7 && pairs.count == 0 && !pairs.items);
    free(all.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_is_what_was_packed),
        cmocka_unit_test(pairs_are_sorted_and_repeats_dropped),
        cmocka_unit_test(repeats_do_not_fill_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_difference.c — overlaps by differences from a base, against overlaps of whole sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/random.h"
#include "join/difference.h"

enum { ITEMS = 60 };

/* Each of the numbers below ITEMS is in the set with a chance of `percent`. */
static twin_set draw(uint64_t *items, uint64_t percent, uint64_t *seed)
{
    size_t count = 0;
    for (uint64_t i = 0; i < ITEMS; i++)
        if (twin__random_below(seed, 100) < percent)
            items[count++] = i;
    return (twin_set){ items, count };
}

static void overlaps_are_those_of_the_sets(void **state)
{
    (void)state;
    struct twin__difference differences[2] = { 0 };
    uint64_t seed = 1;
    for (int round = 0; round < 5000; round++) {
        uint64_t base_items[ITEMS], items[2][ITEMS];
        static const uint64_t percents[] = { 0, 5, 50, 95, 100 };
        twin_set base = draw(base_items, percents[twin__random_below(&seed, 5)], &seed), sets[2];
        for (int i = 0; i < 2; i++) {
            sets[i] = draw(items[i], percents[twin__random_below(&seed, 5)], &seed);
            assert_true(twin__difference_make(&differences[i], base, sets[i]));
            size_t common = twin_set_common(base, sets[i]);
            assert_int_equal(differences[i].missing.count, base.count - common);
            assert_int_equal(differences[i].extra.count, sets[i].count - common);
            assert_int_equal(twin_set_common(differences[i].missing, base), base.count - common);
            assert_int_equal(twin_set_common(differences[i].extra, sets[i]), sets[i].count - common);
        }
        assert_int_equal(twin__difference_common(&differences[0], &differences[1], base.count),
                         twin_set_common(sets[0], sets[1]));
    }
    free(differences[0].items);
    free(differences[1].items);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(overlaps_are_those_of_the_sets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_set.c — sets against slow sorting and counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/set.h>

#include "base/random.h"
#include "numbers.h"
#include "sketch/set.h"
#include "slow_set.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- making ---- */

static void check_make(const uint64_t *drawn, size_t count, twin_items *items, twin_items *scratch)
{
    uint64_t *expected = malloc((count + 1) * sizeof *expected);
    assert_non_null(expected);
    items->count = 0;
    assert_int_equal(twin__items_reserve(items, count), TWIN_OK);
    for (size_t i = 0; i < count; i++)
        expected[i] = items->items[items->count++] = drawn[i];
    size_t kept = make_set(expected, count);

    size_t distinct;
    twin_set set;
    assert_int_equal(twin__items_distinct(&distinct, items, scratch), TWIN_OK);
    assert_int_equal(distinct, kept);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(items->items[i], drawn[i]);
    assert_int_equal(twin__set_make(&set, items, scratch), TWIN_OK);
    assert_int_equal(set.count, kept);
    assert_int_equal(items->count, kept);
    assert_ptr_equal(set.items, items->items);
    if (kept)
        assert_memory_equal(set.items, expected, kept * sizeof *expected);
    free(expected);
}

static void a_set_is_sorted_and_has_nothing_twice(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 3, 10, 64, 65, 1000, 5000, 100000 };
    static const uint64_t ranges[] = { 1, 2, 10, 1000, 100000, UINT64_MAX };
    uint64_t seed = 1, *drawn = malloc(100000 * sizeof *drawn);
    twin_items items = { 0 }, scratch = { 0 };
    assert_non_null(drawn);
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t r = 0; r < COUNT(ranges); r++) {
            for (size_t i = 0; i < sizes[s]; i++)
                drawn[i] = twin__random_below(&seed, ranges[r]);
            check_make(drawn, sizes[s], &items, &scratch);
            for (size_t i = 0; i < sizes[s]; i++)
                drawn[i] = twin__mix(drawn[i]);
            check_make(drawn, sizes[s], &items, &scratch);
        }
    twin__items_clear(&items);
    twin__items_clear(&scratch);
    free(drawn);
}

static void room_grows_and_keeps_what_is_there(void **state)
{
    (void)state;
    twin_items items = { 0 };
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(twin__items_reserve(&items, 1), TWIN_OK);
        items.items[items.count++] = i;
    }
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(items.items[i] == i);
    assert_int_equal(twin__items_reserve(&items, SIZE_MAX), TWIN_ENOMEM);
    assert_int_equal(twin__items_reserve(&items, SIZE_MAX / 8), TWIN_ENOMEM);
    assert_int_equal(items.count, 10000);
    twin__items_clear(&items);
    assert_true(items.items == NULL && items.count == 0 && items.capacity == 0);
    twin__items_clear(&items);
}

/* ---- comparing ---- */

enum { MOST = 60 };

struct drawn {
    uint64_t items[MOST];
    twin_set set;
};

/* A set of some of the numbers below `range`, mixed or not. */
static void draw(struct drawn *out, uint64_t range, uint64_t *seed)
{
    size_t count = 0;
    uint64_t share = twin__random_below(seed, 101);
    for (uint64_t i = 0; i < range; i++)
        if (twin__random_below(seed, 100) < share)
            out->items[count++] = i * 1000;
    out->set = (twin_set){ out->items, count };
}

static void similarities_are_those_of_counting(void **state)
{
    (void)state;
    /* Thresholds on the line: every fraction of small numbers, as it would be typed and as it is divided. */
    static const double thresholds[] = { 1e-9, .1, .2, .25, 1. / 3, .5, .6, 2. / 3, .7, .75, .8, .9, .95, 1 };
    uint64_t seed = 2;
    for (int round = 0; round < 20000; round++) {
        struct drawn a, b;
        uint64_t range = 1 + twin__random_below(&seed, round % 2 ? MOST : 6);
        draw(&a, range, &seed);
        draw(&b, range, &seed);
        assert_int_equal(twin_set_common(a.set, b.set), slow_common(a.set, b.set));
        for (twin_measure measure = TWIN_JACCARD; measure <= TWIN_CONTAINMENT; measure++) {
            double truth = slow_similarity(a.set, b.set, measure);
            assert_true(twin_set_similarity(a.set, b.set, measure) == truth);
            assert_true(twin_set_similarity(b.set, a.set, measure) == truth);
            for (size_t t = 0; t < COUNT(thresholds); t++) {
                double expected = truth >= thresholds[t] ? truth : -1;
                assert_true(twin__set_similarity_at_least(a.set, b.set, measure, thresholds[t]) == expected);
            }
            if (truth > 0)
                assert_true(twin__set_similarity_at_least(a.set, b.set, measure, truth) == truth);
        }
    }
}

/* Every Jaccard similarity c/u with u up to 200 reaches itself as a threshold. */
static void a_pair_on_the_line_is_in(void **state)
{
    (void)state;
    uint64_t items[400];
    for (uint64_t i = 0; i < COUNT(items); i++)
        items[i] = i;
    for (size_t total = 1; total <= 200; total++)
        for (size_t common = 1; common <= total; common++) {
            size_t only_a = (total - common) / 2;
            twin_set a = { items, only_a + common }, b = { items + only_a, total - only_a };
            double line = (double)common / (double)total;
            assert_true(twin__set_similarity_at_least(a, b, TWIN_JACCARD, line) == line);
            assert_true(twin__set_similarity_at_least(a, b, TWIN_JACCARD, line * (1 + 1e-15)) == -1);
        }
    /* 3 of 5, against .6 as typed. */
    assert_true(twin__set_similarity_at_least((twin_set){ items, 4 }, (twin_set){ items + 1, 4 }, TWIN_JACCARD, .6) ==
                .6);
}

/* Of large sets a margin of a thousandth would be many items. */
static void a_large_pair_on_the_line_is_in(void **state)
{
    (void)state;
    enum { TOTAL = 100003 };
    static uint64_t items[TOTAL];
    for (uint64_t i = 0; i < TOTAL; i++)
        items[i] = i;
    for (size_t common = 1; common < TOTAL; common += 4999) {
        size_t only_a = (TOTAL - common) / 2, smaller = only_a + common;
        twin_set a = { items, smaller }, b = { items + only_a, TOTAL - only_a };
        double line = (double)common / TOTAL, part = (double)common / (double)smaller;
        assert_true(twin__set_similarity_at_least(a, b, TWIN_JACCARD, line) == line);
        assert_true(twin__set_similarity_at_least(a, b, TWIN_JACCARD, line * (1 + 1e-15)) == -1);
        assert_true(twin__set_similarity_at_least(a, b, TWIN_CONTAINMENT, part) == part);
        assert_true(twin__set_similarity_at_least(a, b, TWIN_CONTAINMENT, part * (1 + 1e-15)) == -1);
    }
}

static void the_empty_set_is_similar_to_nothing(void **state)
{
    (void)state;
    uint64_t one = 1;
    twin_set nothing = { NULL, 0 }, something = { &one, 1 };
    for (twin_measure measure = TWIN_JACCARD; measure <= TWIN_CONTAINMENT; measure++) {
        assert_true(twin_set_similarity(nothing, nothing, measure) == 0);
        assert_true(twin_set_similarity(nothing, something, measure) == 0);
        assert_true(twin_set_similarity(something, nothing, measure) == 0);
        assert_true(twin__set_similarity_at_least(nothing, nothing, measure, 1e-300) == -1);
        assert_true(twin__set_similarity_at_least(nothing, something, measure, 1e-300) == -1);
    }
    assert_int_equal(twin_set_common(nothing, something), 0);
}

/* The later items of these sets are in unmapped memory: a comparison that does not stop early crashes. */
static void hopeless_pairs_are_given_up_early(void **state)
{
    (void)state;
    uint64_t even[200], odd[200];
    for (uint64_t i = 0; i < 200; i++) {
        even[i] = 2 * i;
        odd[i] = 2 * i + 1;
    }
    /* Of 1,000 items each, .95 allows 26 of each side without a partner, and the slack of one. */
    twin_set a = { even, 1000 }, b = { odd, 1000 };
    assert_true(twin__set_similarity_at_least(a, b, TWIN_JACCARD, .95) == -1);
    assert_true(twin__set_similarity_at_least(a, b, TWIN_CONTAINMENT, .95) == -1);
    /* Sizes alone decide this one: nothing is looked at. */
    assert_true(twin__set_similarity_at_least((twin_set){ NULL, 10 }, (twin_set){ NULL, 1000 }, TWIN_JACCARD, .5) ==
                -1);
}

/* Counted one by one, whatever the order. */
static void occurrences_are_items_of_their_own(void **state)
{
    (void)state;
    enum { KINDS = 40, DRAWN = 3000 };
    uint64_t seed = 11;
    twin_items items[2] = { { 0 }, { 0 } }, scratch = { 0 };
    for (int round = 0; round < 20; round++) {
        size_t counts[2][KINDS] = { { 0 } }, least = 0, most = 0;
        twin_set sets[2];
        for (int side = 0; side < 2; side++) {
            items[side].count = 0;
            assert_int_equal(twin__items_reserve(&items[side], DRAWN), TWIN_OK);
            for (int i = 0; i < DRAWN; i++) {
                uint64_t kind = twin__random_below(&seed, 1 + twin__random_below(&seed, KINDS));
                counts[side][kind]++;
                items[side].items[items[side].count++] = twin__mix(kind);
            }
            assert_int_equal(twin__items_number(&items[side], &scratch), TWIN_OK);
            assert_int_equal(twin__set_make(&sets[side], &items[side], &scratch), TWIN_OK);
            assert_int_equal(sets[side].count, DRAWN);
            assert_int_equal(twin__items_number(&items[side], &scratch), TWIN_OK); /* once more: nothing changes */
            assert_int_equal(twin__set_make(&sets[side], &items[side], &scratch), TWIN_OK);
            assert_int_equal(sets[side].count, DRAWN);
        }
        for (int kind = 0; kind < KINDS; kind++) {
            size_t a = counts[0][kind], b = counts[1][kind];
            least += a < b ? a : b;
            most += a < b ? b : a;
        }
        assert_true(twin_set_similarity(sets[0], sets[1], TWIN_JACCARD) == (double)least / (double)most);
    }
    twin__items_clear(&items[0]);
    twin__items_clear(&items[1]);
    twin__items_clear(&scratch);
}

static void digests_tell_sets_apart(void **state)
{
    (void)state;
    uint64_t items[] = { 1, 2, 3 };
    twin_digest all = twin__set_digest((twin_set){ items, 3 }), two = twin__set_digest((twin_set){ items, 2 });
    twin_digest again = twin__set_digest((twin_set){ items, 3 }), none = twin__set_digest((twin_set){ NULL, 0 });
    assert_true(all.low == again.low && all.high == again.high);
    assert_true(all.low != two.low && all.high != two.high && two.low != none.low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_sorted_and_has_nothing_twice),
        cmocka_unit_test(room_grows_and_keeps_what_is_there),
        cmocka_unit_test(similarities_are_those_of_counting),
        cmocka_unit_test(a_pair_on_the_line_is_in),
        cmocka_unit_test(a_large_pair_on_the_line_is_in),
        cmocka_unit_test(the_empty_set_is_similar_to_nothing),
        cmocka_unit_test(hopeless_pairs_are_given_up_early),
        cmocka_unit_test(occurrences_are_items_of_their_own),
        cmocka_unit_test(digests_tell_sets_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

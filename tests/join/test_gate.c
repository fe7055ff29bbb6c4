/* test_gate.c — the signature gate against the exact binomial distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "join/join_private.h"

/* The probability that fewer than `least` of `slots` slots are equal at this similarity. */
static double lost(double similarity, size_t slots, size_t least)
{
    double sum = 0, k = (double)slots;
    for (size_t i = 0; i < least; i++) {
        double x = (double)i;
        sum += exp(lgamma(k + 1) - lgamma(x + 1) - lgamma(k - x + 1) + x * log(similarity) +
                   (k - x) * log(1 - similarity));
    }
    return sum;
}

static void few_true_pairs_are_lost(void **state)
{
    (void)state;
    static const size_t slots[] = { 64, 128, 256, 512 };
    for (size_t s = 0; s < 4; s++)
        for (int percent = 1; percent < 100; percent++) {
            double similarity = percent / 100., most = percent <= 90 ? 2e-4 : 5e-4;
            size_t least = twin__gate_least(similarity, slots[s]);
            assert_true(lost(similarity, slots[s], least) < most);
            if (slots[s] == 128 && percent <= 90)
                assert_true(lost(similarity, slots[s], least) < 8e-5);
        }
}

/* A pair of half the threshold passes with 128 slots less than once in a hundred, from a threshold of .6 on. */
static void most_false_pairs_are_stopped(void **state)
{
    (void)state;
    for (int percent = 60; percent <= 100; percent += 5) {
        size_t least = twin__gate_least(percent / 100., 128);
        assert_true(lost(percent / 200., 128, least) > .99);
    }
}

static void bounds_are_what_they_always_were(void **state)
{
    (void)state;
    assert_int_equal(twin__gate_least(.8, 128), 84);
    assert_int_equal(twin__gate_least(.5, 128), 41);
    assert_int_equal(twin__gate_least(1, 128), 128);
    assert_int_equal(twin__gate_least(.1, 64), 0);
    assert_int_equal(twin__gate_least_estimated(.8, 128), 103);
    assert_int_equal(twin__gate_least_estimated(.9, 10), 9);
    assert_int_equal(twin__gate_least_estimated(.7, 10), 7);
    assert_int_equal(twin__gate_least_estimated(1, 128), 128);
}

/* ---- pairs of documents ---- */

enum { SLOTS = 128 };

/* Document d agrees with document 0 in all but d slots. */
static void pairs_pass_by_their_equal_slots(void **state)
{
    (void)state;
    static uint32_t rows[(SLOTS + 1) * SLOTS];
    for (size_t d = 0; d <= SLOTS; d++)
        for (size_t slot = 0; slot < SLOTS; slot++)
            rows[d * SLOTS + slot] = slot < d ? (uint32_t)d : 0;
    struct twin__provider provider = { .count = SLOTS + 1, .signatures = { .rows = rows, .slots = SLOTS } };
    struct twin__gate exact = twin__gate_make(TWIN_JACCARD, .8, TWIN_VERIFY_EXACT, SLOTS);
    struct twin__gate estimate = twin__gate_make(TWIN_JACCARD, .8, TWIN_VERIFY_ESTIMATE, SLOTS);
    struct twin__gate none = twin__gate_make(TWIN_JACCARD, .8, TWIN_VERIFY_NONE, SLOTS);
    struct twin__gate contained = twin__gate_make(TWIN_CONTAINMENT, .8, TWIN_VERIFY_EXACT, SLOTS);
    for (uint32_t d = 1; d <= SLOTS; d++) {
        size_t equal = SLOTS - d;
        assert_true(twin__gate_passes(&exact, &provider, 0, d) == (equal >= twin__gate_least(.8, SLOTS)));
        assert_true(twin__gate_passes(&estimate, &provider, 0, d) == ((double)equal / SLOTS >= .8));
        assert_true(twin__gate_passes(&none, &provider, 0, d));
        assert_true(twin__gate_passes(&contained, &provider, d, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_true_pairs_are_lost),
        cmocka_unit_test(most_false_pairs_are_stopped),
        cmocka_unit_test(bounds_are_what_they_always_were),
        cmocka_unit_test(pairs_pass_by_their_equal_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

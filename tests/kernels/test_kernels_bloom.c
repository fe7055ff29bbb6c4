/* test_kernels_bloom.c — every variant sets and finds the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/bloom.h>
#include <twinsift/exec.h>

#include <cmocka.h>

#include "base/random.h"
#include "kernels/kernels.h"

enum { BLOCKS = 37, WORDS = BLOCKS * 8, MOST = 70 };

static const struct kernels *row(twin_cpu level)
{
    assert_int_equal(twin_cpu_use(level), TWIN_OK);
    return twin__kernels();
}

static void draw(struct bloom_probe *probes, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        probes[i] = (struct bloom_probe){ twin__random_below(random, BLOCKS), twin__random_next(random) };
    for (size_t i = 2; i < n; i += 5)
        probes[i] = probes[i - 2]; /* the same again, soon after */
}

/* Fills from empty to full, so that probes meet blocks of every load. */
static void all_rows_do_what_the_scalar_does(void **state_unused)
{
    (void)state_unused;
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level)) {
        _Alignas(64) uint64_t slow[WORDS] = { 0 }, fast[WORDS] = { 0 };
        uint64_t random = 7;
        const struct kernels *kernels = row(level);
        for (size_t round = 0; round < 400; round++) {
            struct bloom_probe probes[MOST];
            bool slow_answers[MOST + 1] = { 0 }, fast_answers[MOST + 1] = { 0 };
            size_t n = round % (MOST + 1);
            draw(probes, n, &random);
            assert_int_equal(kernels->bloom_test(fast_answers, fast, probes, n),
                             twin__bloom_test_scalar(slow_answers, slow, probes, n));
            assert_memory_equal(slow_answers, fast_answers, sizeof slow_answers);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(kernels->bloom_has(fast + 8 * probes[i].block, probes[i].lanes), slow_answers[i]);
            assert_int_equal(kernels->bloom_add(fast_answers, fast, probes, n),
                             twin__bloom_add_scalar(slow_answers, slow, probes, n));
            assert_memory_equal(slow_answers, fast_answers, sizeof slow_answers);
            assert_memory_equal(slow, fast, sizeof slow);
            assert_int_equal(kernels->bloom_test(fast_answers, fast, probes, n), n);
        }
    }
}

/* Each lane and each of its bits alone: with one missing, the item is not in. */
static void every_bit_of_every_lane_counts(void **state_unused)
{
    (void)state_unused;
    for (twin_cpu level = TWIN_CPU_SCALAR; level < TWIN_CPU_LEVELS; level = twin__next_level(level))
        for (unsigned lane = 0; lane < 8; lane++)
            for (uint64_t bit = 0; bit < 64; bit++) {
                _Alignas(64) uint64_t words[16];
                struct bloom_probe probe = { 1, 0x5A5A5A5A5A5A & ~((uint64_t)63 << (6 * lane)) };
                probe.lanes |= bit << (6 * lane) | 0xABCD000000000000; /* the top bits mean nothing */
                bool answer;
                memset(words, 0xff, sizeof words);
                assert_int_equal(row(level)->bloom_test(&answer, words, &probe, 1), 1);
                words[8 + lane] &= ~((uint64_t)1 << bit);
                assert_int_equal(twin__kernels()->bloom_test(&answer, words, &probe, 1), 0);
                assert_false(answer);
                assert_int_equal(twin__kernels()->bloom_add(&answer, words, &probe, 1), 1);
                assert_true(answer);
                assert_true(words[8 + lane] == UINT64_MAX);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_do_what_the_scalar_does),
        cmocka_unit_test(every_bit_of_every_lane_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

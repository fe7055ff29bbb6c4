/* test_minhash.c — signatures estimate the similarity of sets, without bias. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/sketch_mix.h"
#include "scale.h"
#include "sketch/minhash.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static twin_minhash *hasher(twin_sketch sketch, size_t slots, uint64_t seed)
{
    twin_minhash *made;
    assert_int_equal(
        twin__minhash_create(&made, (twin_minhash_options){ .sketch = sketch, .slots = slots, .seed = seed }),
        TWIN_OK);
    return made;
}

static uint64_t *random_items(size_t count, uint64_t seed)
{
    uint64_t *items = malloc((count + 1) * sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++)
        items[i] = twin__random_next(&seed);
    return items;
}

static uint64_t *integers(size_t count)
{
    uint64_t *items = malloc((count + 1) * sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < count; i++)
        items[i] = i;
    return items;
}

static void sign(uint32_t *out, twin_sketch sketch, size_t slots, uint64_t seed, const uint64_t *items, size_t count)
{
    twin_minhash *made = hasher(sketch, slots, seed);
    twin__minhash_sign(out, made, items, count);
    twin__minhash_free(made);
}

static const twin_sketch sketches[] = { TWIN_SKETCH_FAST, TWIN_SKETCH_CLASSIC };
static const size_t slot_counts[] = { 1, 2, 100, 128, 300, TWIN_MINHASH_MAX_SLOTS };

/* ---- the estimator ---- */

/* Two sets of `size` items of which `common` are shared, signed under many seeds. The mean of the estimates has a
 * standard error of sqrt(J(1-J) / (slots·seeds)), at most .5/sqrt(slots·seeds). With slots·seeds = 4,000,000 four
 * of these are 0.001, so the bound on the bias is 0.001 and a sound estimator passes it 99.994 times in 100. Slots
 * are worth as much as seeds here: a large set takes more slots and fewer seeds, which costs the fast sketch
 * nothing. Classic pays for each slot, so that its large sets get fewer draws and the bound is the four standard
 * errors they allow.
 *
 * The variance of the estimates over S seeds is known to a relative standard error of about sqrt(2/S): 1 in 10
 * is four of these at S = 3,200 or more; below that four of these are allowed. */
struct trial {
    size_t size, slots, seeds;
};

enum { SCALE = SANITIZED ? 100 : QUICK ? 25 : 2 };

static const struct trial fast_trials[] = {
    { 10, 128, 31250 / SCALE },    { 100, 128, 31250 / SCALE },    { 1000, 128, 31250 / SCALE },
    { 10000, 1024, 4000 / SCALE }, { 100000, 1024, 4000 / SCALE },
};
static const struct trial classic_trials[] = {
    { 10, 128, 31250 / SCALE },   { 100, 128, 31250 / SCALE },  { 1000, 128, 31250 / SCALE },
    { 10000, 128, 3200 / SCALE }, { 100000, 128, 320 / SCALE },
};
static const double similarities[] = { .1, .2, .3, .4, .5, .6, .7, .8, .9 };
enum { SIMILARITIES = COUNT(similarities) };

/* Of a trial, per similarity: the truth, and the sums that mean and variance come from. */
struct tally {
    size_t common;
    double truth, sum, squares;
};

static void tally_init(struct tally *tally, size_t size, double similarity)
{
    size_t common = (size_t)lround(2 * (double)size * similarity / (1 + similarity));
    *tally = (struct tally){ common, (double)common / (double)(2 * size - common), 0, 0 };
}

/* The first set is items 0 .. size-1, the others begin further on. Of the nine similarities a large set takes every
 * fourth. */
static void run_trial(struct tally *tallies, size_t step, twin_sketch sketch, struct trial trial,
                      const uint64_t *items)
{
    uint32_t *a = malloc(2 * trial.slots * sizeof *a), *b = a + trial.slots;
    assert_non_null(a);
    for (uint64_t seed = 0; seed < trial.seeds; seed++) {
        twin_minhash *made = hasher(sketch, trial.slots, seed);
        twin__minhash_sign(a, made, items, trial.size);
        for (size_t s = 0; s < SIMILARITIES; s += step) {
            twin__minhash_sign(b, made, items + trial.size - tallies[s].common, trial.size);
            double estimate = (double)twin_minhash_agreement(a, b, trial.slots) / (double)trial.slots;
            tallies[s].sum += estimate - tallies[s].truth;
            tallies[s].squares += (estimate - tallies[s].truth) * (estimate - tallies[s].truth);
        }
        twin__minhash_free(made);
    }
    free(a);
}

static void check_trial(twin_sketch sketch, struct trial trial, const uint64_t *items, const char *kind)
{
    struct tally tallies[SIMILARITIES];
    size_t step = trial.size > 1000 ? 4 : 1;
    for (size_t s = 0; s < SIMILARITIES; s++)
        tally_init(&tallies[s], trial.size, similarities[s]);
    run_trial(tallies, step, sketch, trial, items);

    double seeds = (double)trial.seeds, slots = (double)trial.slots;
    for (size_t s = 0; s < SIMILARITIES; s += step) {
        double truth = tallies[s].truth, bias = tallies[s].sum / seeds, ideal = truth * (1 - truth) / slots;
        double variance = tallies[s].squares / seeds - bias * bias;
        double bias_allowed = fmax(.001, 4 * sqrt(ideal / seeds)), variance_allowed = fmax(.1, 4 * sqrt(2 / seeds));
        if (fabs(bias) >= bias_allowed || variance >= (1 + variance_allowed) * ideal)
            print_message("%s, %s, %zu items, J %.4f: bias %+.5f, variance %.3f of J(1-J)/k\n",
                          twin_name_of(TWIN_NAMES_SKETCH, sketch), kind, trial.size, truth, bias, variance / ideal);
        assert_true(fabs(bias) < bias_allowed);
        assert_true(variance < (1 + variance_allowed) * ideal);
        if (sketch == TWIN_SKETCH_CLASSIC)
            assert_true(variance > (1 - variance_allowed) * ideal);
    }
}

static void check_trials(twin_sketch sketch, const struct trial *trials, size_t count)
{
    uint64_t *drawn = random_items(200000, 42), *counted = integers(200000);
    for (size_t i = 0; i < count; i++) {
        check_trial(sketch, trials[i], drawn, "random");
        check_trial(sketch, trials[i], counted, "consecutive");
    }
    free(drawn);
    free(counted);
}

static void fast_estimates_without_bias(void **state)
{
    (void)state;
    check_trials(TWIN_SKETCH_FAST, fast_trials, COUNT(fast_trials));
}

static void classic_estimates_without_bias(void **state)
{
    (void)state;
    check_trials(TWIN_SKETCH_CLASSIC, classic_trials, COUNT(classic_trials));
}

/* Numbers that differ in some of their bits only: the header promises that any will do. */
static void numbers_of_any_shape_will_do(void **state)
{
    (void)state;
    static const int shifts[] = { 16, 32, 40, 48 };
    const struct trial trial = { 1000, 128, 31250 / SCALE };
    uint64_t items[2000];
    for (size_t s = 0; s < COUNT(shifts); s++) {
        for (size_t i = 0; i < COUNT(items); i++)
            items[i] = (uint64_t)i << shifts[s];
        check_trial(TWIN_SKETCH_FAST, trial, items, "shifted");
    }
    for (size_t i = 0; i < COUNT(items); i++) {
        double number = (double)i;
        memcpy(&items[i], &number, sizeof number);
    }
    check_trial(TWIN_SKETCH_FAST, trial, items, "doubles");
}

/* ---- unions ---- */

/* The parts overlap: every item goes to one part or both. */
static void check_union(twin_sketch sketch, size_t slots, size_t count, uint64_t *state)
{
    uint64_t *items = random_items(count, twin__random_next(state)), *parts[2];
    uint32_t *whole = malloc(3 * slots * sizeof *whole);
    size_t sizes[2] = { 0, 0 };
    parts[0] = malloc((count + 1) * sizeof *items);
    parts[1] = malloc((count + 1) * sizeof *items);
    assert_true(whole && parts[0] && parts[1]);
    uint32_t *merged = whole + slots, *other = merged + slots;
    uint64_t first = 1 + twin__random_below(state, 99);
    for (size_t i = 0; i < count; i++) {
        bool in_first = twin__random_below(state, 100) < first;
        if (in_first)
            parts[0][sizes[0]++] = items[i];
        if (!in_first || twin__random_below(state, 4) == 0)
            parts[1][sizes[1]++] = items[i];
    }
    sign(whole, sketch, slots, count, items, count);
    sign(merged, sketch, slots, count, parts[0], sizes[0]);
    sign(other, sketch, slots, count, parts[1], sizes[1]);
    twin__minhash_merge(merged, other, slots);
    assert_memory_equal(merged, whole, slots * sizeof *whole);
    free(items);
    free(parts[0]);
    free(parts[1]);
    free(whole);
}

static void merging_parts_is_signing_the_whole(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    for (size_t sketch = 0; sketch < COUNT(sketches); sketch++)
        for (size_t s = 0; s < COUNT(slot_counts); s++) {
            int rounds = slot_counts[s] > 1000 ? 3 : QUICK ? 30 : 200;
            for (int round = 0; round < rounds; round++)
                check_union(sketches[sketch], slot_counts[s], twin__random_below(&state, round % 2 ? 1000 : 20),
                            &state);
        }
}

static void order_and_repeats_do_not_matter(void **unused)
{
    (void)unused;
    enum { ITEMS = 300 };
    uint64_t *items = random_items(2 * ITEMS, 8), state = 9;
    uint32_t plain[300], shuffled[300];
    for (size_t sketch = 0; sketch < COUNT(sketches); sketch++)
        for (size_t count = 0; count <= ITEMS; count += 1 + count / 10) {
            sign(plain, sketches[sketch], 300, 1, items, count);
            uint64_t again[2 * ITEMS];
            for (size_t i = 0; i < 2 * count; i++)
                again[i] = items[i % (count + !count)];
            for (size_t i = 2 * count; i-- > 1;) {
                size_t j = twin__random_below(&state, i + 1);
                uint64_t item = again[i];
                again[i] = again[j];
                again[j] = item;
            }
            sign(shuffled, sketches[sketch], 300, 1, again, 2 * count);
            assert_memory_equal(plain, shuffled, sizeof plain);
        }
    free(items);
}

/* ---- single signatures ---- */

static void the_empty_set_signs_as_all_ones(void **unused)
{
    (void)unused;
    uint32_t *out = malloc(TWIN_MINHASH_MAX_SLOTS * sizeof *out);
    uint64_t zero = 0;
    assert_non_null(out);
    for (size_t sketch = 0; sketch < COUNT(sketches); sketch++)
        for (size_t s = 0; s < COUNT(slot_counts); s++) {
            sign(out, sketches[sketch], slot_counts[s], 1, NULL, 0);
            for (size_t slot = 0; slot < slot_counts[s]; slot++)
                assert_true(out[slot] == UINT32_MAX);
            if (sketches[sketch] == TWIN_SKETCH_CLASSIC)
                continue;
            /* No item, not even zero, leaves a slot of the fast sketch empty. */
            sign(out, sketches[sketch], slot_counts[s], 1, &zero, 1);
            for (size_t slot = 0; slot < slot_counts[s]; slot++)
                assert_true(out[slot] < UINT32_MAX);
        }
    free(out);
}

/* The rule in the words of minhash.c: each item has a number for each slot, the slot keeps the least. */
static void fast_is_the_least_number_of_each_slot(void **unused)
{
    (void)unused;
    enum { SLOTS = 40 };
    for (size_t count = 1; count < 200; count += 7) {
        uint64_t *items = random_items(count, count), state = 11, seeds[3];
        uint32_t out[SLOTS];
        sign(out, TWIN_SKETCH_FAST, SLOTS, 11, items, count);
        for (size_t i = 0; i < 3; i++)
            seeds[i] = twin__random_next(&state);
        for (size_t slot = 0; slot < SLOTS; slot++) {
            uint64_t function = twin__random_next(&state);
            uint32_t least = UINT32_MAX;
            for (size_t i = 0; i < count; i++) {
                uint64_t first = twin__sketch_mix(items[i], seeds[0]), second = twin__sketch_mix(items[i], seeds[1]);
                uint32_t own = ((uint32_t)function | 1) * (uint32_t)(twin__sketch_mix(items[i], seeds[2]) >> 32);
                uint32_t number = 2u << 30 | (own + (uint32_t)(function >> 32)) >> 2;
                if ((second >> 32) * SLOTS >> 32 == slot)
                    number = 1u << 30 | (uint32_t)second >> 2;
                if ((first >> 32) * SLOTS >> 32 == slot)
                    number = (uint32_t)first >> 2;
                least = number < least ? number : least;
            }
            assert_int_equal(out[slot], least);
        }
        free(items);
    }
}

/* A signature is part of what an index keeps: it may never change. */
static const struct golden {
    twin_sketch sketch;
    size_t count;
    uint32_t slots[8];
} goldens[] = {
    { TWIN_SKETCH_FAST,
      1,
      {
          0xa8c5d4dfu,
          0x06c5d657u,
          0x8faacabeu,
          0xb892c0a8u,
          0xa9b9c5feu,
          0x49e1b81du,
          0xa094b707u,
          0x818c5b70u,
      } },
    { TWIN_SKETCH_FAST,
      3,
      {
          0x800b38ccu,
          0x06c5d657u,
          0x6e4fc5afu,
          0x7e5a3173u,
          0x82dcab70u,
          0x49e1b81du,
          0x160f1f4fu,
          0x818c5b70u,
      } },
    { TWIN_SKETCH_FAST,
      10,
      {
          0x30210978u,
          0x06c5d657u,
          0x04c46fd6u,
          0x7e5a3173u,
          0x256265f0u,
          0x49e1b81du,
          0x160f1f4fu,
          0x818c5b70u,
      } },
    { TWIN_SKETCH_FAST,
      1000,
      {
          0x00ed4db5u,
          0x00035b58u,
          0x003bed03u,
          0x0058024eu,
          0x001e8aabu,
          0x00e5f4d9u,
          0x017d53efu,
          0x0027ee2bu,
      } },
    { TWIN_SKETCH_CLASSIC,
      1,
      {
          0x56e89cdbu,
          0x9c028adeu,
          0x482880eeu,
          0xccf00258u,
          0xee73878au,
          0x77d08653u,
          0x1140fd0cu,
          0x6c2676deu,
      } },
    { TWIN_SKETCH_CLASSIC,
      3,
      {
          0x0991f616u,
          0x38c08e9bu,
          0x470e472du,
          0x6fefba4bu,
          0x8531adb5u,
          0x77d08653u,
          0x1140fd0cu,
          0x1ad18995u,
      } },
    { TWIN_SKETCH_CLASSIC,
      10,
      {
          0x02e77310u,
          0x38c08e9bu,
          0x2a865198u,
          0x2ed89b55u,
          0x1a20d209u,
          0x4a19871bu,
          0x019dea9bu,
          0x177fe23du,
      } },
    { TWIN_SKETCH_CLASSIC,
      1000,
      {
          0x00697641u,
          0x00040f2du,
          0x00a875bbu,
          0x000cbf21u,
          0x005b7aeau,
          0x003cb6dbu,
          0x00c61b1du,
          0x0056e86bu,
      } },
};

static void signatures_never_change(void **unused)
{
    (void)unused;
    uint64_t *items = random_items(1000, 1);
    for (size_t i = 0; i < COUNT(goldens); i++) {
        uint32_t out[8];
        sign(out, goldens[i].sketch, 8, 42, items, goldens[i].count);
        assert_memory_equal(out, goldens[i].slots, sizeof out);
    }
    free(items);
}

static void agreement_counts_equal_slots(void **unused)
{
    (void)unused;
    const uint32_t a[] = { 1, 2, 3, 4, 5 }, b[] = { 1, 0, 3, 0, 5 };
    assert_int_equal(twin_minhash_agreement(a, b, 5), 3);
    assert_int_equal(twin_minhash_agreement(a, b, 1), 1);
    assert_int_equal(twin_minhash_agreement(a, b, 0), 0);
}

static void wrong_numbers_are_refused(void **unused)
{
    (void)unused;
    twin_minhash *made;
    assert_int_equal(twin__minhash_create(&made, (twin_minhash_options){ .slots = TWIN_MINHASH_MAX_SLOTS + 1 }),
                     TWIN_EINVAL);
    assert_null(made);
    assert_int_equal(twin__minhash_create(&made, (twin_minhash_options){ .sketch = (twin_sketch)2 }), TWIN_EINVAL);
    twin__minhash_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_estimates_without_bias),           cmocka_unit_test(classic_estimates_without_bias),
        cmocka_unit_test(numbers_of_any_shape_will_do),          cmocka_unit_test(merging_parts_is_signing_the_whole),
        cmocka_unit_test(order_and_repeats_do_not_matter),       cmocka_unit_test(the_empty_set_signs_as_all_ones),
        cmocka_unit_test(fast_is_the_least_number_of_each_slot), cmocka_unit_test(signatures_never_change),
        cmocka_unit_test(agreement_counts_equal_slots),          cmocka_unit_test(wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

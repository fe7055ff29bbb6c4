/* test_bloom_plan.c — sizes and rates of filters against theory. */
#include "bloom_items.h"

#include <math.h>
#include <stdio.h>

/* ---- plans ---- */

static double cells_per_item(double rate, twin_bloom_layout layout)
{
    twin_bloom_shape shape;
    twin_bloom_options options = { .items = 1000000000, .rate = rate, .layout = layout };
    assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
    return (double)shape.cells / 1e9;
}

static void plans_take_the_bits_that_theory_asks_for(void **state_unused)
{
    (void)state_unused;
    /* Worked out apart from this code, by summing the Poisson mixture in another program. */
    static const struct {
        double rate, blocks, classic;
    } expected[] = { { .05, 7.05, 6.24 }, { .01, 10.10, 9.59 }, { .001, 15.72, 14.38 }, { .0001, 23.61, 19.17 } };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_true(fabs(cells_per_item(expected[i].rate, TWIN_BLOOM_BLOCKS) - expected[i].blocks) < .006);
        /* Classic with a whole number of functions takes up to 0.6 % more than ln(1/p)/(ln 2)². */
        double classic = cells_per_item(expected[i].rate, TWIN_BLOOM_CLASSIC);
        assert_true(classic > expected[i].classic - .006 && classic < expected[i].classic * 1.006);
    }
}

static void the_rate_chooses_the_layout(void **state_unused)
{
    (void)state_unused;
    static const struct {
        double rate;
        twin_bloom_layout layout;
    } expected[] = { { .5, TWIN_BLOOM_BLOCKS },
                     { .01, TWIN_BLOOM_BLOCKS },
                     { .003, TWIN_BLOOM_BLOCKS },
                     { .00299, TWIN_BLOOM_CLASSIC },
                     { 1e-12, TWIN_BLOOM_CLASSIC } };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        twin_bloom_shape shape;
        twin_bloom_options options = { .items = 1000, .rate = expected[i].rate };
        assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
        assert_int_equal(shape.layout, expected[i].layout);
    }
}

static void a_plan_keeps_its_rate(void **state_unused)
{
    (void)state_unused;
    for (double rate = 1e-9; rate < .5; rate *= 3)
        for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
            for (uint64_t items = 1; items <= 10000000000; items *= 10) {
                twin_bloom_shape shape;
                twin_bloom_options options = { .items = items, .rate = rate, .layout = (twin_bloom_layout)layout };
                /* Items known by 64 bits cannot be distinguished more reliably than that. */
                bool possible = (double)items * 0x1p-64 <= rate / 2;
                assert_int_equal(twin_bloom_plan(&shape, options), possible ? TWIN_OK : TWIN_ELIMIT);
                if (!possible)
                    continue;
                double expected = twin_bloom_expected_rate(shape, (double)items);
                assert_true(expected <= rate * (1 + 1e-9));
                if (items >= 1000000) /* where rounding up to a block is small change */
                    assert_true(expected > rate * .99);
            }
}

static void eight_cells_an_item_want_six_functions(void **state_unused)
{
    (void)state_unused;
    twin_bloom_shape shape;
    twin_bloom_options options = { .items = 64000, .cells = 8 * 64000 };
    assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
    assert_int_equal(shape.functions, 6);
    assert_int_equal(shape.cells, 8 * 64000);
    assert_true(fabs(twin_bloom_expected_rate(shape, 64000) - .02158) < .00001);

    /* The table of Martins and Jesus 2015 ends at ten cells per item: 0.008194. */
    options.cells = 10 * 64000;
    assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
    assert_true(fabs(twin_bloom_expected_rate(shape, 64000) - .008194) < .000001);
}

static void options_outside_their_range_are_refused(void **state_unused)
{
    (void)state_unused;
    const twin_bloom_options wrong[] = {
        { .items = 10, .rate = -1 },
        { .items = 10, .rate = .51 },
        { .items = 10, .rate = 1e-13 },
        { .items = 10, .rate = NAN },
        { .items = 10, .rate = .01, .cell_bits = 2 },
        { .items = 10, .rate = .01, .cell_bits = 32 },
        { .items = 10, .rate = .01, .layout = (twin_bloom_layout)99 },
        { .items = 10, .rate = .01, .hash.family = (twin_hash_family)99 },
        { .items = 10, .rate = .01, .functions = 3 },
        { .items = 10, .cells = 512, .layout = TWIN_BLOOM_BLOCKS },
        { .items = 10, .cells = 512, .functions = 65 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        twin_bloom *bloom;
        assert_int_equal(twin_bloom_create(&bloom, wrong[i]), TWIN_EINVAL);
        assert_null(bloom);
    }
}

static void sizes_never_wrap(void **state_unused)
{
    (void)state_unused;
    twin_bloom_shape shape;
    twin_bloom_options options = { .items = 10000000000, .rate = .01, .cell_bits = 16 };
    assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
    assert_true(shape.cells > 100900000000 && shape.cells < 101100000000);
    assert_int_equal(twin_bloom_bytes(shape), shape.cells * 2);

    const uint64_t huge[] = { UINT64_MAX, UINT64_MAX / 10, (uint64_t)1 << 60, (uint64_t)1 << 45 };
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        twin_bloom *bloom;
        assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ .items = huge[i], .rate = .01 }),
                         TWIN_ELIMIT);
        assert_null(bloom);
        options = (twin_bloom_options){ .items = 1, .cells = huge[i] * 4 + 3 };
        assert_int_equal(twin_bloom_plan(&shape, options), TWIN_ELIMIT);
    }
}

/* 2^33 cells are a GiB, of which adding touches little. The probability that 64 items are all in the lower half,
 * where 32 bits would put them, is 2^-64. */
static void large_filters_use_all_their_cells(void **state_unused)
{
    (void)state_unused;
    if (SANITIZED) {
        print_message("filters of a GiB are too much for a sanitizer: skipped\n");
        skip();
    }
    twin_bloom_options options[] = { { .items = 840000000, .rate = .01, .layout = TWIN_BLOOM_BLOCKS },
                                     { .items = 840000000, .cells = (uint64_t)1 << 33, .functions = 1 } };
    for (size_t i = 0; i < 2; i++) {
        twin_bloom *bloom = make(options[i]);
        assert_true(bloom->shape.cells > (uint64_t)1 << 32);
        uint64_t upper = 0;
        for (uint64_t j = 0; j < 64; j++) {
            add(bloom, j);
            assert_true(has(bloom, j));
            struct item it = item(j);
            uint64_t hash = twin_hash_bytes(bloom->hash, it.bytes, ITEM_BYTES);
            uint64_t cell = (uint64_t)((unsigned __int128)hash * (i == 0 ? bloom->blocks : bloom->shape.cells) >> 64);
            const uint64_t *word = bloom->words + (i == 0 ? cell * 8 : cell / 64);
            assert_true(*word != 0);
            upper += (uint64_t)(word - bloom->words) >= (uint64_t)1 << 26;
        }
        assert_true(upper > 0);
        twin_bloom_free(bloom);
    }
}

/* ---- rates ---- */

/* How far the rate of one filter strays from that of all filters of its shape, as a share of it. Classic: the
 * marked cells have a variance of n·(e^-a − (1 + a)·e^-2a), a = km/n, and the rate is the k-th power of their share.
 * Blocks: the mean over n/512 blocks of g(i) = (1 − (63/64)^i)^8, i Poisson but with a known sum; knowing it takes
 * away what g has in common with i: Var g − Cov²(g, i) / Var i. */
static double own_spread(twin_bloom_shape shape, double items)
{
    double n = (double)shape.cells, a = shape.functions * items / n, load = 512 * items / n;
    if (shape.layout == TWIN_BLOOM_CLASSIC)
        return shape.functions * sqrt(n * (exp(-a) - (1 + a) * exp(-2 * a))) / (n * -expm1(-a));
    double weight = exp(-load), mean = 0, square = 0, with = 0;
    for (double i = 0; i < load * 4 + 40; weight *= load / ++i) {
        double g = pow(1 - pow(63. / 64, i), 8);
        mean += weight * g;
        square += weight * g * g;
        with += weight * g * (i - load);
    }
    return sqrt((square - mean * mean - with * with / load) / (n / 512)) / mean;
}

/* The count of false positives is binomial, about the rates of these few filters. ±3.29 standard deviations are
 * left once in 1000 runs; the 95 % interval is printed. */
static void check_rate(twin_bloom_shape shape, double items, double planned, double seen, double filters,
                       double probes)
{
    double own = planned * own_spread(shape, items) / sqrt(filters);
    double deviation = sqrt(planned * (1 - planned) / probes + own * own), off = (seen - planned) / deviation;
    print_message("%s planned %.4f %% seen %.4f %% (%+.2f standard deviations, 95 %% is within 1.96)\n",
                  twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, shape.layout), planned * 100, seen * 100, off);
    assert_true(fabs(off) < 3.29);
}

/* 10^7 queries find 1000 false positives and more, so that 10 % off would be seen; a filter sized by the classic
 * formula for blocks would be 46 % and more off. */
static void rates_are_as_planned_and_nothing_is_lost(void **state_unused)
{
    (void)state_unused;
    enum { ITEMS = 1000000 / SCALE, FILTERS = 4, PROBES = 10000000 / SCALE };
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (double rate = .01; rate > .00005; rate /= 10) {
            double seen = 0;
            twin_bloom_options options = { .items = ITEMS, .rate = rate, .layout = (twin_bloom_layout)layout };
            twin_bloom_shape shape;
            assert_int_equal(twin_bloom_plan(&shape, options), TWIN_OK);
            for (options.hash.seed = 1; options.hash.seed <= FILTERS; options.hash.seed++) {
                twin_bloom *bloom = make(options);
                for (uint64_t i = 0; i < ITEMS; i++)
                    add(bloom, i);
                for (uint64_t i = 0; i < ITEMS; i++)
                    assert_true(has(bloom, i));
                seen += observed_rate(bloom, PROBES / FILTERS) / FILTERS;
                twin_bloom_info info = describe(bloom);
                assert_true(fabs(info.rate / rate - 1) < .02 * sqrt(SCALE));
                assert_false(info.past_plan);
                twin_bloom_free(bloom);
            }
            check_rate(shape, ITEMS, rate, seen, FILTERS, PROBES);
        }
}

static void every_number_of_functions_gives_its_rate(void **state_unused)
{
    (void)state_unused;
    enum { ITEMS = 100000 / SCALE };
    for (unsigned k = 1; k <= 15; k++) {
        twin_bloom *bloom = make((twin_bloom_options){ .items = ITEMS, .cells = 8 * ITEMS, .functions = k });
        for (uint64_t i = 0; i < ITEMS; i++)
            add(bloom, i);
        /* The fill is off by up to 3.29·√(e^{-km/n}(1 - ...)/n), less than 0.0013 here, and the rate by k times
         * that share of itself; the bound has both. */
        double probes = 1000000.0 / SCALE, planned = bloom->planned_rate;
        double spread = 3.29 * (sqrt(planned / probes) + planned * k * .0004 * sqrt(SCALE));
        assert_true(fabs(observed_rate(bloom, (uint64_t)probes) - planned) < spread);
        twin_bloom_free(bloom);
    }
}

/* In a filter of 512 cells, items that meet in two cells are common: with plain double hashing they would meet in
 * all of them, and the rate at 26 items and 0.01 % would be twice what was planned. */
static void small_filters_keep_their_rate(void **state_unused)
{
    (void)state_unused;
    enum { FILTERS = 2000 / SCALE, PROBES = 5000 };
    double seen = 0, expected = 0;
    for (uint64_t seed = 0; seed < FILTERS; seed++) {
        twin_bloom_options options = { .items = 26, .rate = .0001, .layout = TWIN_BLOOM_CLASSIC };
        options.hash.seed = seed;
        twin_bloom *bloom = make(options);
        for (uint64_t i = 0; i < 26; i++)
            add(bloom, i);
        seen += observed_rate(bloom, PROBES) * PROBES;
        expected += describe(bloom).rate * PROBES;
        twin_bloom_free(bloom);
    }
    /* The expected number is summed over the filters as they turned out, so what remains is Poisson: about 1100
     * of 10^7 (the shape has 512 cells, 19.7 per item). */
    print_message("26 items: expected %.0f false positives, seen %.0f\n", expected, seen);
    assert_true(fabs(seen - expected) < 3.29 * sqrt(expected) + 1);
}

static void layouts_have_names(void **state_unused)
{
    (void)state_unused;
    assert_string_equal(twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_AUTO), "auto");
    assert_string_equal(twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_BLOCKS), "blocks");
    assert_string_equal(twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, TWIN_BLOOM_CLASSIC), "classic");
    assert_string_equal(twin_name_of(TWIN_NAMES_BLOOM_LAYOUT, 9), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_take_the_bits_that_theory_asks_for),
        cmocka_unit_test(the_rate_chooses_the_layout),
        cmocka_unit_test(a_plan_keeps_its_rate),
        cmocka_unit_test(eight_cells_an_item_want_six_functions),
        cmocka_unit_test(options_outside_their_range_are_refused),
        cmocka_unit_test(sizes_never_wrap),
        cmocka_unit_test(large_filters_use_all_their_cells),
        cmocka_unit_test(rates_are_as_planned_and_nothing_is_lost),
        cmocka_unit_test(every_number_of_functions_gives_its_rate),
        cmocka_unit_test(small_filters_keep_their_rate),
        cmocka_unit_test(layouts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

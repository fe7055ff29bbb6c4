/* test_bloom.c — filters against theory, against exact sets, and against a slow version of themselves. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/bloom.h>

#include <cmocka.h>

#include "base/random.h"
#include "bloom/bloom_private.h"
#include "families.h"
#include "scale.h"

/* Everything that is checked statistically is fixed by its seeds; a test that passes once passes always. */
enum { SCALE = QUICK ? 20 : 2, ITEM_BYTES = 20 };

/* The item numbered i, 20 bytes like an address; no two are equal. */
struct item {
    char bytes[ITEM_BYTES];
};

static struct item item(uint64_t i)
{
    struct item item;
    uint64_t mixed = twin__mix(i + 77);
    memcpy(item.bytes, &i, 8);
    memcpy(item.bytes + 8, &mixed, 8);
    memcpy(item.bytes + 16, "user", 4);
    return item;
}

static bool add(twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_add(bloom, it.bytes, ITEM_BYTES);
}

static bool has(const twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_may_contain(bloom, it.bytes, ITEM_BYTES);
}

static uint32_t count(const twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_count(bloom, it.bytes, ITEM_BYTES);
}

static bool take_out(twin_bloom *bloom, uint64_t i)
{
    struct item it = item(i);
    return twin_bloom_remove(bloom, it.bytes, ITEM_BYTES);
}

static twin_bloom *make(twin_bloom_options options)
{
    twin_bloom *bloom;
    options.hash.family = present_family(options.hash.family);
    assert_int_equal(twin_bloom_create(&bloom, options), TWIN_OK);
    return bloom;
}

static twin_bloom_info describe(const twin_bloom *bloom)
{
    twin_bloom_info info;
    twin_bloom_describe(&info, bloom);
    return info;
}

/* The share of `probes` absent items, numbered from 10^12 up, that the filter confirms. */
static double observed_rate(const twin_bloom *bloom, uint64_t probes)
{
    enum { BATCH = 1000 };
    static struct item items[BATCH];
    static twin_text texts[BATCH];
    bool found[BATCH];
    uint64_t hits = 0;
    for (uint64_t done = 0; done < probes; done += BATCH) {
        for (uint64_t i = 0; i < BATCH; i++) {
            items[i] = item(1000000000000u + done + i);
            texts[i] = (twin_text){ items[i].bytes, ITEM_BYTES };
        }
        hits += twin_bloom_may_contain_many(found, bloom, texts, BATCH);
    }
    return (double)hits / (double)probes;
}

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
                  twin_bloom_layout_name(shape.layout), planned * 100, seen * 100, off);
    assert_true(fabs(off) < 3.29);
}

/* 10^7 questions find 1000 false positives and more, so that 10 % off would be seen; a filter sized by the classic
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

/* ---- what it holds ---- */

static const twin_bloom_options kinds[] = {
    { .items = 3000, .rate = .01 },
    { .items = 3000, .rate = .001 },
    { .items = 3000, .rate = .01, .cell_bits = 4 },
    { .items = 3000, .rate = .001, .cell_bits = 4 },
    { .items = 3000, .rate = .01, .cell_bits = 8 },
    { .items = 3000, .rate = .001, .cell_bits = 8 },
    { .items = 3000, .rate = .01, .cell_bits = 16 },
    { .items = 3000, .rate = .001, .cell_bits = 16 },
    { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_FARM, .seed = 5 } },
    { .items = 3000, .rate = .001, .hash = { .family = TWIN_HASH_JENKINS, .seed = 6 } },
    { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_SIP, .key = { 7, 8 } } },
    { .items = 3000, .rate = .001, .hash = { .family = TWIN_HASH_SIP, .key = { 9, 10 } } },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The cells of an item as docs/format.md specifies, implemented independently of bloom.c. */
static unsigned slow_cells(uint64_t *cells, const twin_bloom *bloom, const char *bytes, size_t length)
{
    uint64_t h = twin_hash_bytes(bloom->hash, bytes, length), step = twin_hash_mix(h + 0x9E3779B97F4A7C15u);
    unsigned k = bloom->shape.functions, distinct = 0;
    for (unsigned i = 0; i < k; i++) {
        uint64_t cell;
        if (bloom->shape.layout == TWIN_BLOOM_BLOCKS) {
            uint64_t block = (uint64_t)((unsigned __int128)h * (bloom->shape.cells / 512) >> 64);
            cell = block * 512 + i * 64 + (h * 15074714826142052245u >> (16 + 6 * i)) % 64;
        } else {
            cell = (uint64_t)((unsigned __int128)h * bloom->shape.cells >> 64);
            h = h * 15074714826142052245u + step;
        }
        bool repeat = false;
        for (unsigned j = 0; j < distinct; j++)
            repeat |= cells[j] == cell;
        if (!repeat)
            cells[distinct++] = cell;
    }
    return distinct;
}

static uint32_t slow_cell(const twin_bloom *bloom, uint64_t cell)
{
    const uint8_t *bytes = (const uint8_t *)bloom->words;
    switch (bloom->shape.cell_bits) {
    case 1: return bytes[cell / 8] >> (cell % 8) & 1;
    case 4: return bytes[cell / 2] >> (cell % 2 * 4) & 15;
    case 8: return bytes[cell];
    default: return bytes[2 * cell] | (uint32_t)bytes[2 * cell + 1] << 8;
    }
}

static void cells_are_those_of_the_slow_version(void **state_unused)
{
    (void)state_unused;
    for (int kind = 0; kind < KINDS; kind++) {
        twin_bloom *bloom = make(kinds[kind]);
        uint32_t most = (1u << bloom->shape.cell_bits) - 1, *slow = calloc(bloom->shape.cells, sizeof *slow);
        assert_non_null(slow);
        for (uint64_t i = 0; i < 2000; i++) {
            uint64_t cells[64], id = i % 1500; /* some twice */
            struct item it = item(id);
            unsigned distinct = slow_cells(cells, bloom, it.bytes, ITEM_BYTES);
            bool fresh = false;
            for (unsigned j = 0; j < distinct; j++) {
                fresh |= slow[cells[j]] == 0;
                slow[cells[j]] += slow[cells[j]] < most;
            }
            assert_int_equal(add(bloom, id), fresh);
        }
        uint64_t marked = 0;
        for (uint64_t cell = 0; cell < bloom->shape.cells; cell++) {
            assert_int_equal(slow_cell(bloom, cell), slow[cell]);
            marked += slow[cell] != 0;
        }
        assert_int_equal(describe(bloom).marked, marked);
        free(slow);
        twin_bloom_free(bloom);
    }
}

static void many_at_once_is_the_same_as_one_by_one(void **state_unused)
{
    (void)state_unused;
    enum { ITEMS = 1100 };
    static struct item items[ITEMS];
    static twin_text texts[ITEMS];
    static bool fresh[ITEMS], found[ITEMS];
    for (uint64_t i = 0; i < ITEMS; i++) {
        items[i] = item(i % 1000); /* some twice, and again in one batch */
        if (i % 50 == 1)
            items[i] = items[i - 1];
        texts[i] = (twin_text){ items[i].bytes, i % (ITEM_BYTES + 1) };
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < ITEMS; n = n * 3 + 1) {
            twin_bloom *one = make(kinds[kind]), *many = make(kinds[kind]);
            size_t news = twin_bloom_add_many(fresh, many, texts, n), ones = 0;
            for (size_t i = 0; i < n; i++) {
                bool was_new = twin_bloom_add(one, texts[i].bytes, texts[i].length);
                assert_int_equal(fresh[i], was_new);
                ones += was_new;
            }
            assert_int_equal(news, ones);
            assert_memory_equal(one->words, many->words, twin_bloom_bytes(one->shape));
            assert_int_equal(describe(many).added, n);
            assert_int_equal(describe(many).fresh, news);

            size_t hits = twin_bloom_may_contain_many(found, many, texts, ITEMS), single = 0;
            for (size_t i = 0; i < ITEMS; i++) {
                bool may = twin_bloom_may_contain(many, texts[i].bytes, texts[i].length);
                assert_int_equal(found[i], may);
                assert_int_equal(may, twin_bloom_count(many, texts[i].bytes, texts[i].length) > 0);
                assert_true(may || i >= n);
                single += may;
            }
            assert_int_equal(hits, single);
            twin_bloom_free(one);
            twin_bloom_free(many);
        }
}

static void an_empty_filter_holds_nothing(void **state_unused)
{
    (void)state_unused;
    for (int kind = 0; kind < KINDS; kind++) {
        twin_bloom *bloom = make(kinds[kind]);
        for (uint64_t i = 0; i < 100; i++)
            assert_false(has(bloom, i));
        twin_bloom_info info = describe(bloom);
        assert_int_equal(info.marked + info.saturated + info.added + info.fresh + info.removed, 0);
        assert_true(info.fill == 0 && info.items == 0 && info.rate == 0 && !info.past_plan);
        assert_true(info.planned_rate == kinds[kind].rate && info.planned_items == 3000);

        assert_true(twin_bloom_add(bloom, "", 0)); /* the empty string is an item too */
        assert_true(twin_bloom_may_contain(bloom, "", 0));
        assert_false(twin_bloom_add(bloom, "", 0));
        twin_bloom_free(bloom);
    }
}

static void items_are_estimated_from_the_fill(void **state_unused)
{
    (void)state_unused;
    enum { PLANNED = 40000 };
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (unsigned bits = 1; bits <= 4; bits += 3) {
            twin_bloom_options options = { PLANNED, .01, .cell_bits = bits, .layout = (twin_bloom_layout)layout };
            twin_bloom *bloom = make(options);
            uint64_t added = 0;
            for (uint64_t goal = PLANNED / 4; goal <= 4 * PLANNED; goal *= 2) {
                for (; added < goal; added++)
                    add(bloom, added);
                /* The standard error of the classic estimate at 4 times the plan is
                 * √(n·(e^a - a - 1))/k with a = km/n: below 0.25 % of the items. Blocks differ by their loads,
                 * which adds as much again. */
                twin_bloom_info info = describe(bloom);
                assert_true(fabs(info.items / (double)goal - 1) < .015);
                assert_int_equal(info.past_plan, goal > PLANNED);
                assert_true((info.rate > .0105) == (goal > PLANNED));
                /* Below the plan the rate hangs on the few fullest of 789 blocks and wavers more. */
                double expected = twin_bloom_expected_rate(info.shape, (double)goal);
                assert_true(goal < PLANNED || fabs(info.rate / expected - 1) < .06);
            }
            twin_bloom_free(bloom);
        }
}

static void a_full_filter_still_has_finite_numbers(void **state_unused)
{
    (void)state_unused;
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++) {
        twin_bloom *bloom = make((twin_bloom_options){ 10, .01, .layout = (twin_bloom_layout)layout });
        for (uint64_t i = 0; i < 20000; i++)
            add(bloom, i);
        twin_bloom_info info = describe(bloom);
        assert_true(info.fill == 1 && info.rate == 1 && info.past_plan);
        assert_true(isfinite(info.items) && info.items > 100);
        assert_true(twin_bloom_expected_rate(info.shape, 1e18) == 1);
        twin_bloom_free(bloom);
    }
}

/* ---- merging ---- */

static void a_union_is_the_filter_of_both(void **state_unused)
{
    (void)state_unused;
    for (int kind = 0; kind < KINDS; kind++) {
        twin_bloom *a = make(kinds[kind]), *b = make(kinds[kind]), *both = make(kinds[kind]);
        for (uint64_t i = 0; i < 1500; i++) {
            add(a, i);
            add(both, i);
            add(b, i + 1000);
            add(both, i + 1000);
        }
        double rate;
        assert_int_equal(twin_bloom_unite(&rate, a, b), TWIN_OK);
        assert_memory_equal(a->words, both->words, twin_bloom_bytes(a->shape));
        assert_true(rate == describe(both).rate && rate > 0);
        assert_int_equal(describe(a).added, 3000);
        twin_bloom_free(a);
        twin_bloom_free(b);
        twin_bloom_free(both);
    }
}

static void an_intersection_holds_what_both_hold(void **state_unused)
{
    (void)state_unused;
    for (int kind = 0; kind < KINDS; kind++) {
        twin_bloom *a = make(kinds[kind]), *b = make(kinds[kind]);
        for (uint64_t i = 0; i < 1500; i++) {
            add(a, i);
            add(b, i + 1000);
            add(b, i + 1000);
        }
        double before = describe(a).rate, rate;
        assert_int_equal(twin_bloom_intersect(&rate, a, b), TWIN_OK);
        for (uint64_t i = 1000; i < 1500; i++)
            assert_true(count(a, i) >= 1);
        assert_true(rate < before && rate == describe(a).rate);
        twin_bloom_free(a);
        twin_bloom_free(b);
    }
}

static void unequal_filters_are_not_merged(void **state_unused)
{
    (void)state_unused;
    static const twin_bloom_options others[] = {
        { .items = 9000, .rate = .01 },
        { .items = 3000, .rate = .01, .layout = TWIN_BLOOM_CLASSIC },
        { .items = 3000, .rate = .01, .cell_bits = 4 },
        { .items = 3000, .rate = .01, .hash = { .seed = 1 } },
        { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_FARM } },
        { .items = 3000, .rate = .01, .hash = { .family = TWIN_HASH_SIP } },
    };
    twin_bloom *bloom = make(kinds[0]), *keyed = make(kinds[10]), *other;
    add(bloom, 1);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (twin_hash_available(others[i].hash.family) != TWIN_OK)
            continue;
        other = make(others[i]);
        assert_int_equal(twin_bloom_unite(NULL, bloom, other), TWIN_EINVAL);
        assert_int_equal(twin_bloom_intersect(NULL, bloom, other), TWIN_EINVAL);
        assert_int_equal(twin_bloom_unite(NULL, keyed, other), TWIN_EINVAL); /* another key */
        twin_bloom_free(other);
    }
    assert_true(has(bloom, 1));
    assert_int_equal(describe(bloom).added, 1);
    twin_bloom_free(bloom);
    twin_bloom_free(keyed);
}

/* ---- counting ---- */

static void what_is_put_in_comes_out(void **state_unused)
{
    (void)state_unused;
    /* 30 functions in 512 cells: nearly every item has cells that coincide. */
    for (unsigned bits = 8; bits <= 16; bits += 8)
        for (unsigned k = 1; k <= 30; k++) {
            twin_bloom *bloom =
                make((twin_bloom_options){ .items = 10, .cell_bits = bits, .cells = 512, .functions = k });
            for (uint64_t i = 0; i < 200; i++)
                add(bloom, i % 100);
            assert_int_equal(describe(bloom).saturated, 0);
            for (uint64_t i = 0; i < 200; i++) {
                assert_true(count(bloom, i % 100) >= (i < 100 ? 2 : 1));
                assert_true(take_out(bloom, i % 100));
            }
            assert_int_equal(describe(bloom).marked, 0);
            assert_int_equal(describe(bloom).removed, 200);
            twin_bloom_free(bloom);
        }
}

static void an_item_alone_is_counted_exactly(void **state_unused)
{
    (void)state_unused;
    for (unsigned bits = 4; bits <= 16; bits *= 2)
        for (unsigned k = 1; k <= 64; k++) {
            twin_bloom *bloom =
                make((twin_bloom_options){ .items = 10, .cell_bits = bits, .cells = 512, .functions = k });
            uint32_t most = (1u << bits) - 1, goal = bits == 16 ? 300 : most;
            for (uint32_t n = 1; n <= goal; n++) {
                assert_int_equal(add(bloom, 5), n == 1);
                assert_int_equal(count(bloom, 5), n);
            }
            twin_bloom_free(bloom);
        }
}

static void a_full_counter_stays_full(void **state_unused)
{
    (void)state_unused;
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (unsigned bits = 4; bits <= 16; bits *= 2) {
            twin_bloom *bloom =
                make((twin_bloom_options){ 1000, .01, .cell_bits = bits, .layout = (twin_bloom_layout)layout });
            uint32_t most = (1u << bits) - 1;
            for (uint32_t n = 0; n < most + 10; n++)
                add(bloom, 1);
            assert_int_equal(count(bloom, 1), most);
            assert_int_equal(describe(bloom).saturated, bloom->shape.functions); /* which do not meet for item 1 */
            for (uint32_t n = 0; n < most + 10; n++)
                assert_true(take_out(bloom, 1));
            assert_int_equal(count(bloom, 1), most);
            twin_bloom_free(bloom);
        }
}

static void removing_what_is_not_there_is_refused(void **state_unused)
{
    (void)state_unused;
    for (int kind = 2; kind < 8; kind++) {
        twin_bloom *bloom = make(kinds[kind]), *before = make(kinds[kind]);
        for (uint64_t i = 0; i < 1000; i++) {
            add(bloom, i);
            add(before, i);
        }
        uint64_t refused = 0;
        for (uint64_t i = 1000; i < 2000; i++)
            if (!has(bloom, i)) {
                assert_false(take_out(bloom, i));
                refused++;
            }
        assert_true(refused > 900);
        assert_memory_equal(bloom->words, before->words, twin_bloom_bytes(bloom->shape));
        assert_int_equal(describe(bloom).removed, 0);
        twin_bloom_free(bloom);
        twin_bloom_free(before);
    }
}

/* ---- the model: an exact multiset next to the filter ---- */

enum { UNIVERSE = 3000, MODEL_STEPS = 600000 / SCALE, AGE = MODEL_STEPS / 6 };

struct model {
    twin_bloom *bloom;
    uint32_t truth[UNIVERSE];
};

static void check_model(const struct model *model, uint64_t i)
{
    uint32_t most = (1u << model->bloom->shape.cell_bits) - 1, truth = model->truth[i];
    uint32_t counted = count(model->bloom, i);
    assert_true(counted >= (truth < most ? truth : most));
    assert_int_equal(counted > 0, has(model->bloom, i));
}

static void model_add(struct model *model, uint64_t i, uint32_t times)
{
    for (uint32_t n = 0; n < times; n++)
        add(model->bloom, i);
    model->truth[i] += times;
}

static void model_remove(struct model *model, uint64_t i)
{
    /* A false positive must not be removed: that is the caller's promise. */
    if (model->truth[i] == 0 && has(model->bloom, i))
        return;
    assert_int_equal(take_out(model->bloom, i), model->truth[i] > 0);
    model->truth[i] -= model->truth[i] > 0;
}

static void model_merge(struct model *a, const struct model *b, bool unite)
{
    assert_int_equal(
        unite ? twin_bloom_unite(NULL, a->bloom, b->bloom) : twin_bloom_intersect(NULL, a->bloom, b->bloom), TWIN_OK);
    for (size_t i = 0; i < UNIVERSE; i++)
        a->truth[i] = unite ? a->truth[i] + b->truth[i] : a->truth[i] < b->truth[i] ? a->truth[i] : b->truth[i];
    for (size_t i = 0; i < UNIVERSE; i++)
        check_model(a, i);
}

static void renew(struct model *model, twin_bloom_options options)
{
    twin_bloom_free(model->bloom);
    memset(model->truth, 0, sizeof model->truth);
    model->bloom = make(options);
}

/* One step: mostly adds and removes of single items, a few hot items that overflow, now and then a merge. */
static void step(struct model models[2], uint64_t *random)
{
    struct model *model = &models[twin__random_below(random, 2)];
    uint64_t what = twin__random_below(random, 10000), i = twin__random_below(random, UNIVERSE);
    if (what < 4000)
        model_add(model, i, 1);
    else if (what < 8000)
        model_remove(model, i);
    else if (what < 9990)
        check_model(model, i);
    else if (what < 9996)
        model_add(model, i % 20, (uint32_t)twin__random_below(random, 3u << model->bloom->shape.cell_bits) % 1000);
    else if (what < 9999)
        model_merge(model, &models[model == models], twin__random_below(random, 2));
    else
        for (int n = 0; n < 200; n++)
            model_remove(model, i % 20);
}

static void interleavings_never_undercount(void **state_unused)
{
    (void)state_unused;
    static struct model models[2];
    uint64_t random = 2026;
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++)
        for (unsigned bits = 4; bits <= 16; bits *= 2) {
            twin_bloom_options options = { 1500, .02, .cell_bits = bits, .layout = (twin_bloom_layout)layout };
            uint64_t saturated = 0;
            for (uint64_t n = 0; n < MODEL_STEPS; n++) {
                if (n % AGE == 0) /* or merging would fill it to the brim */
                    for (int m = 0; m < 2; m++)
                        renew(&models[m], options);
                step(models, &random);
                if (n % AGE == AGE - 1)
                    for (size_t i = 0; i < UNIVERSE; i++)
                        check_model(&models[n / AGE % 2], i);
                if (n % AGE == AGE - 1)
                    saturated += describe(models[0].bloom).saturated;
            }
            assert_true(bits == 16 || QUICK || saturated > 0); /* overflow did take part */
        }
    for (int m = 0; m < 2; m++)
        twin_bloom_free(models[m].bloom);
}

/* 16-bit counters overflow in their own model, as single adds take long to get there. */
static void sixteen_bits_overflow_by_merging(void **state_unused)
{
    (void)state_unused;
    static struct model models[2];
    twin_bloom_options options = { 1500, .02, .cell_bits = 16 };
    for (int m = 0; m < 2; m++)
        renew(&models[m], options);
    for (uint64_t i = 0; i < 1000; i++) {
        model_add(&models[0], i, (uint32_t)(i % 7));
        model_add(&models[1], i, (uint32_t)(i % 3));
    }
    for (int n = 0; n < 24; n++) /* grows as Fibonacci's numbers do: to 46,368 times */
        model_merge(&models[n % 2], &models[!(n % 2)], true);
    assert_true(describe(models[1].bloom).saturated > 100);
    for (uint64_t i = 0; i < 1000; i++)
        for (int n = 0; n < 50; n++)
            model_remove(&models[1], i);
    for (uint64_t i = 0; i < UNIVERSE; i++)
        check_model(&models[1], i);
    for (int m = 0; m < 2; m++)
        twin_bloom_free(models[m].bloom);
}

/* ---- threads ---- */

enum { THREADS = 4, SHARED_ITEMS = 20000 / SCALE };

struct adder {
    twin_bloom *bloom;
    uint64_t first;
    size_t news;
};

/* Adds its items, which overlap with those of its neighbour, and queries at the same time. */
static void *add_and_ask(void *arg)
{
    struct adder *adder = arg;
    for (uint64_t i = 0; i < SHARED_ITEMS; i += 10) {
        struct item items[10];
        twin_text texts[10];
        for (uint64_t j = 0; j < 10; j++) {
            items[j] = item(adder->first + i + j);
            texts[j] = (twin_text){ items[j].bytes, ITEM_BYTES };
        }
        adder->news += twin_bloom_add_shared(NULL, adder->bloom, texts, 10);
        bool found[10];
        if (twin_bloom_may_contain_many(found, adder->bloom, texts, 10) != 10)
            adder->news += 1000000; /* a false negative: spoils the sum below */
    }
    return NULL;
}

static void threads_may_add_at_once(void **state_unused)
{
    (void)state_unused;
    for (int layout = TWIN_BLOOM_BLOCKS; layout <= TWIN_BLOOM_CLASSIC; layout++) {
        twin_bloom_options options = { 3 * SHARED_ITEMS, .01, .layout = (twin_bloom_layout)layout };
        twin_bloom *shared = make(options), *alone = make(options);
        pthread_t threads[THREADS];
        struct adder adders[THREADS];
        size_t news = 0;
        for (uint64_t t = 0; t < THREADS; t++) {
            adders[t] = (struct adder){ shared, t * SHARED_ITEMS / 2, 0 };
            assert_int_equal(pthread_create(&threads[t], NULL, add_and_ask, &adders[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(pthread_join(threads[t], NULL), 0);
            news += adders[t].news;
        }
        for (uint64_t i = 0; i < SHARED_ITEMS / 2 * (THREADS + 1); i++)
            add(alone, i);
        assert_memory_equal(shared->words, alone->words, twin_bloom_bytes(alone->shape));
        assert_int_equal(describe(shared).added, THREADS * SHARED_ITEMS);
        assert_int_equal(describe(shared).fresh, news);
        /* An item added by two at once may be new to both, and never to neither, but for false positives. */
        assert_true(news * 100 > SHARED_ITEMS / 2 * (THREADS + 1) * 98 && news <= THREADS * SHARED_ITEMS);
        twin_bloom_free(shared);
        twin_bloom_free(alone);
    }
}

static void layouts_have_names(void **state_unused)
{
    (void)state_unused;
    twin_bloom_layout layout;
    for (int i = TWIN_BLOOM_AUTO; i <= TWIN_BLOOM_CLASSIC; i++) {
        assert_int_equal(twin_bloom_layout_from_name(&layout, twin_bloom_layout_name((twin_bloom_layout)i)), TWIN_OK);
        assert_int_equal(layout, i);
    }
    assert_int_equal(twin_bloom_layout_from_name(&layout, "block"), TWIN_EINVAL);
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
        cmocka_unit_test(cells_are_those_of_the_slow_version),
        cmocka_unit_test(many_at_once_is_the_same_as_one_by_one),
        cmocka_unit_test(an_empty_filter_holds_nothing),
        cmocka_unit_test(items_are_estimated_from_the_fill),
        cmocka_unit_test(a_full_filter_still_has_finite_numbers),
        cmocka_unit_test(a_union_is_the_filter_of_both),
        cmocka_unit_test(an_intersection_holds_what_both_hold),
        cmocka_unit_test(unequal_filters_are_not_merged),
        cmocka_unit_test(what_is_put_in_comes_out),
        cmocka_unit_test(an_item_alone_is_counted_exactly),
        cmocka_unit_test(a_full_counter_stays_full),
        cmocka_unit_test(removing_what_is_not_there_is_refused),
        cmocka_unit_test(interleavings_never_undercount),
        cmocka_unit_test(sixteen_bits_overflow_by_merging),
        cmocka_unit_test(threads_may_add_at_once),
        cmocka_unit_test(layouts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

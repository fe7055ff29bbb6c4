/* test_bloom.c — what filters hold and how they are merged, against a slow version of themselves. */
#include "bloom_items.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

/* ---- what it holds ---- */

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

            uint64_t marked = 0;
            for (uint64_t cell = 0; cell < one->shape.cells; cell++)
                marked += twin_bloom_cell(one, cell) > 0;
            assert_int_equal(marked, describe(one).marked);
            assert_int_equal(twin_bloom_cell(one, one->shape.cells), 0);

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

/* ---- threads ---- */

enum { THREADS = 4, SHARED_ITEMS = 20000 / SCALE };

struct adder {
    twin_bloom *bloom;
    uint64_t first;
    size_t news;
};

/* Adds its items, which overlap with those of its neighbour, and queries at the same time. */
static void *add_and_query(void *arg)
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
            assert_int_equal(pthread_create(&threads[t], NULL, add_and_query, &adders[t]), 0);
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

/* ---- filters that grow ---- */

/* Adds the items numbered from `begin` in batches of an odd size, so that layers end within one. */
static void add_in_batches(twin_bloom *bloom, uint64_t begin, uint64_t end)
{
    enum { BATCH = 77 };
    struct item items[BATCH];
    twin_text texts[BATCH];
    for (uint64_t at = begin; at < end;) {
        size_t n = 0;
        for (; n < BATCH && at < end; n++, at++) {
            items[n] = item(at);
            texts[n] = (twin_text){ items[n].bytes, ITEM_BYTES };
        }
        twin_bloom_add_many(NULL, bloom, texts, n);
    }
}

static void a_growing_filter_keeps_its_rate(void **state_unused)
{
    (void)state_unused;
    enum { PLANNED = 500, ADDED = PLANNED * 100, PROBES = 2000000 / SCALE };
    static const double rates[] = { .1, .01, .001 };
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
        twin_bloom *bloom = make((twin_bloom_options){ .items = PLANNED, .rate = rates[k], .grows = true });
        add_in_batches(bloom, 0, ADDED);
        for (uint64_t i = 0; i < ADDED; i++)
            assert_true(has(bloom, i));
        twin_bloom_info info = describe(bloom);
        assert_int_equal(info.layers, 7); /* 500 + 1000 + ... + 32,000 = 63,500 */
        assert_false(info.past_plan);
        assert_true(fabs(info.planned_rate - rates[k]) < 1e-12);
        assert_int_equal(info.added, ADDED);
        /* The sum of the layers is below the rate; five standard errors above it would be chance once in 10^6. */
        double seen = observed_rate(bloom, PROBES), allowed = 5 * sqrt(rates[k] / PROBES);
        assert_true(seen < rates[k] + allowed);
        assert_true(fabs(seen - info.rate) < allowed + info.rate / 10);
        twin_bloom_free(bloom);
    }
}

static bool layers_are_equal(const twin_bloom *a, const twin_bloom *b)
{
    for (; a && b; a = a->older, b = b->older)
        if (a->fresh != b->fresh || a->shape.cells != b->shape.cells ||
            memcmp(a->words, b->words, twin_bloom_bytes(a->shape)) != 0)
            return false;
    return !a && !b;
}

static void a_growing_filter_is_the_same_in_batches(void **state_unused)
{
    (void)state_unused;
    enum { PLANNED = 100, ADDED = 3000 };
    const twin_bloom_options options = { .items = PLANNED, .rate = .02, .grows = true };
    twin_bloom *many = make(options), *single = make(options), *copy;
    add_in_batches(many, 0, ADDED);
    add_in_batches(many, 0, ADDED); /* nothing is new */
    for (uint64_t i = 0; i < ADDED; i++)
        add(single, i);
    for (uint64_t i = 0; i < ADDED; i++)
        assert_false(add(single, i));
    assert_true(layers_are_equal(many, single));
    assert_int_equal(twin_bloom_copy(&copy, many), TWIN_OK);
    assert_true(layers_are_equal(copy, many));
    twin_bloom_free(copy);
    twin_bloom_free(many);
    twin_bloom_free(single);
}

static void what_a_growing_filter_cannot_do_is_refused(void **state_unused)
{
    (void)state_unused;
    twin_bloom *bloom, *other = make((twin_bloom_options){ .items = 100, .grows = true });
    assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ .cell_bits = 4, .grows = true }), TWIN_EINVAL);
    assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ .cells = 512, .grows = true }), TWIN_EINVAL);
    bloom = make((twin_bloom_options){ .items = 100, .grows = true });
    twin_text text = { "one", 3 };
    assert_int_equal(twin_bloom_add_shared(NULL, bloom, &text, 1), 0);
    assert_int_equal(twin_bloom_unite(NULL, bloom, other), TWIN_EINVAL);
    assert_int_equal(twin_bloom_intersect(NULL, bloom, other), TWIN_EINVAL);
    assert_false(twin_bloom_remove(bloom, "one", 3));
    assert_int_equal(describe(bloom).fresh, 0);
    twin_bloom_free(bloom);
    twin_bloom_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_those_of_the_slow_version),
        cmocka_unit_test(many_at_once_is_the_same_as_one_by_one),
        cmocka_unit_test(an_empty_filter_holds_nothing),
        cmocka_unit_test(items_are_estimated_from_the_fill),
        cmocka_unit_test(a_full_filter_still_has_finite_numbers),
        cmocka_unit_test(a_union_is_the_filter_of_both),
        cmocka_unit_test(an_intersection_holds_what_both_hold),
        cmocka_unit_test(unequal_filters_are_not_merged),
        cmocka_unit_test(threads_may_add_at_once),
        cmocka_unit_test(a_growing_filter_keeps_its_rate),
        cmocka_unit_test(a_growing_filter_is_the_same_in_batches),
        cmocka_unit_test(what_a_growing_filter_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

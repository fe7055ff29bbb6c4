/* test_bloom_counting.c — filters that count against exact counts. */
#include "bloom_items.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_in_comes_out),       cmocka_unit_test(an_item_alone_is_counted_exactly),
        cmocka_unit_test(a_full_counter_stays_full),      cmocka_unit_test(removing_what_is_not_there_is_refused),
        cmocka_unit_test(interleavings_never_undercount), cmocka_unit_test(sixteen_bits_overflow_by_merging),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_groups.c — template groups: which documents buckets connect, and when the index of sets joins them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "join/groups.h"
#include "numbers.h"

enum { DOCUMENTS = 2048, SLOTS = 64, MOST_ITEMS = 400 };

/* ---- buckets ---- */

static uint32_t rows[DOCUMENTS * SLOTS];

/* The first documents agree in all but `unlike` slots, all others in the first row only. */
static void sign(size_t alike, size_t unlike)
{
    uint64_t seed = 5;
    for (size_t d = 0; d < DOCUMENTS; d++)
        for (size_t k = 0; k < SLOTS; k++)
            rows[d * SLOTS + k] =
                k == 0 || (d < alike && k < SLOTS - unlike) ? 7 : (uint32_t)twin__random_next(&seed);
}

static struct twin__provider signed_provider(void)
{
    static uint32_t documents[DOCUMENTS];
    for (uint32_t d = 0; d < DOCUMENTS; d++)
        documents[d] = d;
    return (struct twin__provider){ .count = DOCUMENTS, .signatures = { rows, SLOTS, documents, DOCUMENTS } };
}

static void add_bucket(struct twin__group_finder *finder, uint32_t begin, uint32_t end)
{
    uint64_t keys[DOCUMENTS];
    for (uint32_t d = begin; d < end; d++)
        keys[d - begin] = (uint64_t)1234 << 32 | d;
    assert_true(twin__group_finder_add(finder, keys, end - begin));
}

static void finder_clear(struct twin__group_finder *finder)
{
    free(finder->loose);
    free(finder->dense);
    free(finder->buckets);
}

/* Of a family and strangers that one bucket connects, only the family is dense. */
static void dense_buckets_alone_make_dense_groups(void **state)
{
    (void)state;
    sign(400, 4);
    struct twin__provider provider = signed_provider();
    struct twin__gate gate = { SLOTS, 40 };
    struct twin__group_finder finder;
    assert_int_equal(twin__group_finder_init(&finder, &provider, &gate, (twin_plan){ 32, 2 }), TWIN_OK);
    add_bucket(&finder, 0, 300);
    add_bucket(&finder, 200, 400);
    add_bucket(&finder, 300, 1500);
    struct twin__groups loose = { 0 }, dense = { 0 };
    twin__large_buckets_sort(finder.buckets, finder.count);
    assert_int_equal(twin__groups_list(&loose, finder.loose, DOCUMENTS, finder.buckets, finder.count, false),
                     TWIN_OK);
    assert_int_equal(twin__groups_list(&dense, finder.dense, DOCUMENTS, finder.buckets, finder.count, true), TWIN_OK);
    assert_true(loose.count == 1 && loose.items[0].count == 1500);
    assert_true(dense.count == 1 && dense.items[0].count == 400);
    assert_true(loose.items[0].meetings == 1200.0 * 1199 / 2);
    assert_true(dense.items[0].meetings == 300.0 * 299 / 2 + 200.0 * 199 / 2);
    for (uint32_t d = 0; d < 400; d++)
        assert_int_equal(dense.documents[d], d);
    assert_int_equal(twin__groups_find(&loose, 0), 0);
    assert_int_equal(twin__groups_find(&loose, 1), 1);
    twin__groups_clear(&loose);
    twin__groups_clear(&dense);
    finder_clear(&finder);
}

/* A pair that passes the gate is compared once, however many bands it shares: over all buckets the shares of a pair add up to
 * about one. Of each document of the family a quarter of the slots is its own, so that pairs have about 36 of 64 in common
 * and share 3 to 20 of 32 bands. With eight seeds the sum was within 2.2 % of 19,900; if shares were not divided,
 * it would be ten times as much. */
static void a_pair_counts_about_once_over_all_its_buckets(void **state)
{
    (void)state;
    enum { FAMILY = 200, ROWS = 2, BANDS = SLOTS / ROWS };
    uint64_t seed = 3;
    sign(FAMILY, 0);
    for (size_t i = 0; i < FAMILY * SLOTS; i++)
        if (twin__random_below(&seed, 4) == 0)
            rows[i] = (uint32_t)twin__random_next(&seed);
    struct twin__provider provider = signed_provider();
    struct twin__gate gate = { SLOTS, 1 };
    struct twin__group_finder finder;
    assert_int_equal(twin__group_finder_init(&finder, &provider, &gate, (twin_plan){ BANDS, ROWS }), TWIN_OK);
    for (size_t band = 0; band < BANDS; band++) {
        uint64_t keys[FAMILY];
        size_t count = 0;
        for (uint32_t d = 0; d < FAMILY; d++)
            if (rows[d * SLOTS + ROWS * band] == 7 && rows[d * SLOTS + ROWS * band + 1] == 7)
                keys[count++] = (uint64_t)band << 32 | d;
        assert_true(twin__group_finder_add(&finder, keys, count));
    }
    double passing = 0;
    for (size_t i = 0; i < finder.count; i++)
        passing += finder.buckets[i].passing;
    assert_true(fabs(passing / (FAMILY * (FAMILY - 1) / 2.0) - 1) < .05);
    finder_clear(&finder);
}

/* ---- the choice ---- */

/* Sets of a template and of items that two or more documents in a hundred have, or none. */
static uint64_t items[MOST_ITEMS];

struct recipe {
    size_t template_size, others;
    uint64_t vocabulary;
};

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    (void)worker, (void)error;
    const struct recipe *recipe = provider->context;
    uint64_t seed = document + 1;
    size_t count = 0;
    for (size_t i = 0; i < recipe->template_size; i++)
        items[count++] = twin__mix(i + 1);
    for (size_t i = 0; i < recipe->others; i++)
        items[count++] = twin__mix(1 << 20 | twin__random_below(&seed, recipe->vocabulary));
    count = make_set(items, count);
    *out = (struct twin__content){ items, count * sizeof items[0] };
    return TWIN_OK;
}

static bool is_for_index(struct recipe recipe, double threshold, double meetings, double passing)
{
    static uint32_t documents[DOCUMENTS];
    struct twin__provider provider = { .count = DOCUMENTS, .fetch = fetch, .context = &recipe };
    struct twin__group group = { 0, DOCUMENTS, DOCUMENTS * meetings, DOCUMENTS * passing, { 0 } };
    struct twin__groups groups = { documents, &group, 1 };
    bool out;
    for (uint32_t d = 0; d < DOCUMENTS; d++)
        documents[d] = d;
    assert_int_equal(twin__group_is_for_index(&out, &provider, &groups, 0, threshold, NULL), TWIN_OK);
    return out;
}

/* Pages of one template share nothing else, so that the index looks at each item and at hardly a posting. */
static void many_meetings_of_a_template_are_for_the_index(void **state)
{
    (void)state;
    struct recipe template = { 300, 100, 1 << 19 };
    assert_true(is_for_index(template, .8, 10000, 0));
    assert_true(is_for_index(template, .8, 0, 2000));
    assert_false(is_for_index(template, .8, 500, .1));
    assert_false(is_for_index(template, .8, 50, .1));
}

/* Items that two documents in a hundred have make long posting lists: the lower the threshold, the more of them are looked
 * at. */
static void long_posting_lists_are_not(void **state)
{
    (void)state;
    struct recipe words = { 0, 400, 20000 };
    assert_false(is_for_index(words, .3, 4000, .1));
    assert_true(is_for_index(words, .3, 40000, .1));
    assert_true(is_for_index(words, .95, 4000, .1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_buckets_alone_make_dense_groups),
        cmocka_unit_test(a_pair_counts_about_once_over_all_its_buckets),
        cmocka_unit_test(many_meetings_of_a_template_are_for_the_index),
        cmocka_unit_test(long_posting_lists_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_hits.c — the hits of a query against a comparison with every set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/scheme.h>

#include "base/random.h"
#include "index/hits.h"
#include "sketch/minhash.h"

enum { SETS = 120, ITEMS = 100, SLOTS = 128 };

struct fixture {
    uint64_t items[SETS][ITEMS];
    uint32_t signatures[SETS][SLOTS];
    size_t fetched;
};

/* Set i differs from the first in i / 2 items, so that their similarities fall from 1 on, each of them twice. */
static void draw(struct fixture *f)
{
    twin_minhash *hasher;
    assert_int_equal(twin__minhash_create(&hasher, (twin_minhash_options){ .slots = SLOTS }), TWIN_OK);
    for (size_t i = 0; i < SETS; i++) {
        for (size_t j = 0; j < ITEMS; j++) {
            uint64_t other = j < i / 2 ? i + 1 : 0;
            f->items[i][j] = (uint64_t)j << 56 | twin__mix(j * SETS + other) >> 8; /* in increasing order */
        }
        twin__minhash_sign(f->signatures[i], hasher, f->items[i], ITEMS);
    }
    twin__minhash_free(hasher);
}

static twin_set set_of(struct fixture *f, size_t i)
{
    return (twin_set){ f->items[i], ITEMS };
}

static twin_status fetch(twin_set *out, void *context, uint64_t document, twin_error *error)
{
    (void)error;
    struct fixture *f = context;
    f->fetched++;
    *out = set_of(f, document);
    return TWIN_OK;
}

static twin_status fail_to_fetch(twin_set *out, void *context, uint64_t document, twin_error *error)
{
    (void)out, (void)context, (void)document;
    *error = (twin_error){ .status = TWIN_EFORMAT };
    return TWIN_EFORMAT;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    draw(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static struct twin__query query_of(struct fixture *f, double threshold)
{
    return (struct twin__query){ .signature = f->signatures[0],
                                 .slots = SLOTS,
                                 .set = set_of(f, 0),
                                 .threshold = threshold,
                                 .fetch = fetch,
                                 .context = f };
}

static void run(struct twin__query_hits *hits, struct twin__query *query, struct fixture *f)
{
    twin_error error;
    f->fetched = 0;
    twin__query_begin(hits, query);
    for (size_t i = SETS; i-- > 0;)
        assert_int_equal(twin__query_propose(hits, query, i, f->signatures[i]), TWIN_OK);
    assert_int_equal(twin__query_verify(hits, query, &error), TWIN_OK);
}

/* Set i is the i-th best, and of two with the same similarity the lower comes first: so hit i is set i. */
static void hits_are_those_of_a_full_comparison(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits hits = { 0 };
    for (double threshold = .3; threshold < 1; threshold += .1) {
        struct twin__query query = query_of(f, threshold);
        run(&hits, &query, f);
        size_t expected = 0;
        while (twin_set_similarity(set_of(f, 0), set_of(f, expected), TWIN_JACCARD) >= threshold)
            expected++;
        assert_int_equal(hits.count, expected);
        for (size_t i = 0; i < hits.count; i++) {
            assert_int_equal(hits.items[i].document, i);
            double truth = twin_set_similarity(set_of(f, 0), set_of(f, i), TWIN_JACCARD);
            assert_true(hits.items[i].similarity == truth);
        }
    }
    free(hits.items);
}

static void the_best_are_found_with_fewer_comparisons(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits hits = { 0 };
    struct twin__query query = query_of(f, .3);
    run(&hits, &query, f);
    size_t all = hits.count, fetched_for_all = f->fetched;
    for (size_t most = 1; most <= all + 1; most += 3) {
        query.most = most;
        run(&hits, &query, f);
        assert_int_equal(hits.count, most < all ? most : all);
        for (size_t i = 0; i < hits.count; i++)
            assert_int_equal(hits.items[i].document, i);
        if (most <= 4)
            assert_true(f->fetched < fetched_for_all / 2);
    }
    free(hits.items);
}

static void estimates_are_not_fetched(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits hits = { 0 };
    struct twin__query query = query_of(f, .5);
    query.verify = TWIN_VERIFY_ESTIMATE;
    query.fetch = NULL;
    run(&hits, &query, f);
    size_t expected = 0;
    for (size_t i = 0; i < SETS; i++)
        expected += 2 * twin_minhash_agreement(f->signatures[0], f->signatures[i], SLOTS) >= SLOTS;
    assert_int_equal(hits.count, expected);
    query.most = 3;
    run(&hits, &query, f);
    assert_int_equal(hits.count, 3);
    free(hits.items);
}

/* A short set inside a long one has few equal slots. */
static void containment_has_no_gate(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits hits = { 0 };
    struct twin__query query = query_of(f, 1);
    twin_error error;
    query.measure = TWIN_CONTAINMENT;
    query.set.count = 5;
    twin__query_begin(&hits, &query);
    assert_int_equal(twin__query_propose(&hits, &query, 1, f->signatures[SETS - 1]), TWIN_OK);
    assert_int_equal(hits.count, 1);
    assert_int_equal(twin__query_verify(&hits, &query, &error), TWIN_OK);
    assert_int_equal(hits.count, 1);
    free(hits.items);
}

/* The sets with the most equal slots are compared first, so that what a bounded query finds is the beginning of what an
 * unbounded one finds, up to where estimates and similarities differ in order: here they do not at the first few. */
static void a_bounded_query_compares_the_most_promising(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits all = { 0 }, some = { 0 };
    struct twin__query query = query_of(f, .3);
    run(&all, &query, f);
    size_t fetched_for_all = f->fetched;
    assert_true(!all.incomplete && fetched_for_all > all.count && all.count > 20);
    for (query.most_compared = 1; query.most_compared < fetched_for_all; query.most_compared++) {
        run(&some, &query, f);
        assert_true(some.incomplete && some.count <= query.most_compared);
        assert_int_equal(f->fetched, query.most_compared);
        assert_int_equal(some.items[0].document, 0);
        for (size_t i = 1; i < some.count; i++)
            assert_true(some.items[i].similarity <= some.items[i - 1].similarity);
    }
    query.most_compared = fetched_for_all;
    run(&some, &query, f);
    assert_true(!some.incomplete && some.count == all.count);
    query.most = 3; /* which ends the search before the bound does */
    query.most_compared = fetched_for_all - 1;
    run(&some, &query, f);
    assert_true(!some.incomplete && f->fetched < query.most_compared);
    free(all.items);
    free(some.items);
}

static void a_set_that_cannot_be_fetched_ends_the_query(void **state)
{
    struct fixture *f = *state;
    struct twin__query_hits hits = { 0 };
    struct twin__query query = query_of(f, .5);
    twin_error error;
    query.fetch = fail_to_fetch;
    twin__query_begin(&hits, &query);
    assert_int_equal(twin__query_propose(&hits, &query, 0, f->signatures[0]), TWIN_OK);
    assert_int_equal(twin__query_verify(&hits, &query, &error), TWIN_EFORMAT);
    free(hits.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hits_are_those_of_a_full_comparison, setup, teardown),
        cmocka_unit_test_setup_teardown(the_best_are_found_with_fewer_comparisons, setup, teardown),
        cmocka_unit_test_setup_teardown(estimates_are_not_fetched, setup, teardown),
        cmocka_unit_test_setup_teardown(containment_has_no_gate, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bounded_query_compares_the_most_promising, setup, teardown),
        cmocka_unit_test_setup_teardown(a_set_that_cannot_be_fetched_ends_the_query, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

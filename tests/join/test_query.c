/* test_query.c — the hits of a query against a comparison with every set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/minhash.h>

#include "base/random.h"
#include "join/query.h"

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
    assert_int_equal(twin_minhash_create(&hasher, (twin_minhash_options){ .slots = SLOTS }), TWIN_OK);
    for (size_t i = 0; i < SETS; i++) {
        for (size_t j = 0; j < ITEMS; j++) {
            uint64_t other = j < i / 2 ? i + 1 : 0;
            f->items[i][j] = (uint64_t)j << 56 | twin__mix(j * SETS + other) >> 8; /* in increasing order */
        }
        twin_minhash_sign(f->signatures[i], hasher, f->items[i], ITEMS);
    }
    twin_minhash_free(hasher);
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

/* ---- a crowd ---- */

/* Sets of a template and of items of their own, of which the last few of each set are also those of set 0, the more
 * the larger its number. */
enum { CROWD = 1000, SHARED = 200, OWN = 40 };

struct crowd {
    uint64_t items[CROWD][SHARED + OWN];
    size_t fetched, looked_up;
};

static twin_status fetch_of_crowd(twin_set *out, void *context, uint64_t document, twin_error *error)
{
    (void)error;
    struct crowd *crowd = context;
    crowd->fetched++;
    *out = (twin_set){ crowd->items[document], SHARED + OWN };
    return TWIN_OK;
}

static uint64_t size_in_crowd(void *context, uint64_t document)
{
    (void)context, (void)document;
    return SHARED + OWN;
}

static twin_status count_in_crowd(size_t *out, void *context, uint64_t document, struct twin__probe_table probes,
                                  twin_error *error)
{
    (void)error;
    struct crowd *crowd = context;
    crowd->looked_up++;
    *out = 0;
    for (size_t i = 0; i < SHARED + OWN; i++)
        *out += probes.slots[crowd->items[document][i] >> probes.shift & probes.mask];
    return TWIN_OK;
}

static void draw_crowd(struct crowd *crowd)
{
    for (size_t i = 0; i < CROWD; i++)
        for (size_t j = 0; j < SHARED + OWN; j++) {
            bool is_own = j % 6 == 0 && j / 6 >= i % 50 % OWN;
            crowd->items[i][j] = (uint64_t)j << 48 | twin__mix(j * CROWD + (is_own ? i : 0)) >> 16;
        }
}

/* The ranking is by equal slots; here all have the same. */
static void propose_all(struct twin__query_hits *hits, struct twin__query *query)
{
    twin_error error;
    twin__query_begin(hits, query);
    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(twin__query_propose(hits, query, i, query->signature), TWIN_OK);
    assert_int_equal(twin__query_verify(hits, query, &error), TWIN_OK);
}

static void few_of_a_crowd_are_fetched(void **state)
{
    (void)state;
    struct crowd *crowd = calloc(1, sizeof *crowd);
    assert_non_null(crowd);
    draw_crowd(crowd);
    uint32_t signature[SLOTS] = { 0 };
    struct twin__query query = { .signature = signature,
                                 .slots = SLOTS,
                                 .set = { crowd->items[0], SHARED + OWN },
                                 .fetch = fetch_of_crowd,
                                 .size = size_in_crowd,
                                 .context = crowd };
    for (query.most = 0; query.most < 100; query.most += 33)
        for (query.threshold = .3; query.threshold < 1; query.threshold += .04) {
            struct twin__query_hits all = { 0 }, hits = { 0 };
            query.count_probes = NULL;
            propose_all(&all, &query);
            query.count_probes = count_in_crowd;
            crowd->fetched = crowd->looked_up = 0;
            propose_all(&hits, &query);
            assert_int_equal(hits.count, all.count);
            for (size_t i = 0; i < hits.count; i++) {
                assert_int_equal(hits.items[i].document, all.items[i].document);
                assert_true(hits.items[i].similarity == all.items[i].similarity);
            }
            if (query.threshold > .9 && !query.most)
                assert_true(crowd->looked_up == CROWD && crowd->fetched < CROWD / 2);
            free(all.items);
            free(hits.items);
        }
    free(crowd);
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
        cmocka_unit_test(few_of_a_crowd_are_fetched),
        cmocka_unit_test_setup_teardown(a_set_that_cannot_be_fetched_ends_the_query, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

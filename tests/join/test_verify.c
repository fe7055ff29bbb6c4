/* test_verify.c — verified pairs against comparing one pair after the other, over documents made up here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "fetched.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { DOCUMENTS = 300, MOST_ITEMS = 60, SLOTS = 64, MOST_WORKERS = 7 };

static const twin_exec execs[] = {
    { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, MOST_WORKERS }, { TWIN_EXEC_OPENMP, 2 }
};

static bool can_run(twin_exec exec)
{
    twin_exec made;
    return twin_exec_make(&made, exec.kind, exec.workers) == TWIN_OK;
}

/* Sets of small numbers. */
struct world {
    uint64_t items[DOCUMENTS][MOST_ITEMS];
    size_t counts[DOCUMENTS];
    uint32_t rows[DOCUMENTS * SLOTS], documents[DOCUMENTS];
    bool broken[DOCUMENTS];
    struct fetched fetched;
    atomic_size_t fetches;
};

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    struct world *world = provider->context;
    atomic_fetch_add(&world->fetches, 1);
    if (world->broken[document])
        return twin__fail(error, TWIN_EIO, "document %u cannot be read", document);
    *out = fetch_copy(&world->fetched, worker, world->items[document], world->counts[document]);
    return TWIN_OK;
}

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    return ((const struct world *)provider->context)->counts[document];
}

static struct twin__provider provider_of(struct world *world)
{
    return (struct twin__provider){ .count = DOCUMENTS,
                                    .signatures = { world->rows, SLOTS, world->documents, DOCUMENTS },
                                    .size = size_of,
                                    .fetch = fetch,
                                    .context = world };
}

/* Half of the documents are variants of an earlier one. */
static void draw(struct world *world, uint64_t seed)
{
    *world = (struct world){ 0 };
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        bool is_in[2 * MOST_ITEMS] = { false };
        uint32_t source = d && twin__random_below(&seed, 2) ? (uint32_t)twin__random_below(&seed, d) : d;
        for (size_t i = 0; i < world->counts[source]; i++)
            is_in[world->items[source][i]] = true;
        for (uint64_t times = twin__random_below(&seed, source == d ? 40 : 10); times > 0; times--)
            is_in[twin__random_below(&seed, 2 * MOST_ITEMS)] ^= true;
        for (uint64_t item = 0; item < 2 * MOST_ITEMS && world->counts[d] < MOST_ITEMS; item++)
            if (is_in[item])
                world->items[d][world->counts[d]++] = item;
        world->documents[d] = d;
        for (size_t slot = 0; slot < SLOTS; slot++)
            world->rows[d * SLOTS + slot] = (uint32_t)(d / 4 + twin__random_below(&seed, 3));
    }
}

static twin_set set_of(const struct world *world, uint32_t document)
{
    return (twin_set){ world->items[document], world->counts[document] };
}

static void draw_pairs(struct twin__pairs *out, size_t count, uint64_t seed)
{
    *out = (struct twin__pairs){ 0 };
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)twin__random_below(&seed, DOCUMENTS),
                 b = (uint32_t)twin__random_below(&seed, DOCUMENTS);
        if (a != b)
            assert_true(twin__pairs_add(out, twin__pair(a, b)));
    }
    assert_int_equal(twin__pairs_sort_unique(out, NULL), TWIN_OK);
    for (size_t i = 1; i < out->count; i++) { /* the verifier takes them in any order */
        size_t j = twin__random_below(&seed, i + 1);
        uint64_t held = out->items[i];
        out->items[i] = out->items[j];
        out->items[j] = held;
    }
}

static twin_status verify(twin_matches *out, struct world *world, const struct twin__pairs *pairs,
                          struct twin__set_rule rule, twin_exec exec, twin_error *error)
{
    struct twin__provider provider = provider_of(world);
    struct twin__verify_options options = { .comparison = twin__compare_sets(&rule), .exec = exec };
    *out = (twin_matches){ 0 };
    return twin__verify_pairs(out, &provider, pairs, options, error);
}

static void check_against_slow(const struct world *world, const struct twin__pairs *pairs, struct twin__set_rule rule,
                               twin_matches *got)
{
    struct twin__pairs expected = { 0 };
    for (size_t i = 0; i < pairs->count; i++) {
        uint32_t a = twin__pair_low(pairs->items[i]), b = twin__pair_high(pairs->items[i]);
        if (twin_set_similarity(set_of(world, a), set_of(world, b), rule.measure) >= rule.threshold)
            assert_true(twin__pairs_add(&expected, pairs->items[i]));
    }
    assert_int_equal(twin__pairs_sort_unique(&expected, NULL), TWIN_OK);
    twin__matches_sort(got);
    assert_int_equal(got->count, expected.count);
    for (size_t i = 0; i < expected.count; i++) {
        twin_match match = got->items[i];
        assert_true(match.a < match.b && twin__pair(match.a, match.b) == expected.items[i]);
        assert_true(match.similarity ==
                    twin_set_similarity(set_of(world, match.a), set_of(world, match.b), rule.measure));
    }
    free(expected.items);
}

static void what_is_similar_stays_whatever_runs_it(void **state)
{
    (void)state;
    static struct world world;
    static const struct twin__set_rule rules[] = {
        { TWIN_JACCARD, .3 }, { TWIN_JACCARD, .9 }, { TWIN_CONTAINMENT, .6 }, { TWIN_JACCARD, 1 }
    };
    for (uint64_t seed = 1; seed <= (SANITIZED ? 3 : 10); seed++)
        for (size_t r = 0; r < COUNT(rules); r++) {
            struct twin__pairs pairs;
            twin_matches first = { 0 };
            draw(&world, seed);
            draw_pairs(&pairs, 1 + 700 * (seed % 4) * (r + 1), seed);
            for (size_t e = 0; e < COUNT(execs); e++) {
                twin_matches got;
                if (!can_run(execs[e]))
                    continue;
                assert_int_equal(verify(&got, &world, &pairs, rules[r], execs[e], NULL), TWIN_OK);
                if (e == 0) {
                    first = got;
                    continue;
                }
                assert_int_equal(got.count, first.count);
                for (size_t i = 0; i < got.count; i++)
                    assert_true(got.items[i].a == first.items[i].a && got.items[i].b == first.items[i].b &&
                                got.items[i].similarity == first.items[i].similarity);
                twin__matches_clear(&got);
            }
            check_against_slow(&world, &pairs, rules[r], &first);
            twin__matches_clear(&first);
            free(pairs.items);
        }
}

/* All pairs of 300 documents are 10·11/2 tiles of at most 32 ranks by 32, of which each needs at most 64 sets; taken
 * one by one the pairs would need 89,700. */
static void a_large_family_is_fetched_tile_by_tile(void **state)
{
    (void)state;
    static struct world world;
    struct twin__pairs pairs = { 0 };
    twin_matches got;
    draw(&world, 5);
    for (uint32_t a = 0; a < DOCUMENTS; a++)
        for (uint32_t b = a + 1; b < DOCUMENTS; b++)
            assert_true(twin__pairs_add(&pairs, twin__pair(a, b)));
    assert_int_equal(verify(&got, &world, &pairs, (struct twin__set_rule){ TWIN_JACCARD, .5 }, execs[0], NULL),
                     TWIN_OK);
    assert_true(atomic_load(&world.fetches) <= 55 * 64);
    check_against_slow(&world, &pairs, (struct twin__set_rule){ TWIN_JACCARD, .5 }, &got);
    twin__matches_clear(&got);
    free(pairs.items);
}

static void many_workers_fail_as_one_would(void **state)
{
    (void)state;
    static struct world world;
    struct twin__pairs pairs;
    twin_error first = { 0 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        draw(&world, seed);
        draw_pairs(&pairs, 2000, seed);
        for (uint64_t broken = 1 + seed % 5, s = seed; broken > 0; broken--)
            world.broken[twin__random_below(&s, DOCUMENTS)] = true;
        for (size_t e = 0; e < COUNT(execs); e++) {
            twin_matches got;
            twin_error error = { 0 };
            if (!can_run(execs[e]))
                continue;
            twin_status status =
                verify(&got, &world, &pairs, (struct twin__set_rule){ TWIN_JACCARD, .5 }, execs[e], &error);
            assert_int_equal(status, TWIN_EIO);
            assert_int_equal(got.count, 0);
            if (e == 0)
                first = error;
            assert_string_equal(error.message, first.message);
            twin__matches_clear(&got);
        }
        free(pairs.items);
    }
}

/* ---- contents of any kind and size ---- */

/* Document d is d bytes, or d times 10,000 from 50 on: more than the verifier keeps. Worker w fetches into its own
 * buffer. */
struct texts {
    char *fetched[MOST_WORKERS];
};

static size_t text_size(uint32_t document)
{
    return document < 50 ? document : (size_t)document * 10000;
}

static twin_status fetch_text(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                              int worker, twin_error *error)
{
    (void)error;
    struct texts *texts = provider->context;
    memset(texts->fetched[worker], (int)document, text_size(document));
    *out = (struct twin__content){ texts->fetched[worker], text_size(document) };
    return TWIN_OK;
}

/* Both must be what was fetched, and come as the pair (a, b) or (b, a). */
static twin_status compare_texts(double *out, void *context, struct twin__content a, struct twin__content b,
                                 int worker)
{
    (void)context, (void)worker;
    const unsigned char *x = a.bytes, *y = b.bytes;
    bool good = (a.size == 0 || text_size(x[0]) == a.size) && (b.size == 0 || text_size(y[b.size - 1]) == b.size);
    *out = good ? (double)(a.size + b.size) : 0;
    return TWIN_OK;
}

static void contents_may_be_of_any_size(void **state)
{
    (void)state;
    enum { TEXTS = 70 };
    struct texts texts;
    struct twin__pairs pairs = { 0 };
    for (int i = 0; i < MOST_WORKERS; i++) {
        texts.fetched[i] = malloc(text_size(TEXTS));
        assert_non_null(texts.fetched[i]);
    }
    for (uint32_t a = 0; a < TEXTS; a++)
        for (uint32_t b = a + 1; b < TEXTS; b += SANITIZED ? 7 : a > 40 ? 3 : 1)
            assert_true(twin__pairs_add(&pairs, twin__pair(a, b)));
    struct twin__provider provider = { .count = TEXTS, .fetch = fetch_text, .context = &texts };
    for (size_t e = 0; e < COUNT(execs); e++) {
        twin_matches got = { 0 };
        struct twin__verify_options options = { .comparison = { .compare = compare_texts }, .exec = execs[e] };
        if (!can_run(execs[e]))
            continue;
        assert_int_equal(twin__verify_pairs(&got, &provider, &pairs, options, NULL), TWIN_OK);
        assert_int_equal(got.count, pairs.count);
        for (size_t i = 0; i < got.count; i++)
            assert_true(got.items[i].similarity == (double)(text_size(got.items[i].a) + text_size(got.items[i].b)));
        twin__matches_clear(&got);
    }
    for (int i = 0; i < MOST_WORKERS; i++)
        free(texts.fetched[i]);
    free(pairs.items);
}

static void no_pairs_are_no_matches(void **state)
{
    (void)state;
    static struct world world;
    twin_matches got;
    struct twin__pairs none = { 0 };
    struct twin__provider provider = provider_of(&world);
    assert_int_equal(verify(&got, &world, &none, (struct twin__set_rule){ TWIN_JACCARD, .5 }, execs[0], NULL),
                     TWIN_OK);
    assert_int_equal(got.count, 0);
    assert_int_equal(twin__estimate_pairs(&got, &provider, &none), TWIN_OK);
    assert_int_equal(got.count, 0);
}

/* ---- pair lists ---- */

static void pairs_are_sorted_and_those_known_are_dropped(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 50; seed++) {
        uint64_t s = seed;
        bool is_known[400] = { false }, is_new[400] = { false };
        struct twin__pairs known = { 0 }, pairs = { 0 };
        for (int i = 0; i < 100; i++) {
            uint64_t old = twin__random_below(&s, 400), more = twin__random_below(&s, 400);
            is_known[old] = is_new[more] = true;
            assert_true(twin__pairs_add(&known, old << 30) && twin__pairs_add(&pairs, more << 30));
        }
        assert_true(twin__pairs_append(&pairs, &pairs));
        assert_int_equal(twin__pairs_sort_unique(&known, NULL), TWIN_OK);
        assert_int_equal(twin__pairs_sort_unique(&pairs, &known), TWIN_OK);
        size_t at_known = 0, at = 0;
        for (uint64_t i = 0; i < 400; i++) {
            if (is_known[i])
                assert_true(known.items[at_known++] == i << 30);
            if (is_new[i] && !is_known[i])
                assert_true(pairs.items[at++] == i << 30);
        }
        assert_true(at_known == known.count && at == pairs.count);
        free(known.items);
        free(pairs.items);
    }
}

/* ---- the engine over this provider ---- */

/* Bands of one row over rows of random numbers: a pair that agrees anywhere is a candidate. */
static void the_engine_needs_no_more_than_a_provider(void **state)
{
    (void)state;
    static struct world world;
    twin_similar_options options = { .threshold = .3, .verify = TWIN_VERIFY_ESTIMATE, .bands.plan = { SLOTS, 1 } };
    draw(&world, 3);
    struct twin__provider provider = provider_of(&world);
    for (size_t e = 0; e < COUNT(execs); e++) {
        twin_matches got = { 0 };
        twin_similar_counts counts = { 0 };
        size_t i = 0;
        if (!can_run(execs[e]))
            continue;
        options.exec = execs[e];
        assert_int_equal(twin__engine_find(&got, &counts, &provider, &options, NULL), TWIN_OK);
        for (uint32_t a = 0; a < DOCUMENTS; a++)
            for (uint32_t b = a + 1; b < DOCUMENTS; b++) {
                double share = (double)twin__provider_agreement(&provider, a, b) / SLOTS;
                if (share >= .3) {
                    assert_true(i < got.count && got.items[i].a == a && got.items[i].b == b);
                    assert_true(got.items[i++].similarity == share);
                }
            }
        assert_true(i == got.count && counts.similar == got.count && got.count > 0);
        twin__matches_clear(&got);
    }
    options.bands.plan.bands = SLOTS + 1;
    twin_matches got = { 0 };
    twin_similar_counts counts = { 0 };
    twin_error error = { 0 };
    assert_int_equal(twin__engine_find(&got, &counts, &provider, &options, &error), TWIN_EINVAL);
    assert_int_equal(error.status, TWIN_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_similar_stays_whatever_runs_it),
        cmocka_unit_test(a_large_family_is_fetched_tile_by_tile),
        cmocka_unit_test(many_workers_fail_as_one_would),
        cmocka_unit_test(contents_may_be_of_any_size),
        cmocka_unit_test(no_pairs_are_no_matches),
        cmocka_unit_test(pairs_are_sorted_and_those_known_are_dropped),
        cmocka_unit_test(the_engine_needs_no_more_than_a_provider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_containment.c — the join by containment misses no pair, against comparing all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "fetched.h"
#include "join/containment.h"
#include "join/matches.h"
#include "sketch/set.h"
#include "slow_set.h"

enum { MOST_DOCUMENTS = 600, MOST_ITEMS = 500 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_exec execs[] = { { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 7 } };

/* Sets in memory. */
struct world {
    size_t count;
    twin_items sets[MOST_DOCUMENTS];
    uint32_t documents[MOST_DOCUMENTS];
    uint32_t split;   /* only pairs across are wanted; 0: all */
    uint32_t missing; /* a document that cannot be fetched; UINT32_MAX: none */
    size_t long_size; /* of a set that is long; 0: none is */
    struct fetched fetched;
};

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    const struct world *world = provider->context;
    return document % 2 ? world->sets[document].count : 0; /* the join learns the others when it fetches */
}

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    struct world *world = provider->context;
    if (document == world->missing)
        return twin__fail(error, TWIN_EIO, "document %u cannot be read", document);
    *out = fetch_copy(&world->fetched, worker, world->sets[document].items, world->sets[document].count);
    return TWIN_OK;
}

static bool is_long(const struct twin__provider *provider, uint32_t document)
{
    const struct world *world = provider->context;
    return world->sets[document].count >= world->long_size;
}

static twin_status compare_long(double *out, const struct twin__provider *provider, const uint32_t documents[2],
                                twin_measure measure, int worker, twin_error *error)
{
    (void)worker, (void)error;
    const twin_items *sets = ((const struct world *)provider->context)->sets, *a = &sets[documents[0]],
                     *b = &sets[documents[1]];
    *out = slow_similarity((twin_set){ a->items, a->count }, (twin_set){ b->items, b->count }, measure);
    return TWIN_OK;
}

static struct twin__provider provider_of(struct world *world)
{
    return (struct twin__provider){ .count = world->count,
                                    .is_long = world->long_size ? is_long : NULL,
                                    .compare_long = compare_long,
                                    .signatures = { .documents = world->documents, .count = world->count },
                                    .size = size_of,
                                    .split = world->split,
                                    .fetch = fetch,
                                    .context = world };
}

static void add(struct world *world, size_t document, uint64_t item)
{
    twin_items *items = &world->sets[document];
    assert_int_equal(twin__items_reserve(items, 1), TWIN_OK);
    items->items[items->count++] = item;
}

static void finish(struct world *world, size_t document)
{
    twin_items spare = { 0 };
    twin_set set;
    assert_int_equal(twin__set_make(&set, &world->sets[document], &spare), TWIN_OK);
    world->sets[document].count = set.count;
    world->documents[document] = (uint32_t)document;
    twin__items_clear(&spare);
}

static void world_clear(struct world *world)
{
    for (size_t d = 0; d < world->count; d++)
        twin__items_clear(&world->sets[d]);
}

static uint64_t item_of(uint64_t family, uint64_t i)
{
    uint64_t state = family << 32 ^ i;
    return twin__random_next(&state);
}

/* How documents are made. */
struct recipe {
    size_t documents;
    size_t template_size; /* items that all documents have */
    size_t rest;          /* up to so many items of its own */
    uint64_t vocabulary;  /* of the rest; 0: all are new */
    unsigned parts,
        changes; /* documents, of a hundred, that are part of an earlier one; items of it, of a hundred, that
                                are replaced */
};

static void draw_part(struct world *world, size_t d, const struct recipe *recipe, uint64_t *seed)
{
    const twin_items *of = &world->sets[twin__random_below(seed, d)];
    uint64_t share = 5 + twin__random_below(seed, 96);
    for (size_t i = 0; i < of->count; i++)
        if (twin__random_below(seed, 100) < share)
            add(world, d, twin__random_below(seed, 100) < recipe->changes ? twin__random_next(seed) : of->items[i]);
}

static void draw(struct world *world, const struct recipe *recipe, uint64_t seed)
{
    *world = (struct world){ .count = recipe->documents, .missing = UINT32_MAX };
    for (size_t d = 0; d < world->count; d++) {
        if (d > 0 && twin__random_below(&seed, 100) < recipe->parts)
            draw_part(world, d, recipe, &seed);
        else {
            size_t rest = twin__random_below(&seed, recipe->rest + 1);
            for (size_t i = 0; i < recipe->template_size; i++)
                add(world, d, item_of(1, i));
            for (size_t i = 0; i < rest; i++)
                add(world, d,
                    recipe->vocabulary ? item_of(2, twin__random_below(&seed, recipe->vocabulary))
                                       : twin__random_next(&seed));
        }
        finish(world, d);
    }
}

/* The matches are exactly the pairs that reach the threshold. */
static void join(struct world *world, struct twin__containment_options options, struct twin__join_counts *counts)
{
    struct twin__provider provider = provider_of(world);
    twin_matches got = { 0 };
    size_t at = 0;
    *counts = (struct twin__join_counts){ 0 };
    assert_int_equal(twin__containment_join(&got, counts, &provider, options, NULL), TWIN_OK);
    twin__matches_sort(&got);
    for (uint32_t a = 0; a < world->count; a++)
        for (uint32_t b = a + 1; b < world->count; b++) {
            twin_set x = { world->sets[a].items, world->sets[a].count };
            twin_set y = { world->sets[b].items, world->sets[b].count };
            double truth = slow_similarity(x, y, TWIN_CONTAINMENT);
            if (x.count == 0 || y.count == 0 || truth < options.threshold || !twin__provider_wants(&provider, a, b))
                continue;
            if (at >= got.count || got.items[at].a != a || got.items[at].b != b || got.items[at].similarity != truth)
                fail_msg("documents %u and %u, containment %f", a, b, truth);
            at++;
        }
    assert_int_equal(at, got.count);
    assert_true(counts->compared >= got.count);
    twin__matches_clear(&got);
}

static const struct recipe recipes[] = {
    { 200, 0, 300, 0, 60, 5 },   /* texts and parts of them */
    { 200, 0, 60, 80, 20, 10 },  /* few words, so that much is shared by chance */
    { 200, 100, 60, 0, 20, 3 },  /* a template, with more or less else */
    { 150, 20, 4, 10, 30, 20 },  /* nearly all above the threshold, many sets equal */
    { 200, 0, 6, 30, 30, 20 },   /* tiny sets, some of them empty */
    { 1, 5, 5, 0, 0, 0 },        /* alone */
    { 0, 0, 0, 0, 0, 0 },        /* none */
    { 2, 0, 400, 0, 50, 0 },     /* two */
    { 100, 0, 500, 500, 70, 1 }, /* large */
};
static const double thresholds[] = { .01, .3, .5, .75, .9, 1 };

static void no_contained_set_is_missed(void **state)
{
    (void)state;
    static struct world world;
    for (size_t r = 0; r < COUNT(recipes); r++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            draw(&world, &recipes[r], seed);
            world.split = seed == 2 ? (uint32_t)world.count / 3 : 0;
            for (size_t t = 0; t < COUNT(thresholds); t++) {
                struct twin__join_counts counts;
                join(&world,
                     (struct twin__containment_options){ .threshold = thresholds[t], .exec = execs[seed % 2] },
                     &counts);
            }
            world_clear(&world);
        }
}

/* Two long documents, and parts of them: so short that they are searched for, and longer ones. */
static void parts_of_long_documents_are_found(void **state)
{
    (void)state;
    enum { PARTS = 60, LONG = 480 };
    static struct world world;
    uint64_t seed = 5;
    world = (struct world){ .count = 2 + PARTS, .missing = UINT32_MAX, .long_size = LONG };
    for (size_t d = 0; d < world.count; d++) {
        size_t size = d < 2 ? LONG : 1 + twin__random_below(&seed, d % 2 ? 14 : 100);
        for (size_t i = 0; i < size; i++)
            add(&world, d, d < 2 || i % 5 ? item_of(d % 2, d < 2 ? i : d * 3 + i) : twin__random_next(&seed));
        finish(&world, d);
    }
    for (size_t t = 0; t < COUNT(thresholds); t++) {
        struct twin__join_counts counts;
        join(&world,
             (struct twin__containment_options){ .threshold = thresholds[t], .exec = execs[t % COUNT(execs)] },
             &counts);
    }
    world_clear(&world);
}

/* Blocks of some documents, and pairs compared as soon as there are some. */
static void many_blocks_and_workers_find_the_same(void **state)
{
    (void)state;
    static struct world world;
    struct recipe recipe = { MOST_DOCUMENTS, 20, 60, 300, 40, 5 };
    draw(&world, &recipe, 7);
    for (size_t t = 2; t < COUNT(thresholds); t += 2) {
        struct twin__join_counts first, counts;
        for (size_t e = 0; e < COUNT(execs); e++) {
            join(&world,
                 (struct twin__containment_options){ .threshold = thresholds[t],
                                                     .exec = execs[e],
                                                     .most_room = 1,
                                                     .pairs_at_a_time = 10,
                                                     .items_at_a_time = 1000 },
                 &counts);
            if (e == 0)
                first = counts;
            assert_true(counts.compared == first.compared);
        }
    }
    world_clear(&world);
}

/* Document d is the first d + 1 items, and one of every size lacks just as many as the threshold allows, or one
 * more. */
static void sizes_at_every_bound_are_joined(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    for (size_t t = 1; t < COUNT(thresholds); t++) {
        world = (struct world){ .count = 300, .missing = UINT32_MAX };
        for (size_t i = 0; i < MOST_ITEMS; i++)
            add(&world, 0, item_of(3, i));
        finish(&world, 0);
        for (size_t d = 1; d < world.count; d++) {
            size_t size = (d + 1) / 2, absent = size - (size_t)(thresholds[t] * (double)size) - d % 2;
            for (size_t i = 0; i < size; i++)
                add(&world, d, i < absent && absent <= size ? item_of(4 + d, i) : item_of(3, i));
            finish(&world, d);
        }
        struct twin__join_counts counts;
        join(&world, (struct twin__containment_options){ .threshold = thresholds[t], .exec = execs[0] }, &counts);
        world_clear(&world);
    }
}

/* Two thirds of each document are a template, the rest is its own: no two are compared at .8, and hardly any but
 * similar ones where some are parts of others. */
static void a_template_below_the_threshold_is_cheap(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    struct twin__join_counts counts;
    struct twin__containment_options options = { .threshold = .8, .exec = execs[0] };
    world = (struct world){ .count = MOST_DOCUMENTS, .missing = UINT32_MAX };
    for (size_t d = 0; d < world.count; d++) {
        for (size_t i = 0; i < 200; i++)
            add(&world, d, i < 134 ? item_of(1, i) : item_of(10 + d, i));
        finish(&world, d);
    }
    join(&world, options, &counts);
    assert_true(counts.compared == 0);
    world_clear(&world);
}

/* Each document has 10 of 200 phrases of 30 items: many are met, hardly any is contained in another. */
static void what_a_bounded_search_leaves_out_is_counted(void **state)
{
    (void)state;
    enum { PHRASES = 200, OF_EACH = 10, ITEMS = 30 };
    static struct world world;
    struct twin__join_counts all, some = { 0 };
    struct twin__containment_options options = { .threshold = .5, .exec = execs[1] };
    uint64_t seed = 11;
    world = (struct world){ .count = MOST_DOCUMENTS, .missing = UINT32_MAX };
    for (size_t d = 0; d < world.count; d++) {
        for (size_t i = 0; i < OF_EACH; i++) {
            uint64_t phrase = twin__random_below(&seed, PHRASES);
            for (size_t k = 0; k < ITEMS; k++)
                add(&world, d, item_of(100 + phrase, k));
        }
        finish(&world, d);
    }
    join(&world, options, &all);
    assert_true(all.incomplete == 0);
    struct twin__provider provider = provider_of(&world);
    twin_matches whole = { 0 }, got = { 0 };
    all = (struct twin__join_counts){ 0 };
    assert_int_equal(twin__containment_join(&whole, &all, &provider, options, NULL), TWIN_OK);
    options.steps_per_item = 1;
    assert_int_equal(twin__containment_join(&got, &some, &provider, options, NULL), TWIN_OK);
    assert_true(some.incomplete > 0 && some.incomplete <= world.count);
    assert_true(got.count <= whole.count && some.compared <= all.compared);
    twin__matches_clear(&whole);
    twin__matches_clear(&got);
    world_clear(&world);
}

static void a_document_that_cannot_be_fetched_stops_the_join(void **state)
{
    (void)state;
    static struct world world;
    draw(&world, &recipes[0], 1);
    for (size_t e = 0; e < COUNT(execs); e++)
        for (uint32_t missing = 0; missing < world.count; missing += 37) {
            struct twin__provider provider = provider_of(&world);
            world.missing = missing;
            twin_matches got = { 0 };
            struct twin__join_counts counts = { 0 };
            twin_error error = { 0 };
            struct twin__containment_options options = { .threshold = .8, .exec = execs[e] };
            assert_int_equal(twin__containment_join(&got, &counts, &provider, options, &error), TWIN_EIO);
            assert_int_equal(error.status, TWIN_EIO);
            twin__matches_clear(&got);
        }
    world_clear(&world);
}

/* Against counting bit by bit, also where sums outgrow a byte. */
static void colours_are_counted(void **state)
{
    (void)state;
    enum { MOST = 9000 };
    static uint64_t words[MOST];
    uint64_t seed = 3;
    uint32_t expected[TWIN__COLOURS] = { 0 }, got[TWIN__COLOURS];
    for (size_t count = 0; count <= MOST; count++) {
        if (count < 100 || count % 1000 < 2 || count == 4079 || count == 4080 || count == 4081) {
            twin__count_colours(got, words, count);
            assert_memory_equal(got, expected, sizeof got);
        }
        if (count == MOST)
            break;
        words[count] = twin__random_next(&seed) | 1; /* one colour that all have */
        for (unsigned c = 0; c < TWIN__COLOURS; c++)
            expected[c] += words[count] >> c & 1;
    }
}

/* A mark that was set is found; and of 200 sets of 100 items in a table for their 20,000, few items have marks of
 * others. */
static void marks_are_never_too_few(void **state)
{
    (void)state;
    enum { SETS = 200, ITEMS = 100 };
    struct twin__shingle_marks marks;
    uint64_t before[ITEMS], items[ITEMS], others = 0;
    assert_int_equal(twin__shingle_marks_init(&marks, SETS, (size_t)SETS * ITEMS), TWIN_OK);
    for (int round = 0; round < 2; round++)
        for (uint64_t set = 0; set < SETS; set++) {
            for (uint64_t i = 0; i < ITEMS; i++)
                items[i] = item_of(set, i);
            twin__shingle_marks_add(before, &marks, (twin_set){ items, ITEMS }, (uint64_t)1 << set % TWIN__COLOURS);
            for (size_t i = 0; i < ITEMS; i++) {
                others += (uint64_t)__builtin_popcountll(before[i]);
                assert_true(round == 0 || before[i] >> set % TWIN__COLOURS & 1);
            }
        }
    /* 16 to 32 marks per item, of which one is set: a word has at most four of others on average, in the first round
     * half. */
    assert_true(others < (uint64_t)SETS * ITEMS * (2 + 5));
    twin__shingle_marks_clear(&marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_contained_set_is_missed),
        cmocka_unit_test(parts_of_long_documents_are_found),
        cmocka_unit_test(many_blocks_and_workers_find_the_same),
        cmocka_unit_test(sizes_at_every_bound_are_joined),
        cmocka_unit_test(a_template_below_the_threshold_is_cheap),
        cmocka_unit_test(what_a_bounded_search_leaves_out_is_counted),
        cmocka_unit_test(a_document_that_cannot_be_fetched_stops_the_join),
        cmocka_unit_test(colours_are_counted),
        cmocka_unit_test(marks_are_never_too_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

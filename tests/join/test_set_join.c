/* test_set_join.c — template groups are found in large buckets and joined without missing a pair, against comparing all. */
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
#include "join/join_private.h"
#include "join/matches.h"
#include "join/set_join.h"
#include "join/similar_private.h"
#include "join/verify.h"
#include "numbers.h"
#include "scale.h"
#include "sketch/minhash.h"
#include "slow_set.h"

enum { MOST_DOCUMENTS = 700, MOST_ITEMS = 400, SLOTS = 128 };
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_exec execs[] = { { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 7 } };

/* Sets in memory. */
struct world {
    size_t count;
    size_t sizes[MOST_DOCUMENTS];
    uint64_t items[MOST_DOCUMENTS][MOST_ITEMS];
    uint32_t rows[MOST_DOCUMENTS * SLOTS];
    uint32_t documents[MOST_DOCUMENTS];
    uint32_t missing; /* a document that cannot be fetched; UINT32_MAX: none */
    struct fetched fetched;
};

static uint64_t size_of(const struct twin__provider *provider, uint32_t document)
{
    return ((const struct world *)provider->context)->sizes[document];
}

static twin_status fetch(struct twin__content *out, const struct twin__provider *provider, uint32_t document,
                         int worker, twin_error *error)
{
    struct world *world = provider->context;
    if (document == world->missing)
        return twin__fail(error, TWIN_EIO, "document %u cannot be read", document);
    *out = fetch_copy(&world->fetched, worker, world->items[document], world->sizes[document]);
    return TWIN_OK;
}

static struct twin__provider provider_of(struct world *world)
{
    return (struct twin__provider){ .count = world->count,
                                    .signatures = { world->rows, SLOTS, world->documents, world->count },
                                    .size = size_of,
                                    .fetch = fetch,
                                    .context = world };
}

static void add(struct world *world, size_t document, uint64_t item)
{
    if (world->sizes[document] < MOST_ITEMS)
        world->items[document][world->sizes[document]++] = item;
}

static void finish(struct world *world, size_t document)
{
    world->sizes[document] = make_set(world->items[document], world->sizes[document]);
}

/* Item number i of a family of items, well mixed. */
static uint64_t item_of(uint64_t family, uint64_t i)
{
    uint64_t state = family << 32 ^ i;
    return twin__random_next(&state);
}

/* How documents are made. */
struct recipe {
    size_t documents, templates;
    size_t template_size;
    size_t rest, rest_spread; /* items of its own: that many, and up to so many more */
    size_t vocabulary;        /* that half of the rest are drawn from; 0: all are new */
    unsigned dropped;         /* items of the template, of a hundred */
    unsigned variants;        /* documents, of a hundred, that are an earlier one with a few changes */
};

static void draw_new(struct world *world, size_t d, const struct recipe *recipe, uint64_t *seed)
{
    uint64_t template = twin__random_below(seed, recipe->templates);
    for (size_t i = 0; i < recipe->template_size; i++)
        if (twin__random_below(seed, 100) >= recipe->dropped)
            add(world, d, item_of(1 + template, i));
    size_t rest = recipe->rest + twin__random_below(seed, recipe->rest_spread + 1);
    for (size_t i = 0; i < rest; i++)
        add(world, d,
            recipe->vocabulary && i % 2 ? item_of(100, twin__random_below(seed, recipe->vocabulary))
                                        : twin__random_next(seed));
}

static void draw_variant(struct world *world, size_t d, uint64_t *seed)
{
    size_t of = twin__random_below(seed, d);
    uint64_t changes = twin__random_below(seed, 1 + world->sizes[of] / 5);
    world->sizes[d] = world->sizes[of];
    memcpy(world->items[d], world->items[of], sizeof world->items[d]);
    for (; changes > 0; changes--)
        if (twin__random_below(seed, 2) && world->sizes[d] > 1) {
            size_t at = twin__random_below(seed, world->sizes[d]), last = --world->sizes[d];
            world->items[d][at] = world->items[d][last];
        } else
            add(world, d, twin__random_next(seed));
}

static void draw(struct world *world, const struct recipe *recipe, uint64_t seed)
{
    *world = (struct world){ .count = recipe->documents, .missing = UINT32_MAX };
    for (size_t d = 0; d < world->count; d++) {
        world->documents[d] = (uint32_t)d;
        if (d > 0 && twin__random_below(&seed, 100) < recipe->variants)
            draw_variant(world, d, &seed);
        else
            draw_new(world, d, recipe, &seed);
        finish(world, d);
    }
}

static void sign(struct world *world)
{
    twin_minhash *hasher;
    assert_int_equal(twin__minhash_create(&hasher, (twin_minhash_options){ .slots = SLOTS, .seed = 1 }), TWIN_OK);
    for (size_t d = 0; d < world->count; d++)
        twin__minhash_sign(world->rows + d * SLOTS, hasher, world->items[d], world->sizes[d]);
    twin__minhash_free(hasher);
}

/* The similarity of every pair of the last world that was compared. */
static double truth[MOST_DOCUMENTS][MOST_DOCUMENTS];

static void compare_all(const struct world *world)
{
    for (uint32_t a = 0; a < world->count; a++)
        for (uint32_t b = a + 1; b < world->count; b++)
            truth[a][b] = slow_similarity((twin_set){ world->items[a], world->sizes[a] },
                                          (twin_set){ world->items[b], world->sizes[b] }, TWIN_JACCARD);
}

/* The matches are exactly the pairs that reach the threshold. */
static void assert_all_pairs(const twin_matches *got, const struct world *world, double threshold)
{
    size_t i = 0;
    for (uint32_t a = 0; a < world->count; a++)
        for (uint32_t b = a + 1; b < world->count; b++) {
            if (truth[a][b] < threshold)
                continue;
            if (i >= got->count || got->items[i].a != a || got->items[i].b != b ||
                got->items[i].similarity != truth[a][b])
                fail_msg("documents %u and %u, similarity %f", a, b, truth[a][b]);
            i++;
        }
    assert_true(i == got->count);
}

static const struct recipe recipes[] = {
    { 300, 1, 170, 28, 4, 0, 0, 5 },    /* below a threshold of .8, but for variants */
    { 300, 1, 170, 10, 50, 20, 3, 10 }, /* on both sides of it, with shared words */
    { 300, 2, 150, 10, 40, 0, 10, 10 }, /* two templates with gaps */
    { 300, 3, 60, 5, 60, 30, 5, 30 },   /* three small ones */
    { 200, 1, 200, 0, 6, 0, 1, 0 },     /* nearly all above: the output is quadratic */
    { 300, 4, 4, 0, 8, 10, 20, 20 },    /* tiny sets, some of them empty */
    { 250, 1, 5, 60, 200, 0, 0, 20 },   /* a poisoned shingle or five, else strangers */
    { 1, 1, 10, 1, 0, 0, 0, 0 },        /* alone */
    { 2, 1, 100, 1, 0, 0, 0, 0 },       /* two */
};
static const double thresholds[] = { .3, .5, .75, .8, .9, 1 };

/* All documents as one group, in an array of their own, which the join may put in order. */
struct grouped {
    uint32_t documents[MOST_DOCUMENTS];
    struct twin__group group;
    struct twin__groups groups;
};

static struct twin__groups *all_of(struct grouped *out, const struct world *world)
{
    memcpy(out->documents, world->documents, sizeof out->documents);
    out->group = (struct twin__group){ .count = world->count };
    out->groups = (struct twin__groups){ out->documents, &out->group, 1 };
    return &out->groups;
}

/* Returns how many pairs were compared. */
static uint64_t join(struct world *world, double threshold, twin_exec exec, size_t room)
{
    struct twin__provider provider = provider_of(world);
    struct grouped grouped;
    struct twin__set_join_options options = { .threshold = threshold, .exec = exec, .most_room = room };
    twin_matches got = { 0 };
    struct twin__join_counts counted = { 0 };
    assert_int_equal(twin__set_join(&got, &counted, &provider, all_of(&grouped, world), &options, NULL), TWIN_OK);
    twin__matches_sort(&got);
    assert_all_pairs(&got, world, threshold);
    twin__matches_clear(&got);
    return counted.compared;
}

static void no_pair_of_a_group_is_missed(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    for (size_t r = 0; r < COUNT(recipes); r++)
        for (uint64_t seed = 1; seed <= (QUICK ? 1 : 3); seed++) {
            draw(&world, &recipes[r], seed);
            compare_all(&world);
            for (size_t t = 0; t < COUNT(thresholds); t++)
                join(&world, thresholds[t], execs[0], 0);
        }
}

/* Rooms for a few documents, and for some hundred. */
static void many_phases_and_workers_find_the_same(void **state)
{
    (void)state;
    static struct world world;
    static const size_t rooms[] = { 4000, 30000 };
    struct recipe recipe = { 700, 2, 100, 5, 60, 40, 5, 20 };
    draw(&world, &recipe, 7);
    compare_all(&world);
    for (size_t r = 0; r < COUNT(rooms); r++)
        for (size_t t = 0; t < COUNT(thresholds); t += SANITIZED ? 3 : 1) {
            uint64_t compared = join(&world, thresholds[t], execs[0], rooms[r]);
            for (size_t e = 1; e < COUNT(execs); e++)
                assert_int_equal(join(&world, thresholds[t], execs[e], rooms[r]), compared);
        }
}

/* Of two collections only the pairs between them are wanted. */
static void pairs_between_two_collections_are_found(void **state)
{
    (void)state;
    static struct world world;
    static const size_t rooms[] = { 0, 4000 };
    struct recipe recipe = { 500, 2, 100, 5, 60, 40, 5, 20 };
    draw(&world, &recipe, 9);
    compare_all(&world);
    for (uint32_t split = 1; split < world.count; split += 166)
        for (size_t r = 0; r < COUNT(rooms); r++) {
            struct twin__provider provider = provider_of(&world);
            struct grouped grouped;
            struct twin__set_join_options options = { .threshold = .6, .exec = execs[r], .most_room = rooms[r] };
            twin_matches got = { 0 };
            struct twin__join_counts counted = { 0 };
            size_t wanted = 0;
            provider.split = split;
            assert_int_equal(twin__set_join(&got, &counted, &provider, all_of(&grouped, &world), &options, NULL),
                             TWIN_OK);
            for (uint32_t a = 0; a < split; a++)
                for (uint32_t b = split; b < world.count; b++)
                    wanted += truth[a][b] >= .6;
            assert_int_equal(got.count, wanted);
            for (size_t i = 0; i < got.count; i++) {
                twin_match match = got.items[i];
                assert_true(match.a < split && match.b >= split && match.similarity == truth[match.a][match.b]);
            }
            twin__matches_clear(&got);
        }
}

/* Several groups at once: the pairs within each, and no other. */
static void groups_are_joined_each_by_itself(void **state)
{
    (void)state;
    static struct world world;
    struct recipe recipe = { 600, 2, 100, 5, 60, 40, 5, 20 };
    draw(&world, &recipe, 11);
    compare_all(&world);
    struct twin__provider provider = provider_of(&world);
    struct twin__group items[] = { { .begin = 0, .count = 250 },
                                   { .begin = 250, .count = 1 },
                                   { .begin = 251, .count = 300 } };
    for (size_t e = 0; e < COUNT(execs); e++) {
        struct grouped grouped;
        struct twin__groups groups = { all_of(&grouped, &world)->documents, items, COUNT(items) };
        struct twin__set_join_options options = { .threshold = .6, .exec = execs[e], .most_room = 6000 * e };
        twin_matches got = { 0 };
        struct twin__join_counts counted = { 0 };
        size_t wanted = 0;
        assert_int_equal(twin__set_join(&got, &counted, &provider, &groups, &options, NULL), TWIN_OK);
        for (uint32_t a = 0; a < 551; a++)
            for (uint32_t b = a + 1; b < 551; b++)
                wanted += truth[a][b] >= .6 && (b < 250 || a >= 251);
        assert_int_equal(got.count, wanted);
        twin__matches_clear(&got);
    }
}

/* One pair of `every` is listed: the later document in the high half. */
static void list_pairs(struct twin__pairs *out, const struct world *world, uint32_t every)
{
    for (uint32_t b = 0; b < world->count; b++)
        for (uint32_t a = 0; a < b; a++)
            if ((a + b * world->count) % every == 0)
                assert_true(twin__pairs_add(out, (uint64_t)b << 32 | a));
}

static void listed_pairs_are_compared_and_no_others(void **state)
{
    (void)state;
    static struct world world;
    static const size_t rooms[] = { 0, 4000, 30000 };
    struct recipe recipe = { 400, 3, 100, 5, 60, 40, 5, 20 };
    draw(&world, &recipe, 13);
    compare_all(&world);
    struct twin__provider provider = provider_of(&world);
    for (uint32_t every = 1; every <= 41; every += 40)
        for (size_t r = 0; r < COUNT(rooms); r++) {
            struct grouped grouped;
            struct twin__pairs listed = { 0 };
            twin_matches got = { 0 };
            struct twin__join_counts counted = { 0 };
            size_t wanted = 0;
            list_pairs(&listed, &world, every);
            struct twin__set_join_options options = {
                .threshold = .5, .exec = execs[r], .most_room = rooms[r], .listed = &listed
            };
            assert_int_equal(twin__set_join(&got, &counted, &provider, all_of(&grouped, &world), &options, NULL),
                             TWIN_OK);
            for (size_t i = 0; i < listed.count; i++)
                wanted += truth[(uint32_t)listed.items[i]][listed.items[i] >> 32] >= .5;
            assert_int_equal(got.count, wanted);
            for (size_t i = 0; i < got.count; i++)
                assert_true((got.items[i].a + got.items[i].b * world.count) % every == 0 &&
                            got.items[i].similarity == truth[got.items[i].a][got.items[i].b]);
            assert_true(counted.compared <= listed.count);
            twin__matches_clear(&got);
            free(listed.items);
        }
}

/* ---- components ---- */

/* Some pairs are known to be connected; all that are similar are. */
static void true_components(uint32_t *begun, uint32_t *group, const struct world *world, double threshold,
                            uint64_t seed)
{
    twin__union_begin(begun, world->count);
    twin__union_begin(group, world->count);
    for (uint32_t a = 0; a < world->count; a++)
        for (uint32_t b = a + 1; b < world->count; b++) {
            bool is_known = twin__random_below(&seed, 4 * world->count) == 0;
            if (is_known)
                twin__union_join(begun, a, b);
            if (is_known || truth[a][b] >= threshold)
                twin__union_join(group, a, b);
        }
}

static uint64_t connect_all(struct world *world, double threshold, struct twin__set_join_options options,
                            uint64_t seed)
{
    static uint32_t group[MOST_DOCUMENTS], components[MOST_DOCUMENTS];
    struct twin__provider provider = provider_of(world);
    struct grouped grouped;
    twin_matches got = { 0 };
    struct twin__join_counts counted = { 0 };
    true_components(components, group, world, threshold, seed);
    options.mode = TWIN__JOIN_CONNECT;
    options.threshold = threshold;
    options.components = components;
    assert_int_equal(twin__set_join(&got, &counted, &provider, all_of(&grouped, world), &options, NULL), TWIN_OK);
    for (uint32_t d = 0; d < world->count; d++)
        assert_int_equal(twin__union_root(components, d), twin__union_root(group, d));
    for (size_t i = 0; i < got.count; i++) {
        uint32_t a = got.items[i].a, b = got.items[i].b;
        assert_true(a < b && truth[a][b] >= threshold && got.items[i].similarity == truth[a][b]);
    }
    assert_true(got.count < world->count);
    twin__matches_clear(&got);
    return counted.compared;
}

static void components_of_a_group_are_those_of_all_pairs(void **state)
{
    (void)state;
    static struct world world;
    for (size_t r = 0; r < COUNT(recipes); r++)
        for (uint64_t seed = 1; seed <= (QUICK ? 1 : 2); seed++) {
            draw(&world, &recipes[r], seed);
            compare_all(&world);
            for (size_t t = 0; t < COUNT(thresholds); t += QUICK ? 2 : 1) {
                struct twin__set_join_options options = { .exec = execs[0], .most_room = seed % 2 ? 0 : 5000 };
                uint64_t compared = connect_all(&world, thresholds[t], options, seed);
                options.exec = execs[1 + t % 2];
                assert_int_equal(connect_all(&world, thresholds[t], options, seed), compared);
            }
        }
}

/* Near-copies of one text are one component as soon as each was compared with the one that is kept. */
static void what_is_connected_is_not_compared_again(void **state)
{
    (void)state;
    static struct world world;
    struct recipe recipe = { 700, 1, 200, 5, 0, 0, 0, 0 };
    draw(&world, &recipe, 3);
    compare_all(&world);
    assert_true(connect_all(&world, .8, (struct twin__set_join_options){ .exec = execs[1] }, 5) < 2 * world.count);
}

/* Sizes from one to as many as fit: a prefix of each length, each just long enough. */
static void sizes_at_every_bound_are_joined(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    world = (struct world){ .count = MOST_ITEMS, .missing = UINT32_MAX };
    for (size_t d = 0; d < world.count;
         d++) { /* document d is the first d + 1 items: similarity is a ratio of sizes */
        world.documents[d] = (uint32_t)d;
        for (size_t i = 0; i <= d; i++)
            add(&world, d, item_of(5, i));
        finish(&world, d);
    }
    compare_all(&world);
    for (size_t t = 0; t < COUNT(thresholds); t++)
        join(&world, thresholds[t], execs[0], 0);
}

/* 700 documents at J = .74: 244,650 pairs, of which those that are similar are compared and hardly any other. */
static void a_template_below_the_threshold_is_cheap(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    struct recipe recipe = { 700, 1, 170, 30, 0, 0, 0, 3 };
    draw(&world, &recipe, 1);
    compare_all(&world);
    assert_true(join(&world, .8, execs[0], 0) < 1000);
}

static void a_document_that_cannot_be_fetched_stops_the_join(void **state)
{
    (void)state;
    static struct world world;
    draw(&world, &recipes[0], 1);
    compare_all(&world);
    for (size_t e = 0; e < COUNT(execs); e++)
        for (uint32_t missing = 0; missing < world.count; missing += 37) {
            struct twin__provider provider = provider_of(&world);
            world.missing = missing;
            twin_matches got = { 0 };
            struct grouped grouped;
            struct twin__join_counts counted = { 0 };
            twin_error error = { 0 };
            struct twin__set_join_options options = { .threshold = .8, .exec = execs[e] };
            assert_int_equal(twin__set_join(&got, &counted, &provider, all_of(&grouped, &world), &options, &error),
                             TWIN_EIO);
            assert_int_equal(error.status, TWIN_EIO);
            twin__matches_clear(&got);
        }
}

/* ---- groups among other documents ---- */

struct gathered {
    struct twin__band_candidates candidates;
    struct twin__gate gate;
    twin_similar_options options;
};

static void gather(struct gathered *out, const struct twin__provider *provider, twin_exec exec)
{
    *out = (struct gathered){ .options = { .threshold = .8, .bands.plan = { 25, 5 }, .exec = exec } };
    out->gate = twin__gate_make(TWIN_JACCARD, .8, TWIN_VERIFY_EXACT, SLOTS);
    assert_int_equal(twin__candidates_from_bands(&out->candidates, provider, &out->gate, &out->options, true),
                     TWIN_OK);
}

/* The pairs of bands, and no other, are those between groups and, on demand, those within. */
static void pairs_are_between_groups_or_within(void **state)
{
    (void)state;
    static struct world world;
    struct recipe recipe = { 700, 2, 190, 10, 0, 0, 0, 0 };
    draw(&world, &recipe, 3);
    compare_all(&world);
    sign(&world);
    struct twin__provider provider = provider_of(&world);
    struct gathered plain;
    plain = (struct gathered){ .options = { .threshold = .8, .bands.plan = { 25, 5 }, .exec = execs[0] } };
    plain.gate = twin__gate_make(TWIN_JACCARD, .8, TWIN_VERIFY_EXACT, SLOTS);
    assert_int_equal(twin__candidates_from_bands(&plain.candidates, &provider, &plain.gate, &plain.options, false),
                     TWIN_OK);
    assert_int_equal(twin__pairs_sort_unique(&plain.candidates.pairs, NULL), TWIN_OK);
    for (size_t e = 0; e < COUNT(execs); e++) {
        struct gathered with;
        gather(&with, &provider, execs[e]);
        struct twin__band_candidates *candidates = &with.candidates;
        assert_int_equal(candidates->loose.count, 2);
        for (size_t i = 0; i < candidates->pairs.count; i++)
            assert_true(candidates->loose_of[twin__pair_low(candidates->pairs.items[i])] !=
                        candidates->loose_of[twin__pair_high(candidates->pairs.items[i])]);
        bool whole[2] = { false, false };
        bool *alone = calloc(candidates->dense.count + 1, sizeof *alone);
        assert_non_null(alone);
        assert_int_equal(twin__candidates_settle(candidates, whole, alone, &provider, &with.gate, &with.options),
                         TWIN_OK);
        assert_int_equal(candidates->joined.count, 0);
        free(alone);
        size_t listed = candidates->pairs.count;
        assert_int_equal(twin__pairs_sort_unique(&candidates->pairs, NULL), TWIN_OK);
        assert_true(listed == candidates->pairs.count && listed == plain.candidates.pairs.count);
        assert_memory_equal(candidates->pairs.items, plain.candidates.pairs.items, listed * sizeof(uint64_t));
        twin__band_candidates_clear(candidates);
    }
    twin__band_candidates_clear(&plain.candidates);
}

/* All pairs come out, also those that no band has found: with one band a group would lose half of them. */
static void the_engine_misses_no_pair_of_a_group(void **state)
{
    (void)state;
    static struct world world;
    struct recipe recipe = { 700, 1, 172, 28, 0, 0, 0, 10 };
    draw(&world, &recipe, 5);
    compare_all(&world);
    sign(&world);
    struct twin__provider provider = provider_of(&world);
    for (size_t e = 0; e < COUNT(execs); e++) {
        twin_matches got = { 0 };
        twin_similar_counts counts = { 0 };
        twin_similar_options options = { .threshold = .8, .bands.plan = { 25, 5 }, .exec = execs[e] };
        assert_int_equal(twin__engine_find(&got, &counts, &provider, &options, NULL), TWIN_OK);
        assert_all_pairs(&got, &world, .8);
        assert_true(counts.verified >= got.count && counts.similar == got.count);
        assert_true(counts.template_groups == 1 && counts.largest_groups[0] > 650 && counts.largest_groups[1] == 0);
        twin__matches_clear(&got);
    }
}

/* With one row per band, a family is a group; documents that have nothing but a phrase in common are none, though their
 * buckets are as large. */
static void one_row_per_band_makes_groups_of_families_only(void **state)
{
    (void)state;
    static struct world world;
    struct recipe family = { 300, 1, 80, 80, 0, 0, 0, 0 }, phrase = { 300, 1, 12, 150, 0, 0, 0, 10 };
    for (int is_family = 0; is_family < 2; is_family++) {
        draw(&world, is_family ? &family : &phrase, 7);
        compare_all(&world);
        sign(&world);
        struct twin__provider provider = provider_of(&world);
        for (size_t e = 0; e < COUNT(execs); e++) {
            twin_matches got = { 0 };
            twin_similar_counts counts = { 0 };
            twin_similar_options options = { .threshold = .3, .bands.plan = { SLOTS, 1 }, .exec = execs[e] };
            assert_int_equal(twin__engine_find(&got, &counts, &provider, &options, NULL), TWIN_OK);
            assert_all_pairs(&got, &world, .3);
            assert_int_equal(counts.template_groups, is_family);
            assert_true(counts.candidates > counts.similar * 10 || is_family);
            twin__matches_clear(&got);
        }
    }
}

/* Estimates: the pairs whose signatures have enough equal slots, all of them. */
static void the_engine_misses_no_estimate_of_a_group(void **state)
{
    (void)state;
    static struct world world;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct recipe recipe = { 700, 1, 172, 28, 0, 0, 0, 10 };
        draw(&world, &recipe, seed);
        sign(&world);
        struct twin__provider provider = provider_of(&world);
        for (uint32_t a = 0; a < world.count; a++)
            for (uint32_t b = a + 1; b < world.count; b++)
                truth[a][b] = (double)twin__provider_agreement(&provider, a, b) / SLOTS;
        if (seed == 2) { /* two collections: pairs of one side are not wanted */
            provider.split = 300;
            for (uint32_t a = 0; a < world.count; a++)
                for (uint32_t b = a + 1; b < world.count; b++)
                    truth[a][b] = twin__provider_wants(&provider, a, b) ? truth[a][b] : 0;
        }
        for (size_t e = 0; e < COUNT(execs); e++) {
            twin_matches got = { 0 };
            twin_similar_counts counts = { 0 };
            twin_similar_options options = {
                .threshold = .8, .bands.plan = { 25, 5 }, .verify = TWIN_VERIFY_ESTIMATE, .exec = execs[e]
            };
            assert_int_equal(twin__engine_find(&got, &counts, &provider, &options, NULL), TWIN_OK);
            assert_true(got.count > 1000 && counts.verified == 0 && counts.template_groups == 1);
            assert_all_pairs(&got, &world, .8);
            twin__matches_clear(&got);
        }
    }
}

/* The joins themselves, by signatures of few and of many slots, at every number of equal slots. */
static void thresholds_of_signatures_are_exact(void **state)
{
    (void)state;
    for (size_t slots = 1; slots <= 512; slots += slots < 40 ? 1 : 59)
        for (size_t least = 1; least <= slots; least++) {
            double threshold = twin__signature_threshold(least, slots);
            for (size_t equal = least - 1; equal <= least; equal++) {
                double similarity = (double)equal / (double)(2 * slots - equal);
                assert_true((similarity >= threshold) == (equal >= least));
                assert_int_equal(twin__signature_equal(similarity, slots), equal);
            }
        }
}

/* Few and many families, with few and with many pairs: the similarities are those of whole sets. */
static void families_are_compared_as_their_sets(void **state)
{
    (void)state;
    static struct world world;
    for (size_t templates = 1; templates <= 9; templates += QUICK ? 8 : 4) {
        struct recipe recipe = { 500, templates, 100, 0, 40, 20, 5, 20 };
        draw(&world, &recipe, templates);
        compare_all(&world);
        sign(&world);
        struct twin__provider provider = provider_of(&world);
        for (uint32_t every = 1; every <= 301; every += QUICK ? 300 : 100) {
            struct twin__pairs pairs = { 0 };
            for (uint32_t a = 0, n = 0; a < world.count; a++)
                for (uint32_t b = a + 1; b < world.count; b++)
                    if (n++ % every == 0)
                        assert_true(twin__pairs_add(&pairs, twin__pair(a, b)));
            for (size_t e = 0; e < COUNT(execs); e++) {
                struct twin__set_rule rule = { TWIN_JACCARD, .6 };
                struct twin__verify_options options = { .comparison = twin__compare_sets(&rule), .exec = execs[e] };
                twin_matches got = { 0 };
                size_t similar = 0;
                assert_int_equal(twin__verify_pairs(&got, &provider, &pairs, options, NULL), TWIN_OK);
                for (size_t i = 0; i < pairs.count; i++)
                    similar += truth[twin__pair_low(pairs.items[i])][twin__pair_high(pairs.items[i])] >= .6;
                assert_int_equal(got.count, similar);
                for (size_t i = 0; i < got.count; i++)
                    assert_true(got.items[i].similarity == truth[got.items[i].a][got.items[i].b]);
                twin__matches_clear(&got);
            }
            free(pairs.items);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_of_a_group_is_missed),
        cmocka_unit_test(many_phases_and_workers_find_the_same),
        cmocka_unit_test(pairs_between_two_collections_are_found),
        cmocka_unit_test(groups_are_joined_each_by_itself),
        cmocka_unit_test(listed_pairs_are_compared_and_no_others),
        cmocka_unit_test(components_of_a_group_are_those_of_all_pairs),
        cmocka_unit_test(what_is_connected_is_not_compared_again),
        cmocka_unit_test(sizes_at_every_bound_are_joined),
        cmocka_unit_test(a_template_below_the_threshold_is_cheap),
        cmocka_unit_test(a_document_that_cannot_be_fetched_stops_the_join),
        cmocka_unit_test(pairs_are_between_groups_or_within),
        cmocka_unit_test(the_engine_misses_no_pair_of_a_group),
        cmocka_unit_test(one_row_per_band_makes_groups_of_families_only),
        cmocka_unit_test(the_engine_misses_no_estimate_of_a_group),
        cmocka_unit_test(thresholds_of_signatures_are_exact),
        cmocka_unit_test(families_are_compared_as_their_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_between.c — similar pairs between two collections, against an exhaustive comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <twinsift/similar.h>

#include "join/matches.h"
#include "lookalikes.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* With 512 bands of one row a pair of similarity .1 is missed once in 10^23: what is found is all there is. */
enum { SLOTS = 512 };

/* One half of a collection with a known truth. */
struct side {
    struct corpus corpus;
    struct lookalikes truth;
    twin_input *input;
    twin_collection *collection;
};

struct world {
    struct lookalikes all; /* document d of side s is number 2·d + s */
    struct side sides[2];
};

static void side_read(struct side *side, twin_exec exec, uint64_t *seed)
{
    twin_collection_options options = plain_options("word:1");
    options.exec = exec;
    options.scheme.minhash.slots = SLOTS;
    corpus_begin(&side->corpus);
    write_lookalikes(&side->corpus, &side->truth, seed);
    side->input = open_input(side->corpus.path, (twin_input_options){ 0 });
    side->collection = read_collection(side->input, options);
}

/* Both sides have the ids 0, 1, 2, … */
static void world_draw(struct world *world, size_t count, twin_exec exec, uint64_t seed)
{
    draw_lookalikes(&world->all, count, &seed);
    for (size_t s = 0; s < 2; s++) {
        lookalikes_init(&world->sides[s].truth, (count + 1 - s) / 2);
        for (size_t d = 0; d < world->sides[s].truth.count; d++)
            world->sides[s].truth.documents[d] = world->all.documents[2 * d + s];
        side_read(&world->sides[s], exec, &seed);
    }
}

static void world_end(struct world *world)
{
    for (size_t s = 0; s < 2; s++) {
        twin_collection_free(world->sides[s].collection);
        twin_input_free(world->sides[s].input);
        lookalikes_clear(&world->sides[s].truth);
        corpus_end(&world->sides[s].corpus);
    }
    lookalikes_clear(&world->all);
}

static bool is_first(const struct side *side, size_t d)
{
    return true_first(&side->truth, d) == d;
}

/* The similarity of a pair that is to be reported; negative: it is not. */
static double slow_line(const struct world *world, twin_similar_options options, twin_copies copies, size_t a,
                        size_t b)
{
    double similarity = true_similarity(&world->all, 2 * a, 2 * b + 1, options.measure);
    bool firsts[] = { is_first(&world->sides[0], a), is_first(&world->sides[1], b) };
    bool equal = memcmp(&world->all.documents[2 * a], &world->all.documents[2 * b + 1], sizeof(struct words)) == 0;
    bool wanted = copies == TWIN_COPIES_ALL     ? true
                  : copies == TWIN_COPIES_FIRST ? firsts[0] || firsts[1]
                                                : firsts[0] && firsts[1] && !equal;
    return similarity >= options.threshold && wanted ? similarity : -1;
}

static bool add_line(void *context, twin_match match)
{
    twin_matches *lines = context;
    lines->items = realloc(lines->items, (lines->count + 1) * sizeof *lines->items);
    assert_non_null(lines->items);
    lines->items[lines->count++] = match;
    return true;
}

static void check(const struct world *world, twin_similar_options options, twin_copies copies)
{
    twin_similar *similar;
    twin_matches lines = { 0 };
    size_t at = 0;
    assert_int_equal(
        twin_similar_between(&similar, world->sides[0].collection, world->sides[1].collection, options, NULL),
        TWIN_OK);
    assert_int_equal(twin_similar_each(similar, copies, add_line, &lines), TWIN_OK);
    for (size_t a = 0; a < world->sides[0].truth.count; a++)
        for (size_t b = 0; b < world->sides[1].truth.count; b++) {
            double similarity = slow_line(world, options, copies, a, b);
            if (similarity < 0)
                continue;
            assert_true(at < lines.count && lines.items[at].a == a && lines.items[at].b == b);
            assert_true(lines.items[at].similarity == similarity);
            at++;
        }
    assert_int_equal(at, lines.count);
    free(lines.items);
    twin_similar_free(similar);
}

/* Every document that has a partner is found, with true ones only, and among them its copy. */
static void check_once(const struct world *world, twin_similar_options options)
{
    twin_similar *similar;
    twin_matches lines = { 0 };
    size_t at = 0;
    options.existence_only = true;
    assert_int_equal(
        twin_similar_between(&similar, world->sides[0].collection, world->sides[1].collection, options, NULL),
        TWIN_OK);
    assert_int_equal(twin_similar_each(similar, TWIN_COPIES_FIRST, add_line, &lines), TWIN_OK);
    for (size_t a = 0; a < world->sides[0].truth.count; a++) {
        bool has_any = false, has_copy = false, found_copy = false;
        size_t begin = at;
        for (size_t b = 0; b < world->sides[1].truth.count; b++) {
            double similarity = slow_line(world, options, TWIN_COPIES_FIRST, a, b);
            has_any |= similarity >= 0;
            has_copy |= similarity == 1;
            if (at < lines.count && lines.items[at].a == a && lines.items[at].b == b) {
                assert_true(similarity >= 0 && lines.items[at].similarity == similarity);
                found_copy |= similarity == 1;
                at++;
            }
        }
        assert_int_equal(has_any, at > begin);
        assert_true(options.measure != TWIN_JACCARD || has_copy == found_copy);
    }
    assert_int_equal(at, lines.count);
    free(lines.items);
    twin_similar_free(similar);
}

static void all_pairs_between_are_found_and_no_other(void **state)
{
    (void)state;
    static const double thresholds[] = { .3, .6, 1 };
    struct world world;
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        for (size_t count = 1; count < 5; count++) {
            world_draw(&world, count == 4 ? QUICK ? 60 : 160 : count, exec, 10 * count + (uint64_t)e);
            for (size_t t = 0; t < COUNT(thresholds); t += SANITIZED ? 2 : 1)
                for (twin_copies copies = TWIN_COPIES_FIRST; copies <= TWIN_COPIES_NONE; copies++)
                    for (int measure = TWIN_JACCARD; measure <= TWIN_CONTAINMENT; measure++)
                        for (size_t most = 0; most < (e ? 1 : 50); most = 7 * most + 1) /* also on disk */
                            check(&world,
                                  (twin_similar_options){ .threshold = thresholds[t],
                                                          .measure = (twin_measure)measure,
                                                          .bands.plan = { SLOTS, 1 },
                                                          .spill_after = most,
                                                          .exec = exec },
                                  copies);
            for (size_t t = 0; t < 2 * COUNT(thresholds); t++)
                check_once(&world, (twin_similar_options){ .threshold = thresholds[t / 2],
                                                           .measure = t % 2 ? TWIN_CONTAINMENT : TWIN_JACCARD,
                                                           .bands.plan = { SLOTS, 1 },
                                                           .exec = exec });
            world_end(&world);
        }
    }
}

/* Of each document the most similar ones of the other side, not of its own; with so many, all of them. */
static void a_forest_finds_those_of_the_other_side(void **state)
{
    (void)state;
    struct world world;
    world_draw(&world, 60, (twin_exec){ 0 }, 5);
    check(&world,
          (twin_similar_options){
              .threshold = .5, .method = TWIN_METHOD_FOREST, .top = 1000, .bands.plan = { SLOTS, 1 } },
          TWIN_COPIES_ALL);
    world_end(&world);
}

/* Documents around one template, half of them on each side; every tenth is the one before it, which is on the other side. */
static void draw_family(struct world *world, size_t documents, twin_exec exec, uint64_t *seed)
{
    enum { TEMPLATE = 300 };
    *world = (struct world){ 0 };
    lookalikes_init(&world->all, documents);
    for (size_t d = 0; d < documents; d++) {
        for (size_t word = 0; word < TEMPLATE; word++)
            add_word(&world->all, d, word);
        for (size_t i = 0; i < 60; i++)
            add_word(&world->all, d, TEMPLATE + twin__random_below(seed, VOCABULARY - TEMPLATE));
        if (d % 10 == 1)
            world->all.documents[d] = world->all.documents[d - 1];
    }
    for (size_t s = 0; s < 2; s++) {
        lookalikes_init(&world->sides[s].truth, documents / 2);
        for (size_t d = 0; d < documents / 2; d++)
            world->sides[s].truth.documents[d] = world->all.documents[2 * d + s];
        side_read(&world->sides[s], exec, seed);
    }
}

/* Bands make it one large bucket. */
static void a_template_on_both_sides_is_joined_across(void **state)
{
    (void)state;
    struct world world;
    uint64_t seed = 3;
    draw_family(&world, 200, (twin_exec){ 0 }, &seed);
    for (double threshold = .75; threshold < .9; threshold += .05) {
        twin_similar_options options = { .threshold = threshold, .bands.plan = { 128, 4 } };
        check(&world, options, TWIN_COPIES_FIRST);
        check_once(&world, options);
    }
    world_end(&world);
}

/* Where all pairs are similar, a few comparisons per document are enough. */
static void a_family_on_both_sides_does_not_cost_the_product(void **state)
{
    (void)state;
    enum { DOCUMENTS = QUICK ? 2400 : 4800 };
    struct world world;
    for (int workers = 1; workers < 4; workers += 2) {
        twin_exec exec;
        uint64_t seed = 4;
        twin_similar *similar;
        assert_int_equal(twin_exec_make(&exec, workers > 1 ? TWIN_EXEC_PTHREADS : TWIN_EXEC_SERIAL, workers),
                         TWIN_OK);
        draw_family(&world, DOCUMENTS, exec, &seed);
        for (int measure = TWIN_JACCARD; measure <= TWIN_CONTAINMENT; measure++) {
            twin_similar_options options = { .threshold = .7,
                                             .measure = (twin_measure)measure,
                                             .existence_only = true,
                                             .exec = exec,
                                             .bands.plan = { 128, 4 } };
            assert_int_equal(
                twin_similar_between(&similar, world.sides[0].collection, world.sides[1].collection, options, NULL),
                TWIN_OK);
            twin_similar_counts counts = twin_similar_count(similar);
            assert_in_range(counts.similar, DOCUMENTS / 2 - DOCUMENTS / 20, DOCUMENTS);
            assert_true(counts.verified < (uint64_t)DOCUMENTS * 300);
            twin_similar_free(similar);
        }
        world_end(&world);
    }
}

static void collections_of_different_schemes_are_refused(void **state)
{
    (void)state;
    struct world world;
    twin_similar *similar;
    twin_error error;
    world_draw(&world, 6, (twin_exec){ 0 }, 1);
    twin_collection *other = read_collection(world.sides[1].input, plain_options("word:2"));
    assert_int_equal(
        twin_similar_between(&similar, world.sides[0].collection, other, (twin_similar_options){ 0 }, &error),
        TWIN_EINVAL);
    assert_null(similar);
    assert_non_null(strstr(error.message, "different schemes"));
    assert_int_equal(twin_similar_between(&similar, other, NULL, (twin_similar_options){ 0 }, &error), TWIN_EINVAL);
    twin_collection_free(other);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_between_are_found_and_no_other),
        cmocka_unit_test(a_forest_finds_those_of_the_other_side),
        cmocka_unit_test(a_template_on_both_sides_is_joined_across),
        cmocka_unit_test(a_family_on_both_sides_does_not_cost_the_product),
        cmocka_unit_test(collections_of_different_schemes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_deep_bands.c — bands drawn from all slots: what they miss, when they are chosen, and that each pair is found
 * once, against comparing all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "join/candidates.h"
#include "join/groups.h"
#include "numbers.h"
#include "random_unit.h"
#include "scale.h"

enum { SLOTS = 128, DOCUMENTS = 600 };

/* ---- plans */

static twin_similar_options options_for(twin_plan plan, double threshold)
{
    return (twin_similar_options){ .bands.plan = plan, .threshold = threshold, .exec = { TWIN_EXEC_SERIAL, 1 } };
}

/* With one band and no gate it is the textbook's: J^r, if slots are drawn once each. The mean of C(m, r) / C(k, r) over a
 * binomial m is J^r exactly. */
static void one_band_is_shared_as_in_the_textbook(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 20; rows++)
        for (double similarity = .05; similarity < 1; similarity += .05)
            assert_true(fabs(twin__deep_plan_missed((twin_plan){ 1, rows }, SLOTS, similarity, 0) -
                             (1 - pow(similarity, (double)rows))) < 1e-9);
    assert_true(twin__deep_plan_missed((twin_plan){ 1, 9 }, SLOTS, 1, 100) == 0);
}

static void plans_miss_no_more_than_ordinary_bands(void **state)
{
    (void)state;
    static const struct {
        twin_plan plan;
        double threshold;
        size_t least;
    } cases[] = { { { 25, 5 }, .8, 84 }, { { 42, 3 }, .5, 41 }, { { 14, 9 }, .9, 101 }, { { 16, 8 }, .8, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twin_similar_options options = options_for(cases[i].plan, cases[i].threshold);
        struct twin__deep_plans plans = twin__deep_plans_make(&options, SLOTS, cases[i].least);
        double allowed = 1 - twin_plan_probability(cases[i].plan, cases[i].threshold);
        assert_int_equal(plans.bands[cases[i].plan.rows], 0);
        assert_true(plans.bands[cases[i].plan.rows + 1] > 0);
        for (size_t rows = 1; rows <= TWIN__MOST_DRAWN_ROWS; rows++)
            for (size_t fewer = 0; fewer < 2 && plans.bands[rows]; fewer++) {
                twin_plan plan = { plans.bands[rows] - fewer, rows };
                double missed = twin__deep_plan_missed(plan, SLOTS, cases[i].threshold, cases[i].least);
                assert_true(fewer ? missed > allowed : missed <= allowed);
            }
    }
}

/* ---- order */

static bool all_equal(const bool *equal, const uint16_t *slots, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (!equal[slots[i]])
            return false;
    return true;
}

static bool is_missed(const bool *equal, const uint16_t *order, twin_plan plan)
{
    for (size_t band = 0; band < plan.bands; band++)
        if (all_equal(equal, order + band * plan.rows, plan.rows))
            return false;
    return true;
}

static void a_round_has_each_slot_at_most_once(void **state)
{
    (void)state;
    static const twin_plan plans[] = { { 40, 7 }, { 64, 2 }, { 9, 32 }, { 3, 128 } };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        size_t rows = plans[i].rows, in_round = SLOTS / rows;
        uint16_t *order = twin__deep_order(plans[i], SLOTS);
        assert_non_null(order);
        for (size_t band = 0; band < plans[i].bands; band += in_round) {
            bool used[SLOTS] = { false };
            for (size_t k = band * rows; k < (band + in_round) * rows && k < plans[i].bands * rows; k++) {
                assert_true(order[k] < SLOTS && !used[order[k]]);
                used[order[k]] = true;
            }
        }
        free(order);
    }
}

/* The probability is that of independent bands; those of a round are not, which can only help. */
static void as_many_pairs_are_missed_as_expected(void **state)
{
    (void)state;
    static const twin_plan plans[] = { { 40, 10 }, { 120, 14 }, { 12, 5 } };
    size_t trials = QUICK ? 4000 : 40000;
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        double expected = twin__deep_plan_missed(plans[i], SLOTS, .8, 0);
        uint16_t *order = twin__deep_order(plans[i], SLOTS);
        size_t missed = 0;
        assert_non_null(order);
        for (size_t trial = 0; trial < trials; trial++) {
            bool equal[SLOTS];
            for (size_t k = 0; k < SLOTS; k++)
                equal[k] = random_unit(&seed) < .8;
            missed += is_missed(equal, order, plans[i]);
        }
        /* The bands are drawn once and the pairs anew, so that the bands' own luck adds to the four standard errors:
         * it was within a tenth for each of these plans. Fewer than half would mean that another thing is computed. */
        double error = sqrt(expected * (1 - expected) / (double)trials), share = (double)missed / (double)trials;
        assert_true(share < expected * 1.1 + 4 * error);
        assert_true(share > expected / 2 - 4 * error);
        free(order);
    }
}

/* ---- candidates */

struct world {
    uint32_t rows[DOCUMENTS * SLOTS], all[DOCUMENTS], group[DOCUMENTS], members[DOCUMENTS];
    size_t members_count;
};

/* Slots of two values, so that pairs are alike; every fourth document is near an earlier one. Every fifth is in no group. */
static void draw(struct world *world, uint64_t seed)
{
    world->members_count = 0;
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        size_t of = d ? twin__random_below(&seed, d) : 0;
        for (size_t k = 0; k < SLOTS; k++)
            world->rows[d * SLOTS + k] =
                d && d % 4 == 0 && twin__random_below(&seed, 8)
                    ? world->rows[of * SLOTS + k]
                    : (uint32_t)(twin__random_below(&seed, 2) ? 5 : twin__random_next(&seed));
        world->all[d] = d;
        world->group[d] = d % 5 ? 1 : d; /* the first of those that are in the group */
        if (d % 5)
            world->members[world->members_count++] = d;
    }
}

static size_t agreement(const struct world *world, uint32_t a, uint32_t b, bool *equal)
{
    size_t count = 0;
    for (size_t k = 0; k < SLOTS; k++)
        count += equal[k] = world->rows[a * SLOTS + k] == world->rows[b * SLOTS + k];
    return count;
}

/* Of all pairs of the group those that pass the gate and share a band. */
static size_t compare_all(uint64_t *pairs, const struct world *world, twin_plan plan, size_t least)
{
    uint16_t *order = twin__deep_order(plan, SLOTS);
    size_t count = 0;
    assert_non_null(order);
    for (size_t i = 0; i < world->members_count; i++)
        for (size_t j = i + 1; j < world->members_count; j++) {
            bool equal[SLOTS];
            if (agreement(world, world->members[i], world->members[j], equal) >= least &&
                !is_missed(equal, order, plan))
                pairs[count++] = twin__pair(world->members[i], world->members[j]);
        }
    free(order);
    qsort(pairs, count, sizeof *pairs, by_value);
    return count;
}

static void each_pair_of_a_group_is_found_once(void **state)
{
    (void)state;
    static struct world world;
    static uint64_t expected[DOCUMENTS * DOCUMENTS / 2];
    static const twin_exec execs[] = { { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 3 } };
    static const twin_plan plans[] = { { 30, 6 }, { 33, 9 }, { 2, 3 }, { 1, 4 } };
    for (uint64_t seed = 1; seed <= (QUICK ? 2 : 6); seed++)
        for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
            for (size_t memory = 0; memory <= 1 << 20; memory += 1 << 20) {
                draw(&world, seed);
                struct twin__group group = { .count = world.members_count, .deep = plans[i] };
                struct twin__band_candidates candidates = { .loose_of = world.group,
                                                            .loose = { world.members, &group, 1 } };
                struct twin__provider provider = { .count = DOCUMENTS,
                                                   .signatures = { world.rows, SLOTS, world.all, DOCUMENTS } };
                struct twin__gate gate = { SLOTS, 84 };
                twin_similar_options options = options_for((twin_plan){ 25, 5 }, .8);
                options.exec = execs[seed % 2];
                options.memory_bytes = memory;
                bool whole = false;
                assert_int_equal(twin__candidates_settle(&candidates, &whole, NULL, &provider, &gate, &options),
                                 TWIN_OK);
                assert_int_equal(candidates.joined.count, 0);
                twin__groups_clear(&candidates.joined);
                size_t count = compare_all(expected, &world, plans[i], gate.least);
                assert_true(count > 20);
                assert_int_equal(candidates.pairs.count, count);
                qsort(candidates.pairs.items, count, sizeof(uint64_t), by_value);
                assert_memory_equal(candidates.pairs.items, expected, count * sizeof(uint64_t));
                assert_true(candidates.seen >= count);
                free(candidates.pairs.items);
            }
}

/* ---- low thresholds */

static void low_thresholds_list_drawn_bands_of_two_rows(void **state)
{
    (void)state;
    for (double threshold = .15; threshold < .34; threshold += .05) {
        twin_similar_options options = options_for((twin_plan){ SLOTS, 1 }, threshold);
        struct twin__gate gate = { SLOTS, twin__gate_least(threshold, SLOTS) };
        struct twin__listing listing;
        assert_int_equal(twin__listing_init(&listing, &gate, &options), TWIN_OK);
        assert_non_null(listing.order);
        assert_int_equal(listing.plan.rows, 2);
        assert_true(twin__deep_plan_missed(listing.plan, SLOTS, threshold, gate.least) <= 1e-4);
        listing.plan.bands--;
        assert_true(twin__deep_plan_missed(listing.plan, SLOTS, threshold, gate.least) > 1e-4);
        twin__listing_clear(&listing);
    }
}

static void other_plans_are_listed_as_they_are(void **state)
{
    (void)state;
    static const struct {
        twin_plan plan;
        double threshold;
        twin_verify verify;
    } cases[] = { { { 25, 5 }, .8, TWIN_VERIFY_EXACT },
                  { { SLOTS, 1 }, .8, TWIN_VERIFY_EXACT }, /* asked for, not planned */
                  { { 64, 1 }, .3, TWIN_VERIFY_EXACT },
                  { { SLOTS, 1 }, .3, TWIN_VERIFY_NONE },     /* what shares a band is the result */
                  { { SLOTS, 1 }, .05, TWIN_VERIFY_EXACT } }; /* no number of bands suffices */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        twin_similar_options options = options_for(cases[i].plan, cases[i].threshold);
        struct twin__gate gate = { SLOTS, 0 };
        struct twin__listing listing;
        options.verify = cases[i].verify;
        assert_int_equal(twin__listing_init(&listing, &gate, &options), TWIN_OK);
        assert_null(listing.order);
        assert_memory_equal(&listing.plan, &cases[i].plan, sizeof listing.plan);
    }
}

/* All of them, or those of several parts of the bands put together, against comparing all pairs. */
static void pairs_of_drawn_bands_are_found_once(void **state)
{
    (void)state;
    static struct world world;
    static uint64_t expected[DOCUMENTS * DOCUMENTS / 2];
    enum { PARTS = 3 };
    draw(&world, 5);
    memcpy(world.members, world.all, sizeof world.members);
    world.members_count = DOCUMENTS;
    twin_similar_options options = options_for((twin_plan){ SLOTS, 1 }, .3);
    struct twin__provider provider = { .count = DOCUMENTS,
                                       .signatures = { world.rows, SLOTS, world.all, DOCUMENTS } };
    struct twin__gate gate = { SLOTS, 45 };
    struct twin__listing listing;
    assert_int_equal(twin__listing_init(&listing, &gate, &options), TWIN_OK);
    size_t count = compare_all(expected, &world, listing.plan, gate.least);
    assert_true(count > 20);
    for (uint32_t parts = 0; parts <= PARTS; parts += PARTS) {
        struct twin__bands_found found = { 0 };
        for (uint32_t part = 0; part < (parts ? parts : 1); part++)
            assert_int_equal(twin__bands_find(&found, &provider, &gate, &options, false, (twin_part){ part, parts }),
                             TWIN_OK);
        assert_int_equal(found.pairs.count, count);
        qsort(found.pairs.items, count, sizeof(uint64_t), by_value);
        assert_memory_equal(found.pairs.items, expected, count * sizeof(uint64_t));
        twin__bands_found_clear(&found);
    }
    twin__listing_clear(&listing);
}

/* ---- choosing */

/* Documents whose pairs have about so many equal slots, of a group whose pairs meet so often. */
static struct twin__group choose_for(size_t equal, double meetings)
{
    static uint32_t rows[DOCUMENTS * SLOTS], documents[DOCUMENTS];
    uint64_t seed = 3;
    double own = sqrt((double)equal / SLOTS); /* that a document has the common value in a slot */
    for (uint32_t d = 0; d < DOCUMENTS; d++) {
        documents[d] = d;
        for (size_t k = 0; k < SLOTS; k++)
            rows[d * SLOTS + k] = random_unit(&seed) < own ? 5 : (uint32_t)twin__random_next(&seed);
    }
    struct twin__group group = { .count = DOCUMENTS, .meetings = meetings, .passing = 20 };
    struct twin__groups groups = { documents, &group, 1 };
    struct twin__provider provider = { .count = DOCUMENTS, .signatures = { rows, SLOTS, documents, DOCUMENTS } };
    struct twin__gate gate = { SLOTS, 84 };
    twin_similar_options options = options_for((twin_plan){ 25, 5 }, .8);
    twin__deep_plans_choose(&groups, &provider, &gate, &options);
    assert_true(group.passing == 20);
    return group;
}

static void documents_that_are_alike_get_more_rows(void **state)
{
    (void)state;
    struct twin__group group = choose_for(43, 8e6);
    assert_true(group.deep.rows > 5 && group.deep.bands > 25);
    assert_true(group.meetings < 8e6 && group.meetings > 0);
    /* Hardly less alike than similar ones: no bands help. */
    assert_int_equal(choose_for(95, 1e5).deep.bands, 0);
    /* Few meetings stay as they are. */
    assert_int_equal(choose_for(43, 1e4).deep.bands, 0);
    assert_true(choose_for(43, 1e4).meetings == 1e4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_band_is_shared_as_in_the_textbook),
        cmocka_unit_test(plans_miss_no_more_than_ordinary_bands),
        cmocka_unit_test(a_round_has_each_slot_at_most_once),
        cmocka_unit_test(as_many_pairs_are_missed_as_expected),
        cmocka_unit_test(each_pair_of_a_group_is_found_once),
        cmocka_unit_test(low_thresholds_list_drawn_bands_of_two_rows),
        cmocka_unit_test(other_plans_are_listed_as_they_are),
        cmocka_unit_test(pairs_of_drawn_bands_are_found_once),
        cmocka_unit_test(documents_that_are_alike_get_more_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

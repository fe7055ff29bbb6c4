/* test_chains.c — who is kept, and connected components: the same as by comparing all pairs, at the cost of a few
 * comparisons each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <twinsift/dedup.h>
#include <twinsift/similar.h>

#include "base/random.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "scale.h"
#include "world.h"

static size_t shared; /* words that all texts begin with */

/* Words of a base; those of different bases differ. */
enum { PER_BASE = 100000, OWN = 100 * PER_BASE };

/* The words from `first` on, and all after the first `kept` from another place; `edits` are replaced by words that
 * hardly any other text has. */
struct recipe {
    uint64_t first, others;
    size_t kept, edits;
};

static void add_text(struct recipe recipe, uint64_t *seed)
{
    uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (i < shared ? 0 : i < recipe.kept ? recipe.first : recipe.others) + i;
    for (; recipe.edits > 0; recipe.edits--)
        words[twin__random_below(seed, WORDS)] = OWN + twin__random_below(seed, 1 << 24);
    add_words(words, WORDS);
}

static void add_near(uint64_t base, size_t edits, uint64_t *seed)
{
    add_text((struct recipe){ base * PER_BASE, 0, WORDS, edits }, seed);
}

/* Families, windows of a row of words, each similar to the next, and texts half way between two families. */
static void draw_world(uint64_t *seed)
{
    size_t bases = 1 + twin__random_below(seed, 8), most = QUICK ? 60 : 150;
    world.count = 0;
    shared = twin__random_below(seed, 4) ? twin__random_below(seed, WORDS - 5) : 0;
    for (uint64_t base = 1; base <= bases; base++) {
        size_t members = twin__random_below(seed, most), edits = twin__random_below(seed, 12);
        for (size_t i = 0; i < members; i++)
            add_near(base, twin__random_below(seed, edits + 1), seed);
    }
    size_t step = 1 + twin__random_below(seed, 4), links = twin__random_below(seed, most);
    for (size_t i = 0; i < links; i++)
        add_text((struct recipe){ 50 * PER_BASE + i * step, 0, WORDS, 0 }, seed);
    for (size_t i = twin__random_below(seed, 20); i > 0; i--) {
        uint64_t one = 1 + twin__random_below(seed, bases), other = 1 + twin__random_below(seed, bases);
        size_t steps = 1 + twin__random_below(seed, 20);
        for (size_t kept = shared; kept < WORDS; kept += steps)
            add_text((struct recipe){ one * PER_BASE, other * PER_BASE, kept, twin__random_below(seed, 2) }, seed);
    }
    for (size_t i = 0; i < 40; i++)
        add_near(60 + i / 2, i % 2, seed);
    shuffle(seed);
}

/* A pair at the threshold shares no band with a probability of 1e-7 at most. */
static twin_collection *read_world(twin_input **input, double threshold, twin_exec exec)
{
    twin_plan plan = threshold < .7 ? (twin_plan){ .bands = 64, .rows = 2 } : (twin_plan){ .bands = 42, .rows = 3 };
    return read_documents(input, threshold, plan, exec);
}

/* ---- the truth, by comparing all pairs */

REFERENCE static size_t common_items(twin_set a, twin_set b)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
        common += a.items[i] == b.items[j];
        uint64_t x = a.items[i], y = b.items[j];
        i += x <= y;
        j += y <= x;
    }
    return common;
}

REFERENCE static bool are_similar(uint32_t a, uint32_t b, double threshold)
{
    size_t common = common_items(set_of(a), set_of(b));
    return (double)common / (double)(set_of(a).count + set_of(b).count - common) >= threshold;
}

/* Of each document the first kept one that is similar to it. */
REFERENCE static void true_keepers(uint32_t *keeper, double threshold)
{
    for (uint32_t d = 0; d < world.count; d++) {
        keeper[d] = d;
        for (uint32_t earlier = 0; earlier < d && keeper[d] == d; earlier++)
            if (keeper[earlier] == earlier && are_similar(earlier, d, threshold))
                keeper[d] = earlier;
    }
}

/* Of each document the first that a chain connects it with: each similar pair gives all of one group the name of the
 * other, whichever is less. */
REFERENCE static void true_components(uint32_t *group, double threshold)
{
    for (uint32_t d = 0; d < world.count; d++)
        group[d] = d;
    for (uint32_t a = 0; a < world.count; a++)
        for (uint32_t b = a + 1; b < world.count; b++) {
            if (!are_similar(a, b, threshold))
                continue;
            uint32_t low = group[a] < group[b] ? group[a] : group[b],
                     high = group[a] < group[b] ? group[b] : group[a];
            for (uint32_t d = 0; d < world.count && low != high; d++)
                group[d] = group[d] == high ? low : group[d];
        }
}

static void check_dedup(const twin_collection *collection, const uint32_t *group, twin_dedup_options options)
{
    twin_dedup *dedup = find(collection, options);
    assert_memory_equal(twin_dedup_keepers(dedup), group, world.count * sizeof *group);
    for (uint32_t d = 0; d < world.count; d++) {
        double similarity = group[d] == d ? 1 : twin_set_similarity(set_of(d), set_of(group[d]), TWIN_JACCARD);
        assert_true(twin_dedup_similarities(dedup)[d] == similarity);
    }
    twin_dedup_free(dedup);
}

/* Components if the sets of kept documents may take `room`; the matches are a forest, and the counts do not depend on
 * the executor. */
static uint64_t check_engine(const twin_collection *collection, const uint32_t *group, size_t room, twin_exec exec)
{
    static uint32_t got[MOST_DOCUMENTS];
    twin_matches matches = { 0 };
    twin_similar_counts counts = find_deciding(&matches, collection, exec,
                                               (struct twin__deciding_options){ .chain = true, .most_room = room });
    assert_int_equal(twin__cluster_components(got, world.count, matches.items, matches.count), TWIN_OK);
    size_t groups = 0, distinct = 0;
    const uint32_t *firsts = twin_collection_firsts(collection);
    for (uint32_t d = 0; d < world.count; d++) {
        assert_int_equal(got[firsts[d]], group[d]);
        distinct += firsts[d] == d;
        groups += group[d] == d;
    }
    assert_int_equal(matches.count, distinct - groups);
    twin__matches_clear(&matches);
    return counts.verified;
}

static void check_world(double threshold, uint64_t number)
{
    static const size_t rooms[] = { 1, 3000, 20000, 100000 };
    static uint32_t group[MOST_DOCUMENTS];
    twin_input *input;
    twin_exec exec;
    if (!exec_number(&exec, (int)(number % EXECS)))
        exec = (twin_exec){ 0 };
    twin_collection *collection = read_world(&input, threshold, exec);
    load_sets(collection);
    true_keepers(group, threshold);
    check_dedup(collection, group, (twin_dedup_options){ .search = { .exec = exec } });
    check_dedup(collection, group, (twin_dedup_options){ .search = { .exec = exec, .memory_bytes = 1 << 14 } });
    true_components(group, threshold);
    check_dedup(collection, group, (twin_dedup_options){ .search = { .exec = exec }, .chain = true });
    check_dedup(collection, group,
                (twin_dedup_options){ .search = { .exec = exec, .memory_bytes = 1 << 16 }, .chain = true });
    size_t room = rooms[number % (sizeof rooms / sizeof rooms[0])];
    uint64_t verified = check_engine(collection, group, room, exec);
    assert_int_equal(check_engine(collection, group, room, (twin_exec){ 0 }), verified);
    twin_collection_free(collection);
    twin_input_free(input);
}

static void keepers_and_components_are_those_of_all_pairs(void **state)
{
    (void)state;
    enum { WORLDS = QUICK ? 8 : 32 };
    static const double thresholds[] = { .5, .7, .8, .9 };
    for (uint64_t number = 0; number < WORLDS; number++) {
        uint64_t seed = 100 + number;
        draw_world(&seed);
        check_world(thresholds[number / 2 % 4], number);
    }
    free_sets();
}

/* Words from `a` on, and others from `b` on. */
static void add_both(uint64_t a, size_t a_count, uint64_t b, size_t b_count)
{
    uint64_t words[2 * WORDS];
    for (size_t i = 0; i < a_count + b_count; i++)
        words[i] = i < a_count ? a + i : b + i - a_count;
    add_words(words, a_count + b_count);
}

/* A text that is dropped in its group drops nobody outside either: some texts are half that of the group and half
 * their own. They are dropped, and two texts of nearly their own half alone, similar to them and not to the group, are
 * decided without them. */
static void what_is_dropped_in_a_group_is_kept_for_nobody_outside(void **state)
{
    (void)state;
    enum { MEMBERS = 1000, BRIDGES = 20, BASE = 1000, HALF = 50, COMMON = 6 };
    static uint32_t keeper[MOST_DOCUMENTS];
    uint64_t seed = 5;
    twin_input *input;
    world.count = shared = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        add_text((struct recipe){ BASE, 0, WORDS, 1 }, &seed);
    for (uint64_t i = 1; i <= BRIDGES; i++)
        add_both(BASE, WORDS, BASE * (i + 1), HALF);
    for (uint64_t i = 1; i <= 2 * BRIDGES; i++)
        add_both(BASE, COMMON + (i > BRIDGES), BASE * ((i - 1) % BRIDGES + 2), HALF);
    twin_collection *collection = read_world(&input, .5, (twin_exec){ 0 });
    load_sets(collection);
    true_keepers(keeper, .5);
    for (uint32_t i = 0; i < BRIDGES; i++) {
        assert_int_equal(keeper[MEMBERS + i], 0);
        assert_int_equal(keeper[MEMBERS + BRIDGES + i], MEMBERS + BRIDGES + i);
        assert_int_equal(keeper[MEMBERS + 2 * BRIDGES + i], MEMBERS + BRIDGES + i);
    }
    check_dedup(collection, keeper, (twin_dedup_options){ 0 });
    check_dedup(collection, keeper, (twin_dedup_options){ .search = { .memory_bytes = 1 << 10 } });
    twin_collection_free(collection);
    twin_input_free(input);
    free_sets();
}

/* ---- what it costs ---- */

static twin_dedup_counts count_world(double threshold, bool chain)
{
    twin_input *input;
    twin_collection *collection = read_world(&input, threshold, (twin_exec){ 0 });
    twin_dedup *dedup = find(collection, (twin_dedup_options){ .chain = chain });
    twin_dedup_counts counts = twin_dedup_count(dedup);
    assert_true(counts.search.similar < world.count); /* a list of all pairs would be the square */
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
    return counts;
}

/* All pairs of a family are similar, and the two families are not. */
static twin_dedup_counts count_families(size_t members)
{
    uint64_t seed = 1;
    world.count = 0;
    shared = WORDS / 2;
    for (size_t i = 0; i < members; i++)
        add_near(1 + i % 2, 1, &seed);
    return count_world(.8, true);
}

static void families_cost_some_comparisons_per_document(void **state)
{
    (void)state;
    enum { MEMBERS = QUICK ? 1000 : 3000 };
    twin_dedup_counts some = count_families(MEMBERS), twice = count_families(2 * MEMBERS);
    assert_int_equal(some.kept, 2);
    assert_int_equal(twice.kept, 2);
    /* An index passes over its members in blocks of 64; of the two that have documents of both families, all are compared. */
    assert_true(some.search.verified <= (uint64_t)(2 * 64 + 4) * MEMBERS);
    assert_true(twice.search.verified <= (uint64_t)(2 * 64 + 4) * 2 * MEMBERS);
}

/* Similarities on both sides of the threshold: hundreds are kept, and those with few words of their own connect them. */
static void a_family_around_the_threshold_costs_at_most_twice_as_much_as_keepers(void **state)
{
    (void)state;
    enum { MEMBERS = QUICK ? 1000 : 3000 };
    uint64_t seed = 2;
    world.count = 0;
    shared = 0;
    for (size_t i = 0; i < MEMBERS; i++)
        add_near(1, 2 + twin__random_below(&seed, 4), &seed);
    twin_dedup_counts connected = count_world(.8, true), decided = count_world(.8, false);
    assert_true(decided.kept > 100);
    assert_int_equal(connected.kept, 1);
    assert_true(connected.search.verified <= 2 * decided.search.verified);
}

/* Groups of ten that have half of their words in common with all others. */
static twin_dedup_counts count_groups(size_t groups)
{
    enum { MEMBERS = 10 };
    uint64_t seed = 3;
    world.count = 0;
    shared = WORDS / 2;
    for (uint64_t i = 0; i < groups * MEMBERS; i++)
        add_text((struct recipe){ 100 * (1 + i / MEMBERS), 0, WORDS, twin__random_below(&seed, 2) }, &seed);
    shuffle(&seed);
    return count_world(.8, true);
}

static void many_groups_in_a_crowd_are_not_compared_with_each_other(void **state)
{
    (void)state;
    enum { GROUPS = 300 };
    twin_dedup_counts some = count_groups(GROUPS), twice = count_groups(2 * GROUPS);
    assert_int_equal(some.kept, GROUPS);
    assert_int_equal(twice.kept, 2 * GROUPS);
    assert_true(some.search.template_groups > 0);
    assert_true(some.search.verified <= (uint64_t)4 * 10 * GROUPS);
    assert_true(twice.search.verified <= (uint64_t)4 * 2 * 10 * GROUPS);
}

/* Groups in which all are similar, too small for a template group: each document is compared with the first of its group. */
static void keepers_in_small_groups_cost_a_comparison_per_document(void **state)
{
    (void)state;
    enum { GROUPS = 50, MEMBERS = 20 };
    uint64_t seed = 4;
    world.count = 0;
    shared = 0;
    for (uint64_t i = 0; i < GROUPS * MEMBERS; i++)
        add_near(1 + i / MEMBERS, 1, &seed);
    shuffle(&seed);
    twin_dedup_counts counts = count_world(.8, false);
    assert_int_equal(counts.kept, GROUPS);
    assert_int_equal(counts.search.template_groups, 0);
    assert_int_equal(counts.search.verified, GROUPS * (MEMBERS - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keepers_and_components_are_those_of_all_pairs),
        cmocka_unit_test(what_is_dropped_in_a_group_is_kept_for_nobody_outside),
        cmocka_unit_test(families_cost_some_comparisons_per_document),
        cmocka_unit_test(a_family_around_the_threshold_costs_at_most_twice_as_much_as_keepers),
        cmocka_unit_test(many_groups_in_a_crowd_are_not_compared_with_each_other),
        cmocka_unit_test(keepers_in_small_groups_cost_a_comparison_per_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

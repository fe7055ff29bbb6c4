/* test_families.c — large families: all similar pairs are found, and who is kept, and for whom, is what they decide, at
 * the cost of a few comparisons each. */
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
#include "dedup/step_file.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "scale.h"
#include "sketch/set.h"
#include "world.h"

/* Bounds that leave room for chance do so in long texts only. */
enum { LONG = TEXT_ROOM / 8 / WORDS };
static size_t factor = 1; /* texts have so many times WORDS words: 1 or LONG */
static const double THRESHOLD = .7;

enum { OWN = 1000000, OWN_WORDS = 900000 }; /* words that hardly any other text has */

/* A text of words of `base`, for each WORDS of them `edits` replaced by words that hardly any other text has. */
static void add_text(uint64_t base, size_t edits, uint64_t *seed)
{
    size_t count = WORDS * factor;
    uint64_t words[LONG * WORDS], first = base * LONG * WORDS;
    for (size_t i = 0; i < count; i++)
        words[i] = first + i;
    for (edits *= count / WORDS; edits > 0; edits--)
        words[twin__random_below(seed, count)] = OWN + twin__random_below(seed, OWN_WORDS);
    add_words(words, count);
}

/* The words of base 0, four in a row replaced by `more` others. Two such texts with eight words each are not quite
 * similar, unless they were changed at the same place; all others are. */
static void add_changed_at_one_place(size_t more, uint64_t *seed)
{
    enum { REPLACED = 4 };
    uint64_t words[LONG * WORDS];
    size_t count = 0, place = twin__random_below(seed, WORDS - REPLACED + 1);
    for (size_t i = 0; i < WORDS; i++) {
        for (size_t k = 0; k < more && i == place; k++)
            words[count++] = OWN + twin__random_below(seed, OWN_WORDS);
        if (i < place || i >= place + REPLACED)
            words[count++] = i;
    }
    add_words(words, count);
}

/* The words of base 0 below `own` words of its own. */
static void add_with_footer(size_t own, uint64_t *seed)
{
    uint64_t words[LONG * WORDS];
    for (size_t i = 0; i < own; i++)
        words[i] = OWN + twin__random_below(seed, OWN_WORDS);
    for (size_t i = 0; i < WORDS; i++)
        words[own + i] = i;
    add_words(words, own + WORDS);
}

static twin_collection *read_world(twin_input **input, twin_exec exec)
{
    return read_documents(input, THRESHOLD, (twin_plan){ .bands = 42, .rows = 3 }, exec);
}

/* ---- the truth, by comparing all pairs */

/* Fills in who is kept, and returns how many pairs of distinct documents are similar. */
static size_t true_keepers(bool *kept, const uint32_t *firsts)
{
    size_t pairs = 0;
    for (size_t d = 0; d < world.count; d++) {
        kept[d] = firsts[d] == d;
        for (size_t other = 0; other < d && firsts[d] == d; other++) {
            bool similar = firsts[other] == other &&
                           twin__set_similarity_at_least(set_of(d), set_of(other), TWIN_JACCARD, THRESHOLD) >= 0;
            pairs += similar;
            kept[d] &= !(similar && kept[other]);
        }
    }
    return pairs;
}

static void check_against_truth(const twin_collection *collection, const twin_dedup *dedup)
{
    static bool kept[MOST_DOCUMENTS];
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    load_sets(collection);
    size_t pairs = true_keepers(kept, twin_collection_firsts(collection));
    for (uint32_t d = 0; d < world.count; d++) {
        assert_int_equal(keepers[d] == d, kept[d]);
        if (kept[d])
            continue;
        assert_true(keepers[d] < d && kept[keepers[d]]);
        double similarity = twin_set_similarity(set_of(d), set_of(keepers[d]), TWIN_JACCARD);
        assert_true(similarity >= THRESHOLD && similarity == twin_dedup_similarities(dedup)[d]);
        for (uint32_t other = 0; other < keepers[d]; other++) /* it is dropped for the first possible one */
            assert_false(kept[other] &&
                         twin__set_similarity_at_least(set_of(d), set_of(other), TWIN_JACCARD, THRESHOLD) >= 0);
    }
    twin_similar *similar;
    assert_int_equal(twin_similar_find(&similar, collection, (twin_similar_options){ 0 }, NULL), TWIN_OK);
    assert_int_equal(twin__similar_matches(NULL, similar), pairs);
    twin_similar_free(similar);
}

/* Families above the threshold, around it, and below it, mixed; some documents belong to two. */
static void draw_world(uint64_t *seed)
{
    world.count = 0;
    factor = twin__random_below(seed, 3) ? 1 : LONG;
    size_t families = 1 + twin__random_below(seed, 6);
    for (size_t family = 0; family < families; family++) {
        size_t members = 70 + twin__random_below(seed, QUICK || factor > 1 ? 150 : 500),
               edits = twin__random_below(seed, 14);
        for (size_t i = 0; i < members; i++)
            add_text(family, twin__random_below(seed, edits + 1), seed);
    }
    for (size_t i = 0; i < 50; i++)
        add_text(100 + i / 2, i % 2, seed);
    shuffle(seed);
}

static void families_lose_what_all_pairs_would_drop(void **state)
{
    (void)state;
    enum { WORLDS = QUICK ? 4 : 16 };
    uint64_t crowds = 0;
    for (uint64_t number = 0; number < WORLDS; number++) {
        uint64_t seed = 100 + number;
        twin_input *input;
        twin_exec exec;
        draw_world(&seed);
        if (!exec_number(&exec, (int)(number % EXECS)))
            exec = (twin_exec){ 0 };
        twin_collection *collection = read_world(&input, exec);
        twin_dedup *dedup = find(collection, (twin_dedup_options){ .search = { .exec = exec } });
        check_against_truth(collection, dedup);
        crowds += twin_dedup_count(dedup).search.template_groups;
        twin_dedup_free(dedup);
        twin_collection_free(collection);
        twin_input_free(input);
    }
    assert_true(crowds >= WORLDS);
    free_sets();
}

/* All pairs would be 3,000²/2 comparisons per family; a few for each document must do. */
static void a_family_is_compared_with_kept_ones(void **state)
{
    (void)state;
    enum { MEMBERS = QUICK ? 1000 : 3000, FEW = 12 };
    uint64_t seed = 9;
    world.count = 0;
    factor = 1;
    for (size_t i = 0; i < MEMBERS; i++) {
        add_text(1, twin__random_below(&seed, 4), &seed);
        add_text(2, twin__random_below(&seed, 6), &seed);
    }
    twin_input *input;
    twin_collection *collection = read_world(&input, (twin_exec){ 0 });
    twin_dedup *dedup = find(collection, (twin_dedup_options){ 0 });
    twin_dedup_counts counts = twin_dedup_count(dedup);
    assert_true(counts.kept < 20);
    assert_true(counts.search.verified < (uint64_t)FEW * world.count);
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
}

/* ---- around the threshold ---- */

static twin_dedup_counts count_world(size_t members)
{
    twin_input *input;
    twin_collection *collection = read_world(&input, (twin_exec){ 0 });
    twin_dedup *dedup = find(collection, (twin_dedup_options){ 0 });
    if (members <= 1000)
        check_against_truth(collection, dedup);
    twin_dedup_counts counts = twin_dedup_count(dedup);
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
    return counts;
}

static twin_dedup_counts count_around_threshold(size_t members)
{
    static const size_t MORE[] = { 1, 3, 8 };
    uint64_t seed = 3;
    world.count = 0;
    for (size_t i = 0; i < members; i++)
        add_changed_at_one_place(MORE[i == 0 ? 2 : twin__random_below(&seed, 3)], &seed); /* none is similar to all */
    return count_world(members);
}

/* Similarities on both sides of the threshold, and as many kept documents as fit side by side: fifteen at most. To
 * compare each document with those is all that is needed. */
static void documents_around_the_threshold_are_compared_with_kept_ones(void **state)
{
    (void)state;
    enum { MEMBERS = QUICK ? 1000 : 3000, PLACES = 15 };
    twin_dedup_counts some = count_around_threshold(MEMBERS), twice = count_around_threshold(2 * MEMBERS);
    assert_true(some.kept > 5 && some.kept <= PLACES && twice.kept <= PLACES);
    assert_true(some.search.verified <= (uint64_t)PLACES * MEMBERS);
    assert_true((double)twice.search.verified <= 2.2 * (double)some.search.verified);
    if (!QUICK)
        count_around_threshold(1000);
    free_sets();
}

/* Two texts with 60 words in common are similar up to 25 words of their own together. Of those with 12 to 18 most
 * are kept, and nearly all pairs are as close to the threshold as can be without reaching it. */
static twin_dedup_counts count_with_footer(size_t members)
{
    uint64_t seed = 4;
    world.count = 0;
    for (size_t i = 0; i < members; i++)
        add_with_footer(12 + twin__random_below(&seed, 7), &seed);
    return count_world(members);
}

static void kept_documents_are_not_compared_with_all_others_that_do(void **state)
{
    (void)state;
    enum { MEMBERS = QUICK ? 1000 : 3000 };
    twin_dedup_counts some = count_with_footer(MEMBERS), twice = count_with_footer(2 * MEMBERS);
    assert_true(some.kept > MEMBERS / 2);
    /* As many as have a word of their own in common by chance, which is a square, of a fifth of a pair per document of 3,000. */
    assert_true(some.search.verified <= MEMBERS);
    assert_true(twice.search.verified <= 2 * MEMBERS);
    if (!QUICK)
        count_with_footer(1000);
    free_sets();
}

/* ---- containment ---- */

/* The first words of a text, some of its own, and perhaps a few changed. */
static void add_beginning(uint64_t base, uint64_t *seed)
{
    char *text = world.texts[world.count];
    size_t length = 0, words = 10 + twin__random_below(seed, WORDS - 10), own = twin__random_below(seed, 12);
    for (size_t i = 0; i < words + own; i++)
        length += (size_t)snprintf(
            text + length, TEXT_ROOM - length, "%llx ",
            (unsigned long long)(i < words ? base * WORDS + i : 1000000 + twin__random_below(seed, 900000)));
    world.documents[world.count++] = (twin_memory_document){ .text = { text, length } };
}

static twin_dedup_counts count_contained(size_t members, twin_preference preference, twin_exec exec, bool compare)
{
    uint64_t seed = 8;
    world.count = 0;
    for (size_t i = 0; i < members; i++)
        add_beginning(1 + twin__random_below(&seed, 3), &seed);
    twin_input *input;
    twin_collection_options options = plain_options("word:1");
    options.exec = exec;
    options.scheme.threshold = THRESHOLD;
    options.scheme.measure = TWIN_CONTAINMENT;
    assert_int_equal(twin_input_from_texts(&input, world.documents, world.count, (twin_input_options){ 0 }, NULL),
                     TWIN_OK);
    twin_collection *collection = read_collection(input, options);
    twin_dedup_options rule = { .search = { .exec = exec }, .preference = preference };
    twin_dedup *dedup = find(collection, rule);
    twin_dedup_counts counts = twin_dedup_count(dedup);
    if (compare) { /* all similar pairs, and the rule applied to them */
        twin_dedup *same;
        twin_similar *similar;
        const twin_match *found;
        assert_int_equal(twin_similar_find(&similar, collection, (twin_similar_options){ .exec = exec }, NULL),
                         TWIN_OK);
        size_t count = twin__similar_matches(&found, similar);
        twin_matches matches = { .items = malloc((count + 1) * sizeof *found), .count = count };
        assert_non_null(matches.items);
        memcpy(matches.items, found, count * sizeof *found);
        assert_int_equal(twin__step_decide(&same, collection, &matches, &rule, NULL), TWIN_OK);
        assert_memory_equal(twin_dedup_keepers(dedup), twin_dedup_keepers(same),
                            world.count * sizeof *twin_dedup_keepers(same));
        assert_memory_equal(twin_dedup_similarities(dedup), twin_dedup_similarities(same),
                            world.count * sizeof *twin_dedup_similarities(same));
        assert_true(counts.search.verified < count / 2);
        free(matches.items);
        twin_similar_free(similar);
        twin_dedup_free(same);
    }
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
    return counts;
}

/* By all pairs four times as many comparisons for twice the documents. */
static void texts_within_each_other_are_compared_with_kept_ones(void **state)
{
    (void)state;
    enum { MEMBERS = 1500 };
    twin_exec exec;
    for (int i = 0; i < (QUICK ? 2 : EXECS); i++)
        if (exec_number(&exec, i))
            count_contained(MEMBERS, i % 2 ? TWIN_PREFER_LONGEST : TWIN_PREFER_FIRST, exec, true);
    twin_dedup_counts some = count_contained(MEMBERS, TWIN_PREFER_FIRST, (twin_exec){ 0 }, false);
    twin_dedup_counts twice = count_contained(2 * MEMBERS, TWIN_PREFER_FIRST, (twin_exec){ 0 }, false);
    assert_true((double)twice.search.verified <= 2.5 * (double)some.search.verified);
}

/* ---- little memory ---- */

static uint32_t input_order[MOST_DOCUMENTS];

static twin_status as_in_the_input(const uint32_t **out, void *context, const uint32_t *documents, size_t count,
                                   twin_error *error)
{
    (void)context, (void)documents, (void)count, (void)error;
    *out = input_order;
    return TWIN_OK;
}

/* Who is kept for whom if the sets of kept documents may take `room`. */
static void keep_within(uint32_t *keepers, const twin_collection *collection, size_t room, twin_exec exec)
{
    twin_matches matches = { 0 };
    find_deciding(&matches, collection, exec,
                  (struct twin__deciding_options){ .order = as_in_the_input, .most_room = room });
    assert_int_equal(twin__cluster_keepers(keepers, NULL, world.count, matches.items, matches.count, input_order),
                     TWIN_OK);
    twin__matches_clear(&matches);
}

/* With room for few documents at a time there are many phases, which count items and forget sets. */
static void little_memory_changes_nothing(void **state)
{
    (void)state;
    static const size_t rooms[] = { 1, 3000, 20000, 100000 };
    static uint32_t usual[MOST_DOCUMENTS], now[MOST_DOCUMENTS];
    for (uint32_t i = 0; i < MOST_DOCUMENTS; i++)
        input_order[i] = i;
    for (uint64_t number = 0; number < (QUICK ? 2 : 6); number++) {
        uint64_t seed = 500 + number;
        twin_input *input;
        twin_exec exec;
        draw_world(&seed);
        if (!exec_number(&exec, (int)(number % EXECS)))
            exec = (twin_exec){ 0 };
        twin_collection *collection = read_world(&input, exec);
        keep_within(usual, collection, 0, exec);
        for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
            keep_within(now, collection, rooms[i], exec);
            assert_memory_equal(now, usual, world.count * sizeof *now);
        }
        twin_collection_free(collection);
        twin_input_free(input);
    }
}

/* Words of all documents; of a quarter of each of the first half; and of all of the last ten. */
enum { MANY = 800, LAST = 10, OF_ALL = 600, OF_SOME = 280, LENGTH = 1300 };

static size_t write_mixed(char *out, size_t room, size_t document, uint64_t *seed)
{
    size_t length = 0, words = 0;
    for (size_t i = 0; i < OF_ALL; i++, words++)
        length += (size_t)snprintf(out + length, room - length, "a%zu ", i);
    for (size_t i = 0; i < OF_SOME; i++)
        if (document >= MANY - LAST || (document < MANY / 2 && twin__random_below(seed, 4) == 0)) {
            length += (size_t)snprintf(out + length, room - length, "b%zu ", i);
            words++;
        }
    for (; words < LENGTH; words++)
        length += (size_t)snprintf(out + length, room - length, "%zu-%zu ", document, words);
    return length;
}

/* When the first half is through, words that were frequent are not any more, and make the last documents similar. */
static void what_was_frequent_still_counts_when_it_is_rare(void **state)
{
    (void)state;
    enum { ROOM = LENGTH * 10 };
    static const size_t rooms[] = { 900000, 400000, 1200000 };
    static uint32_t usual[MANY], now[MANY];
    uint64_t seed = 6;
    char *texts = malloc((size_t)MANY * ROOM);
    assert_non_null(texts);
    world.count = MANY;
    for (size_t i = 0; i < MANY; i++) {
        char *text = texts + i * ROOM;
        world.documents[i] = (twin_memory_document){ .text = { text, write_mixed(text, ROOM, i, &seed) } };
        input_order[i] = (uint32_t)i;
    }
    twin_input *input;
    twin_collection_options options = plain_options("word:1");
    options.scheme.threshold = .5;
    assert_int_equal(twin_input_from_texts(&input, world.documents, world.count, (twin_input_options){ 0 }, NULL),
                     TWIN_OK);
    twin_collection *collection = read_collection(input, options);
    keep_within(usual, collection, 0, (twin_exec){ 0 });
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(usual[i], i < MANY - LAST ? i : MANY - LAST);
    for (size_t i = 0; i < (QUICK ? 1 : sizeof rooms / sizeof rooms[0]); i++) {
        keep_within(now, collection, rooms[i], (twin_exec){ 0 });
        assert_memory_equal(now, usual, sizeof now);
    }
    twin_collection_free(collection);
    twin_input_free(input);
    free(texts);
}

/* ---- the order of the input ---- */

/* Of each text, as it lies in the world, the text it is dropped for. */
static void note_pairs(size_t *out, const twin_dedup *dedup)
{
    for (size_t d = 0; d < world.count; d++) {
        size_t own = (size_t)(world.documents[d].text.bytes - world.texts[0]) / TEXT_ROOM;
        uint32_t keeper = twin_dedup_keepers(dedup)[d];
        out[own] = (size_t)(world.documents[keeper].text.bytes - world.texts[0]) / TEXT_ROOM;
    }
}

/* In crowds too, the rule alone decides who is kept, and for whom. Ids are by text, so that no two are equal. */
static void the_order_of_the_input_decides_nothing_for_the_longest(void **state)
{
    (void)state;
    static char ids[MOST_DOCUMENTS][8];
    static size_t usual[MOST_DOCUMENTS], now[MOST_DOCUMENTS];
    uint64_t seed = 77;
    draw_world(&seed);
    for (size_t i = 0; i < world.count; i++) {
        size_t own = (size_t)(world.documents[i].text.bytes - world.texts[0]) / TEXT_ROOM;
        int length = snprintf(ids[own], sizeof ids[own], "%zu", own);
        world.documents[i].id = (twin_text){ ids[own], (size_t)length };
    }
    for (int turn = 0; turn < EXECS; turn++) {
        twin_input *input;
        twin_exec exec;
        if (!exec_number(&exec, turn))
            continue;
        twin_collection *collection = read_world(&input, exec);
        twin_dedup *dedup =
            find(collection, (twin_dedup_options){ .search = { .exec = exec }, .preference = TWIN_PREFER_LONGEST });
        assert_true(twin_dedup_count(dedup).search.template_groups > 0);
        note_pairs(turn == 0 ? usual : now, dedup);
        if (turn > 0)
            assert_memory_equal(now, usual, world.count * sizeof *now);
        twin_dedup_free(dedup);
        twin_collection_free(collection);
        twin_input_free(input);
        shuffle(&seed);
    }
}

/* The words from `first` on. */
static size_t put_words(uint64_t *out, size_t at, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[at++] = first + i;
    return at;
}

/* The last of four is similar to the second and to the third. The third is a candidate with nobody before it, so it is kept
 * for certain. Whether the second is kept shows only when it is compared with the first, and it does: the last is dropped for it,
 * which comes earlier. */
static void a_document_is_dropped_for_the_first_kept_one(void **state)
{
    (void)state;
    enum { A = 0, B = 100, C = 200, D = 300 };
    uint64_t words[LONG * WORDS];
    world.count = 0;
    add_words(words, put_words(words, put_words(words, 0, C, 30), D, 15));
    add_words(words, put_words(words, put_words(words, 0, A, 60), C, 30)); /* .29 like the first */
    add_words(words, put_words(words, 0, B, 60));
    add_words(words, put_words(words, put_words(words, 0, A, 60), B, 60)); /* .4 like the second, .5 like the third */
    twin_input *input;
    twin_collection *collection =
        read_documents(&input, .3, (twin_plan){ .bands = 128, .rows = 1 }, (twin_exec){ TWIN_EXEC_SERIAL, 1 });
    twin_dedup *dedup = find(collection, (twin_dedup_options){ 0 });
    static const uint32_t expected[] = { 0, 1, 2, 1 };
    assert_memory_equal(twin_dedup_keepers(dedup), expected, sizeof expected);
    assert_int_equal(twin_dedup_count(dedup).search.verified, 2); /* the third and the last are not compared */
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_lose_what_all_pairs_would_drop),
        cmocka_unit_test(a_family_is_compared_with_kept_ones),
        cmocka_unit_test(documents_around_the_threshold_are_compared_with_kept_ones),
        cmocka_unit_test(kept_documents_are_not_compared_with_all_others_that_do),
        cmocka_unit_test(texts_within_each_other_are_compared_with_kept_ones),
        cmocka_unit_test(little_memory_changes_nothing),
        cmocka_unit_test(what_was_frequent_still_counts_when_it_is_rare),
        cmocka_unit_test(the_order_of_the_input_decides_nothing_for_the_longest),
        cmocka_unit_test(a_document_is_dropped_for_the_first_kept_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

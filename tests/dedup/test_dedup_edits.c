/* test_dedup_edits.c — which texts stay when those within a few edits of them go, against a slow decision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <twinsift/dedup.h>

#include "base/random.h"
#include "corpus.h"
#include "edit/edit.h"

enum { TEXTS = 400, LONGEST = 16 };

static struct world {
    char texts[TEXTS][LONGEST + 4];
    twin_memory_document documents[TEXTS];
    twin_input *input;
    twin_collection *collection;
} world;

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The textbook's table. */
static size_t slow_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[2][LONGEST + 5];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *up = rows[(i - 1) % 2], *row = rows[i % 2];
        row[0] = i;
        for (size_t j = 1; j <= m; j++)
            row[j] = smaller(smaller(up[j], row[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
    }
    return rows[n % 2][m];
}

/* Half of the texts are a former one with an edit or two, or none. */
static void make_world(uint64_t seed, twin_exec exec)
{
    for (size_t i = 0; i < TEXTS; i++) {
        char *text = world.texts[i];
        if (i == 0 || twin__random_below(&seed, 2) == 0) {
            size_t length = 4 + twin__random_below(&seed, LONGEST - 6);
            for (size_t j = 0; j < length; j++)
                text[j] = (char)('a' + twin__random_below(&seed, 5));
            text[length] = '\0';
        } else {
            strcpy(text, world.texts[twin__random_below(&seed, i)]);
            for (size_t edits = twin__random_below(&seed, 3); edits > 0; edits--)
                text[twin__random_below(&seed, strlen(text))] = (char)('a' + twin__random_below(&seed, 5));
        }
        world.documents[i] = (twin_memory_document){ .text = { text, strlen(text) } };
    }
    assert_int_equal(twin_input_from_texts(&world.input, world.documents, TEXTS, (twin_input_options){ 0 }, NULL),
                     TWIN_OK);
    twin_collection_options options = { .texts = true,
                                        .scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 1),
                                        .exec = exec };
    world.collection = read_collection(world.input, options);
}

static void free_world(void)
{
    twin_collection_free(world.collection);
    twin_input_free(world.input);
}

static twin_dedup *find(size_t edits, twin_dedup_options options, twin_exec exec)
{
    twin_dedup *dedup;
    twin_error error;
    twin_edit_join_options by_edits = { .limit_edits = true, .edits = edits };
    options.by_edits = &by_edits;
    options.search.exec = exec;
    assert_good(twin_dedup_find(&dedup, world.collection, options, &error), &error);
    return dedup;
}

/* In the order of preference each text is kept unless it is near to a kept one; the first such is its keeper. */
static void decide_slowly(uint32_t keepers[TEXTS], size_t edits, twin_preference preference, const bool *excluded)
{
    for (size_t i = 0; i < TEXTS; i++)
        keepers[i] = TWIN_DEDUP_NONE;
    for (size_t place = 0; place < TEXTS; place++) {
        size_t i = preference == TWIN_PREFER_LAST ? TEXTS - 1 - place : place;
        for (size_t before = 0; before < place && keepers[i] == TWIN_DEDUP_NONE; before++) {
            size_t j = preference == TWIN_PREFER_LAST ? TEXTS - 1 - before : before;
            if (keepers[j] == j && slow_distance(world.texts[i], world.texts[j]) <= edits)
                keepers[i] = (uint32_t)j;
        }
        if (keepers[i] == TWIN_DEDUP_NONE && !(excluded && excluded[i]))
            keepers[i] = (uint32_t)i;
    }
}

static void texts_near_a_kept_one_go_and_no_others(void **state)
{
    (void)state;
    for (size_t edits = 0; edits <= 2; edits++)
        for (int last = 0; last < 2; last++) {
            uint32_t expected[TEXTS];
            twin_preference preference = last ? TWIN_PREFER_LAST : TWIN_PREFER_FIRST;
            make_world(3 + edits, serial);
            decide_slowly(expected, edits, preference, NULL);
            twin_dedup *dedup = find(edits, (twin_dedup_options){ .preference = preference }, serial);
            assert_memory_equal(twin_dedup_keepers(dedup), expected, sizeof expected);
            assert_true(twin_dedup_count(dedup).kept < TEXTS - 50);
            twin_dedup_free(dedup);
            free_world();
        }
}

static void nothing_goes_for_an_excluded_text(void **state)
{
    (void)state;
    uint32_t expected[TEXTS];
    bool excluded[TEXTS] = { false };
    make_world(8, serial);
    for (size_t i = 0; i < TEXTS; i++) /* together with their copies */
        for (size_t j = 0; j < TEXTS; j += 7)
            excluded[i] |= strcmp(world.texts[i], world.texts[j]) == 0;
    decide_slowly(expected, 1, TWIN_PREFER_FIRST, excluded);
    for (size_t i = 0; i < TEXTS; i++)
        if (excluded[i])
            expected[i] = TWIN_DEDUP_NONE;
    twin_dedup *dedup = find(1, (twin_dedup_options){ .excluded = excluded }, serial);
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    for (size_t i = 0; i < TEXTS; i++)
        assert_int_equal(keepers[i], expected[i]);
    twin_dedup_free(dedup);
    free_world();
}

/* Components by flooding, and the ratio of each member to the one that stays. */
static void chains_are_components(void **state)
{
    (void)state;
    uint32_t expected[TEXTS];
    make_world(4, serial);
    for (uint32_t i = 0; i < TEXTS; i++)
        expected[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < TEXTS; i++)
            for (size_t j = 0; j < TEXTS; j++)
                if (expected[j] < expected[i] && slow_distance(world.texts[i], world.texts[j]) <= 1) {
                    expected[i] = expected[j];
                    changed = true;
                }
    }
    twin_dedup *dedup = find(1, (twin_dedup_options){ .chain = true }, serial);
    assert_memory_equal(twin_dedup_keepers(dedup), expected, sizeof expected);
    twin_edit_scratch scratch = { 0 };
    for (size_t i = 0; i < TEXTS; i++) {
        double ratio;
        assert_int_equal(twin__edit_ratio(&ratio, &scratch, world.documents[i].text,
                                          world.documents[expected[i]].text, TWIN_EDIT_CHARS, 0),
                         TWIN_OK);
        assert_true(twin_dedup_similarities(dedup)[i] == ratio);
    }
    twin__edit_scratch_clear(&scratch);
    twin_dedup_free(dedup);
    free_world();
}

static void the_answer_is_the_same_whoever_runs_it(void **state)
{
    (void)state;
    make_world(5, serial);
    twin_dedup *one = find(2, (twin_dedup_options){ 0 }, serial);
    twin_dedup *four = find(2, (twin_dedup_options){ 0 }, (twin_exec){ TWIN_EXEC_PTHREADS, 4 });
    assert_memory_equal(twin_dedup_keepers(one), twin_dedup_keepers(four), TEXTS * sizeof(uint32_t));
    twin_dedup_free(one);
    twin_dedup_free(four);
    free_world();
}

static void sets_are_not_compared_by_edits_nor_texts_as_sets(void **state)
{
    (void)state;
    make_world(6, serial);
    twin_dedup *dedup;
    twin_error error;
    assert_int_equal(twin_dedup_find(&dedup, world.collection, (twin_dedup_options){ 0 }, &error), TWIN_EINVAL);
    twin_collection *sets = read_collection(world.input, plain_options("char:2"));
    twin_edit_join_options by_edits = { 0 };
    assert_int_equal(twin_dedup_find(&dedup, sets, (twin_dedup_options){ .by_edits = &by_edits }, &error),
                     TWIN_EINVAL);
    assert_non_null(strstr(error.message, "no texts"));
    twin_collection_free(sets);
    free_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_near_a_kept_one_go_and_no_others),
        cmocka_unit_test(nothing_goes_for_an_excluded_text),
        cmocka_unit_test(chains_are_components),
        cmocka_unit_test(the_answer_is_the_same_whoever_runs_it),
        cmocka_unit_test(sets_are_not_compared_by_edits_nor_texts_as_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

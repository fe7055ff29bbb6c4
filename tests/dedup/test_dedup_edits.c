/* test_dedup_edits.c — which texts are kept when those within a few edits of them are dropped, against a slow decision. */
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
#include "scale.h"

enum { TEXTS = 400, MANY_TEXTS = 1600, MOST_TEXTS = 8000, LONGEST = 120 };

static struct world {
    size_t count;
    char texts[MOST_TEXTS][LONGEST + 1];
    twin_memory_document documents[MOST_TEXTS];
    twin_input *input;
    twin_collection *collection;
} world;

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The textbook's table. */
REFERENCE static size_t slow_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), rows[2][LONGEST + 1];
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

static void read_world(twin_exec exec)
{
    for (size_t i = 0; i < world.count; i++)
        world.documents[i] = (twin_memory_document){ .text = { world.texts[i], strlen(world.texts[i]) } };
    assert_int_equal(
        twin_input_from_texts(&world.input, world.documents, world.count, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection_options options = { .texts = true,
                                        .scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 1),
                                        .exec = exec };
    world.collection = read_collection(world.input, options);
}

static void draw_letters(char *text, size_t length, uint64_t *seed)
{
    for (size_t j = 0; j < length; j++)
        text[j] = (char)('a' + twin__random_below(seed, 5));
    text[length] = '\0';
}

static void replace_letters(char *text, size_t edits, uint64_t *seed)
{
    for (; edits > 0; edits--)
        text[twin__random_below(seed, strlen(text))] = (char)('a' + twin__random_below(seed, 5));
}

/* Half of the texts are a former one with an edit or two, or none. */
static void make_world(uint64_t seed, twin_exec exec)
{
    world.count = TEXTS;
    for (size_t i = 0; i < TEXTS; i++) {
        char *text = world.texts[i];
        if (i == 0 || twin__random_below(&seed, 2) == 0) {
            draw_letters(text, 4 + twin__random_below(&seed, 10), &seed);
        } else {
            strcpy(text, world.texts[twin__random_below(&seed, i)]);
            replace_letters(text, twin__random_below(&seed, 3), &seed);
        }
    }
    read_world(exec);
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
static void decide_slowly(uint32_t *keepers, size_t edits, const uint32_t *order, const bool *excluded)
{
    static uint32_t kept[MOST_TEXTS];
    size_t kept_count = 0;
    for (size_t place = 0; place < world.count; place++) {
        uint32_t i = order[place];
        size_t k = 0;
        while (k < kept_count && slow_distance(world.texts[i], world.texts[kept[k]]) > edits)
            k++;
        if (k == kept_count && !(excluded && excluded[i]))
            kept[kept_count++] = i;
        keepers[i] = k < kept_count ? kept[k] : TWIN_DEDUP_NONE;
    }
}

static const uint32_t *input_order(bool last)
{
    static uint32_t order[MOST_TEXTS];
    for (size_t i = 0; i < world.count; i++)
        order[i] = (uint32_t)(last ? world.count - 1 - i : i);
    return order;
}

static void texts_near_a_kept_one_go_and_no_others(void **state)
{
    (void)state;
    for (size_t edits = 0; edits <= 2; edits++)
        for (int last = 0; last < 2; last++) {
            uint32_t expected[TEXTS];
            twin_preference preference = last ? TWIN_PREFER_LAST : TWIN_PREFER_FIRST;
            make_world(3 + edits, serial);
            decide_slowly(expected, edits, input_order(last), NULL);
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
    decide_slowly(expected, 1, input_order(false), excluded);
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

/* What is said of a text is how similar it is to its keeper. */
static void check_similarity(twin_edit_scratch *scratch, const twin_dedup *dedup, size_t text, size_t keeper)
{
    double ratio = -1;
    assert_int_equal(twin__edit_ratio(&ratio, scratch, world.documents[text].text, world.documents[keeper].text,
                                      TWIN_EDIT_CHARS, 0),
                     TWIN_OK);
    assert_true(twin_dedup_similarities(dedup)[text] == ratio);
}

/* Components by flooding, and the ratio of each member to the kept one. */
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
    for (size_t i = 0; i < TEXTS; i++)
        check_similarity(&scratch, dedup, i, expected[i]);
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

/* ---- many texts, most of them similar ---- */

/* How a text is made: from one of some templates, drawn or in long turns, or from the text before it; some are made
 * from none. */
static const struct kind {
    size_t templates, length, edits; /* that a text has less its template */
    size_t unlike;                   /* of a hundred texts, those that are made from none */
    bool sorted, chain;
    size_t near; /* the edits of the search */
} kinds[] = {
    { .templates = 1, .length = 12, .edits = 3, .near = 4 },
    { .templates = 1, .length = 20, .edits = 8, .unlike = 3, .near = 8 },
    { .templates = 6, .length = 16, .edits = 3, .unlike = 20, .near = 3 },
    { .templates = 40, .length = 18, .edits = 3, .unlike = 5, .near = 5 },
    { .templates = 4, .length = 16, .edits = 3, .unlike = 5, .sorted = true, .near = 4 },
    { .templates = 1, .length = 14, .edits = 1, .unlike = 1, .chain = true, .near = 3 },
    { .templates = 1, .length = 5, .edits = 5, .near = 1 }, /* many copies */
    { .templates = 1, .length = 12, .unlike = 95, .near = 5 },
    { .templates = 3, .length = 100, .edits = 4, .unlike = 2, .near = 8 },
    { .templates = 8, .length = 110, .edits = 6, .unlike = 4, .near = 12 },
};

static void make_alike(const struct kind *kind, size_t count, uint64_t seed, twin_exec exec)
{
    static char templates[40][LONGEST + 1];
    world.count = count;
    for (size_t t = 0; t < kind->templates; t++)
        draw_letters(templates[t], kind->length - twin__random_below(&seed, 3), &seed);
    for (size_t i = 0; i < count; i++) {
        char *text = world.texts[i];
        size_t t = kind->sorted ? i * kind->templates / count : twin__random_below(&seed, kind->templates);
        strcpy(text, kind->chain && i > 0 ? world.texts[i - 1] : templates[t]);
        if (twin__random_below(&seed, 100) < kind->unlike)
            draw_letters(text, kind->length - twin__random_below(&seed, 4), &seed);
        else
            replace_letters(text, twin__random_below(&seed, kind->edits + 1), &seed);
    }
    read_world(exec);
}

static const twin_exec execs[] = { { TWIN_EXEC_SERIAL, 1 }, { TWIN_EXEC_PTHREADS, 2 }, { TWIN_EXEC_PTHREADS, 4 } };

static void expect_keepers(const uint32_t *expected, size_t edits, twin_dedup_options options, twin_exec exec)
{
    twin_edit_scratch scratch = { 0 };
    twin_dedup *dedup = find(edits, options, exec);
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    for (size_t i = 0; i < world.count; i++) {
        assert_int_equal(keepers[i], expected[i]);
        if (expected[i] == TWIN_DEDUP_NONE)
            continue;
        check_similarity(&scratch, dedup, i, expected[i]);
    }
    twin__edit_scratch_clear(&scratch);
    twin_dedup_free(dedup);
}

static void many_similar_texts_are_decided_as_if_all_were_compared(void **state)
{
    (void)state;
    static uint32_t expected[MOST_TEXTS], ranks[MOST_TEXTS], order[MOST_TEXTS];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        uint64_t seed = 40 + k;
        make_alike(&kinds[k], MANY_TEXTS, seed, execs[k % 3]);
        for (int last = 0; last < 2; last++) {
            decide_slowly(expected, kinds[k].near, input_order(last), NULL);
            expect_keepers(expected, kinds[k].near,
                           (twin_dedup_options){ .preference = last ? TWIN_PREFER_LAST : TWIN_PREFER_FIRST },
                           execs[(k + 1) % 3]);
        }
        memcpy(order, input_order(false), world.count * sizeof *order);
        for (size_t i = world.count; i-- > 1;) {
            size_t j = twin__random_below(&seed, i + 1);
            uint32_t spare = order[i];
            order[i] = order[j];
            order[j] = spare;
        }
        for (size_t i = 0; i < world.count; i++)
            ranks[order[i]] = (uint32_t)i;
        decide_slowly(expected, kinds[k].near, order, NULL);
        expect_keepers(expected, kinds[k].near, (twin_dedup_options){ .ranks = ranks }, execs[(k + 2) % 3]);
        free_world();
    }
}

/* Ties may be decided in any way: a dropped text has the longest kept one that is near as its keeper. */
static void of_many_similar_texts_the_longest_are_kept(void **state)
{
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        make_alike(&kinds[k], MANY_TEXTS, 60 + k, serial);
        twin_dedup *dedup = find(kinds[k].near, (twin_dedup_options){ .preference = TWIN_PREFER_LONGEST }, serial);
        const uint32_t *keepers = twin_dedup_keepers(dedup);
        for (size_t i = 0; i < world.count; i++) {
            assert_int_equal(keepers[keepers[i]], keepers[i]);
            assert_true(slow_distance(world.texts[i], world.texts[keepers[i]]) <= kinds[k].near);
            for (size_t j = 0; j < world.count; j++) {
                if (keepers[j] != j || slow_distance(world.texts[i], world.texts[j]) > kinds[k].near)
                    continue;
                assert_true(keepers[i] != i || j == i);
                assert_true(strlen(world.texts[j]) <= strlen(world.texts[keepers[i]]));
            }
        }
        assert_true(twin_dedup_count(dedup).kept < MANY_TEXTS / 2);
        twin_dedup_free(dedup);
        free_world();
    }
}

static void many_similar_texts_do_not_go_for_an_excluded_one(void **state)
{
    (void)state;
    static uint32_t expected[MOST_TEXTS];
    static bool excluded[MOST_TEXTS];
    make_alike(&kinds[2], MANY_TEXTS, 70, serial);
    for (size_t i = 0; i < world.count; i++)
        excluded[i] = i % 7 == 0 || excluded[twin_collection_firsts(world.collection)[i]];
    for (size_t i = world.count; i-- > 0;) /* together with their copies */
        excluded[twin_collection_firsts(world.collection)[i]] |= excluded[i];
    for (size_t i = 0; i < world.count; i++)
        excluded[i] = excluded[twin_collection_firsts(world.collection)[i]];
    decide_slowly(expected, kinds[2].near, input_order(false), excluded);
    for (size_t i = 0; i < world.count; i++)
        if (excluded[i])
            expected[i] = TWIN_DEDUP_NONE;
    expect_keepers(expected, kinds[2].near, (twin_dedup_options){ .excluded = excluded }, serial);
    free_world();
}

/* To compare all pairs of the most would take 32 million. */
static void the_work_grows_with_the_texts_not_with_their_square(void **state)
{
    (void)state;
    static const struct kind log = { .templates = 2, .length = 100, .edits = 12, .near = 20 };
    for (size_t count = 1000; count <= MOST_TEXTS; count *= 2) {
        make_alike(&log, count, 80, serial);
        twin_dedup *dedup = find(log.near, (twin_dedup_options){ 0 }, serial);
        uint64_t verified = twin_dedup_count(dedup).search.verified;
        print_message("%zu texts: %llu pairs compared, %llu kept\n", count, (unsigned long long)verified,
                      (unsigned long long)twin_dedup_count(dedup).kept);
        assert_true(verified < 32 * count);
        twin_dedup_free(dedup);
        free_world();
    }
}

/* ---- stopping ---- */

static bool stop_later(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    (void)stage, (void)done, (void)total;
    size_t *left = context;
    return (*left)-- > 0;
}

static void rounds_can_be_stopped_at_any_report(void **state)
{
    (void)state;
    twin_edit_join_options by_edits = { .limit_edits = true, .edits = kinds[2].near };
    size_t reports = 0;
    make_alike(&kinds[2], MOST_TEXTS, 90, serial);
    for (twin_status status = TWIN_ESTOPPED; status != TWIN_OK; reports++) {
        size_t left = reports;
        twin_dedup *dedup;
        twin_dedup_options options = { .by_edits = &by_edits, .search.exec = serial };
        options.search.progress = (twin_progress){ .report = stop_later, .context = &left };
        status = twin_dedup_find(&dedup, world.collection, options, NULL);
        assert_true(status == TWIN_OK || (status == TWIN_ESTOPPED && !dedup));
        twin_dedup_free(dedup);
    }
    assert_true(reports > 3);
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
        cmocka_unit_test(many_similar_texts_are_decided_as_if_all_were_compared),
        cmocka_unit_test(of_many_similar_texts_the_longest_are_kept),
        cmocka_unit_test(many_similar_texts_do_not_go_for_an_excluded_one),
        cmocka_unit_test(the_work_grows_with_the_texts_not_with_their_square),
        cmocka_unit_test(rounds_can_be_stopped_at_any_report),
        cmocka_unit_test(sets_are_not_compared_by_edits_nor_texts_as_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

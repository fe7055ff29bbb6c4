/* test_edit_crowds.c — the edit-distance join of many texts: none is missed that shares a key, and crowds are not compared
 * each with each. */
#include "edit_world.h"

/* More short texts than are compared each with each: the forest must find them. */
static void many_short_texts_are_looked_up(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    struct score score = { 0 };
    draw_texts(&world.texts, QUICK ? 1100 : 1500, 20, 24, 26, 11);
    world_read(&world, serial);
    check_once(&score, &world, near_options(.9, TWIN_EDIT_FAR, serial));
    assert_true(score.near > 300);
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.found * 100 >= score.near * 99);
    world_end(&world);
}

/* The same texts with the later letters of two bytes instead of one: Cyrillic ones that no folding changes. */
static void write_in_two_bytes(struct texts *out, const struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        char text[2 * LONGEST], *end = text;
        for (const char *p = texts->items[i]; *p; p++) {
            if (*p >= 'c')
                *end++ = (char)0xD0;
            *end++ = *p >= 'c' ? (char)(0xB0 + (*p - 'c')) : *p;
        }
        *end = '\0';
        add_text(out, text);
    }
}

/* Short texts within few edits: none is missed, whoever runs it, however many bytes a character has, and whether all
 * are compared or those that share a key, which are far fewer. */
static void expect_none_missed(struct world *world, size_t edits, bool crowd)
{
    static struct world wide;
    struct score score = { 0 };
    write_in_two_bytes(&wide.texts, &world->texts);
    world_read(world, serial);
    world_read(&wide, serial);
    twin_edit_join_options options = near_options(0, edits, serial);
    twin_similar *reference = find(world, options);
    check(&score, world, reference, options);
    print_message("%zu edits: found %zu of %zu\n", edits, score.found, score.near);
    assert_true(score.near > 300);
    assert_int_equal(score.found, score.near);
    uint64_t distinct = world->texts.count - twin_collection_count(world->collection).copies;
    twin_similar *by_keys = find_by_keys(world, options);
    assert_non_null(by_keys);
    assert_true(crowd || twin_similar_count(by_keys).verified < distinct * distinct / 4);
    expect_same_matches(reference, by_keys);
    twin_similar_free(by_keys);
    for (int e = 0; e < EXECS; e++)
        if (exec_number(&options.exec, e)) {
            twin_similar *other = find(&wide, options); /* whose hashes meet by chance elsewhere */
            expect_same_matches(reference, other);
            twin_similar_free(other);
            expect_same(reference, find(world, options));
        }
    twin_similar_free(reference);
    world_end(world);
    world_end(&wide);
}

static void none_of_many_short_texts_is_missed(void **state)
{
    (void)state;
    static const struct {
        size_t edits, least, most, letters;
    } kinds[] = { { 1, 7, 9, 4 }, { 2, 8, 11, 4 }, { 3, 12, 16, 4 }, { 4, 15, 20, 3 } };
    for (size_t k = 0; k < (QUICK ? 1 : COUNT(kinds)); k++) {
        static struct world world;
        draw_texts(&world.texts, 1900, kinds[k].least, kinds[k].most, kinds[k].letters, 21 + k);
        expect_none_missed(&world, kinds[k].edits, false);
    }
}

/* Keys of either kind, for texts of one word and for longer ones, by edits and by ratio. */
static void none_that_share_a_key_is_missed(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const struct {
        size_t least, most, letters, edits;
        double ratio;
    } kinds[] = {
        { 6, 12, 5, 2, 0 },    { 7, 10, 4, TWIN_EDIT_FAR, .85 }, { 30, 40, 4, 3, 0 },
        { 30, 40, 4, 4, .95 }, { 80, 100, 4, 2, 0.9 },           { 60, 70, 26, 1, 0 },
    };
    struct score score = { 0 };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        static struct world world;
        draw_texts(&world.texts, QUICK ? 100 : 300, kinds[k].least, kinds[k].most, kinds[k].letters, 71 + k);
        world_read(&world, serial);
        twin_edit_join_options options = near_options(kinds[k].ratio, kinds[k].edits, serial);
        twin_similar *similar = find_by_keys(&world, options);
        assert_non_null(similar);
        check(&score, &world, similar, options);
        twin_similar_free(similar);
        world_end(&world);
    }
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.near > (QUICK ? 50 : 300));
    assert_int_equal(score.found, score.near);
}

/* Texts that begin alike share their first segments, each with each; they are looked up by deletions. */
static void none_of_a_crowd_is_missed(void **state)
{
    (void)state;
    enum { ALIKE = 12 };
    for (size_t edits = 1; edits <= (QUICK ? 1 : 2); edits++) {
        static struct world world;
        struct texts ends = { 0 };
        draw_texts(&ends, 1900, 6 + edits, 8 + edits, 5, 31 + edits);
        for (size_t i = 0; i < ends.count; i++) {
            char text[LONGEST] = "facade bead ";
            strcpy(text + ALIKE, ends.items[i]);
            add_text(&world.texts, text);
        }
        texts_clear(&ends);
        expect_none_missed(&world, edits, true);
    }
}

/* Names that all begin alike share a segment, and are not compared each with each for that. */
static void a_crowd_with_one_segment_is_not_compared_each_with_each(void **state)
{
    (void)state;
    if (QUICK) {
        print_message("a crowd takes ten thousand texts, which only the plain build compares: skipped\n");
        skip();
    }
    enum { TEXTS = 10000, ALIKE = 20, LENGTH = 40, ALLOWED = 64 };
    static struct world world;
    uint64_t seed = 6;
    for (size_t i = 0; i < TEXTS; i++) {
        char text[LENGTH + 1] = "customer of the year";
        draw_text(text + ALIKE, LENGTH - ALIKE, 26, &seed);
        add_text(&world.texts, text);
    }
    world_read(&world, serial);
    twin_similar *similar = find(&world, near_options(0, 1, serial));
    assert_true(twin_similar_count(similar).verified <= (uint64_t)TEXTS * ALLOWED);
    twin_similar_free(similar);
    world_end(&world);
}

/* A form letter in which one character in five is different each time: about .8 alike, and none .95. Comparing all
 * would be half a square; allowed are the candidates that each gets in the first round. */
static void a_crowd_of_lookalikes_is_not_compared_each_with_each(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    enum { TEXTS = QUICK ? 500 : 3000, LENGTH = 300, ALLOWED = 32 };
    static struct world world;
    char form[LENGTH + 1], text[LENGTH + 1];
    uint64_t seed = 9;
    draw_text(form, LENGTH, 26, &seed);
    for (size_t i = 0; i < TEXTS; i++) {
        memcpy(text, form, LENGTH + 1);
        for (size_t c = 0; c < LENGTH; c++)
            if (twin__random_below(&seed, 10) == 0)
                text[c] = letter(&seed, 26);
        add_text(&world.texts, text);
    }
    world_read(&world, serial);
    twin_similar *similar = find(&world, near_options(.95, TWIN_EDIT_FAR, serial));
    twin_similar_counts counts = twin_similar_count(similar);
    assert_int_equal(counts.similar, 0);
    assert_true(counts.verified > TEXTS); /* it is a crowd: the forest does propose them */
    assert_true(counts.verified <= (uint64_t)TEXTS * ALLOWED);
    twin_similar_free(similar);
    world_end(&world);
}

/* But a family of true lookalikes is found whole, though it is larger than what a text gets in the first round. */
static void a_large_family_is_found_whole(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    enum { TEXTS = QUICK ? 80 : 300, LENGTH = 400 };
    static struct world world;
    char form[LENGTH + 8], text[LENGTH + 8];
    uint64_t seed = 4;
    draw_text(form, LENGTH, 26, &seed);
    for (size_t i = 0; i < TEXTS; i++) {
        memcpy(text, form, LENGTH + 1);
        edit_text(text, 4, 26, &seed);
        add_text(&world.texts, text);
    }
    world_read(&world, serial);
    twin_similar *similar = find(&world, near_options(.95, TWIN_EDIT_FAR, serial));
    size_t distinct = (size_t)TEXTS - (size_t)twin_collection_count(world.collection).copies;
    assert_int_equal(twin_similar_count(similar).similar, distinct * (distinct - 1) / 2);
    twin_similar_free(similar);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_short_texts_are_looked_up),
        cmocka_unit_test(none_of_many_short_texts_is_missed),
        cmocka_unit_test(none_that_share_a_key_is_missed),
        cmocka_unit_test(none_of_a_crowd_is_missed),
        cmocka_unit_test(a_crowd_with_one_segment_is_not_compared_each_with_each),
        cmocka_unit_test(a_crowd_of_lookalikes_is_not_compared_each_with_each),
        cmocka_unit_test(a_large_family_is_found_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_edit_join.c — the edit-distance join against an exhaustive comparison. */
#include "edit_world.h"

#include "collection/contents.h"
#include "join/similar_private.h"

#include <twinsift/exec.h>
#include <twinsift/similar.h>

/* At .9 half a dozen edits part texts of 60 letters. Planned is 0.99 for the hardest kind of pair, and most are not of
 * it; as measured all are found. */
static void nearly_all_near_texts_are_found_and_no_other(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const struct {
        size_t least, most, letters;
    } kinds[] = { { 0, 40, 2 }, { 20, 200, 4 }, { 100, 300, 26 }, { 60, 120, 2 }, { 5, 400, 10 } };
    static const double ratios[] = { .8, .9, .95, 1 };
    struct score score = { 0 };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        static struct world world;
        draw_texts(&world.texts, QUICK ? 60 : 130, kinds[k].least, kinds[k].most, kinds[k].letters, 1 + k);
        world_read(&world, serial);
        for (size_t r = 0; r < COUNT(ratios); r++)
            check_once(&score, &world, near_options(ratios[r], TWIN_EDIT_FAR, serial));
        world_end(&world);
    }
    assert_true(score.near > (QUICK ? 100 : 1000));
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.found * 100 >= score.near * 99);
}

/* At .75 a text of 40 letters may be near to one of 66, which is too long to be compared with all. */
static void no_short_text_is_missed_among_long_ones(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    draw_texts(&world.texts, 500, 30, 110, 3, 6);
    world_read(&world, serial);
    twin_edit_join_options options = near_options(.75, TWIN_EDIT_FAR, serial);
    twin_similar *similar = find(&world, options);
    const twin_match *matches;
    size_t count = twin__similar_matches(&matches, similar), at = 0, near = 0, mixed = 0;
    for (size_t a = 0; a < world.texts.count; a++)
        for (size_t b = a + 1; b < world.texts.count; b++) {
            const char *one = world.texts.items[a], *other = world.texts.items[b];
            bool found = at < count && matches[at].a == a && matches[at].b == b;
            size_t longs = (strlen(one) > 64) + (strlen(other) > 64);
            at += found;
            mixed += found && longs == 1;
            if (longs > 0 || is_copy(&world.texts, a) || is_copy(&world.texts, b))
                continue;
            assert_int_equal(found, slow_ratio(one, other, options) >= 0);
            near += found;
        }
    assert_int_equal(at, count);
    assert_true(near > 100);
    assert_true(mixed > 10);
    twin_similar_free(similar);
    world_end(&world);
}

static void edits_are_counted_as_they_are_asked(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static const size_t edits[] = { 0, 1, 3, 10, 1000 };
    struct score score = { 0 };
    static struct world world;
    draw_texts(&world.texts, QUICK ? 50 : 150, 0, 150, 5, 7);
    world_read(&world, serial);
    for (size_t e = 0; e < COUNT(edits); e++) {
        check_once(&score, &world, near_options(0, edits[e], serial));
        check_once(&score, &world, near_options(.93, edits[e], serial));
    }
    assert_true(score.near > (QUICK ? 100 : 1000));
    print_message("found %zu of %zu\n", score.found, score.near);
    assert_true(score.found * 100 >= score.near * 99);
    world_end(&world);
}

/* Words of up to three letters, the empty one too: shorter than any run of characters that could be looked up. */
static void the_shortest_texts_are_all_compared(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    static struct world world;
    struct score score = { 0 };
    add_text(&world.texts, "");
    for (int i = 0; i < 64; i++) {
        char text[] = { (char)('a' + i / 16), (char)('a' + i / 4 % 4), (char)('a' + i % 4), '\0' };
        for (int cut = 0; cut < 3; cut++)
            add_text(&world.texts, text + cut); /* short ones many times: they are copies */
    }
    world_read(&world, serial);
    assert_int_equal(twin_collection_count(world.collection).too_short, 0);
    assert_int_equal(twin_collection_count(world.collection).copies, 192 - 64 - 16 - 4);
    for (size_t edits = 0; edits < 4; edits++)
        check_once(&score, &world, near_options(0, edits, serial));
    check_once(&score, &world, near_options(.5, TWIN_EDIT_FAR, serial));
    assert_true(score.near > 1000);
    assert_int_equal(score.found, score.near);
    world_end(&world);
}

/* Packed or not, the same pairs are visited, with all copies or one. */
struct visited {
    twin_match *items;
    size_t count;
};

static bool note_visit(void *context, twin_match match)
{
    struct visited *visited = context;
    if ((visited->count & (visited->count - 1)) == 0) /* a power of two */
        visited->items = realloc(visited->items, (2 * visited->count + 1) * sizeof *visited->items);
    assert_non_null(visited->items);
    visited->items[visited->count++] = match;
    return true;
}

static void expect_same_visits(const twin_similar *reference, const twin_similar *similar)
{
    for (int copies = TWIN_COPIES_FIRST; copies <= TWIN_COPIES_NONE; copies++) {
        struct visited expected = { 0 }, found = { 0 };
        assert_int_equal(twin_similar_each(reference, (twin_copies)copies, note_visit, &expected), TWIN_OK);
        assert_int_equal(twin_similar_each(similar, (twin_copies)copies, note_visit, &found), TWIN_OK);
        assert_int_equal(found.count, expected.count);
        for (size_t i = 0; i < found.count; i++)
            assert_true(found.items[i].a == expected.items[i].a && found.items[i].b == expected.items[i].b &&
                        found.items[i].similarity == expected.items[i].similarity);
        free(expected.items);
        free(found.items);
    }
}

static void packed_pairs_are_the_same_pairs(void **state)
{
    (void)state;
    static struct world world;
    draw_texts(&world.texts, 200, 3, 9, 3, 91);
    world_read(&world, serial);
    assert_true(twin_collection_count(world.collection).copies > 5);
    twin_edit_join_options options = near_options(0, 2, serial);
    twin_similar *plain = find(&world, options);
    options.packed = true;
    twin_similar *packed = find(&world, options);
    assert_int_equal(twin_similar_count(packed).similar, twin_similar_count(plain).similar);
    assert_true(twin_similar_count(plain).similar > 100);
    expect_same_visits(plain, packed);
    uint32_t keepers[2][200];
    double similarities[2][200];
    assert_int_equal(twin_cluster_documents(keepers[0], similarities[0], plain), TWIN_OK);
    assert_int_equal(twin_cluster_documents(keepers[1], similarities[1], packed), TWIN_OK);
    assert_memory_equal(keepers[0], keepers[1], sizeof keepers[0]);
    assert_memory_equal(similarities[0], similarities[1], sizeof similarities[0]);
    assert_int_not_equal(keepers[0][199], 199);
    twin_similar_free(plain);
    twin_similar_free(packed);
    world_end(&world);
}

/* Short texts, of which all are compared; longer ones that share a key, many of them twice; and those that a forest
 * finds, each with few of them in memory and with many. */
static void pairs_beyond_memory_are_the_same_pairs(void **state)
{
    (void)state;
    static const struct {
        size_t least, most, letters, edits;
        double ratio;
    } kinds[] = { { 3, 9, 3, 2, 0 }, { 80, 100, 4, 4, 0 }, { 3, 300, 4, TWIN_EDIT_FAR, .8 } };
    for (size_t k = 0; k < COUNT(kinds); k++) {
        static struct world world;
        draw_texts(&world.texts, 250, kinds[k].least, kinds[k].most, kinds[k].letters, 191 + k);
        world_read(&world, serial);
        twin_edit_join_options options = near_options(kinds[k].ratio, kinds[k].edits, serial);
        twin_similar *reference = find(&world, options);
        uint64_t pairs = twin_similar_count(reference).similar;
        print_message("%llu pairs\n", (unsigned long long)pairs);
        assert_true(pairs > 20);
        options.temp_folder = world.corpus.folder;
        for (int e = 0; e < EXECS; e++)
            for (size_t most = 5; most < 2 * pairs && exec_number(&options.exec, e); most *= 60) {
                options.packed = !options.packed;
                options.spill_after = most;
                twin_similar *similar = find(&world, options);
                assert_int_equal(twin_similar_count(similar).similar, pairs);
                expect_same_visits(reference, similar);
                twin_similar_free(similar);
            }
        twin_similar_free(reference);
        twin_similar *similar;
        twin_error error;
        options.spill_after = 5;
        options.temp_folder = "/no/such/folder";
        assert_int_equal(twin_edit_join_find(&similar, world.collection, options, &error), TWIN_EIO);
        assert_non_null(strstr(error.message, "temporary folder /no/such/folder"));
        world_end(&world);
    }
}

/* Long texts, each once more with a paragraph before it and one within: no character stands where it stood. */
static void a_text_with_a_new_beginning_is_found(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    enum { TEXTS = QUICK ? 10 : 40, LENGTH = 2000, MORE = 80 };
    static struct world world;
    uint64_t seed = 3;
    for (size_t i = 0; i < TEXTS; i++) {
        char text[LONGEST], other[LONGEST];
        draw_text(text, LENGTH, 26, &seed);
        draw_text(other, MORE, 26, &seed);
        memcpy(other + MORE, text, LENGTH + 1);
        memmove(other + LENGTH / 2 + MORE, other + LENGTH / 2, LENGTH / 2 + MORE + 1);
        add_text(&world.texts, text);
        add_text(&world.texts, other);
    }
    world_read(&world, serial);
    const twin_match *matches;
    twin_similar *similar = find(&world, near_options(.95, TWIN_EDIT_FAR, serial));
    assert_int_equal(twin__similar_matches(&matches, similar), TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        assert_int_equal(matches[i].a, 2 * i);
        assert_int_equal(matches[i].b, 2 * i + 1);
        assert_true(matches[i].similarity >= 1 - 2.0 * MORE / (2 * LENGTH + 2 * MORE));
    }
    twin_similar_free(similar);
    world_end(&world);
}

static void the_answer_is_the_same_whoever_runs_it(void **state)
{
    (void)state;
    static struct world world;
    draw_texts(&world.texts, QUICK ? 150 : 600, 30, 300, 8, 5);
    world_read(&world, serial);
    twin_similar *reference = find(&world, near_options(.85, TWIN_EDIT_FAR, serial));
    assert_true(twin_similar_count(reference).similar > 50);
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        expect_same(reference, find(&world, near_options(.85, TWIN_EDIT_FAR, exec)));
    }
    twin_similar_free(reference);
    world_end(&world);
}

/* Equal sets of characters are not equal texts. */
static void copies_are_equal_texts(void **state)
{
    (void)state;
    static struct world world;
    static const char *const texts[] = { "abababababababababab", "ababababababababababab", "abababababababababab",
                                         "" };
    for (size_t i = 0; i < COUNT(texts); i++)
        add_text(&world.texts, texts[i]);
    world_read(&world, serial);
    const uint32_t *firsts = twin_collection_firsts(world.collection);
    assert_int_equal(firsts[1], 1);
    assert_int_equal(firsts[2], 0);
    assert_int_equal(firsts[3], 3);
    assert_int_equal(twin_collection_entry_of(world.collection, 1).size, 22);
    assert_int_equal(twin_collection_entry_of(world.collection, 3).size, 0);
    struct score score = { 0 };
    check_once(&score, &world, near_options(.95, TWIN_EDIT_FAR, serial));
    assert_int_equal(score.near, 1);
    assert_int_equal(score.found, 1);
    world_end(&world);
}

static void characters_count_not_bytes(void **state)
{
    (void)state;
    static struct world world;
    /* Ten characters, one replaced, of up to four bytes each. */
    add_text(&world.texts, "жжжжжжжжжж");
    add_text(&world.texts, "жжжжж𝄞жжжж");
    add_text(&world.texts, "жжжжжaжжжж");
    world_read(&world, serial);
    assert_int_equal(twin_collection_entry_of(world.collection, 1).size, 10);
    const twin_match *matches;
    twin_similar *similar = find(&world, near_options(0, 1, serial));
    assert_int_equal(twin__similar_matches(&matches, similar), 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(matches[i].similarity == .9);
    twin_similar_free(similar);
    world_end(&world);
}

/* Text in Latin-1, as it is: each byte that is not UTF-8 is a character. */
static void bytes_that_are_not_utf8_count_as_characters(void **state)
{
    (void)state;
    static const size_t lengths[] = { 40, 100, 400 }; /* in tiles, by keys, in a forest */
    for (size_t l = 0; l < COUNT(lengths); l++) {
        size_t length = lengths[l];
        char texts[3][400];
        twin_memory_document documents[3];
        uint64_t seed = 3;
        for (size_t i = 0; i < length; i++)
            texts[0][i] = letter(&seed, 26);
        for (size_t d = 0; d < 3; d++) {
            memcpy(texts[d], texts[0], length);
            texts[d][length / 2] = "x\xA3\xE2"[d]; /* two that would continue and begin a character */
            documents[d] = (twin_memory_document){ .text = { texts[d], length } };
        }
        struct world world = { 0 };
        twin_collection_options options = text_options(serial);
        options.scheme.normal = TWIN_NORMAL_BYTES;
        assert_int_equal(twin_input_from_texts(&world.input, documents, 3, (twin_input_options){ 0 }, NULL), TWIN_OK);
        world.collection = read_collection(world.input, options);
        assert_int_equal(twin_collection_entry_of(world.collection, 1).size, length);
        const twin_match *matches;
        twin_similar *similar = find(&world, near_options(0, 1, serial));
        assert_int_equal(twin__similar_matches(&matches, similar), 3);
        for (size_t i = 0; i < 3; i++)
            assert_true(matches[i].similarity == (double)(length - 1) / (double)length);
        twin_similar_free(similar);
        twin_collection_free(world.collection);
        twin_input_free(world.input);
    }
}

static void an_audit_counts_what_was_missed(void **state)
{
    (void)state;
    static struct world world;
    draw_texts(&world.texts, QUICK ? 80 : 200, 30, 200, 10, 6);
    world_read(&world, serial);
    twin_edit_join_options options = near_options(.9, TWIN_EDIT_FAR, serial);
    twin_similar *all = find(&world, options), *strict = find(&world, near_options(.95, TWIN_EDIT_FAR, serial));
    uint64_t similar = twin_similar_count(all).similar, fewer = twin_similar_count(strict).similar;
    assert_true(fewer > 0 && fewer < similar);
    twin_audit audit;
    /* The pairs at .95 as an answer to .9 lack the others; those at .9 as one to .95 have too many. */
    assert_int_equal(twin_audit_edits(&audit, world.collection, strict, options,
                                      (twin_audit_options){ .documents = 1000, .seed = 1 }, NULL),
                     TWIN_OK);
    assert_int_equal(audit.similar, similar);
    assert_int_equal(audit.found, fewer);
    assert_int_equal(audit.wrong, 0);
    options.ratio = .95;
    assert_int_equal(twin_audit_edits(&audit, world.collection, all, options,
                                      (twin_audit_options){ .documents = 1000, .seed = 1 }, NULL),
                     TWIN_OK);
    assert_int_equal(audit.found, fewer);
    assert_int_equal(audit.wrong, similar - fewer);
    assert_int_equal(twin_audit_edits(&audit, world.collection, all, options,
                                      (twin_audit_options){ .documents = 7, .seed = 1 }, NULL),
                     TWIN_OK);
    assert_int_equal(audit.documents, 7);
    twin_similar_free(all);
    twin_similar_free(strict);
    world_end(&world);
}

static void a_text_that_changed_is_told(void **state)
{
    (void)state;
    static struct world world;
    draw_texts(&world.texts, 200, 100, 100, 26, 8);
    world_read(&world, serial);
    FILE *file = fopen(world.corpus.path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 30, SEEK_SET), 0);
    assert_int_equal(fputs("zzzzz", file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    twin_similar *similar;
    twin_error error;
    assert_int_equal(twin_edit_join_find(&similar, world.collection, near_options(.9, TWIN_EDIT_FAR, serial), &error),
                     TWIN_EFORMAT);
    assert_null(similar);
    assert_non_null(strstr(error.message, "jsonl:1"));
    world_end(&world);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static struct world world;
    add_text(&world.texts, "abc");
    world_read(&world, serial);
    twin_similar *similar;
    const twin_edit_join_options bad[] = { near_options(1.5, 3, serial), near_options(-1, 3, serial) };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(twin_edit_join_find(&similar, world.collection, bad[i], NULL), TWIN_EINVAL);
    /* A collection of sets has no texts to speak of, and one of texts has no sets. */
    twin_set set;
    twin_scratch scratch = { 0 };
    twin_error error = { 0 };
    assert_int_equal(twin__collection_set(&set, world.collection, &scratch, 0, &error), TWIN_EINVAL);
    twin_collection *sets = read_collection(world.input, plain_options("word:1"));
    assert_int_equal(twin_edit_join_find(&similar, sets, near_options(.9, TWIN_EDIT_FAR, serial), NULL), TWIN_EINVAL);
    twin_text text;
    assert_int_equal(twin__collection_text(&text, sets, &scratch, 0, NULL), TWIN_OK);
    assert_text(text, "abc");
    twin__scratch_clear(&scratch);
    twin_collection_free(sets);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearly_all_near_texts_are_found_and_no_other),
        cmocka_unit_test(no_short_text_is_missed_among_long_ones),
        cmocka_unit_test(edits_are_counted_as_they_are_asked),
        cmocka_unit_test(the_shortest_texts_are_all_compared),
        cmocka_unit_test(packed_pairs_are_the_same_pairs),
        cmocka_unit_test(pairs_beyond_memory_are_the_same_pairs),
        cmocka_unit_test(a_text_with_a_new_beginning_is_found),
        cmocka_unit_test(the_answer_is_the_same_whoever_runs_it),
        cmocka_unit_test(copies_are_equal_texts),
        cmocka_unit_test(characters_count_not_bytes),
        cmocka_unit_test(bytes_that_are_not_utf8_count_as_characters),
        cmocka_unit_test(an_audit_counts_what_was_missed),
        cmocka_unit_test(a_text_that_changed_is_told),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

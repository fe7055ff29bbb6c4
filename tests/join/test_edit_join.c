/* test_edit_join.c — the edit-distance join against an exhaustive comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <twinsift/audit.h>
#include <twinsift/cluster.h>
#include <twinsift/cpu.h>
#include <twinsift/edit_join.h>

#include <math.h>

#include "base/random.h"
#include "corpus.h"
#include "join/edit_join_private.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

/* ---- texts ---- */

struct texts {
    char **items;
    size_t count;
};

static void add_text(struct texts *texts, const char *text)
{
    if ((texts->count & (texts->count - 1)) == 0) /* a power of two */
        texts->items = realloc(texts->items, (2 * texts->count + 1) * sizeof *texts->items);
    assert_non_null(texts->items);
    texts->items[texts->count] = strdup(text);
    assert_non_null(texts->items[texts->count++]);
}

static void texts_clear(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct texts){ 0 };
}

static char letter(uint64_t *seed, size_t letters)
{
    return (char)('a' + twin__random_below(seed, letters));
}

static void draw_text(char *out, size_t length, size_t letters, uint64_t *seed)
{
    for (size_t i = 0; i < length; i++)
        out[i] = letter(seed, letters);
    out[length] = '\0';
}

/* Inserts, deletes and replaces at random places; a text may grow by as many characters as there are edits. */
static void edit_text(char *text, size_t edits, size_t letters, uint64_t *seed)
{
    for (size_t i = 0; i < edits; i++) {
        size_t length = strlen(text), kind = twin__random_below(seed, 3), at = twin__random_below(seed, length + 1);
        if (kind == 0)
            memmove(text + at + 1, text + at, length - at + 1);
        if (kind != 1 && at < length + (kind == 0))
            text[at] = letter(seed, letters);
        else if (kind == 1 && at < length)
            memmove(text + at, text + at + 1, length - at);
    }
}

enum { LONGEST = 4096 };

/* Texts of `least` to `most` letters: half of them new, half edited from one that was there, at up to a tenth of
 * its places, some with more before their first letter. */
static void draw_texts(struct texts *texts, size_t count, size_t least, size_t most, size_t letters, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        char text[LONGEST];
        if (i == 0 || twin__random_below(&seed, 2) == 0) {
            draw_text(text, least + twin__random_below(&seed, most - least + 1), letters, &seed);
        } else {
            size_t front = twin__random_below(&seed, 4) == 0 ? twin__random_below(&seed, most / 20 + 2) : 0;
            const char *old = texts->items[twin__random_below(&seed, i)];
            draw_text(text, front, letters, &seed);
            memcpy(text + front, old, strlen(old) + 1);
            edit_text(text, twin__random_below(&seed, strlen(old) / 10 + 2), letters, &seed);
        }
        add_text(texts, text);
    }
}

/* ---- a collection of them ---- */

/* Static in every test, so that a test that fails half-way leaks nothing in the eyes of an analyser. */
struct world {
    struct corpus corpus;
    struct texts texts;
    twin_input *input;
    twin_collection *collection;
};

static twin_collection_options text_options(twin_exec exec)
{
    return (twin_collection_options){ .texts = true,
                                      .scheme.shingle.hash = twin_hash_member(TWIN_HASH_XXH3, 1),
                                      .exec = exec };
}

/* Reads what is in world->texts: letters, so that nothing needs to be escaped and nothing folds. */
static void world_read(struct world *world, twin_exec exec)
{
    corpus_begin(&world->corpus);
    FILE *file = fopen(corpus_path(&world->corpus, "texts.jsonl"), "wb");
    assert_non_null(file);
    for (size_t i = 0; i < world->texts.count; i++)
        fprintf(file, "{\"id\":%zu,\"text\":\"%s\"}\n", i, world->texts.items[i]);
    assert_int_equal(fclose(file), 0);
    world->input = open_input(world->corpus.path, (twin_input_options){ .chunk_bytes = 5000 });
    world->collection = read_collection(world->input, text_options(exec));
}

static void world_end(struct world *world)
{
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    texts_clear(&world->texts);
    corpus_end(&world->corpus);
}

static twin_edit_join_options near_options(double ratio, size_t edits, twin_exec exec)
{
    return (twin_edit_join_options){ .ratio = ratio,
                                     .limit_edits = edits != TWIN_EDIT_FAR,
                                     .edits = edits,
                                     .minhash = { TWIN_SKETCH_FAST, 128, 1 },
                                     .exec = exec };
}

static twin_similar *find(const struct world *world, twin_edit_join_options options)
{
    twin_similar *similar;
    twin_error error;
    twin_status status = twin_edit_join_find(&similar, world->collection, options, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    return similar;
}

/* ---- the truth, by the textbook's table ---- */

/* The distance with (1) and without (0) replacements, and nothing clever. A distance beyond `limit` may be given as a smaller
 * one that is beyond it too: no entry of a later row is less than the least of a row. */
REFERENCE static size_t slow_distance(const char *a, const char *b, bool replacements, size_t limit)
{
    static uint32_t rows[2][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    uint32_t replacing = replacements ? 1 : 2;
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *up = rows[(i - 1) % 2], *row = rows[i % 2], least = row[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = (up[j] < row[j - 1] ? up[j] : row[j - 1]) + 1;
            uint32_t across = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : replacing);
            row[j] = best < across ? best : across;
            least = row[j] < least ? row[j] : least;
        }
        if (least > limit)
            return least;
    }
    return rows[n % 2][m];
}

/* The ratio of two texts that are near, and -1 of others. */
static double slow_ratio(const char *a, const char *b, twin_edit_join_options options)
{
    size_t n = strlen(a), m = strlen(b), apart = n < m ? m - n : n - m;
    if (options.ratio > 0 && (double)(n + m - apart) < options.ratio * (double)(n + m))
        return -1;
    if (options.edits != TWIN_EDIT_FAR &&
        (apart > options.edits || slow_distance(a, b, true, options.edits) > options.edits))
        return -1;
    size_t limit = (size_t)((1 - options.ratio) * (double)(n + m)) + 1; /* rounded up: the ratio decides */
    double ratio = n + m ? (double)(n + m - slow_distance(a, b, false, limit)) / (double)(n + m) : 1;
    return ratio >= options.ratio ? ratio : -1;
}

struct score {
    size_t near, found;
};

static bool is_copy(const struct texts *texts, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(texts->items[i], texts->items[j]) == 0)
            return true;
    return false;
}

/* Every match is true, to the last bit of its ratio, and in its place; adds to `score` how many there are to find and
 * how many were found. */
static void check(struct score *score, const struct world *world, const twin_similar *similar,
                  twin_edit_join_options options)
{
    const twin_match *matches;
    size_t count = twin_similar_matches(&matches, similar), at = 0;
    for (size_t a = 0; a < world->texts.count; a++) {
        if (is_copy(&world->texts, a))
            continue;
        for (size_t b = a + 1; b < world->texts.count; b++) {
            double ratio = slow_ratio(world->texts.items[a], world->texts.items[b], options);
            bool found = at < count && matches[at].a == a && matches[at].b == b;
            if (ratio < 0 || is_copy(&world->texts, b)) {
                assert_false(found);
                continue;
            }
            score->near++;
            score->found += found;
            if (found)
                assert_true(matches[at].similarity == ratio);
            at += found;
        }
    }
    assert_int_equal(at, count);
    assert_int_equal(twin_similar_count(similar).similar, count);
}

static void check_once(struct score *score, const struct world *world, twin_edit_join_options options)
{
    twin_similar *similar = find(world, options);
    check(score, world, similar, options);
    twin_similar_free(similar);
}

/* The same by what near texts share alone (edit_keys.c), however long it takes; NULL when that is not possible. */
static twin_similar *find_by_keys(const struct world *world, twin_edit_join_options options)
{
    const uint32_t *distinct;
    size_t count = twin_collection_distinct(&distinct, world->collection), at = 0;
    uint32_t *order = malloc((count + 1) * sizeof *order);
    twin_similar *similar = calloc(1, sizeof *similar);
    struct twin__provider provider;
    assert_true(order && similar);
    assert_int_equal(twin__edit_join_complete(&options, world->collection, NULL), TWIN_OK);
    assert_int_equal(twin__collection_provider(&provider, world->collection, NULL, options.exec.workers), TWIN_OK);
    for (size_t length = 0; at < count; length++)
        for (size_t i = 0; i < count; i++)
            if (twin_collection_size(world->collection, distinct[i]) == length)
                order[at++] = distinct[i];
    twin_edit_scratch scratch = { 0 };
    struct twin__edit_class class = { order, count, count, &provider, options, &scratch, similar };
    bool done;
    similar->collection = world->collection;
    assert_int_equal(twin__edit_join_by_keys(&done, &class, (double)INFINITY, NULL), TWIN_OK);
    assert_int_equal(twin__near_pairs_sort(&similar->near_pairs), TWIN_OK);
    assert_int_equal(twin__near_pairs_match(&similar->matches, &similar->near_pairs, world->collection), TWIN_OK);
    similar->counts.similar = similar->matches.count;
    twin__collection_provider_clear(&provider);
    twin_edit_scratch_clear(&scratch);
    free(order);
    if (done)
        return similar;
    twin_similar_free(similar);
    return NULL;
}

/* ---- tests ---- */

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

static void expect_same_matches(const twin_similar *reference, const twin_similar *similar)
{
    const twin_match *expected, *matches;
    size_t count = twin_similar_matches(&expected, reference);
    assert_int_equal(twin_similar_matches(&matches, similar), count);
    for (size_t i = 0; i < count; i++)
        assert_true(matches[i].a == expected[i].a && matches[i].b == expected[i].b &&
                    matches[i].similarity == expected[i].similarity);
}

static void expect_same(const twin_similar *reference, twin_similar *similar)
{
    expect_same_matches(reference, similar);
    assert_int_equal(twin_similar_count(similar).verified, twin_similar_count(reference).verified);
    assert_int_equal(twin_similar_count(similar).candidates, twin_similar_count(reference).candidates);
    twin_similar_free(similar);
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
                options.matches_in_memory = most;
                twin_similar *similar = find(&world, options);
                assert_int_equal(twin_similar_count(similar).similar, pairs);
                expect_same_visits(reference, similar);
                twin_similar_free(similar);
            }
        twin_similar_free(reference);
        twin_similar *similar;
        twin_error error;
        options.matches_in_memory = 5;
        options.temp_folder = "/no/such/folder";
        assert_int_equal(twin_edit_join_find(&similar, world.collection, options, &error), TWIN_EIO);
        assert_non_null(strstr(error.message, "temporary folder /no/such/folder"));
        world_end(&world);
    }
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
    assert_int_equal(twin_similar_matches(&matches, similar), TEXTS);
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
    assert_int_equal(twin_collection_size(world.collection, 1), 22);
    assert_int_equal(twin_collection_size(world.collection, 3), 0);
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
    assert_int_equal(twin_collection_size(world.collection, 1), 10);
    const twin_match *matches;
    twin_similar *similar = find(&world, near_options(0, 1, serial));
    assert_int_equal(twin_similar_matches(&matches, similar), 3);
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
        assert_int_equal(twin_collection_size(world.collection, 1), length);
        const twin_match *matches;
        twin_similar *similar = find(&world, near_options(0, 1, serial));
        assert_int_equal(twin_similar_matches(&matches, similar), 3);
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
    assert_int_equal(twin_collection_set(&set, world.collection, &scratch, 0, &error), TWIN_EINVAL);
    twin_collection *sets = read_collection(world.input, plain_options("word:1"));
    assert_int_equal(twin_edit_join_find(&similar, sets, near_options(.9, TWIN_EDIT_FAR, serial), NULL), TWIN_EINVAL);
    twin_text text;
    assert_int_equal(twin_collection_text(&text, sets, &scratch, 0, NULL), TWIN_OK);
    assert_text(text, "abc");
    twin_scratch_clear(&scratch);
    twin_collection_free(sets);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearly_all_near_texts_are_found_and_no_other),
        cmocka_unit_test(edits_are_counted_as_they_are_asked),
        cmocka_unit_test(the_shortest_texts_are_all_compared),
        cmocka_unit_test(many_short_texts_are_looked_up),
        cmocka_unit_test(none_of_many_short_texts_is_missed),
        cmocka_unit_test(none_that_share_a_key_is_missed),
        cmocka_unit_test(packed_pairs_are_the_same_pairs),
        cmocka_unit_test(pairs_beyond_memory_are_the_same_pairs),
        cmocka_unit_test(none_of_a_crowd_is_missed),
        cmocka_unit_test(a_crowd_with_one_segment_is_not_compared_each_with_each),
        cmocka_unit_test(a_text_with_a_new_beginning_is_found),
        cmocka_unit_test(the_answer_is_the_same_whoever_runs_it),
        cmocka_unit_test(a_crowd_of_lookalikes_is_not_compared_each_with_each),
        cmocka_unit_test(a_large_family_is_found_whole),
        cmocka_unit_test(copies_are_equal_texts),
        cmocka_unit_test(characters_count_not_bytes),
        cmocka_unit_test(bytes_that_are_not_utf8_count_as_characters),
        cmocka_unit_test(an_audit_counts_what_was_missed),
        cmocka_unit_test(a_text_that_changed_is_told),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

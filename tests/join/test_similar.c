/* test_similar.c — similar pairs against an exhaustive comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <twinsift/similar.h>

#include "collection/contents.h"
#include "join/matches.h"
#include "join/similar_private.h"
#include "lookalikes.h"
#include "lsh/bands.h"
#include "scale.h"
#include "sketch/minhash.h"
#include "sketch/set.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* With 512 bands of one row a pair of similarity .1 is missed once in 10^23: what is found is all there is. */
enum { SLOTS = 512, MOST_DOCUMENTS = 300 };

struct world {
    struct corpus corpus;
    struct lookalikes truth;
    twin_input *input;
    twin_collection *collection;
};

static void world_read(struct world *world, twin_exec exec, uint64_t *seed)
{
    twin_collection_options options = plain_options("word:1");
    options.exec = exec;
    options.scheme.minhash.slots = SLOTS;
    corpus_begin(&world->corpus);
    write_lookalikes(&world->corpus, &world->truth, seed);
    world->input = open_input(world->corpus.path, (twin_input_options){ .chunk_bytes = 5000 });
    world->collection = read_collection(world->input, options);
}

static void world_draw(struct world *world, size_t count, twin_exec exec, uint64_t seed)
{
    draw_lookalikes(&world->truth, count, &seed);
    world_read(world, exec, &seed);
}

static void world_end(struct world *world)
{
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    lookalikes_clear(&world->truth);
    corpus_end(&world->corpus);
}

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

static twin_similar_options thorough(twin_verify verify, double threshold, twin_exec exec)
{
    return (
        twin_similar_options){ .verify = verify, .threshold = threshold, .bands.plan = { SLOTS, 1 }, .exec = exec };
}

static twin_similar *find(const twin_collection *collection, twin_similar_options options)
{
    twin_similar *similar;
    twin_error error;
    assert_good(twin_similar_find(&similar, collection, options, &error), &error);
    return similar;
}

/* What a candidate pair is worth; below 0: it does not stay. */
static double slow_similarity(const struct world *world, twin_similar_options options, size_t a, size_t b)
{
    const uint32_t *rows = twin__collection_signatures(world->collection);
    size_t equal = 0;
    if (options.verify == TWIN_VERIFY_EXACT) {
        double truth = true_similarity(&world->truth, a, b, options.measure);
        return truth >= options.threshold ? truth : -1;
    }
    for (size_t slot = 0; slot < SLOTS; slot++)
        equal += rows[a * SLOTS + slot] == rows[b * SLOTS + slot];
    double share = (double)equal / SLOTS;
    return equal && (options.verify == TWIN_VERIFY_NONE || share >= options.threshold) ? share : -1;
}

static bool is_distinct(const struct world *world, size_t d)
{
    return !is_empty(&world->truth, d) && true_first(&world->truth, d) == d;
}

static void check_matches(const struct world *world, const twin_similar *similar, twin_similar_options options)
{
    const twin_match *matches;
    size_t count = twin__similar_matches(&matches, similar), i = 0;
    bool distinct[MOST_DOCUMENTS];
    assert_true(world->truth.count <= MOST_DOCUMENTS);
    for (size_t d = 0; d < world->truth.count; d++)
        distinct[d] = is_distinct(world, d);
    for (size_t a = 0; a < world->truth.count; a++)
        for (size_t b = a + 1; distinct[a] && b < world->truth.count; b++) {
            double similarity = distinct[b] ? slow_similarity(world, options, a, b) : -1;
            if (similarity < 0)
                continue;
            assert_true(i < count && matches[i].a == a && matches[i].b == b && matches[i].similarity == similarity);
            i++;
        }
    assert_int_equal(i, count);
    assert_int_equal(twin_similar_count(similar).similar, count);
    assert_true(twin_similar_count(similar).candidates >= count);
}

static void all_similar_pairs_are_found_and_no_other(void **state)
{
    (void)state;
    static const double thresholds[] = { .3, .6, .9, 1 };
    struct world world;
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        world_draw(&world, QUICK ? 50 : 120, exec, 1 + (uint64_t)e);
        for (int v = 0; v < 4; v++)
            for (size_t t = 0; t < COUNT(thresholds); t += SANITIZED ? 2 : 1) {
                twin_similar_options options =
                    thorough(v < 3 ? (twin_verify)v : TWIN_VERIFY_EXACT, thresholds[t], exec);
                options.measure = v < 3 ? TWIN_JACCARD : TWIN_CONTAINMENT;
                twin_similar *similar = find(world.collection, options);
                check_matches(&world, similar, options);
                twin_similar_free(similar);
            }
        world_end(&world);
    }
}

/* ---- the best of each document ---- */

/* How many distinct documents are more similar to d than `other` is, or as similar and earlier. */
static size_t true_rank(const struct world *world, size_t d, size_t other)
{
    double similarity = true_similarity(&world->truth, d, other, TWIN_JACCARD);
    size_t before = 0;
    for (size_t i = 0; i < world->truth.count; i++) {
        if (i == d || !is_distinct(world, i))
            continue;
        double s = true_similarity(&world->truth, d, i, TWIN_JACCARD);
        before += s > similarity || (s == similarity && i < other);
    }
    return before;
}

static void check_best(const struct world *world, const twin_similar *similar, double threshold, size_t top)
{
    const twin_match *matches;
    size_t count = twin__similar_matches(&matches, similar), at = 0;
    for (size_t a = 0; a < world->truth.count; a++)
        for (size_t b = a + 1; is_distinct(world, a) && b < world->truth.count; b++) {
            double similarity = true_similarity(&world->truth, a, b, TWIN_JACCARD);
            if (!is_distinct(world, b) || similarity < threshold ||
                (true_rank(world, a, b) >= top && true_rank(world, b, a) >= top))
                continue;
            assert_true(at < count && matches[at].a == a && matches[at].b == b);
            assert_true(matches[at].similarity == similarity);
            at++;
        }
    assert_int_equal(at, count);
}

/* Of so few documents all are candidates for each other, so the best are the truly best. A pair of similarity .1
 * shares no label of 256 trees once in 10^11. */
static void the_best_of_each_document_are_found_through_a_forest(void **state)
{
    (void)state;
    struct world world;
    for (uint64_t seed = 0; seed < (QUICK ? 10 : 40); seed++) {
        twin_exec exec;
        if (!exec_number(&exec, (int)(seed % EXECS)))
            continue;
        world_draw(&world, 18, exec, 100 + seed);
        for (size_t top = 1; top < 4; top++) {
            twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .1, exec);
            options.method = TWIN_METHOD_FOREST;
            options.top = top;
            twin_similar *similar = find(world.collection, options);
            check_best(&world, similar, options.threshold, top);
            twin_similar_free(similar);
        }
        world_end(&world);
    }
}

/* With more of them than anyone has lookalikes, the best are all: what bands find. */
static void a_forest_finds_what_bands_find(void **state)
{
    (void)state;
    struct world world;
    world_draw(&world, QUICK ? 80 : 300, serial, 77);
    twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .5, serial);
    options.method = TWIN_METHOD_FOREST;
    options.top = 1000;
    twin_similar *similar = find(world.collection, options);
    check_matches(&world, similar, options);
    twin_similar_free(similar);
    world_end(&world);
}

/* ---- visiting pairs ---- */

struct expected {
    const struct world *world;
    twin_similar_options options;
    twin_copies copies;
    size_t a, b; /* the next pair that may be reported */
    size_t count, stop_after;
};

/* Whether documents a < b make a line, and with what similarity. */
static double slow_line(const struct expected *expected, size_t a, size_t b)
{
    const struct lookalikes *truth = &expected->world->truth;
    if (is_empty(truth, a) || is_empty(truth, b))
        return -1;
    size_t first_a = true_first(truth, a), first_b = true_first(truth, b);
    if (expected->copies != TWIN_COPIES_ALL && first_a != a)
        return -1;
    if (first_a == first_b)
        return expected->copies == TWIN_COPIES_NONE ? -1 : 1;
    if (expected->copies != TWIN_COPIES_ALL && first_b != b)
        return -1;
    return slow_similarity(expected->world, expected->options, first_a, first_b);
}

static void step(struct expected *expected)
{
    if (++expected->b >= expected->world->truth.count)
        expected->b = ++expected->a + 1;
}

/* Steps through all pairs in order; those before the reported one must not be lines. */
static bool check_match(void *context, twin_match match)
{
    struct expected *expected = context;
    for (; expected->a < match.a || (expected->a == match.a && expected->b < match.b); step(expected))
        assert_true(slow_line(expected, expected->a, expected->b) < 0);
    assert_true(expected->a == match.a && expected->b == match.b);
    assert_true(slow_line(expected, expected->a, expected->b) == match.similarity);
    step(expected);
    return ++expected->count < expected->stop_after;
}

static void check_telling(const struct world *world, twin_similar_options options, twin_copies copies)
{
    twin_similar *similar = find(world->collection, options);
    struct expected expected = { world, options, copies, 0, 1, 0, SIZE_MAX };
    assert_int_equal(twin_similar_each(similar, copies, check_match, &expected), TWIN_OK);
    for (; expected.a < world->truth.count; step(&expected))
        assert_true(expected.b >= world->truth.count || slow_line(&expected, expected.a, expected.b) < 0);
    if (expected.count > 1) {
        struct expected some = { world, options, copies, 0, 1, 0, expected.count / 2 };
        assert_int_equal(twin_similar_each(similar, copies, check_match, &some), TWIN_ESTOPPED);
        assert_int_equal(some.count, expected.count / 2);
    }
    twin_similar_free(similar);
}

static void copies_are_told_as_asked(void **state)
{
    (void)state;
    STARTS_NO_THREADS();
    struct world world;
    for (uint64_t round = 0; round < (QUICK ? 3 : 8); round++) {
        world_draw(&world, round < 2 ? 1 + round : QUICK ? 40 : 80, serial, 100 + round);
        for (twin_copies copies = TWIN_COPIES_FIRST; copies <= TWIN_COPIES_NONE; copies++) {
            check_telling(&world, thorough(TWIN_VERIFY_EXACT, .5, serial), copies);
            check_telling(&world, thorough(TWIN_VERIFY_EXACT, 1, serial), copies);
            check_telling(&world, thorough(TWIN_VERIFY_NONE, .5, serial), copies);
            for (size_t most = 1; most < 1000; most *= 6) { /* from a run for each match to none */
                twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .3, serial);
                options.spill_after = most;
                check_telling(&world, options, copies);
                options.measure = TWIN_CONTAINMENT;
                check_telling(&world, options, copies);
            }
        }
        world_end(&world);
    }
}

/* ---- more matches than memory ---- */

static void matches_on_disk_are_counted_and_only_visited(void **state)
{
    (void)state;
    struct world world;
    world_draw(&world, 60, serial, 4);
    twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .3, serial);
    twin_similar *all = find(world.collection, options);
    options.spill_after = 3;
    options.temp_folder = world.corpus.folder;
    twin_similar *some = find(world.collection, options);
    const twin_match *matches;
    assert_true(twin_similar_count(all).similar > 10);
    assert_int_equal(twin_similar_count(some).similar, twin_similar_count(all).similar);
    assert_true(twin__similar_matches(&matches, some) == 0 && matches == NULL);
    uint32_t keeper[MOST_DOCUMENTS];
    double similarity[MOST_DOCUMENTS];
    assert_int_equal(twin_cluster_documents(keeper, similarity, all), TWIN_OK);
    assert_int_equal(twin_cluster_documents(keeper, similarity, some), TWIN_EINVAL);
    assert_non_null(strstr(twin_error_last(TWIN_EINVAL), "spill_after"));
    twin_similar_free(all);
    twin_similar_free(some);
    world_end(&world);
}

static void a_folder_that_cannot_be_written_fails_the_search(void **state)
{
    (void)state;
    struct world world;
    twin_similar *similar;
    twin_error error;
    world_draw(&world, 60, serial, 4);
    twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .3, serial);
    options.spill_after = 3;
    options.temp_folder = "/no/such/folder";
    assert_int_equal(twin_similar_find(&similar, world.collection, options, &error), TWIN_EIO);
    assert_null(similar);
    assert_non_null(strstr(error.message, "temporary folder /no/such/folder"));
    options.temp_folder = ""; /* as many pairs as memory may hold are the limit */
    assert_int_equal(twin_similar_find(&similar, world.collection, options, &error), TWIN_ELIMIT);
    assert_null(similar);
    assert_string_equal(error.message, "more than 3 similar pairs");
    options.spill_after = 10000;
    assert_int_equal(twin_similar_find(&similar, world.collection, options, &error), TWIN_OK);
    twin_similar_free(similar);
    world_end(&world);
}

/* ---- families ---- */

/* A grid of 32 columns: each document is similar to those beside and below it, and all hang together. Pairs then
 * run from tile to tile, and a set that was a column becomes a row. */
static void a_family_that_hangs_together_by_neighbours(void **state)
{
    (void)state;
    enum { COLUMNS = 32, ROWS = 9, OWN = 20, STEP = 4, ACROSS = 256 };
    struct world world;
    uint64_t seed = 7;
    lookalikes_init(&world.truth, COLUMNS * ROWS);
    for (size_t d = 0; d < world.truth.count; d++)
        for (size_t w = 0; w < OWN; w++) {
            add_word(&world.truth, d, d / COLUMNS * STEP + w);
            add_word(&world.truth, d, ACROSS + d % COLUMNS * STEP + w);
        }
    world_read(&world, serial, &seed);
    for (int e = 0; e < EXECS; e++) {
        twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .8, serial);
        if (!exec_number(&options.exec, e))
            continue;
        twin_similar *similar = find(world.collection, options);
        assert_int_equal(twin_similar_count(similar).similar, (COLUMNS - 1) * ROWS + COLUMNS * (ROWS - 1));
        check_matches(&world, similar, options);
        twin_similar_free(similar);
    }
    world_end(&world);
}

/* One template: the base, and a word of its own in each. */
static void world_of_family(struct world *world, size_t family, size_t base)
{
    uint64_t seed = 8;
    lookalikes_init(&world->truth, family);
    for (size_t d = 0; d < family; d++) {
        for (size_t w = 0; w < base; w++)
            add_word(&world->truth, d, w);
        add_word(&world->truth, d, base + d);
    }
    world_read(world, serial, &seed);
}

static void a_large_family_gives_all_its_pairs(void **state)
{
    (void)state;
    enum { FAMILY = 300, BASE = 200 };
    struct world world;
    world_of_family(&world, FAMILY, BASE); /* 200 of 202 words are shared */
    twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .9, (twin_exec){ TWIN_EXEC_PTHREADS, 2 });
    options.bands.plan = (twin_plan){ 32, 16 };
    twin_similar *similar = find(world.collection, options);
    const twin_match *matches;
    assert_int_equal(twin__similar_matches(&matches, similar), FAMILY * (FAMILY - 1) / 2);
    for (size_t a = 0, i = 0; a < FAMILY; a++)
        for (size_t b = a + 1; b < FAMILY; b++, i++)
            assert_true(matches[i].a == a && matches[i].b == b && matches[i].similarity == 200. / 202);
    assert_int_equal(twin_similar_count(similar).verified, FAMILY * (FAMILY - 1) / 2);
    twin_similar_free(similar);
    world_end(&world);
}

struct matches_seen {
    const twin_match *expected;
    size_t count;
};

static bool expect_match(void *context, twin_match match)
{
    struct matches_seen *seen = context;
    twin_match expected = seen->expected[seen->count++];
    assert_true(match.a == expected.a && match.b == expected.b && match.similarity == expected.similarity);
    return true;
}

/* A crowd is joined by its signatures, as sets, whose similarity is not the estimate. */
static void estimates_of_a_crowd_on_disk_are_those_in_memory(void **state)
{
    (void)state;
    enum { FAMILY = 150, BASE = 100 };
    struct world world;
    world_of_family(&world, FAMILY, BASE);
    twin_similar_options options = thorough(TWIN_VERIFY_ESTIMATE, .9, serial);
    options.bands.plan = (twin_plan){ 32, 16 };
    twin_similar *all = find(world.collection, options);
    struct matches_seen seen = { 0 };
    assert_int_equal(twin_similar_count(all).template_groups, 1);
    assert_int_equal(twin__similar_matches(&seen.expected, all), FAMILY * (FAMILY - 1) / 2);
    check_matches(&world, all, options);
    options.spill_after = 1000;
    options.temp_folder = world.corpus.folder;
    twin_similar *some = find(world.collection, options);
    assert_int_equal(twin_similar_each(some, TWIN_COPIES_NONE, expect_match, &seen), TWIN_OK);
    assert_int_equal(seen.count, FAMILY * (FAMILY - 1) / 2);
    assert_int_equal(twin_similar_count(some).similar, seen.count);
    twin_similar_free(all);
    twin_similar_free(some);
    world_end(&world);
}

static void all_may_be_wanted_of_a_forest(void **state)
{
    (void)state;
    enum { FAMILY = 150, BASE = 100 };
    static const size_t tops[] = { FAMILY, (size_t)1 << 60, SIZE_MAX };
    struct world world;
    world_of_family(&world, FAMILY, BASE);
    for (size_t i = 0; i < COUNT(tops); i++) {
        twin_similar_options options = thorough(TWIN_VERIFY_EXACT, .5, serial);
        options.method = TWIN_METHOD_FOREST;
        options.bands.plan = (twin_plan){ 64, 8 };
        options.top = tops[i];
        twin_similar *similar = find(world.collection, options);
        assert_int_equal(twin_similar_count(similar).similar, FAMILY * (FAMILY - 1) / 2);
        twin_similar_free(similar);
    }
    world_end(&world);
}

static bool count_match(void *context, twin_match match)
{
    assert_true(match.a == 0 && match.similarity == 1);
    ++*(size_t *)context;
    return true;
}

/* Equal texts and, every other one, equal words in another order: no pair is ever a candidate. */
static void a_hundred_thousand_copies_are_no_candidates(void **state)
{
    (void)state;
    enum { MANY = QUICK ? 20000 : 100000 };
    struct corpus corpus;
    corpus_begin(&corpus);
    FILE *file = fopen(corpus_path(&corpus, "copies.jsonl"), "wb");
    assert_non_null(file);
    for (int i = 0; i < MANY; i++)
        if (i % 2)
            fprintf(file, "{\"text\":\"always the same words\"}\n");
        else {
            fprintf(file, "{\"text\":\"words");
            for (int bit = 1; bit < MANY; bit *= 2)
                fprintf(file, i & bit ? " same" : " the");
            fprintf(file, " always the same\"}\n");
        }
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_input(corpus.path, (twin_input_options){ 0 });
    twin_collection_options options = plain_options("word:1");
    options.exec = (twin_exec){ TWIN_EXEC_PTHREADS, 2 };
    twin_collection *collection = read_collection(input, options);
    assert_int_equal(twin_collection_count(collection).documents, MANY);
    assert_int_equal(twin_collection_count(collection).copies, MANY - 1);
    twin_similar_options search = { .threshold = .8, .bands.plan = { 16, 8 }, .exec = options.exec };
    twin_similar *similar = find(collection, search);
    assert_int_equal(twin_similar_count(similar).candidates, 0);
    assert_int_equal(twin_similar_count(similar).verified, 0);
    size_t lines = 0;
    assert_int_equal(twin_similar_each(similar, TWIN_COPIES_FIRST, count_match, &lines), TWIN_OK);
    assert_int_equal(lines, MANY - 1);
    lines = 0;
    assert_int_equal(twin_similar_each(similar, TWIN_COPIES_NONE, count_match, &lines), TWIN_OK);
    assert_int_equal(lines, 0);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

/* ---- trouble ---- */

static void a_document_that_changed_fails_the_search(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    const char *path = corpus_write(&corpus, "c.jsonl",
                                    "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n"
                                    "{\"id\":\"b\",\"text\":\"one two three four five sex\"}\n");
    twin_input *input = open_input(path, (twin_input_options){ 0 });
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    corpus_write(&corpus, "c.jsonl",
                 "{\"id\":\"a\",\"text\":\"one two three four five six\"}\n"
                 "{\"id\":\"b\",\"text\":\"one two three four five new\"}\n");
    for (int e = 0; e < EXECS; e++) {
        twin_similar_options options = { .threshold = .5, .bands.plan = { 128, 1 } };
        twin_similar *similar;
        twin_error error = { 0 };
        if (!exec_number(&options.exec, e))
            continue;
        assert_int_equal(twin_similar_find(&similar, collection, options, &error), TWIN_EFORMAT);
        assert_null(similar);
        assert_int_equal(error.status, TWIN_EFORMAT);
        assert_int_equal(error.line, 2);
        assert_non_null(strstr(error.message, "jsonl:2"));
        assert_int_equal(twin_similar_find(&similar, collection, options, NULL), TWIN_EFORMAT);
    }
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

/* Options that are all zero search by the scheme of the collection; its parts, given one by one, do the same. */
static void the_scheme_of_the_collection_is_the_default(void **state)
{
    (void)state;
    struct world world;
    world_draw(&world, 200, serial, 60);
    const twin_scheme *scheme = twin__collection_scheme(world.collection);
    twin_similar_options given = { .threshold = scheme->threshold,
                                   .bands = { .plan = scheme->plan },
                                   .exec = serial };
    twin_similar *own = find(world.collection, (twin_similar_options){ .exec = serial });
    twin_similar *same = find(world.collection, given);
    const twin_match *a, *b;
    size_t count = twin__similar_matches(&a, own);
    assert_true(count > 0);
    assert_int_equal(twin__similar_matches(&b, same), count);
    assert_memory_equal(a, b, count * sizeof *a);
    assert_true(scheme->threshold == .8);
    twin_similar_free(own);
    twin_similar_free(same);
    world_end(&world);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct world world;
    world_draw(&world, 5, serial, 10);
    const twin_similar_options good = thorough(TWIN_VERIFY_EXACT, .5, serial);
    twin_similar_options bad[7];
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = good;
    bad[0].threshold = -0.5;
    bad[1].threshold = 1.0001;
    bad[2].threshold = NAN;
    bad[3].bands.plan.bands = SLOTS + 1;
    bad[4].bands.plan.rows = 0;
    bad[5].measure = bad[6].measure = TWIN_CONTAINMENT;
    bad[5].verify = TWIN_VERIFY_ESTIMATE;
    bad[6].verify = TWIN_VERIFY_NONE;
    for (size_t i = 0; i < COUNT(bad); i++) {
        twin_similar *similar;
        twin_error error = { 0 };
        assert_int_equal(twin_similar_find(&similar, world.collection, bad[i], &error), TWIN_EINVAL);
        assert_null(similar);
        assert_true(error.status == TWIN_EINVAL && strlen(error.message) > 0);
    }
    twin_similar_free(NULL);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_similar_pairs_are_found_and_no_other),
        cmocka_unit_test(the_best_of_each_document_are_found_through_a_forest),
        cmocka_unit_test(a_forest_finds_what_bands_find),
        cmocka_unit_test(copies_are_told_as_asked),
        cmocka_unit_test(matches_on_disk_are_counted_and_only_visited),
        cmocka_unit_test(a_folder_that_cannot_be_written_fails_the_search),
        cmocka_unit_test(a_family_that_hangs_together_by_neighbours),
        cmocka_unit_test(a_large_family_gives_all_its_pairs),
        cmocka_unit_test(estimates_of_a_crowd_on_disk_are_those_in_memory),
        cmocka_unit_test(all_may_be_wanted_of_a_forest),
        cmocka_unit_test(a_hundred_thousand_copies_are_no_candidates),
        cmocka_unit_test(a_document_that_changed_fails_the_search),
        cmocka_unit_test(the_scheme_of_the_collection_is_the_default),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

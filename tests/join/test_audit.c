/* test_audit.c — the result of an audit, against counting all pairs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <twinsift/similar.h>

#include "collection/contents.h"
#include "join/similar_private.h"
#include "lookalikes.h"
#include "scale.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { SLOTS = 128, DOCUMENTS = QUICK ? 120 : 300 };

static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

struct world {
    struct corpus corpus;
    struct lookalikes truth;
    twin_input *input;
    twin_collection *collection;
};

static void world_begin(struct world *world, uint64_t seed)
{
    corpus_begin(&world->corpus);
    draw_lookalikes(&world->truth, DOCUMENTS, &seed);
    world->input = open_input(write_lookalikes(&world->corpus, &world->truth, &seed), (twin_input_options){ 0 });
    world->collection = read_collection(world->input, plain_options("word:1"));
}

static void world_end(struct world *world)
{
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    lookalikes_clear(&world->truth);
    corpus_end(&world->corpus);
}

static twin_similar *find(const struct world *world, twin_similar_options options)
{
    twin_similar *similar;
    assert_int_equal(twin_similar_find(&similar, world->collection, options, NULL), TWIN_OK);
    return similar;
}

static twin_audit run(const struct world *world, const twin_similar *similar, twin_audit_options options)
{
    twin_audit audit;
    twin_error error;
    twin_status status = twin_audit_run(&audit, world->collection, similar, options, &error);
    if (status != TWIN_OK)
        print_message("%s\n", error.message);
    assert_int_equal(status, TWIN_OK);
    return audit;
}

/* Of the pairs of distinct documents: how many are similar, and how many of these were found. */
static void count_pairs(uint64_t *similar, uint64_t *found, const struct world *world, const twin_similar *run_of,
                        twin_measure measure, double threshold)
{
    const twin_match *matches;
    const uint32_t *distinct;
    size_t match_count = twin__similar_matches(&matches, run_of);
    size_t count = twin__collection_distinct(&distinct, world->collection);
    *similar = *found = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            if (true_similarity(&world->truth, distinct[i], distinct[j], measure) < threshold)
                continue;
            ++*similar;
            for (size_t m = 0; m < match_count; m++)
                *found += matches[m].a == distinct[i] && matches[m].b == distinct[j];
        }
}

/* Wilson's interval holds the shares p with (observed - p)² <= z²·p(1-p)/n: its ends are where that is equal. */
static void check_interval(twin_audit audit)
{
    const double z = 1.959964;
    double ends[] = { audit.low, audit.high }, n = (double)audit.similar;
    assert_true(0 <= audit.low && audit.low <= audit.recall && audit.recall <= audit.high && audit.high <= 1);
    for (int i = 0; i < 2 && audit.similar > 0; i++) {
        double away = audit.recall - ends[i];
        assert_true(fabs(away * away - z * z * ends[i] * (1 - ends[i]) / n) < 1e-9);
    }
}

static const struct {
    twin_plan plan;
    twin_verify verify;
    twin_measure measure;
    double threshold;
} runs[] = {
    { { 32, 4 }, TWIN_VERIFY_EXACT, TWIN_JACCARD, .6 },    { { 1, 10 }, TWIN_VERIFY_EXACT, TWIN_JACCARD, .6 },
    { { 1, 10 }, TWIN_VERIFY_EXACT, TWIN_JACCARD, .3 },    { { 4, 20 }, TWIN_VERIFY_EXACT, TWIN_CONTAINMENT, .7 },
    { { 16, 8 }, TWIN_VERIFY_ESTIMATE, TWIN_JACCARD, .7 }, { { 64, 2 }, TWIN_VERIFY_NONE, TWIN_JACCARD, .8 },
    { { 128, 1 }, TWIN_VERIFY_EXACT, TWIN_JACCARD, 1 },
};

static void auditing_everything_is_counting(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, 1);
    const uint32_t *distinct;
    const twin_match *matches;
    size_t count = twin__collection_distinct(&distinct, world.collection);
    bool missed_any = false;
    for (size_t r = 0; r < COUNT(runs); r++) {
        twin_similar *similar = find(&world, (twin_similar_options){ .measure = runs[r].measure,
                                                                     .verify = runs[r].verify,
                                                                     .threshold = runs[r].threshold,
                                                                     .bands.plan = runs[r].plan,
                                                                     .exec = serial });
        uint64_t truth, found, reported = twin__similar_matches(&matches, similar);
        count_pairs(&truth, &found, &world, similar, runs[r].measure, runs[r].threshold);
        if (r % 2) { /* the same pairs in a temporary file */
            twin_similar_free(similar);
            similar = find(&world, (twin_similar_options){ .measure = runs[r].measure,
                                                           .verify = runs[r].verify,
                                                           .threshold = runs[r].threshold,
                                                           .bands.plan = runs[r].plan,
                                                           .spill_after = 5,
                                                           .exec = serial });
        }
        for (int e = 0; e < EXECS; e++) {
            twin_audit_options options = { .documents = e % 2 ? count : SIZE_MAX,
                                           .seed = (uint64_t)e,
                                           .measure = runs[r].measure,
                                           .threshold = runs[r].threshold };
            if (!exec_number(&options.exec, e))
                continue;
            twin_audit audit = run(&world, similar, options);
            assert_int_equal(audit.documents, count);
            assert_int_equal(audit.similar, truth);
            assert_int_equal(audit.found, found);
            assert_int_equal(audit.wrong, reported - found);
            assert_true(audit.recall == (truth ? (double)found / (double)truth : 1));
            if (runs[r].verify == TWIN_VERIFY_EXACT)
                assert_int_equal(audit.wrong, 0);
            check_interval(audit);
        }
        missed_any |= found < truth / 2;
        twin_similar_free(similar);
    }
    assert_true(missed_any); /* one band of ten rows is a bad plan, and the audit saw it */
    world_end(&world);
}

/* Whether fewer than `top` documents are more similar to d than `other` is, or as similar and earlier. */
static bool is_best(const struct world *world, uint32_t d, uint32_t other, size_t top)
{
    const uint32_t *distinct;
    size_t count = twin__collection_distinct(&distinct, world->collection), before = 0;
    double similarity = true_similarity(&world->truth, d, other, TWIN_JACCARD);
    for (size_t i = 0; i < count; i++) {
        double s = distinct[i] == d ? -1 : true_similarity(&world->truth, d, distinct[i], TWIN_JACCARD);
        before += s > similarity || (s == similarity && distinct[i] < other);
    }
    return before < top;
}

/* Each document has its own best, so a pair counts for both ends or for one. */
static void only_the_best_count_when_asked(void **state)
{
    (void)state;
    struct world world;
    const uint32_t *distinct;
    const twin_match *matches;
    const double threshold = .2;
    world_begin(&world, 3);
    size_t count = twin__collection_distinct(&distinct, world.collection);
    twin_similar *similar =
        find(&world, (twin_similar_options){ .threshold = .8, .bands.plan = { 64, 2 }, .exec = serial });
    size_t match_count = twin__similar_matches(&matches, similar);
    for (size_t top = 1; top < 4; top++) {
        uint64_t truth = 0, found = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++) {
                uint32_t a = distinct[i], b = distinct[j];
                if (i == j || true_similarity(&world.truth, a, b, TWIN_JACCARD) < threshold ||
                    !is_best(&world, a, b, top))
                    continue;
                truth++;
                for (size_t m = 0; m < match_count; m++)
                    found += matches[m].a == (a < b ? a : b) && matches[m].b == (a < b ? b : a);
            }
        assert_true(found > 0 && found < truth);
        for (int e = 0; e < EXECS; e++) {
            twin_audit_options options = { .documents = SIZE_MAX, .threshold = threshold, .top = top };
            if (!exec_number(&options.exec, e))
                continue;
            twin_audit audit = run(&world, similar, options);
            assert_int_equal(audit.similar, truth);
            assert_int_equal(audit.found, found);
            assert_int_equal(audit.wrong, 0);
        }
    }
    twin_similar_free(similar);
    world_end(&world);
}

/* An audit of one document counts its pairs. Over the documents that is 2·pairs/documents on average, with the
 * variance of the number of partners; four standard errors over DRAWS draws are allowed. */
static void every_document_is_as_likely_to_be_drawn(void **state)
{
    (void)state;
    enum { DRAWS = QUICK ? 200 : 1000 };
    struct world world;
    world_begin(&world, 2);
    const uint32_t *distinct;
    size_t count = twin__collection_distinct(&distinct, world.collection);
    twin_similar *similar =
        find(&world, (twin_similar_options){ .threshold = .5, .bands.plan = { 128, 1 }, .exec = serial });
    double mean = 0, squares = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        double partners = 0;
        for (size_t j = 0; j < count; j++)
            partners += i != j && true_similarity(&world.truth, distinct[i], distinct[j], TWIN_JACCARD) >= .5;
        mean += partners / (double)count;
        squares += partners * partners / (double)count;
    }
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        twin_audit_options options = { .documents = 1, .seed = seed, .threshold = .5, .exec = serial };
        twin_audit audit = run(&world, similar, options);
        assert_int_equal(audit.documents, 1);
        sum += (double)audit.similar;
    }
    assert_true(squares > mean * mean); /* or the test could not fail */
    assert_true(fabs(sum / DRAWS - mean) < 4 * sqrt((squares - mean * mean) / DRAWS));
    twin_similar_free(similar);
    world_end(&world);
}

/* A part of the documents sees a part of the pairs: each pair once, whoever audits. */
static void a_part_sees_a_part(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, 3);
    twin_similar *similar =
        find(&world, (twin_similar_options){ .threshold = .5, .bands.plan = { 16, 8 }, .exec = serial });
    uint64_t all, found;
    count_pairs(&all, &found, &world, similar, TWIN_JACCARD, .5);
    uint64_t last = 0;
    for (size_t documents = 10; documents <= 40; documents += 10) {
        twin_audit_options options = { .documents = documents, .seed = 4, .threshold = .5, .exec = serial };
        twin_audit once = run(&world, similar, options);
        assert_int_equal(once.documents, documents);
        assert_true(once.similar < all && once.found <= once.similar);
        check_interval(once);
        for (int e = 1; e < EXECS; e++) {
            if (!exec_number(&options.exec, e))
                continue;
            twin_audit again = run(&world, similar, options);
            assert_memory_equal(&once, &again, sizeof once);
        }
        last = once.similar;
    }
    assert_true(last > 0);
    twin_similar_free(similar);
    world_end(&world);
}

static void nothing_to_find_is_all_found(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, 5);
    twin_similar *similar =
        find(&world, (twin_similar_options){ .threshold = 1, .bands.plan = { 16, 8 }, .exec = serial });
    for (size_t documents = 5; documents < 20; documents += 10) {
        twin_audit audit =
            run(&world, similar, (twin_audit_options){ .documents = documents, .threshold = 1, .exec = serial });
        assert_int_equal(audit.documents, documents);
        assert_true(audit.similar == 0 && audit.found == 0 && audit.wrong == 0);
        assert_true(audit.recall == 1 && audit.low == 0 && audit.high == 1);
    }
    twin_similar_free(similar);
    world_end(&world);
}

static void a_document_that_changed_fails_the_audit(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    corpus_write(&corpus, "a.txt", "one two three four");
    corpus_write(&corpus, "b.txt", "one two three five");
    corpus_write(&corpus, "c.txt", "nothing like them");
    twin_input *input = open_input(corpus.folder, (twin_input_options){ 0 });
    struct world world = { .input = input, .collection = read_collection(input, plain_options("word:1")) };
    twin_similar *similar =
        find(&world, (twin_similar_options){ .threshold = .5, .bands.plan = { 128, 1 }, .exec = serial });
    corpus_write(&corpus, "c.txt", "nothing like those");
    for (int e = 0; e < EXECS; e++) {
        twin_audit_options options = { .documents = 3, .threshold = .5 };
        twin_audit audit;
        twin_error error = { 0 };
        if (!exec_number(&options.exec, e))
            continue;
        assert_int_equal(twin_audit_run(&audit, world.collection, similar, options, &error), TWIN_EFORMAT);
        assert_non_null(strstr(error.message, "c.txt"));
    }
    twin_similar_free(similar);
    twin_collection_free(world.collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auditing_everything_is_counting),
        cmocka_unit_test(only_the_best_count_when_asked),
        cmocka_unit_test(every_document_is_as_likely_to_be_drawn),
        cmocka_unit_test(a_part_sees_a_part),
        cmocka_unit_test(nothing_to_find_is_all_found),
        cmocka_unit_test(a_document_that_changed_fails_the_audit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

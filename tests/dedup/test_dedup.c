/* test_dedup.c — what is kept against what must be true of it, on collections with a known truth.
 *
 * Which documents are kept follows from three facts alone: whatever is dropped is similar to the document that is kept for
 * it, no two kept ones are similar, and the kept one is the first in the order of preference of those that
 * could. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <twinsift/dedup.h>

#include "collection/contents.h"
#include "foreign_locale.h"
#include "join/audit_private.h"
#include "join/matches.h"
#include "lookalikes.h"
#include "scale.h"

/* With 512 bands of one row a pair of similarity .1 is missed once in 10^23: what is found is all there is. */
enum { SLOTS = 512, DOCUMENTS = 200, WORLDS = QUICK ? 3 : 14 };
static const double THRESHOLD = .6;

struct world {
    struct corpus corpus;
    struct lookalikes truth;
    twin_input *input;
    twin_collection *collection;
    size_t *lengths; /* of the texts as they are in the file */
};

static void world_read(struct world *world, twin_exec exec, uint64_t *seed)
{
    twin_collection_options options = plain_options("word:1");
    twin_scratch scratch = { 0 };
    options.exec = exec;
    options.scheme.minhash.slots = SLOTS;
    corpus_begin(&world->corpus);
    write_lookalikes(&world->corpus, &world->truth, seed);
    world->input = open_input(world->corpus.path, (twin_input_options){ .chunk_bytes = 5000 });
    world->collection = read_collection(world->input, options);
    world->lengths = calloc(world->truth.count, sizeof *world->lengths);
    for (uint32_t d = 0; d < world->truth.count; d++) {
        twin_document document;
        assert_int_equal(twin__collection_document(&document, world->collection, &scratch, d, NULL), TWIN_OK);
        world->lengths[d] = document.text.length;
    }
    twin__scratch_clear(&scratch);
}

static void world_end(struct world *world)
{
    free(world->lengths);
    twin_collection_free(world->collection);
    twin_input_free(world->input);
    lookalikes_clear(&world->truth);
    corpus_end(&world->corpus);
}

static twin_dedup_options thorough(twin_preference preference, twin_exec exec)
{
    return (twin_dedup_options){ .search = { .threshold = THRESHOLD, .bands.plan = { SLOTS, 1 }, .exec = exec },
                                 .preference = preference };
}

static twin_dedup *find(const twin_collection *collection, twin_dedup_options options)
{
    twin_dedup *dedup;
    twin_error error;
    assert_good(twin_dedup_find(&dedup, collection, options, &error), &error);
    return dedup;
}

static double similarity(const struct world *world, size_t a, size_t b)
{
    return true_similarity(&world->truth, a, b, TWIN_JACCARD);
}

/* Whether a is preferred to b by the rule alone; false for equals, whose order is not tested here. */
static bool is_better(const struct world *world, twin_preference preference, size_t a, size_t b)
{
    if (preference == TWIN_PREFER_FIRST || preference == TWIN_PREFER_LAST)
        return preference == TWIN_PREFER_FIRST ? a < b : a > b;
    return preference == TWIN_PREFER_LONGEST ? world->lengths[a] > world->lengths[b]
                                             : world->lengths[a] < world->lengths[b];
}

static void check_dropped(const struct world *world, const twin_dedup *dedup, twin_preference preference, uint32_t d)
{
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    uint32_t keeper = keepers[d];
    assert_int_equal(keepers[keeper], keeper);
    assert_true(similarity(world, d, keeper) >= THRESHOLD);
    assert_true(fabs(twin_dedup_similarities(dedup)[d] - similarity(world, d, keeper)) < 1e-12);
    assert_false(is_better(world, preference, d, keeper));
    /* A copy is dropped with its node, which was dropped for the first keeper in the order of its own best document. */
    for (uint32_t other = 0; other < world->truth.count; other++)
        if (keepers[other] == other && similarity(world, d, other) >= THRESHOLD)
            assert_false(is_better(world, preference, other, keeper));
}

static void check_all(const struct world *world, const twin_dedup *dedup, twin_preference preference)
{
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    size_t kept = 0;
    for (uint32_t d = 0; d < world->truth.count; d++) {
        kept += keepers[d] == d;
        if (keepers[d] != d) {
            check_dropped(world, dedup, preference, d);
            continue;
        }
        assert_true(twin_dedup_similarities(dedup)[d] == 1);
        for (uint32_t other = 0; other < d; other++)
            if (keepers[other] == other)
                assert_true(similarity(world, d, other) < THRESHOLD);
    }
    assert_int_equal(twin_dedup_count(dedup).kept, kept);
}

static void check_groups(const struct world *world, const twin_dedup *dedup)
{
    const twin_dedup_group *groups;
    size_t count = twin_dedup_groups(&groups, dedup), members = 0;
    twin_dedup_counts counts = twin_dedup_count(dedup);
    for (size_t i = 0; i < count; i++) {
        assert_true(groups[i].count > 0);
        assert_true(i == 0 || groups[i].keeper > groups[i - 1].keeper);
        for (size_t j = 0; j < groups[i].count; j++) {
            assert_int_equal(twin_dedup_keepers(dedup)[groups[i].dropped[j]], groups[i].keeper);
            assert_true(j == 0 || groups[i].dropped[j] > groups[i].dropped[j - 1]);
        }
        members += groups[i].count;
    }
    assert_int_equal(counts.groups, count);
    assert_int_equal(counts.documents, world->truth.count);
    assert_int_equal(counts.documents - counts.kept, members);
    assert_int_equal(counts.exact_copies + counts.near_copies, members);
}

static void what_is_kept_is_what_the_rule_says(void **state)
{
    (void)state;
    static const twin_preference rules[] = { TWIN_PREFER_FIRST, TWIN_PREFER_LONGEST, TWIN_PREFER_SHORTEST,
                                             TWIN_PREFER_LAST };
    for (uint64_t number = 0; number < WORLDS; number++) {
        uint64_t seed = 11 + number;
        struct world world;
        twin_exec exec;
        draw_lookalikes(&world.truth, DOCUMENTS, &seed);
        if (!exec_number(&exec, (int)(number % EXECS)))
            exec = (twin_exec){ 0 };
        world_read(&world, exec, &seed);
        for (size_t rule = 0; rule < sizeof rules / sizeof rules[0]; rule++) {
            twin_preference preference = rules[rule];
            twin_dedup_options options = thorough(preference, exec);
            for (int limited = 0; limited < 2; limited++) {
                twin_dedup *dedup = find(world.collection, options);
                check_all(&world, dedup, preference);
                check_groups(&world, dedup);
                twin_dedup_free(dedup);
                options.search.memory_bytes = 1
                                              << 10; /* candidate pairs are in a file, and compared eight at a time */
            }
        }
        world_end(&world);
    }
}

/* ---- ranks ---- */

static void check_same(const struct world *world, twin_dedup_options options, twin_dedup_options others)
{
    twin_dedup *dedup = find(world->collection, options), *other = find(world->collection, others);
    size_t documents = world->truth.count;
    assert_memory_equal(twin_dedup_keepers(dedup), twin_dedup_keepers(other), documents * sizeof(uint32_t));
    assert_memory_equal(twin_dedup_similarities(dedup), twin_dedup_similarities(other), documents * sizeof(double));
    twin_dedup_free(dedup);
    twin_dedup_free(other);
}

/* A rule decides among documents of equal rank only, so an order can be given by ranks, by a rule, or by both. */
static void ranks_of_the_caller_come_before_the_rule(void **state)
{
    (void)state;
    for (uint64_t seed = 311; seed < 311 + WORLDS; seed++) {
        uint64_t numbers = seed;
        uint32_t rising[DOCUMENTS], falling[DOCUMENTS], thirds[DOCUMENTS], in_thirds[DOCUMENTS];
        const uint32_t zeros[DOCUMENTS] = { 0 };
        struct world world;
        draw_lookalikes(&world.truth, DOCUMENTS, &numbers);
        world_read(&world, (twin_exec){ TWIN_EXEC_PTHREADS, 2 }, &numbers);
        for (uint32_t i = 0; i < DOCUMENTS; i++) {
            rising[i] = 7 * i;
            falling[i] = UINT32_MAX - i;
            thirds[i] = i / 3;
            in_thirds[i] = i / 3 * 3 + 2 - i % 3;
        }
        twin_dedup_options first = thorough(TWIN_PREFER_FIRST, (twin_exec){ 0 }), ranked = first, last = first;
        last.preference = TWIN_PREFER_LAST;
        ranked.ranks = rising;
        check_same(&world, ranked, first);
        ranked.ranks = falling;
        check_same(&world, ranked, last);
        ranked.ranks = in_thirds;
        last.ranks = thirds;
        check_same(&world, ranked, last);
        ranked = thorough(TWIN_PREFER_LONGEST, (twin_exec){ 0 });
        ranked.ranks = zeros;
        check_same(&world, ranked, thorough(TWIN_PREFER_LONGEST, (twin_exec){ 0 }));
        world_end(&world);
    }
}

/* ---- the order of the input ---- */

static const char *const BODIES[] = {
    "a b c d e f g h i j",   "a b c d e f g h i j k", "a b c d e f g h i j",  "q r s t u v w x y z",
    "q r s t u v w x y z z", "one two three four",    "one two three four !", "nothing like the others",
};
enum { BODY_COUNT = sizeof BODIES / sizeof BODIES[0] };

/* Collects who is kept for whom, by the number of the body, of the bodies in the order given. */
static void keep_bodies(size_t *out, const size_t *order, twin_preference preference)
{
    twin_memory_document documents[BODY_COUNT];
    char ids[BODY_COUNT][2];
    for (size_t i = 0; i < BODY_COUNT; i++) {
        ids[i][0] = (char)('a' + order[i]);
        documents[i] =
            (twin_memory_document){ .text = { BODIES[order[i]], strlen(BODIES[order[i]]) }, .id = { ids[i], 1 } };
    }
    twin_input *input;
    assert_int_equal(twin_input_from_texts(&input, documents, BODY_COUNT, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    twin_dedup *dedup =
        find(collection, (twin_dedup_options){ .search = { .threshold = .7, .bands.plan = { 128, 1 } },
                                               .preference = preference });
    for (size_t i = 0; i < BODY_COUNT; i++)
        out[order[i]] = order[twin_dedup_keepers(dedup)[i]];
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
}

static void the_order_of_the_input_decides_for_first_only(void **state)
{
    (void)state;
    uint64_t seed = 5;
    bool moved = false;
    size_t order[BODY_COUNT], usual[2][BODY_COUNT], first[BODY_COUNT], now[BODY_COUNT];
    for (size_t i = 0; i < BODY_COUNT; i++)
        order[i] = i;
    keep_bodies(first, order, TWIN_PREFER_FIRST);
    assert_int_equal(first[1], 0);
    keep_bodies(usual[0], order, TWIN_PREFER_LONGEST);
    keep_bodies(usual[1], order, TWIN_PREFER_SHORTEST);
    assert_int_equal(usual[0][0], 1);
    assert_int_equal(usual[0][3], 4);
    assert_int_equal(usual[1][4], 3);
    for (int turn = 0; turn < 40; turn++) {
        for (size_t i = BODY_COUNT; i-- > 1;) {
            size_t j = twin__random_below(&seed, i + 1), spare = order[i];
            order[i] = order[j];
            order[j] = spare;
        }
        for (int rule = 0; rule < 2; rule++) {
            keep_bodies(now, order, rule == 0 ? TWIN_PREFER_LONGEST : TWIN_PREFER_SHORTEST);
            assert_memory_equal(now, usual[rule], sizeof now);
        }
        keep_bodies(now, order, TWIN_PREFER_FIRST);
        moved |= memcmp(now, first, sizeof now) != 0;
    }
    assert_true(moved);
}

/* ---- chains ---- */

enum { LINKS = 1000, WINDOW = 20 };

/* Document i has the words i .. i + WINDOW - 1: neighbours have 19 of 21 words in common, the next ones 18 of 22. */
static twin_collection *read_chain(twin_input **input, char (*texts)[WINDOW * 6], twin_memory_document *documents)
{
    for (size_t i = 0; i < LINKS; i++) {
        texts[i][0] = '\0';
        for (size_t word = i; word < i + WINDOW; word++)
            sprintf(texts[i] + strlen(texts[i]), "w%zu ", word);
        documents[i] = (twin_memory_document){ .text = { texts[i], strlen(texts[i]) } };
    }
    assert_int_equal(twin_input_from_texts(input, documents, LINKS, (twin_input_options){ 0 }, NULL), TWIN_OK);
    return read_collection(*input, plain_options("word:1"));
}

static void a_chain_loses_only_what_is_similar_to_a_kept_one(void **state)
{
    (void)state;
    static char texts[LINKS][WINDOW * 6];
    static twin_memory_document documents[LINKS];
    twin_input *input;
    twin_collection *collection = read_chain(&input, texts, documents);
    twin_dedup_options options = { .search = { .threshold = .9, .bands.plan = { 128, 1 } } };
    twin_dedup *dedup = find(collection, options);
    for (uint32_t i = 0; i < LINKS; i++)
        assert_int_equal(twin_dedup_keepers(dedup)[i], i - i % 2);
    twin_dedup_free(dedup);

    options.chain = true;
    dedup = find(collection, options);
    assert_int_equal(twin_dedup_count(dedup).kept, 1);
    assert_int_equal(twin_dedup_keepers(dedup)[LINKS - 1], 0);
    assert_true(fabs(twin_dedup_similarities(dedup)[2] - 18. / 22) < 1e-12);
    assert_true(twin_dedup_similarities(dedup)[LINKS - 1] == 0);
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
}

/* Excluded documents go with their copies, and the others are decided as if these were not there. */
static void excluded_documents_decide_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a b c d e f", "a b c d e f g", "A b c d e f", "u v w x", "u v w x y", "p q"
    };
    enum { COUNT = sizeof texts / sizeof texts[0] };
    static const bool excluded[COUNT] = { false, false, true, false, true, false };
    static const uint32_t expected[COUNT] = { TWIN_DEDUP_NONE, 1, TWIN_DEDUP_NONE, 3, TWIN_DEDUP_NONE, 5 };
    twin_memory_document documents[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        documents[i] = (twin_memory_document){ .text = { texts[i], strlen(texts[i]) } };
    twin_input *input;
    assert_int_equal(twin_input_from_texts(&input, documents, COUNT, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    twin_dedup_options options = { .search = { .threshold = .7, .bands.plan = { 128, 1 } }, .excluded = excluded };
    for (int chain = 0; chain < 2; chain++) {
        options.chain = chain;
        twin_dedup *dedup = find(collection, options);
        assert_memory_equal(twin_dedup_keepers(dedup), expected, sizeof expected);
        twin_dedup_counts counts = twin_dedup_count(dedup);
        assert_int_equal(counts.excluded, 3);
        assert_int_equal(counts.kept, 3);
        assert_int_equal(counts.exact_copies + counts.near_copies + counts.groups, 0);
        twin_dedup_free(dedup);
    }
    twin_collection_free(collection);
    twin_input_free(input);
}

/* ---- the audit ---- */

/* How many of the kept ones that were drawn should have been dropped for a better kept one. NULL: all were drawn. */
static size_t count_missed(const struct world *world, const twin_dedup *dedup, twin_preference preference,
                           const bool *is_drawn)
{
    const uint32_t *keepers = twin_dedup_keepers(dedup);
    size_t missed = 0, number = 0;
    for (uint32_t d = 0; d < world->truth.count; d++) {
        bool should_go = false;
        if (keepers[d] != d || (is_drawn && !is_drawn[number++]))
            continue;
        for (uint32_t other = 0; other < world->truth.count; other++)
            should_go |= other != d && keepers[other] == other && is_better(world, preference, other, d) &&
                         similarity(world, d, other) >= THRESHOLD;
        missed += should_go;
    }
    return missed;
}

/* Which of the kept ones an audit draws. */
static void draw_as_audit(bool *is_drawn, const struct world *world, const twin_dedup *dedup, size_t documents)
{
    static uint32_t kept[DOCUMENTS];
    twin_document_list list = { .items = kept };
    twin_matches pairs = { 0 };
    for (uint32_t d = 0; d < world->truth.count; d++)
        if (twin_dedup_keepers(dedup)[d] == d)
            kept[list.count++] = d;
    twin_audit_options options = { .documents = documents };
    assert_int_equal(twin__audit_documents(&pairs, is_drawn, world->collection, list, options, NULL), TWIN_OK);
    twin__matches_clear(&pairs);
}

/* A search that misses much, with all documents drawn: the audit counts what comparing all pairs counts. Of a
 * thorough search nothing is missed. Lengths may be equal, and then is_better() does not decide: at least as many are
 * missed. */
static void an_audit_counts_what_was_missed(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct world world;
    draw_lookalikes(&world.truth, DOCUMENTS, &seed);
    world_read(&world, (twin_exec){ 0 }, &seed);
    for (twin_preference preference = TWIN_PREFER_FIRST; preference <= TWIN_PREFER_LONGEST; preference++) {
        twin_dedup_options options = thorough(preference, (twin_exec){ 0 });
        twin_dedup_audit audit;
        for (int misses = 0; misses < 2; misses++) {
            if (misses)
                options.search.bands.plan = (twin_plan){ .bands = 1, .rows = 12 };
            twin_dedup *dedup = find(world.collection, options);
            twin_dedup_counts counts = twin_dedup_count(dedup);
            size_t missed = count_missed(&world, dedup, preference, NULL);
            assert_int_equal(twin_dedup_audit_run(&audit, dedup, world.collection, options,
                                                  (twin_audit_options){ .documents = SIZE_MAX }, NULL),
                             TWIN_OK);
            assert_int_equal(audit.documents, counts.kept);
            assert_true(preference == TWIN_PREFER_FIRST ? audit.missed == missed : audit.missed >= missed);
            assert_true(misses ? missed > 5 : missed == 0 && audit.missed == 0);
            assert_true(fabs(audit.recall -
                             (double)counts.near_copies / (double)(counts.near_copies + audit.missed)) < 1e-12);
            assert_true(audit.low == audit.recall && audit.high == audit.recall);
            assert_int_equal(twin_dedup_audit_run(&audit, dedup, world.collection, options,
                                                  (twin_audit_options){ .documents = counts.kept / 2 }, NULL),
                             TWIN_OK);
            assert_int_equal(audit.documents, counts.kept / 2);
            bool is_drawn[DOCUMENTS];
            draw_as_audit(is_drawn, &world, dedup, counts.kept / 2);
            missed = count_missed(&world, dedup, preference, is_drawn);
            assert_true(preference == TWIN_PREFER_FIRST ? audit.missed == missed : audit.missed >= missed);
            assert_true(audit.low < 1 && audit.low <= audit.recall && audit.recall <= audit.high);
            twin_dedup_free(dedup);
        }
    }
    world_end(&world);
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    twin_input *input;
    twin_memory_document document = { .text = { "a b", 3 } };
    assert_int_equal(twin_input_from_texts(&input, &document, 1, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    twin_dedup *dedup;
    twin_error error;
    assert_int_equal(twin_dedup_find(NULL, collection, (twin_dedup_options){ 0 }, &error), TWIN_EINVAL);
    assert_int_equal(twin_dedup_find(&dedup, NULL, (twin_dedup_options){ 0 }, &error), TWIN_EINVAL);
    assert_int_equal(twin_dedup_find(&dedup, collection, (twin_dedup_options){ .preference = 77 }, &error),
                     TWIN_EINVAL);
    twin_dedup_options options = { .search = { .verify = TWIN_VERIFY_ESTIMATE } };
    assert_int_equal(twin_dedup_find(&dedup, collection, options, &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "exactly"));
    twin_collection_free(collection);
    twin_input_free(input);
    twin_dedup_free(NULL);
    assert_int_equal(twin_dedup_count(NULL).documents, 0);
    assert_null(twin_dedup_keepers(NULL));
    assert_null(twin_dedup_similarities(NULL));
    assert_int_equal(twin_dedup_groups(NULL, NULL), 0);
}

/* 10.5 is more than 9.5, which would be the greater text; the decimal point is one whatever the program's locale. */
static void numbers_of_a_field_are_the_same_in_any_locale(void **state)
{
    (void)state;
    struct corpus corpus;
    begin_foreign_locale();
    corpus_begin(&corpus);
    corpus_write(&corpus, "two.jsonl",
                 "{\"text\": \"one two three\", \"score\": 9.5}\n"
                 "{\"text\": \"one two three\", \"score\": 10.5}\n");
    twin_input *input = open_input(corpus.path, (twin_input_options){ 0 });
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    twin_dedup *dedup = find(collection, (twin_dedup_options){ .preference = TWIN_PREFER_MOST, .field = "score" });
    assert_int_equal(twin_dedup_keepers(dedup)[0], 1);
    twin_dedup_free(dedup);
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
    end_foreign_locale();
}

/* Copies in groups of three, of which each has a number, a word or nothing: with room for few keys, these are sorted in
 * several runs, some of fields longer than what is read at a time, and merged. */
static void an_order_that_does_not_fit_into_memory_is_the_same(void **state)
{
    (void)state;
    enum { COPIES = 7000, GROUP = 3, LONG = 20, LONG_LENGTH = 70000 };
    static const char *const rules[] = { "number", "word", "text", "nobody has this" };
    struct corpus corpus;
    corpus_begin(&corpus);
    FILE *file = fopen(corpus_path(&corpus, "copies.jsonl"), "w");
    assert_non_null(file);
    for (int i = 0; i < COPIES; i++)
        fprintf(file, "{\"text\": \"text %d\", \"%s\": \"%0*d\"}\n", i / GROUP, i % 2 ? "number" : "word",
                i < LONG ? LONG_LENGTH : 1, i * 7919 % 1000);
    fclose(file);
    twin_input *input = open_input(corpus.path, (twin_input_options){ 0 });
    twin_collection *collection = read_collection(input, plain_options("word:1"));
    for (size_t rule = 0; rule < sizeof rules / sizeof rules[0] + 1; rule++) {
        twin_dedup_options options = { .preference = TWIN_PREFER_LONGEST };
        if (rule > 0)
            options = (twin_dedup_options){ .preference = rule % 2 ? TWIN_PREFER_MOST : TWIN_PREFER_LEAST,
                                            .field = rules[rule - 1] };
        twin_dedup *all = find(collection, options);
        options.search.memory_bytes = 1;
        options.search.temp_folder = corpus.folder;
        twin_dedup *some = find(collection, options);
        assert_memory_equal(twin_dedup_keepers(some), twin_dedup_keepers(all), COPIES * sizeof(uint32_t));
        assert_int_equal(twin_dedup_count(some).without_field, twin_dedup_count(all).without_field);
        twin_dedup_free(all);
        twin_dedup_free(some);
    }
    twin_dedup *none;
    twin_error error;
    const char *missing = corpus_path(&corpus, "missing");
    twin_dedup_options options = { .preference = TWIN_PREFER_LONGEST,
                                   .search = { .memory_bytes = 1, .temp_folder = missing } };
    assert_int_equal(twin_dedup_find(&none, collection, options, &error), TWIN_EIO);
    assert_non_null(strstr(error.message, missing));
    twin_collection_free(collection);
    twin_input_free(input);
    corpus_end(&corpus);
}

/* Of documents without the field of the rule, the digest decides which should have been dropped. */
static void an_audit_does_without_the_field(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct world world;
    twin_dedup_options options = thorough(TWIN_PREFER_MOST, (twin_exec){ 0 });
    twin_dedup_audit audit;
    options.field = "nobody has this";
    options.search.bands.plan = (twin_plan){ .bands = 1, .rows = 12 };
    draw_lookalikes(&world.truth, DOCUMENTS, &seed);
    world_read(&world, (twin_exec){ 0 }, &seed);
    twin_dedup *dedup = find(world.collection, options);
    assert_int_equal(twin_dedup_audit_run(&audit, dedup, world.collection, options,
                                          (twin_audit_options){ .documents = SIZE_MAX }, NULL),
                     TWIN_OK);
    assert_true(audit.missed > 5);
    twin_dedup_free(dedup);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_what_the_rule_says),
        cmocka_unit_test(ranks_of_the_caller_come_before_the_rule),
        cmocka_unit_test(the_order_of_the_input_decides_for_first_only),
        cmocka_unit_test(a_chain_loses_only_what_is_similar_to_a_kept_one),
        cmocka_unit_test(excluded_documents_decide_nothing),
        cmocka_unit_test(an_audit_counts_what_was_missed),
        cmocka_unit_test(an_audit_does_without_the_field),
        cmocka_unit_test(numbers_of_a_field_are_the_same_in_any_locale),
        cmocka_unit_test(an_order_that_does_not_fit_into_memory_is_the_same),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_index_templates.c — queries among documents made from one template, against a comparison with every set. */
#include "index_frame.h"

#include "base/scratch.h"
#include "index/draft.h"
#include "join/join_private.h"

enum { DOCUMENTS = 500, QUERIES = 12, WORDS = 120, MOST_BYTES = 16 * WORDS };

/* A collection of documents of some templates. */
struct family {
    unsigned templates;
    unsigned own; /* words in a hundred that are the document's own */
    uint64_t vocabulary;
    double threshold;
};
static const struct family families[] = {
    { 1, 12, UINT32_MAX, .8 }, /* below the threshold, words that no other has */
    { 1, 9, UINT32_MAX, .8 },  /* some above */
    { 1, 4, UINT32_MAX, .8 },  /* all above */
    { 1, 15, 50, .7 },         /* the words are few */
    { 4, 14, UINT32_MAX, .75 }, { 1, 30, UINT32_MAX, .5 },
};

/* Writes a document: words of the template, some replaced; one in six is like another one of the family. */
static size_t write_text(char *out, const struct family *family, uint64_t number, uint64_t *random)
{
    uint64_t like = number % 6 == 5 ? number - 1 - twin__random_below(random, 4) : number, seed = twin__mix(like);
    uint64_t template = twin__random_below(&seed, family->templates), length = 0;
    size_t words = WORDS - 10 + (size_t)twin__random_below(&seed, 20);
    for (size_t i = 0; i < words; i++) {
        bool is_own = twin__random_below(&seed, 100) < family->own;
        uint64_t own = twin__random_below(&seed, family->vocabulary);
        if (like != number && twin__random_below(random, 100) < 4)
            is_own = true, own = twin__random_below(random, family->vocabulary);
        length += (size_t)sprintf(out + length, is_own ? "o%llx " : "t%llx ",
                                  (unsigned long long)(is_own ? own : twin__mix(template * WORDS + i) >> 40));
    }
    return length;
}

static void fill(twin_index *index, const struct family *family)
{
    char(*texts)[MOST_BYTES] = calloc(DOCUMENTS, sizeof *texts), (*ids)[16] = calloc(DOCUMENTS, sizeof *ids);
    twin_index_document *documents = calloc(DOCUMENTS, sizeof *documents);
    uint64_t random = 1;
    assert_true(texts && ids && documents);
    for (size_t i = 0; i < DOCUMENTS; i++)
        documents[i] = (twin_index_document){ .id = { ids[i], (size_t)sprintf(ids[i], "%zu", i) },
                                              .text = { texts[i], write_text(texts[i], family, i, &random) } };
    /* In two runs, the first of which has removed documents. */
    GOOD(twin_index_add(NULL, index, documents, DOCUMENTS * 3 / 4, (twin_index_add_options){ .exec = serial },
                        &error));
    for (size_t i = 0; i < 10; i++)
        GOOD(twin_index_remove(NULL, NULL, index, &documents[i * 7].id, 1, &error));
    GOOD(twin_index_add(NULL, index, documents + DOCUMENTS * 3 / 4, DOCUMENTS / 4,
                        (twin_index_add_options){ .exec = serial }, &error));
    free(texts);
    free(ids);
    free(documents);
}

/* What the index has, to be compared one by one. */
struct known {
    twin_index_view *view;
    twin_index_entry entries[DOCUMENTS];
    size_t count;
};

static bool keep_entry(void *context, const twin_index_entry *entry)
{
    struct known *known = context;
    known->entries[known->count++] = *entry;
    return true;
}

static bool shares_a_band(const twin_index_options *options, const uint32_t *a, const uint32_t *b)
{
    for (size_t band = 0; band < options->scheme.plan.bands; band++)
        if (twin__index_band_hash(options, a, band) == twin__index_band_hash(options, b, band))
            return true;
    return false;
}

static const twin_index_entry *entry_in(const twin_index_answer *answer, uint64_t document)
{
    for (size_t i = 0; i < answer->count; i++)
        if (answer->entries[i].document == document)
            return &answer->entries[i];
    return NULL;
}

/* An answer has exactly the documents that share a band with the query, pass the gate and are similar. */
static void compare_with_all(const twin_index_answer *answer, struct known *known, twin_text text, double threshold)
{
    const twin_index *index = known->view->index;
    size_t slots = index->options.scheme.minhash.slots, expected = 0;
    uint32_t *signature = malloc(slots * sizeof *signature);
    twin_scratch scratch = { 0 };
    uint64_t ill_formed;
    twin_set query;
    assert_non_null(signature);
    assert_int_equal(
        twin__index_sketch(&query, signature, index, &scratch, &ill_formed, &(twin_index_document){ .text = text }),
        TWIN_OK);
    for (size_t i = 0; i < known->count; i++) {
        const uint32_t *other;
        twin_set set;
        GOOD(twin_index_signature(&other, known->view, known->entries[i], &error));
        if (!shares_a_band(&index->options, signature, other) ||
            twin_minhash_agreement(signature, other, slots) < twin__gate_least(threshold, slots))
            continue;
        GOOD(twin_index_set(&set, known->view, known->entries[i], &error));
        double similarity = twin_set_similarity(query, set, TWIN_JACCARD);
        const twin_index_entry *entry = entry_in(answer, known->entries[i].document);
        assert_int_equal(entry != NULL, similarity >= threshold);
        assert_true(!entry || entry->similarity == similarity);
        expected += entry != NULL;
    }
    assert_int_equal(answer->count, expected);
    twin__scratch_clear(&scratch);
    free(signature);
}

/* With --top, the answer begins as that to a query for all. */
static void compare_best(const twin_index_answer *all, twin_index_view *view, twin_text text)
{
    twin_index_answer best = { 0 };
    for (size_t top = 1; top <= 5; top += 4) {
        GOOD(twin_index_query(&best, view, (twin_index_query_options){ .top = top }, text, &error));
        assert_int_equal(best.count, top < all->count ? top : all->count);
        for (size_t i = 0; i < best.count; i++)
            assert_int_equal(best.entries[i].document, all->entries[i].document);
    }
    twin_index_answer_clear(&best);
}

static void query_family(const struct family *family, twin_keep keep)
{
    twin_index_options options = options_for(keep);
    options.scheme.threshold = family->threshold;
    GOOD(twin_index_create(path, options, true, &error));
    twin_index *index = open_index(TWIN_INDEX_WRITE);
    fill(index, family);
    struct known *known = calloc(1, sizeof *known);
    twin_index_view *view;
    assert_non_null(known);
    GOOD(twin_index_view_create(&view, index, &error));
    GOOD(twin_index_view_create(&known->view, index, &error));
    GOOD(twin_index_each(known->view, keep_entry, known, &error));
    twin_index_answer answer = { 0 };
    uint64_t random = 2;
    for (uint64_t i = 0; i < (QUICK ? QUERIES / 2 : QUERIES); i++) {
        char text[MOST_BYTES];
        size_t length =
            write_text(text, family, 6 * (DOCUMENTS / 12 + i) + (i % 2 ? 5 : 0) + (i % 3 ? 0 : 100000), &random);
        GOOD(twin_index_query(&answer, view, (twin_index_query_options){ 0 }, (twin_text){ text, length }, &error));
        compare_with_all(&answer, known, (twin_text){ text, length }, family->threshold);
        compare_best(&answer, view, (twin_text){ text, length });
    }
    twin_index_answer_clear(&answer);
    twin_index_view_free(known->view);
    twin_index_view_free(view);
    free(known);
    twin_index_close(index);
}

static void queries_among_kept_sets_find_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        query_family(&families[i], TWIN_KEEP_SETS);
}

static void queries_among_kept_texts_find_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        query_family(&families[i], TWIN_KEEP_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_among_kept_sets_find_all),
        cmocka_unit_test(queries_among_kept_texts_find_all),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}

/* test_defaults.c — {0} is a complete set of options: what it creates can be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>
#include <unistd.h>

#include "base/exec.h"
#include "edit/embed.h"
#include "join/similar_private.h"
#include "lsh/bands.h"
#include "lsh/forest.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"

static const char words[] = "The lighthouse keeper of Skerry Point has watched over the strait for forty years, and "
                            "means to go on for as long as the lamp does.";
static const char other[] =
    "Nothing in this sentence has anything to do with the one above: it is about bread, flour, "
    "salt and the patience of bakers.";

static twin_text text_of(const char *string)
{
    return (twin_text){ string, strlen(string) };
}

/* ---- loops ---- */

static void count_items(void *context, size_t begin, size_t end, int worker)
{
    assert_int_equal(worker, 0);
    *(size_t *)context += end - begin;
}

static void count_item(void *context, size_t item, int worker)
{
    (void)item;
    assert_int_equal(worker, 0);
    ++*(size_t *)context;
}

static void an_executor_is_one_worker(void **state)
{
    (void)state;
    size_t count = 0;
    twin_exec_for((twin_exec){ 0 }, 100, 7, count_items, &count);
    twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, 0 }, 100, 0, count_items, &count);
    twin_exec_for((twin_exec){ TWIN_EXEC_SERIAL, 8 }, 100, 1, count_items, &count);
    assert_int_equal(count, 300);
    twin__exec_in_order((twin_exec){ 0 }, 50, count_item, count_item, &count);
    assert_int_equal(count, 400);
}

/* ---- sketches ---- */

static void a_shingler_cuts_nine_characters(void **state)
{
    (void)state;
    twin_shingler *shingler;
    twin_items items = { 0 };
    assert_int_equal(twin__shingler_create(&shingler, (twin_shingle_options){ 0 }), TWIN_OK);
    assert_int_equal(twin__shingle_text(&items, shingler, text_of("0123456789")), TWIN_OK);
    assert_int_equal(items.count, 2);
    twin__items_clear(&items);
    twin__shingler_free(shingler);
}

static void a_hasher_has_128_slots(void **state)
{
    (void)state;
    twin_minhash *hasher;
    uint64_t items[] = { 1, 2, 3 };
    uint32_t signature[TWIN_MINHASH_DEFAULT_SLOTS + 1];
    memset(signature, 0xFF, sizeof signature);
    assert_int_equal(twin__minhash_create(&hasher, (twin_minhash_options){ 0 }), TWIN_OK);
    twin__minhash_sign(signature, hasher, items, 3);
    for (size_t i = 0; i < 128; i++)
        assert_true(signature[i] != UINT32_MAX);
    assert_true(signature[128] == UINT32_MAX);
    twin__minhash_free(hasher);
}

static void a_signer_signs(void **state)
{
    (void)state;
    static const twin_scheme zeros;
    twin_signer *signer;
    twin_text texts[] = { text_of(words), text_of(words), text_of(other) };
    uint32_t signatures[3][128];
    assert_int_equal(twin_signer_create(&signer, &zeros, NULL), TWIN_OK);
    assert_int_equal(twin_signer_many(signatures[0], NULL, signer, texts, 3, (twin_signer_many_options){ 0 }),
                     TWIN_OK);
    assert_int_equal(twin_minhash_agreement(signatures[0], signatures[1], 128), 128);
    assert_true(twin_minhash_agreement(signatures[0], signatures[2], 128) < 20);

    twin_signer_free(signer);
}

/* ---- candidates ---- */

static void a_forest_takes_a_signature(void **state)
{
    (void)state;
    twin__forest *forest;
    twin__forest_scratch scratch = { 0 };
    uint32_t labels[128] = { 1, 2, 3 };
    twin__forest_candidate found[10];
    size_t count;
    assert_int_equal(twin__forest_create(&forest, (twin__forest_options){ 0 }), TWIN_OK);
    for (uint64_t id = 0; id < 20; id++) {
        labels[127] = (uint32_t)id;
        assert_int_equal(twin__forest_add(forest, id, labels), TWIN_OK);
    }
    assert_int_equal(twin__forest_query(found, &count, forest, &scratch, labels, (twin__forest_query_options){ 0 }),
                     TWIN_OK);
    assert_int_equal(count, 10);
    twin__forest_scratch_clear(&scratch);
    twin__forest_free(forest);
}

static void embeddings_work(void **state)
{
    (void)state;
    twin__embedder *embedder;
    twin__embed_scratch scratch = { 0 };
    uint32_t a[128], b[128];
    assert_int_equal(twin__embedder_create(&embedder, (twin__embed_options){ 0 }), TWIN_OK);
    assert_int_equal(twin__embed_vector(a, embedder, &scratch, text_of(words)), TWIN_OK);
    assert_int_equal(twin__embed_vector(b, embedder, &scratch, text_of(words)), TWIN_OK);
    assert_memory_equal(a, b, sizeof a);
    twin__embed_scratch_clear(&scratch);
    twin__embedder_free(embedder);

    double distance = -1;
    assert_int_equal(twin__embed_distance(&distance, text_of(words), text_of(words), (twin__embed_grams){ 0 }),
                     TWIN_OK);
    assert_true(distance == 0);
    uint64_t features[sizeof words];
    assert_int_equal(twin__embed_features(features, (twin__embed_cells){ 0 }, text_of(words)), strlen(words) - 8 + 1);
}

/* ---- filters ---- */

static void a_filter_holds_a_million_items(void **state)
{
    (void)state;
    twin_bloom *bloom, *read;
    twin_bloom_info info;
    twin_bloom_shape shape;
    char path[] = "/tmp/twinsift-defaults-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(twin_bloom_plan(&shape, (twin_bloom_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ 0 }), TWIN_OK);
    assert_true(twin_bloom_add(bloom, words, sizeof words));
    assert_int_equal(twin_bloom_save(bloom, path, true, NULL), TWIN_OK);
    twin_bloom_free(bloom);
    assert_int_equal(twin_bloom_open(&read, path, (twin_bloom_open_options){ 0 }, NULL), TWIN_OK);
    assert_true(twin_bloom_may_contain(read, words, sizeof words));
    twin_bloom_describe(&info, read);
    assert_int_equal(info.planned_items, 1000000);
    assert_true(info.planned_rate == .01 && info.shape.cells == shape.cells);
    twin_bloom_free(read);
    unlink(path);
}

/* ---- collections and indexes ---- */

enum { DOCUMENTS = 3 };
static const twin_memory_document documents[DOCUMENTS] = {
    { .text = { words, sizeof words - 1 }, .id = { "first", 5 } },
    { .text = { words, sizeof words - 5 }, .id = { "second", 6 } },
    { .text = { other, sizeof other - 1 }, .id = { "third", 5 } },
};

static twin_input *open_input(void)
{
    twin_input *input;
    assert_int_equal(twin_input_from_texts(&input, documents, DOCUMENTS, (twin_input_options){ 0 }, NULL), TWIN_OK);
    return input;
}

static void a_collection_finds_its_pairs(void **state)
{
    (void)state;
    twin_input *input = open_input();
    twin_collection *collection;
    twin_similar *similar;
    const twin_match *matches;
    twin_audit audit;
    assert_int_equal(twin_collection_read(&collection, input, (twin_collection_options){ 0 }, NULL), TWIN_OK);
    assert_int_equal(twin_similar_find(&similar, collection, (twin_similar_options){ 0 }, NULL), TWIN_OK);
    assert_int_equal(twin__similar_matches(&matches, similar), 1);
    assert_true(matches[0].a == 0 && matches[0].b == 1 && matches[0].similarity > .8);
    assert_int_equal(twin_audit_run(&audit, collection, similar, (twin_audit_options){ 0 }, NULL), TWIN_OK);
    assert_true(audit.documents == DOCUMENTS && audit.found == 1 && audit.recall == 1);
    twin_similar_free(similar);
    assert_int_equal(
        twin_similar_find(&similar, collection, (twin_similar_options){ .method = TWIN_METHOD_FOREST }, NULL),
        TWIN_OK);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
}

static void a_collection_of_texts_finds_its_pairs(void **state)
{
    (void)state;
    twin_input *input = open_input();
    twin_collection *collection;
    twin_similar *similar;
    twin_audit audit;
    assert_int_equal(twin_collection_read(&collection, input, (twin_collection_options){ .texts = true }, NULL),
                     TWIN_OK);
    assert_int_equal(twin_edit_join_find(&similar, collection, (twin_edit_join_options){ 0 }, NULL), TWIN_OK);
    assert_int_equal(twin_similar_count(similar).similar, 1);
    assert_int_equal(
        twin_audit_edits(&audit, collection, similar, (twin_edit_join_options){ 0 }, (twin_audit_options){ 0 }, NULL),
        TWIN_OK);
    assert_true(audit.documents == DOCUMENTS && audit.found == 1);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
}

static bool count_answer(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer)
{
    (void)id, (void)id_is_number;
    *(size_t *)context += answer->count;
    return true;
}

static bool count_pair(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    (void)a, (void)b, (void)similarity;
    ++*(size_t *)context;
    return true;
}

static void query_all(twin_index *index, const twin_input *input)
{
    twin_index_view *view;
    twin_index_answer answer = { 0 };
    size_t count = 0;
    assert_int_equal(twin_index_view_create(&view, index, NULL), TWIN_OK);
    assert_int_equal(twin_index_query(&answer, view, (twin_index_query_options){ 0 }, text_of(words), NULL), TWIN_OK);
    assert_int_equal(answer.count, 2);
    assert_int_equal(
        twin_index_query_many(&answer, index, (twin_index_query_many_options){ 0 }, &documents[2].text, 1, NULL),
        TWIN_OK);
    assert_int_equal(answer.count, 1);
    twin_index_query_input_options options = { .answer = count_answer, .context = &count };
    assert_int_equal(twin_index_query_input(NULL, index, input, options, NULL), TWIN_OK);
    assert_int_equal(count, 2 + 2 + 1);
    count = 0;
    assert_int_equal(twin_index_pairs(index, (twin_index_pairs_options){ 0 }, count_pair, &count, NULL), TWIN_OK);
    assert_int_equal(count, 1);
    twin_index_answer_clear(&answer);
    twin_index_view_free(view);
}

static void an_index_finds_what_was_added(void **state)
{
    (void)state;
    twin_input *input = open_input();
    twin_index *index;
    twin_index_document one = { .id = documents[0].id, .text = documents[0].text };
    char folder[] = "/tmp/twinsift-defaults-XXXXXX", path[sizeof folder + 20], lock[sizeof folder + 20];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/index", folder);
    snprintf(lock, sizeof lock, "%s/index-lock", folder);
    assert_int_equal(twin_index_create(path, (twin_index_options){ 0 }, false, NULL), TWIN_OK);
    assert_int_equal(twin_index_open(&index, path, TWIN_INDEX_WRITE, NULL), TWIN_OK);
    assert_int_equal(twin_index_add(NULL, index, &one, 1, (twin_index_add_options){ 0 }, NULL), TWIN_OK);
    assert_int_equal(twin_index_add_input(NULL, index, input, (twin_index_add_options){ 0 }, NULL), TWIN_OK);
    query_all(index, input);
    twin_index_close(index);
    twin_input_free(input);
    unlink(path);
    unlink(lock);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_executor_is_one_worker),
        cmocka_unit_test(a_shingler_cuts_nine_characters),
        cmocka_unit_test(a_hasher_has_128_slots),
        cmocka_unit_test(a_signer_signs),
        cmocka_unit_test(a_forest_takes_a_signature),
        cmocka_unit_test(embeddings_work),
        cmocka_unit_test(a_filter_holds_a_million_items),
        cmocka_unit_test(a_collection_finds_its_pairs),
        cmocka_unit_test(a_collection_of_texts_finds_its_pairs),
        cmocka_unit_test(an_index_finds_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

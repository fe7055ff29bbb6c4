/* test_arguments.c — wrong arguments are refused in every build, with a sentence that names the argument. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>
#include <unistd.h>

#include "file_streams.h"

#include "base/exec.h"
#include "collection/contents.h"
#include "edit/edit.h"
#include "edit/embed.h"
#include "input/documents.h"
#include "join/join_private.h"
#include "join/matches.h"
#include "lsh/bands.h"
#include "lsh/forest.h"
#include "sketch/minhash.h"
#include "sketch/set.h"
#include "sketch/shingle.h"
#include "sketch/signer.h"

static void expect_words(const char *call, twin_status got, twin_status expected, const char *words)
{
    const char *said = twin_error_last(expected);
    if (got != expected || !strstr(said, words))
        print_message("%s: status %d, \"%s\", but expected \"%s\"\n", call, (int)got, said, words);
    assert_int_equal(got, expected);
    assert_non_null(strstr(said, words));
}

/* The call returns TWIN_EINVAL and says the words. */
#define REFUSED(words, call) expect_words(#call, call, TWIN_EINVAL, words)

static const twin_text text = { "some text of a few words", 24 };
static const twin_exec many = { TWIN_EXEC_PTHREADS, TWIN_EXEC_MAX_WORKERS + 1 };

static void in_base(void **state)
{
    (void)state;
    twin_exec exec;
    twin_buffer buffer = { 0 };
    REFUSED("out must not be NULL", twin_exec_make(NULL, TWIN_EXEC_SERIAL, 1));
    REFUSED("workers must be 0 to 1024, not -1", twin_exec_make(&exec, TWIN_EXEC_PTHREADS, -1));
    REFUSED("unknown executor 9", twin_exec_make(&exec, (twin_executor)9, 1));
    REFUSED("unknown level 7", twin_cpu_use((twin_cpu)7));
    REFUSED("buffer must not be NULL", twin_buffer_reserve(NULL, 1));
    REFUSED("bytes must not be NULL", twin_buffer_append(&buffer, NULL, 1));
    twin_exec_for(many, 10, 1, NULL, NULL);
    twin__exec_in_order(many, 10, NULL, NULL, NULL);
    twin_buffer_clear(NULL);
}

static void in_text(void **state)
{
    (void)state;
    twin_buffer out = { 0 };
    REFUSED("out must not be NULL", twin_text_normalise(NULL, NULL, text, TWIN_NORMAL_FOLD));
    REFUSED("text.bytes must not be NULL", twin_text_normalise(&out, NULL, (twin_text){ NULL, 3 }, TWIN_NORMAL_FOLD));
    REFUSED("unknown normalisation 5", twin_text_normalise(&out, NULL, text, (twin_normal)5));
    twin_buffer_clear(&out);
}

static void in_sketch(void **state)
{
    (void)state;
    twin_minhash *hasher;
    twin_shingler *shingler;
    twin_shingle_options rule;
    twin_items items = { 0 };
    twin_set set;
    size_t count;
    uint32_t signature[128];
    REFUSED("slots must be 1 to 65536, not 70000",
            twin__minhash_create(&hasher, (twin_minhash_options){ .slots = 70000 }));
    REFUSED("unknown sketch 2", twin__minhash_create(&hasher, (twin_minhash_options){ .sketch = (twin_sketch)2 }));
    REFUSED("out must not be NULL", twin__minhash_create(NULL, (twin_minhash_options){ 0 }));
    REFUSED("the width of a shingle must be 1 to 1024, not 2000",
            twin__shingler_create(&shingler, (twin_shingle_options){ .width = 2000 }));
    REFUSED("unknown kind of shingle 6",
            twin__shingler_create(&shingler, (twin_shingle_options){ .kind = (twin_shingle_kind)6 }));
    REFUSED("unknown hash family 99",
            twin__shingler_create(&shingler, (twin_shingle_options){ .hash.family = (twin_hash_family)99 }));
    REFUSED("\"char:0\" is not auto, char:N", twin_shingle_parse(&rule, "char:0"));
    REFUSED("rule must not be NULL", twin_shingle_parse(&rule, NULL));
    REFUSED("shingler must not be NULL", twin__shingle_text(&items, NULL, text));
    const twin_text words[] = { { "the", 3 }, { "", 0 } };
    const twin_shingle_options stops = { .kind = TWIN_SHINGLE_STOP, .stop_words = words, .stop_word_count = 2 };
    REFUSED("stop_words[1] is empty", twin__shingler_create(&shingler, stops));
    assert_int_equal(twin__shingler_create(&shingler, (twin_shingle_options){ 0 }), TWIN_OK);
    REFUSED("text.bytes must not be NULL", twin__shingle_text(&items, shingler, (twin_text){ NULL, 3 }));
    REFUSED("text.bytes must not be NULL", twin__shingle_windows(&items, shingler, (twin_text){ NULL, 3 }));
    twin__shingler_free(shingler);
    REFUSED("items must not be NULL", twin__items_reserve(NULL, 1));
    REFUSED("scratch must not be NULL", twin__set_make(&set, &items, NULL));
    REFUSED("scratch must not be NULL", twin__items_distinct(&count, &items, NULL));
    twin__minhash_sign(signature, NULL, NULL, 0);
    twin__minhash_merge(NULL, signature, 1);
    assert_int_equal(twin_minhash_agreement(NULL, signature, 128), 0);
    assert_true(twin_hash_bytes((twin_hash){ .family = (twin_hash_family)9 }, "x", 1) == 0);
    twin__items_clear(NULL);
}

static void in_scheme_and_signer(void **state)
{
    (void)state;
    twin_scheme wrong = { .minhash.slots = 70000 }, good = twin_scheme_default();
    twin_signer *signer;
    twin_sign_scratch scratch = { 0 };
    twin_buffer buffer = { 0 };
    uint32_t signature[128];
    REFUSED("scheme must not be NULL", twin_scheme_complete(NULL, NULL));
    REFUSED("1 to 65536 slots, not 70000", twin_scheme_complete(&wrong, NULL));
    REFUSED("1 to 65536 slots, not 70000", twin_signer_create(&signer, &wrong, NULL));
    wrong = (twin_scheme){ .shingle.hash.family = (twin_hash_family)99 };
    REFUSED("unknown hash family 99", twin_signer_create(&signer, &wrong, NULL));
    REFUSED("scheme must not be NULL", twin_scheme_write(&buffer, NULL));
    REFUSED("words must not be NULL", twin_scheme_read(&good, NULL, text, NULL));
    REFUSED("out must not be NULL", twin_signer_create(NULL, NULL, NULL));
    assert_int_equal(twin_signer_create(&signer, NULL, NULL), TWIN_OK);
    REFUSED("signer must not be NULL", twin__signer_text(signature, NULL, NULL, &scratch, text));
    REFUSED("scratch must not be NULL", twin__signer_text(signature, NULL, signer, NULL, text));
    REFUSED("workers must be 0 to 1024, not 1025",
            twin_signer_many(signature, NULL, signer, &text, 1, (twin_signer_many_options){ .exec = many }));
    REFUSED("texts must not be NULL",
            twin_signer_many(signature, NULL, signer, NULL, 1, (twin_signer_many_options){ 0 }));
    assert_null(twin_signer_scheme(NULL));
    assert_false(twin__scheme_equal(&good, NULL));
    twin__sign_scratch_clear(NULL);
    twin_signer_free(signer);
}

static void in_plan(void **state)
{
    (void)state;
    twin_plan plan;
    twin_plan_bloom bloom;
    twin_plan_point half = { .5, .5 }, odd = { 2, .5 };
    REFUSED("slots must be at least 1", twin_plan_from_slots(&plan, half, 0));
    REFUSED("must be 0 to 1, not 2 and 0.5", twin_plan_from_slots(&plan, odd, 128));
    REFUSED("out must not be NULL", twin_plan_from_slots(NULL, half, 128));
    REFUSED("no curve", twin_plan_from_errors(&plan, (twin_plan_point){ .8, .1 }, (twin_plan_point){ .5, .9 }, 1000));
    REFUSED("items must be at least 1", twin_plan_for_bloom(&bloom, 0, .01));
    REFUSED("probability must be above 0 and below 1, not 1", twin_plan_for_bloom(&bloom, 10, 1));
    assert_true(twin_plan_probability((twin_plan){ 0 }, .5) == 0);
    assert_true(twin_plan_probability((twin_plan){ 5, 5 }, NAN) == 0);
}

static void hear_pair(void *context, uint32_t a, uint32_t b, int worker)
{
    (void)context, (void)a, (void)b, (void)worker;
}

static void in_lsh(void **state)
{
    (void)state;
    uint32_t rows[20] = { 0 }, documents[] = { 0, 1 };
    twin_signatures signatures = { rows, 10, documents, 2 }, none = { NULL, 10, documents, 2 };
    twin_band_options large = { .plan = { 5, 5 } };
    twin_progress quiet = { 0 };
    twin__forest *forest;
    twin__forest_scratch scratch = { 0 };
    twin__forest_candidate found[10];
    size_t count;
    uint64_t keys[2];
    REFUSED("signature must not be NULL", twin_band_keys(keys, NULL, (twin_plan){ 2, 5 }));
    REFUSED("2 bands of 0 rows has no keys", twin_band_keys(keys, rows, (twin_plan){ 2, 0 }));
    REFUSED("5 bands of 5 rows do not fit into 10 slots",
            twin__bands_pairs(signatures, large, (twin_exec){ 0 }, hear_pair, NULL, quiet));
    REFUSED("visit must not be NULL",
            twin__bands_pairs(signatures, (twin_band_options){ 0 }, (twin_exec){ 0 }, NULL, NULL, quiet));
    REFUSED("workers must be 0 to 1024, not 1025",
            twin__bands_pairs(signatures, (twin_band_options){ 0 }, many, hear_pair, NULL, quiet));
    REFUSED("signatures.rows must not be NULL",
            twin__bands_pairs(none, (twin_band_options){ 0 }, (twin_exec){ 0 }, hear_pair, NULL, quiet));

    REFUSED("trees must be 1 to 256, not 300", twin__forest_create(&forest, (twin__forest_options){ .trees = 300 }));
    REFUSED("depth must be 1 to 1024, not 2000",
            twin__forest_create(&forest, (twin__forest_options){ .depth = 2000 }));
    assert_int_equal(twin__forest_create(&forest, (twin__forest_options){ .trees = 2, .depth = 5 }), TWIN_OK);
    REFUSED("labels must not be NULL", twin__forest_add(forest, 1, NULL));
    assert_int_equal(twin__forest_add(forest, 1, rows), TWIN_OK);
    REFUSED("id 1 is in the forest already", twin__forest_add(forest, 1, rows));
    REFUSED("id 2 is not in the forest", twin__forest_remove(forest, 2));
    REFUSED("lowest must be 0 to 5, not 6",
            twin__forest_query(found, &count, forest, &scratch, rows, (twin__forest_query_options){ .lowest = 6 }));
    REFUSED("scratch must not be NULL",
            twin__forest_query(found, &count, forest, NULL, rows, (twin__forest_query_options){ 0 }));
    assert_int_equal(twin__forest_count(NULL) + twin__forest_distinct(NULL) + twin__forest_bytes(NULL), 0);
    twin__forest_scratch_clear(&scratch);
    twin__forest_scratch_clear(NULL);
    twin__forest_free(forest);
}

static void in_edit(void **state)
{
    (void)state;
    size_t distance;
    double ratio;
    twin_edit_scratch scratch = { 0 };
    twin_edit_spans spans = { 0 };
    twin__embedder *embedder;
    twin__embed_scratch room = { 0 };
    uint32_t vector[128];
    twin_text none = { NULL, 5 };
    REFUSED("out must not be NULL", twin__edit_distance(NULL, &scratch, text, text, TWIN_EDIT_CHARS, 1));
    REFUSED("scratch must not be NULL", twin__edit_indel(&distance, NULL, text, text, TWIN_EDIT_CHARS, 1));
    REFUSED("a.bytes must not be NULL", twin__edit_distance(&distance, &scratch, none, text, TWIN_EDIT_CHARS, 1));
    REFUSED("b.bytes must not be NULL", twin__edit_align(&spans, &scratch, text, none, TWIN_EDIT_CHARS, 1));
    REFUSED("unknown unit of edits 2", twin__edit_align(&spans, &scratch, text, text, (twin_edit_unit)2, 1));
    REFUSED("at_least must be 0 to 1, not 1.5", twin__edit_ratio(&ratio, &scratch, text, text, TWIN_EDIT_CHARS, 1.5));
    REFUSED("do not fit into a window of 3",
            twin__embed_distance(&ratio, text, text, (twin__embed_grams){ 3, 1, 4 }));
    REFUSED("y.bytes must not be NULL", twin__embed_distance(&ratio, text, none, (twin__embed_grams){ 0 }));
    const twin_text endless = { text.bytes, SIZE_MAX };
    expect_words("a text of SIZE_MAX bytes",
                 twin__edit_distance(&distance, &scratch, text, endless, TWIN_EDIT_CHARS, 1), TWIN_ELIMIT,
                 "longer than 1073741823 bytes");
    REFUSED("functions must be 1 to",
            twin__embedder_create(&embedder, (twin__embed_options){ .functions = SIZE_MAX }));
    assert_int_equal(twin__embedder_create(&embedder, (twin__embed_options){ 0 }), TWIN_OK);
    REFUSED("a text of 24 bytes is shorter than the 64", twin__embed_vector(vector, embedder, &room, text));
    REFUSED("embedder must not be NULL", twin__embed_vector(vector, NULL, &room, text));
    assert_int_equal(twin__embed_features(NULL, (twin__embed_cells){ 0 }, text), 0);
    assert_int_equal(twin__embed_length_classes(NULL, 100, 2), 0);
    twin__embedder_free(embedder);
    twin__edit_scratch_clear(NULL);
    twin_edit_spans_clear(NULL);
    twin__embed_scratch_clear(NULL);
}

static void a_filter_opened_for_reading_is_left_as_it_is(twin_bloom *bloom)
{
    const char *words = "opened for reading";
    twin_bloom *wrong;
    bool fresh = true;
    double rate;
    assert_false(twin_bloom_add(bloom, "x", 1));
    assert_non_null(strstr(twin_error_last(TWIN_EINVAL), words));
    assert_int_equal(twin_bloom_add_many(&fresh, bloom, &text, 1), 0);
    assert_int_equal(twin_bloom_add_shared(&fresh, bloom, &text, 1), 0);
    assert_false(twin_bloom_remove(bloom, "x", 1));
    REFUSED(words, twin_bloom_unite(&rate, bloom, bloom));
    REFUSED("not opened for writing", twin_bloom_commit(bloom, NULL));
    assert_false(twin_bloom_may_contain(bloom, "x", 1));
    REFUSED("unknown access 3",
            twin_bloom_open(&wrong, "/dev/null", (twin_bloom_open_options){ .access = (twin_bloom_access)3 }, NULL));
    REFUSED("path must not be NULL", twin_bloom_open(&wrong, NULL, (twin_bloom_open_options){ 0 }, NULL));
}

static void in_bloom(void **state)
{
    (void)state;
    twin_bloom *bloom, *other, *read, *copy;
    twin_bloom_shape shape;
    char path[] = "/tmp/twinsift-arguments-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    REFUSED("rate must be 1e-12 to 0.5, not 2", twin_bloom_create(&bloom, (twin_bloom_options){ .rate = 2 }));
    REFUSED("cell_bits must be 1, 4, 8 or 16, not 3",
            twin_bloom_create(&bloom, (twin_bloom_options){ .cell_bits = 3 }));
    REFUSED("unknown layout 99", twin_bloom_plan(&shape, (twin_bloom_options){ .layout = (twin_bloom_layout)99 }));
    REFUSED("functions cannot be chosen without cells",
            twin_bloom_plan(&shape, (twin_bloom_options){ .functions = 3 }));
    assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ 0 }), TWIN_OK);
    assert_int_equal(twin_bloom_create(&other, (twin_bloom_options){ .cell_bits = 4 }), TWIN_OK);
    REFUSED("differ in shape or hash", twin_bloom_unite(NULL, bloom, other));
    REFUSED("other must not be NULL", twin_bloom_intersect(NULL, bloom, NULL));
    assert_false(twin_bloom_remove(bloom, "x", 1));
    assert_non_null(strstr(twin_error_last(TWIN_EINVAL), "only a counting filter"));
    assert_int_equal(twin_bloom_add_shared(NULL, other, &text, 1), 0);
    assert_non_null(strstr(twin_error_last(TWIN_EINVAL), "counting filter"));
    assert_int_equal(twin_bloom_save(bloom, path, true, NULL), TWIN_OK);
    assert_int_equal(twin_bloom_open(&read, path, (twin_bloom_open_options){ 0 }, NULL), TWIN_OK);
    a_filter_opened_for_reading_is_left_as_it_is(read);
    const twin_hash seeded = { .seed = 7 }, farm = { .family = TWIN_HASH_FARM }, sip = { .family = TWIN_HASH_SIP };
    REFUSED("hashes with xxh3 and seed 0, not with xxh3 and seed 7",
            twin_bloom_open(&copy, path, (twin_bloom_open_options){ .hash = &seeded }, NULL));
    REFUSED("hashes with xxh3, not with farm",
            twin_bloom_open(&copy, path, (twin_bloom_open_options){ .hash = &farm }, NULL));
    REFUSED("hashes with xxh3, not with sip",
            twin_bloom_open(&copy, path, (twin_bloom_open_options){ .hash = &sip }, NULL));
    REFUSED("bloom must not be NULL", twin_bloom_save(NULL, path, true, NULL));
    copy = bloom;
    REFUSED("bloom must not be NULL", twin_bloom_copy(&copy, NULL));
    assert_null(copy);
    assert_false(twin_bloom_add(NULL, "x", 1) || twin_bloom_may_contain(NULL, "x", 1));
    assert_int_equal(twin_bloom_count(NULL, "x", 1), 0);
    twin_bloom_free(read);
    twin_bloom_free(other);
    twin_bloom_free(bloom);
    unlink(path);
}

static bool hear_document(void *context, const twin_document *document)
{
    (void)context, (void)document;
    return true;
}

static bool hear_problem(void *context, const twin_problem *problem)
{
    (void)context, (void)problem;
    return true;
}

static const twin_memory_document documents[] = { { .text = { "one text", 8 } }, { .text = { "another", 7 } } };

static twin_input *two_documents(void)
{
    twin_input *input;
    assert_int_equal(twin_input_from_texts(&input, documents, 2, (twin_input_options){ 0 }, NULL), TWIN_OK);
    return input;
}

static void in_input(void **state)
{
    (void)state;
    twin_input *input;
    twin_read_buffers buffers = { 0 };
    twin_buffer words = { 0 };
    twin_document document;
    twin_visitor visitor = { hear_document, hear_problem, NULL };
    const char *paths[] = { NULL };
    REFUSED("paths[0] must not be NULL", twin_input_open(&input, paths, 1, (twin_input_options){ 0 }, NULL));
    REFUSED("paths must not be NULL", twin_input_open(&input, NULL, 1, (twin_input_options){ 0 }, NULL));
    REFUSED("no input was given", twin_input_open(&input, NULL, 0, (twin_input_options){ 0 }, NULL));
    REFUSED("out must not be NULL", twin_input_from_texts(NULL, NULL, 0, (twin_input_options){ 0 }, NULL));
    input = two_documents();
    REFUSED("there is no chunk 99", twin__input_read(NULL, input, &buffers, 99, visitor, NULL));
    REFUSED("buffers must not be NULL", twin__input_read(NULL, input, NULL, 0, visitor, NULL));
    REFUSED("visitor.document must not be NULL",
            twin__input_read(NULL, input, &buffers, 0, (twin_visitor){ 0 }, NULL));
    REFUSED("in none of the inputs", twin_input_describe(&words, input, (twin_position){ .source = 7 }, 0));
    REFUSED("input must not be NULL", twin__input_fetch(&document, NULL, &buffers, (twin_position){ 0 }, NULL));
    assert_string_equal(twin_input_name(input, 7), "");
    assert_int_equal(twin_input_chunks(NULL) + twin_input_sources(NULL), 0);
    assert_int_equal(twin_input_chunk_of(input, 99).size, 0);
    twin__read_buffers_clear(&buffers);
    twin__read_buffers_clear(NULL);
    twin_buffer_clear(&words);
    twin_input_free(input);
}

static void in_join(void **state)
{
    (void)state;
    twin_input *input = two_documents();
    twin_collection *collection;
    twin_similar *similar;
    twin_scratch scratch = { 0 };
    twin_audit audit;
    twin_set set;
    twin_text found;
    uint32_t group[2];
    twin_match match = { 0, 5, 1 };
    REFUSED("input must not be NULL", twin_collection_read(&collection, NULL, (twin_collection_options){ 0 }, NULL));
    REFUSED("workers must be 0 to 1024, not 1025",
            twin_collection_read(&collection, input, (twin_collection_options){ .exec = many }, NULL));
    assert_int_equal(twin_collection_read(&collection, input, (twin_collection_options){ 0 }, NULL), TWIN_OK);
    REFUSED("there is no document 7: there are 2", twin__collection_set(&set, collection, &scratch, 7, NULL));
    REFUSED("scratch must not be NULL", twin__collection_text(&found, collection, NULL, 0, NULL));
    REFUSED("collection must not be NULL", twin_similar_find(&similar, NULL, (twin_similar_options){ 0 }, NULL));
    REFUSED("not 7", twin_similar_find(&similar, collection, (twin_similar_options){ .threshold = 7 }, NULL));
    REFUSED("was not read as texts", twin_edit_join_find(&similar, collection, (twin_edit_join_options){ 0 }, NULL));
    assert_int_equal(twin_similar_find(&similar, collection, (twin_similar_options){ 0 }, NULL), TWIN_OK);
    REFUSED("visit must not be NULL", twin_similar_each(similar, TWIN_COPIES_ALL, NULL, NULL));
    REFUSED("threshold must be 0 to 1, not -1",
            twin_audit_run(&audit, collection, similar, (twin_audit_options){ .threshold = -1 }, NULL));
    REFUSED("was not read as texts", twin_audit_edits(&audit, collection, similar, (twin_edit_join_options){ 0 },
                                                      (twin_audit_options){ 0 }, NULL));
    REFUSED("match 0 names a document", twin__cluster_components(group, 2, &match, 1));
    REFUSED("similarity must not be NULL", twin_cluster_documents(group, NULL, similar));
    REFUSED("visit must not be NULL", twin_cluster_each(group, NULL, 0, NULL, NULL));
    REFUSED("matches must not be NULL", twin__cluster_keepers(group, NULL, 2, NULL, 1, NULL));
    assert_int_equal(twin_collection_entry_of(collection, 7).id.length, 0);
    assert_int_equal(twin_collection_entry_of(collection, 7).size + twin__collection_slots(NULL), 0);
    assert_int_equal(twin_collection_count(NULL).documents + twin_similar_count(NULL).similar, 0);
    twin__matches_clear(NULL);
    twin__scratch_clear(NULL);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
}

/* Sets, and documents that were read as texts, have no records, texts or sets to give. */
static void in_collections_of_sets_and_texts(void **state)
{
    (void)state;
    char path[] = "/tmp/twinsift-arguments-XXXXXX";
    const char *paths[] = { path };
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "a\tx\na\ty\nb\tx\n", 12), 12);
    close(file);
    twin_input *sets, *texts = two_documents();
    twin_collection *collection;
    twin_scratch scratch = { 0 };
    twin_document document;
    twin_text found;
    twin_set set;
    twin_dedup *dedup;
    twin_input_options as_sets = { .format = TWIN_INPUT_SETS, .separator = '\t' };
    assert_int_equal(twin_input_open(&sets, paths, 1, as_sets, NULL), TWIN_OK);
    REFUSED("sets have no text to compare",
            twin_collection_read(&collection, sets, (twin_collection_options){ .texts = true }, NULL));
    REFUSED("only signed documents",
            twin_collection_read(&collection, sets, (twin_collection_options){ .memory_bytes = 1 }, NULL));
    assert_int_equal(twin_collection_read(&collection, sets, (twin_collection_options){ 0 }, NULL), TWIN_OK);
    REFUSED("a collection of sets has no texts", twin__collection_text(&found, collection, &scratch, 0, NULL));
    REFUSED("a set has many rows", twin__collection_document(&document, collection, &scratch, 0, NULL));
    REFUSED("only signed documents can be written", twin_collection_write(collection, text, file_sink(stdout), NULL));
    twin_collection_free(collection);
    assert_int_equal(twin_collection_read(&collection, texts, (twin_collection_options){ .texts = true }, NULL),
                     TWIN_OK);
    REFUSED("a collection of texts has no sets", twin__collection_set(&set, collection, &scratch, 0, NULL));
    REFUSED("a collection of texts has no sets to compare",
            twin_dedup_find(&dedup, collection, (twin_dedup_options){ 0 }, NULL));
    twin_collection_free(collection);
    twin__scratch_clear(&scratch);
    twin_input_free(sets);
    twin_input_free(texts);
    unlink(path);
}

static void in_dedup(void **state)
{
    (void)state;
    twin_input *input = two_documents();
    twin_collection *collection, *loaded;
    twin_dedup *dedup;
    twin_dedup_audit audit;
    twin_dedup_options rule = { 0 }, excluding = { .excluded = (const bool[]){ false, false } };
    twin_buffer field = { 0 };
    uint64_t fingerprint;
    const twin_part whole = { 0 };
    assert_int_equal(twin_collection_read(&collection, input, (twin_collection_options){ 0 }, NULL), TWIN_OK);
    REFUSED("collection must not be NULL", twin_dedup_find(&dedup, NULL, rule, NULL));
    REFUSED("unknown preference 9",
            twin_dedup_find(&dedup, collection, (twin_dedup_options){ .preference = (twin_preference)9 }, NULL));
    REFUSED("need the name of a field",
            twin_dedup_find(&dedup, collection, (twin_dedup_options){ .preference = TWIN_PREFER_MOST }, NULL));
    REFUSED("must be verified exactly",
            twin_dedup_find(&dedup, collection, (twin_dedup_options){ .search.verify = TWIN_VERIFY_NONE }, NULL));
    assert_int_equal(twin_dedup_find(&dedup, collection, rule, NULL), TWIN_OK);
    REFUSED("dedup must not be NULL",
            twin_dedup_audit_run(&audit, NULL, collection, rule, (twin_audit_options){ 0 }, NULL));
    REFUSED("workers must be 0 to 1024, not 1025",
            twin_dedup_audit_run(&audit, dedup, collection, rule, (twin_audit_options){ .exec = many }, NULL));
    twin_dedup_free(dedup);

    /* step by step */
    REFUSED("sink.write must not be NULL", twin_collection_write(collection, text, (twin_sink){ 0 }, NULL));
    REFUSED("source.read must not be NULL", twin_collection_read_note(&field, (twin_source){ 0 }, NULL));
    REFUSED("saved.sources must not be NULL",
            twin_collection_load(&loaded, input, (twin_saved_files){ 0 }, (twin_collection_options){ 0 }, NULL));
    REFUSED("collection must not be NULL", twin__collection_fingerprint(&fingerprint, NULL));
    REFUSED("sink.write must not be NULL",
            twin_dedup_write_candidates(collection, rule.search, whole, (twin_sink){ 0 }, NULL));
    REFUSED("options must not be NULL",
            twin_dedup_write_matches(collection, (twin_saved_files){ 0 }, NULL, whole, file_sink(stdout), NULL));
    REFUSED("saved.sources must not be NULL",
            twin_dedup_decide(&dedup, collection, (twin_saved_files){ 0 }, &rule, NULL));
    REFUSED("collection must not be NULL",
            twin_dedup_write_candidates(NULL, rule.search, whole, file_sink(stdout), NULL));
    REFUSED("collection must not be NULL", twin_dedup_decide(&dedup, NULL, (twin_saved_files){ 0 }, &rule, NULL));
    REFUSED("out must not be NULL", twin_dedup_decide(NULL, collection, (twin_saved_files){ 0 }, &rule, NULL));
    REFUSED("exclude no documents", twin_dedup_write_matches(collection, (twin_saved_files){ 0 }, &excluding, whole,
                                                             file_sink(stdout), NULL));
    assert_null(twin_dedup_keepers(NULL));
    assert_null(twin_dedup_similarities(NULL));
    assert_int_equal(twin_dedup_count(NULL).documents + twin_dedup_groups(NULL, NULL), 0);
    twin_dedup_free(NULL);
    twin_collection_free(collection);
    twin_input_free(input);
}

static bool hear_entries(void *context, const twin_index_entry *a, const twin_index_entry *b, double similarity)
{
    (void)context, (void)a, (void)b, (void)similarity;
    return true;
}

static void in_creating_an_index(void **state)
{
    (void)state;
    static const char path[] = "/nowhere/index";
    twin_index *index;
    REFUSED("path must not be NULL", twin_index_create(NULL, (twin_index_options){ 0 }, false, NULL));
    REFUSED("path must not be NULL", twin_index_open(&index, NULL, TWIN_INDEX_READ, NULL));
    REFUSED("path must not be NULL", twin_index_compact(NULL, (twin_progress){ 0 }, NULL));
    REFUSED("sets have no text to keep",
            twin_index_create(path, (twin_index_options){ .format = TWIN_INPUT_SETS, .keep = TWIN_KEEP_TEXT }, false,
                              NULL));
    REFUSED("Jaccard similarity only",
            twin_index_create(path, (twin_index_options){ .scheme.measure = TWIN_CONTAINMENT }, false, NULL));
}

static void in_changes_of_an_index(twin_index *index)
{
    REFUSED("workers must be 0 to 1024, not 1025",
            twin_index_add(NULL, index, NULL, 0, (twin_index_add_options){ .exec = many }, NULL));
    REFUSED("documents must not be NULL", twin_index_add(NULL, index, NULL, 1, (twin_index_add_options){ 0 }, NULL));
    REFUSED("input must not be NULL", twin_index_add_input(NULL, index, NULL, (twin_index_add_options){ 0 }, NULL));
    const twin_text absent = { NULL, 3 };
    const twin_index_document bad[] = { { .id = absent, .text = text },
                                        { .id = text, .text = absent },
                                        { .id = text, .item_count = 1 } };
    REFUSED("id.bytes must not be NULL",
            twin_index_add(NULL, index, &bad[0], 1, (twin_index_add_options){ 0 }, NULL));
    REFUSED("text.bytes must not be NULL",
            twin_index_add(NULL, index, &bad[1], 1, (twin_index_add_options){ 0 }, NULL));
    REFUSED("items must not be NULL", twin_index_add(NULL, index, &bad[2], 1, (twin_index_add_options){ 0 }, NULL));
    REFUSED("ids[i].bytes must not be NULL", twin_index_remove(NULL, NULL, index, &absent, 1, NULL));
    REFUSED("ids must not be NULL", twin_index_remove(NULL, NULL, index, NULL, 1, NULL));
    REFUSED("a document needs an id", twin_index_add(NULL, index, &(twin_index_document){ .text = text }, 1,
                                                     (twin_index_add_options){ 0 }, NULL));
}

static void in_index(void **state)
{
    (void)state;
    twin_index *index;
    twin_index_view *view;
    twin_index_answer answer = { 0 };
    twin_index_entry entry;
    twin_index_info info;
    twin_input *input = two_documents();
    bool found;
    char folder[] = "/tmp/twinsift-arguments-XXXXXX", path[sizeof folder + 20], lock[sizeof folder + 20];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/index", folder);
    snprintf(lock, sizeof lock, "%s/index-lock", folder);
    REFUSED("not 70000", twin_index_create(path, (twin_index_options){ .scheme.minhash.slots = 70000 }, false, NULL));
    assert_int_equal(twin_index_create(path, (twin_index_options){ 0 }, false, NULL), TWIN_OK);
    REFUSED("unknown access 2", twin_index_open(&index, path, (twin_index_access)2, NULL));
    assert_int_equal(twin_index_open(&index, path, TWIN_INDEX_WRITE, NULL), TWIN_OK);
    in_changes_of_an_index(index);
    REFUSED("index must not be NULL", twin_index_view_create(&view, NULL, NULL));
    REFUSED("visit must not be NULL", twin_index_pairs(index, (twin_index_pairs_options){ 0 }, NULL, NULL, NULL));
    REFUSED("threshold must be 0 to 1, not 2",
            twin_index_pairs(index, (twin_index_pairs_options){ .threshold = 2 }, hear_entries, NULL, NULL));
    REFUSED("copies must be", twin_index_pairs(index, (twin_index_pairs_options){ .copies = TWIN_COPIES_ALL },
                                               hear_entries, NULL, NULL));
    REFUSED("answer must not be NULL",
            twin_index_query_input(NULL, index, input, (twin_index_query_input_options){ 0 }, NULL));
    REFUSED("view must not be NULL", twin_index_view_renew(NULL, NULL));
    REFUSED("texts must not be NULL",
            twin_index_query_many(&answer, index, (twin_index_query_many_options){ 0 }, NULL, 1, NULL));
    assert_int_equal(twin_index_view_create(&view, index, NULL), TWIN_OK);
    REFUSED("out must not be NULL", twin_index_query(NULL, view, (twin_index_query_options){ 0 }, text, NULL));
    REFUSED("found must not be NULL", twin_index_find(&entry, NULL, view, text, NULL));
    REFUSED("view must not be NULL", twin_index_find(&entry, &found, NULL, text, NULL));
    REFUSED("visit must not be NULL", twin_index_each(view, NULL, NULL, NULL));
    REFUSED("query it with a text",
            twin_index_query_items(&answer, view, (twin_index_query_options){ 0 }, (const uint64_t[]){ 1 }, 1, NULL));
    REFUSED("view must not be NULL", twin_index_describe(&info, NULL, NULL));
    REFUSED("view must not be NULL", twin_index_check(NULL, (twin_progress){ 0 }, NULL));
    twin_index_answer_clear(NULL);
    twin_index_view_free(view);
    twin_index_close(index);
    twin_input_free(input);
    unlink(path);
    unlink(lock);
    rmdir(folder);
}

/* An empty text may be NULL, whatever the processor. */
static void nothing_is_a_text(void **state)
{
    (void)state;
    const twin_text nothing = { NULL, 0 };
    const twin_cpu best = twin_cpu_level();
    for (int level = 0; level < TWIN_CPU_LEVELS; level++) {
        if (twin_cpu_use((twin_cpu)level) != TWIN_OK)
            continue;
        twin_edit_scratch edit = { 0 };
        twin_edit_spans spans = { 0 };
        twin_buffer out = { 0 };
        twin_sign_scratch sign = { 0 };
        twin_signer *signer;
        twin_set set;
        twin_bloom *bloom;
        uint32_t signature[128];
        size_t distance;
        double ratio;
        for (int normal = TWIN_NORMAL_FOLD; normal <= TWIN_NORMAL_BYTES; normal++)
            assert_int_equal(twin_text_normalise(&out, NULL, nothing, (twin_normal)normal), TWIN_OK);
        for (int unit = TWIN_EDIT_CHARS; unit <= TWIN_EDIT_BYTES; unit++) {
            twin_edit_unit which = (twin_edit_unit)unit;
            assert_int_equal(twin__edit_distance(&distance, &edit, nothing, text, which, 100), TWIN_OK);
            assert_int_equal(distance, text.length);
            assert_int_equal(twin__edit_indel(&distance, &edit, nothing, nothing, which, 100), TWIN_OK);
            assert_int_equal(twin__edit_ratio(&ratio, &edit, text, nothing, which, 0), TWIN_OK);
            assert_int_equal(twin__edit_align(&spans, &edit, text, nothing, which, 100), TWIN_OK);
            assert_int_equal(twin__edit_align(&spans, &edit, nothing, nothing, which, 100), TWIN_OK);
        }
        assert_int_equal(twin_diff(&spans, nothing, nothing, (twin_diff_options){ 0 }), TWIN_OK);
        for (int kind = TWIN_SHINGLE_AUTO; kind <= TWIN_SHINGLE_STOP; kind++)
            for (int family = TWIN_HASH_XXH3; family <= TWIN_HASH_SIP; family++) {
                twin_scheme scheme = { .shingle = { .kind = (twin_shingle_kind)kind } };
                scheme.shingle.hash = twin_hash_member((twin_hash_family)family, 1);
                if (twin_hash_available((twin_hash_family)family) != TWIN_OK)
                    continue;
                assert_int_equal(twin_signer_create(&signer, &scheme, NULL), TWIN_OK);
                assert_int_equal(twin__signer_text(signature, &set, signer, &sign, nothing), TWIN_OK);
                assert_int_equal(set.count, 0);
                assert_int_equal(twin__signer_items(signature, &set, signer, &sign, (twin_set){ 0 }), TWIN_OK);
                assert_int_equal(set.count, 0);
                twin_signer_free(signer);
                twin_hash_bytes(scheme.shingle.hash, NULL, 0);
                twin_hash_digest(scheme.shingle.hash, NULL, 0);
            }
        assert_true(twin__set_similarity_at_least((twin_set){ 0 }, (twin_set){ 0 }, TWIN_JACCARD, .5) < 0);
        assert_int_equal(twin_bloom_create(&bloom, (twin_bloom_options){ .items = 10 }), TWIN_OK);
        assert_true(twin_bloom_add(bloom, NULL, 0));
        assert_true(twin_bloom_may_contain(bloom, NULL, 0));
        assert_int_equal(twin_bloom_add_many(NULL, bloom, &nothing, 1), 0);
        twin_bloom_free(bloom);
        twin__edit_scratch_clear(&edit);
        twin_edit_spans_clear(&spans);
        twin_buffer_clear(&out);
        twin__sign_scratch_clear(&sign);
    }
    assert_int_equal(twin_cpu_use(best), TWIN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_base),
        cmocka_unit_test(in_text),
        cmocka_unit_test(in_sketch),
        cmocka_unit_test(in_scheme_and_signer),
        cmocka_unit_test(in_plan),
        cmocka_unit_test(in_lsh),
        cmocka_unit_test(in_edit),
        cmocka_unit_test(in_bloom),
        cmocka_unit_test(in_input),
        cmocka_unit_test(in_join),
        cmocka_unit_test(in_index),
        cmocka_unit_test(in_dedup),
        cmocka_unit_test(in_creating_an_index),
        cmocka_unit_test(in_collections_of_sets_and_texts),
        cmocka_unit_test(nothing_is_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

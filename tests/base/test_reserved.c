/* Options that the library is too old to know are refused (TWIN_RESERVED). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <twinsift/twinsift.h>

#include "sketch/minhash.h"
#include "sketch/shingle.h"

enum { LAST = TWIN_RESERVED - 1 };

/* Both fail, with a sentence that says why. */
static void refused(twin_status status)
{
    assert_int_equal(status, TWIN_EINVAL);
    assert_non_null(strstr(twin_error_last(status), "this version does not know"));
}

static void unknown_options_of_sketches_are_refused(void **state)
{
    (void)state;
    twin_minhash *hasher;
    refused(twin__minhash_create(&hasher, (twin_minhash_options){ .reserved = { 1 } }));
    twin_shingler *shingler;
    refused(twin__shingler_create(&shingler, (twin_shingle_options){ .reserved = { 1 } }));
    twin_signer *signer;
    refused(twin_signer_create(&signer, &(twin_scheme){ .reserved = { [LAST] = 1 } }, NULL));
    refused(twin_signer_create(&signer, &(twin_scheme){ .minhash.reserved = { [LAST] = 1 } }, NULL));
    refused(twin_signer_create(&signer, &(twin_scheme){ .shingle.reserved = { [LAST] = 1 } }, NULL));
    assert_int_equal(twin_signer_create(&signer, NULL, NULL), TWIN_OK);
    refused(twin_signer_many(NULL, NULL, signer, NULL, 0, (twin_signer_many_options){ .reserved = { 1 } }));
    twin_signer_free(signer);
    twin_edit_spans spans = { 0 };
    refused(twin_diff(&spans, (twin_text){ 0 }, (twin_text){ 0 }, (twin_diff_options){ .reserved = { 1 } }));
}

static void unknown_options_of_filters_and_models_are_refused(void **state)
{
    (void)state;
    twin_bloom *bloom;
    refused(twin_bloom_create(&bloom, (twin_bloom_options){ .reserved = { [LAST] = 1 } }));
    refused(twin_bloom_open(&bloom, "no such file", (twin_bloom_open_options){ .reserved = { 1 } }, NULL));
    refused(twin_index_create("no such folder/index", (twin_index_options){ .reserved = { 1 } }, false, NULL));
    if (twin_message_available() != TWIN_OK)
        return;
    twin_message_reader *reader;
    refused(twin_message_reader_create(&reader, (twin_message_options){ .reserved = { 1 } }));
    twin_mail *mail;
    refused(twin_mail_create_in_memory(&mail, (twin_mail_options){ .reserved = { 1 } }));
}

static void unknown_options_of_searches_are_refused(void **state)
{
    (void)state;
    twin_input *input;
    refused(twin_input_from_texts(&input, NULL, 0, (twin_input_options){ .reserved = { 1 } }, NULL));
    assert_int_equal(twin_input_from_texts(&input, NULL, 0, (twin_input_options){ 0 }, NULL), TWIN_OK);
    twin_collection *collection;
    refused(twin_collection_read(&collection, input, (twin_collection_options){ .reserved = { 1 } }, NULL));
    assert_int_equal(twin_collection_read(&collection, input, (twin_collection_options){ 0 }, NULL), TWIN_OK);

    twin_similar *similar;
    refused(twin_similar_find(&similar, collection, (twin_similar_options){ .reserved = { 1 } }, NULL));
    refused(twin_similar_find(&similar, collection, (twin_similar_options){ .bands.reserved = { 1 } }, NULL));
    assert_int_equal(twin_similar_find(&similar, collection, (twin_similar_options){ 0 }, NULL), TWIN_OK);
    twin_audit audit;
    refused(twin_audit_run(&audit, collection, similar, (twin_audit_options){ .reserved = { 1 } }, NULL));
    twin_dedup *dedup;
    refused(twin_dedup_find(&dedup, collection, (twin_dedup_options){ .reserved = { 1 } }, NULL));
    refused(twin_dedup_find(&dedup, collection, (twin_dedup_options){ .search.reserved = { 1 } }, NULL));
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_options_of_sketches_are_refused),
        cmocka_unit_test(unknown_options_of_filters_and_models_are_refused),
        cmocka_unit_test(unknown_options_of_searches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

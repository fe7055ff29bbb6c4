/* test_saved.c — files of signatures: what was written is loaded again, and files whose checksum fits, but whose contents
 * cannot be, are refused with a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <twinsift/collection.h>

#include "base/bytes.h"
#include "base/checked_stream.h"
#include "collection/contents.h"
#include "file_streams.h"

enum { SLOTS = 128, ENTRY_BYTES = 64, SOURCE_AT = 16, ID_AT = 40, ID_LENGTH_AT = 48, COUNTS = 7 };

static const twin_memory_document documents[] = { { .id = { "a", 1 }, .text = { "the first of two documents", 26 } },
                                                  { .id = { "b", 1 }, .text = { "and another one, the last", 25 } } };

static twin_input *make_input(void)
{
    twin_input *input;
    assert_int_equal(twin_input_from_texts(&input, documents, 2, (twin_input_options){ 0 }, NULL), TWIN_OK);
    return input;
}

/* ---- there and back ---- */

static void a_collection_comes_back(void **state_unused)
{
    (void)state_unused;
    twin_input *input = make_input();
    twin_collection *before, *after;
    twin_buffer note = { 0 };
    twin_error error = { 0 };
    uint64_t prints[2];
    FILE *file = tmpfile();
    assert_non_null(file);
    twin_collection_options options = { .ids_may_repeat = true };
    assert_int_equal(twin_collection_read(&before, input, options, &error), TWIN_OK);
    assert_int_equal(twin_collection_write(before, (twin_text){ "a note", 6 }, file_sink(file), &error), TWIN_OK);
    rewind(file);
    assert_int_equal(twin_collection_read_note(&note, file_source(file), &error), TWIN_OK);
    rewind(file);
    assert_int_equal(note.length, 6);
    assert_memory_equal(note.bytes, "a note", 6);
    assert_int_equal(twin_collection_load(&after, input,
                                          (twin_saved_files){ (twin_source[]){ file_source(file) }, 1, NULL },
                                          options, &error),
                     TWIN_OK);
    assert_int_equal(twin_collection_count(after).documents, 2);
    assert_memory_equal(twin__collection_signatures(before), twin__collection_signatures(after),
                        2 * SLOTS * sizeof(uint32_t));
    assert_int_equal(twin__collection_fingerprint(&prints[0], before), TWIN_OK);
    assert_int_equal(twin__collection_fingerprint(&prints[1], after), TWIN_OK);
    assert_true(prints[0] == prints[1]);
    twin_buffer_clear(&note);
    twin_collection_free(before);
    twin_collection_free(after);
    twin_input_free(input);
    fclose(file);
}

/* ---- what cannot be ---- */

/* A file of one document, which differs from a good one where it says so. */
struct contents {
    const char *words; /* of the sentence; NULL: it is good */
    twin_status status;
    uint64_t sources, block; /* 0: as it should be */
    uint32_t source, id, id_length;
    uint64_t seed; /* of the scheme */
};

static FILE *write_file(struct contents contents)
{
    twin_scheme scheme = twin_scheme_default();
    twin_buffer line = { 0 };
    unsigned char entry[ENTRY_BYTES] = { 0 }, signature[4 * SLOTS] = { 0 };
    struct twin__checked_stream stream;
    FILE *file = tmpfile();
    assert_non_null(file);
    twin_scheme_seed(&scheme, contents.seed);
    assert_int_equal(twin_scheme_complete(&scheme, NULL), TWIN_OK);
    assert_int_equal(twin_scheme_write(&line, &scheme), TWIN_OK);
    twin__put4(entry + SOURCE_AT, contents.source);
    twin__put4(entry + ID_AT, contents.id);
    twin__put4(entry + ID_LENGTH_AT, contents.id_length ? contents.id_length : 1);
    twin__checked_write(&stream, file_sink(file), "TWINSIG1", NULL);
    twin__checked_put_text(&stream, (twin_text){ line.bytes, line.length });
    twin__checked_put_text(&stream, (twin_text){ "", 0 });
    twin__checked_number(&stream, contents.sources ? contents.sources - 1 : 1);
    for (int i = 0; i < COUNTS; i++)
        twin__checked_number(&stream, 0);
    twin__checked_number(&stream, contents.block ? contents.block : 1);
    twin__checked_bytes(&stream, entry, sizeof entry);
    twin__checked_put_text(&stream, (twin_text){ "a", 1 });
    twin__checked_bytes(&stream, signature, sizeof signature);
    twin__checked_number(&stream, 0);
    assert_int_equal(twin__checked_close(&stream, TWIN_OK), TWIN_OK);
    twin_buffer_clear(&line);
    rewind(file);
    return file;
}

static void expect_load(const twin_input *input, FILE **files, size_t count, const struct contents *wanted)
{
    twin_source sources[2];
    for (size_t i = 0; i < count; i++)
        sources[i] = file_source(files[i]);
    twin_collection *collection = NULL;
    twin_error error = { 0 };
    twin_status status = twin_collection_load(&collection, input, (twin_saved_files){ sources, count, NULL },
                                              (twin_collection_options){ .ids_may_repeat = true }, &error);
    if (status != wanted->status || (wanted->words && !strstr(error.message, wanted->words)))
        fail_msg("%d \"%s\", not %d \"%s\"", status, error.message, wanted->status,
                 wanted->words ? wanted->words : "");
    twin_collection_free(collection);
}

static void contents_that_cannot_be_are_refused(void **state_unused)
{
    (void)state_unused;
    static const struct contents cases[] = {
        { .status = TWIN_OK },
        { "in none of the inputs", TWIN_EFORMAT, .source = 1 },
        { "in none of the inputs", TWIN_EFORMAT, .source = UINT32_MAX },
        { "outside the block of ids", TWIN_EFORMAT, .id = 2 },
        { "outside the block of ids", TWIN_EFORMAT, .id_length = 2 },
        { "outside the block of ids", TWIN_EFORMAT, .id = 1, .id_length = UINT32_MAX },
        { "a block is too large", TWIN_EFORMAT, .block = 5000 },
        { "which were not all given", TWIN_EINVAL, .sources = 1 + 2 },
        { "in none of the inputs", TWIN_EFORMAT, .sources = 1 + 0 },
    };
    twin_input *input = make_input();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = write_file(cases[i]);
        expect_load(input, &file, 1, &cases[i]);
        fclose(file);
    }
    twin_input_free(input);
}

/* The input is one source, and each file was written from one. */
static void files_that_do_not_belong_together_are_refused(void **state_unused)
{
    (void)state_unused;
    twin_input *input = make_input();
    FILE *files[] = { write_file((struct contents){ 0 }), write_file((struct contents){ .seed = 9 }) };
    expect_load(input, files, 2, &(struct contents){ .words = "signed by another scheme", .status = TWIN_EINVAL });
    rewind(files[0]);
    fclose(files[1]);
    files[1] = write_file((struct contents){ 0 });
    expect_load(input, files, 2, &(struct contents){ .words = "which were not all given", .status = TWIN_EINVAL });
    fclose(files[0]);
    fclose(files[1]);
    twin_input_free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collection_comes_back),
        cmocka_unit_test(contents_that_cannot_be_are_refused),
        cmocka_unit_test(files_that_do_not_belong_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

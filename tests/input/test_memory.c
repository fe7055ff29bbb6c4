/* test_memory.c — documents in memory: as an array and by calls, read, fetched, compared and indexed like files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>
#include <unistd.h>

#include "base/random.h"

#include "collection/contents.h"
#include "corpus.h"
#include "input/documents.h"

static const twin_input_options plain = { 0 };

static twin_text text_of(const char *string)
{
    return (twin_text){ string, strlen(string) };
}

static twin_input *open_texts(const twin_memory_document *documents, size_t count, twin_input_options options)
{
    twin_input *input;
    twin_error error = { 0 };
    if (twin_input_from_texts(&input, documents, count, options, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    return input;
}

/* ---- what a chunk holds ---- */

struct seen {
    size_t documents, problems;
    uint64_t lines;
    const twin_memory_document *given;
    twin_problem last;
};

static bool on_document(void *context, const twin_document *document)
{
    struct seen *seen = context;
    const twin_memory_document *given = &seen->given[document->position.offset];
    assert_ptr_equal(document->text.bytes, given->text.bytes ? given->text.bytes : document->text.bytes);
    assert_int_equal(document->text.length, given->text.length);
    assert_ptr_equal(document->record.bytes, document->text.bytes);
    assert_ptr_equal(document->id.bytes, given->id.bytes);
    assert_int_equal(document->id_is_number, given->id_is_number);
    assert_int_equal(document->position.line + seen->lines, document->position.offset + 1);
    assert_non_null(document->text.bytes);
    seen->documents++;
    return true;
}

static bool on_problem(void *context, const twin_problem *problem)
{
    struct seen *seen = context;
    seen->problems++;
    seen->last = *problem;
    return true;
}

static struct seen read_all(const twin_input *input, const twin_memory_document *given)
{
    struct seen seen = { .given = given };
    twin_read_buffers buffers = { 0 };
    twin_error error = { 0 };
    for (size_t chunk = 0; chunk < twin_input_chunks(input); chunk++) {
        uint64_t lines;
        twin_visitor visitor = { on_document, on_problem, &seen };
        assert_int_equal(twin__input_read(&lines, input, &buffers, chunk, visitor, &error), TWIN_OK);
        assert_int_equal(lines, twin_input_chunk_of(input, chunk).size);
        seen.lines += lines;
    }
    twin__read_buffers_clear(&buffers);
    return seen;
}

static const twin_memory_document few[] = {
    { .text = { "one", 3 }, .id = { "a", 1 } },
    { .text = { NULL, 0 } },
    { .text = { "three\0!", 7 }, .id = { "17", 2 }, .id_is_number = true },
    { .text = { "four", 4 }, .id = { "", 0 } },
};
enum { FEW = sizeof few / sizeof few[0] };

static void texts_are_borrowed_and_numbered(void **state)
{
    (void)state;
    twin_input *input = open_texts(few, FEW, plain);
    struct seen seen = read_all(input, few);
    assert_int_equal(seen.documents, FEW);
    assert_int_equal(seen.lines, FEW);
    assert_int_equal(twin_input_sources(input), 1);
    assert_string_equal(twin_input_name(input, 0), "memory");
    assert_int_equal(twin_input_format_of(input), TWIN_INPUT_DOCUMENTS);
    twin_input_free(input);
}

static void a_document_is_fetched_by_its_number(void **state)
{
    (void)state;
    twin_input *input = open_texts(few, FEW, plain);
    twin_read_buffers buffers = { 0 };
    twin_document got;
    twin_error error = { 0 };
    static const char *const ids[] = { "a", "2", "17", "" };
    for (size_t i = 0; i < FEW; i++) {
        twin_position position = { .offset = i };
        assert_int_equal(twin__input_fetch(&got, input, &buffers, position, &error), TWIN_OK);
        assert_text(got.id, ids[i]);
        assert_int_equal(got.id_is_number, few[i].id_is_number);
        assert_int_equal(got.text.length, few[i].text.length);
        assert_int_equal(got.position.line, i + 1);
    }
    twin_position outside = { .offset = FEW };
    assert_int_equal(twin__input_fetch(&got, input, &buffers, outside, &error), TWIN_EFORMAT);
    twin_buffer words = { 0 };
    assert_int_equal(twin_input_describe(&words, input, (twin_position){ .offset = 1 }, 0), TWIN_OK);
    assert_string_equal(words.bytes, "document 2");
    twin_buffer_clear(&words);
    twin__read_buffers_clear(&buffers);
    twin_input_free(input);
}

static void there_may_be_no_documents(void **state)
{
    (void)state;
    twin_input *input = open_texts(NULL, 0, plain);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_collection *collection = read_collection(input, plain_options("word:2"));
    assert_int_equal(twin_collection_count(collection).documents, 0);
    twin_collection_free(collection);
    twin_input_free(input);
}

static void what_is_too_long_or_an_empty_row_is_a_problem(void **state)
{
    (void)state;
    twin_input *input = open_texts(few, FEW, (twin_input_options){ .max_bytes = 5 });
    struct seen seen = read_all(input, few);
    assert_int_equal(seen.documents, 3);
    assert_int_equal(seen.problems, 1);
    assert_int_equal(seen.last.kind, TWIN_PROBLEM_TOO_LONG);
    assert_int_equal(seen.last.position.offset, 2);
    twin_input_free(input);

    input = open_texts(few, FEW, (twin_input_options){ .format = TWIN_INPUT_SETS });
    seen = read_all(input, few);
    assert_int_equal(seen.documents, 2);
    assert_int_equal(seen.problems, 2);
    assert_string_equal(seen.last.message, "an empty name of a set");
    twin_input_free(input);
}

static void wrong_arguments_are_refused_with_a_sentence(void **state)
{
    (void)state;
    twin_input *input;
    twin_error error = { 0 };
    assert_int_equal(twin_input_from_texts(&input, NULL, 1, plain, &error), TWIN_EINVAL);
    assert_null(input);
    assert_true(error.message[0] != '\0');
    error = (twin_error){ 0 };
    assert_int_equal(twin_input_from_callback(&input, (twin_memory_source){ .count = 1 }, plain, &error),
                     TWIN_EINVAL);
    assert_null(input);
    assert_true(error.message[0] != '\0');
    twin_input_options unknown = { .format = (twin_input_format)7 };
    assert_int_equal(twin_input_from_texts(&input, few, FEW, unknown, NULL), TWIN_EINVAL);

    const twin_memory_document broken = { .text = { NULL, 3 } };
    input = open_texts(&broken, 1, plain);
    twin_collection *collection;
    assert_int_equal(twin_collection_read(&collection, input, plain_options("word:2"), &error), TWIN_EINVAL);
    assert_non_null(strstr(error.message, "document 1 has a text"));
    twin_input_free(input);
}

/* ---- like a file ---- */

enum { DOCUMENTS = 3000, LONGEST = 400 };

/* Documents of a few words, a third of them a copy of an earlier one with a letter changed or not. Each is a block of
 * its own, so that the sanitizer sees a read past its end. */
struct documents {
    twin_memory_document list[DOCUMENTS];
    char ids[DOCUMENTS][8];
};

static struct documents *make_documents(void)
{
    static const char *const words[] = { "harbour", "lamp", "of",    "the", "winter",
                                         "bread",   "and",  "river", "a",   "stone" };
    struct documents *all = calloc(1, sizeof *all);
    assert_non_null(all);
    uint64_t random = 5;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        char text[LONGEST];
        size_t length = 0;
        if (i && twin__random_below(&random, 3) == 0) {
            twin_text old = all->list[twin__random_below(&random, i)].text;
            memcpy(text, old.bytes, length = old.length);
            if (length && twin__random_below(&random, 2))
                text[twin__random_below(&random, length)] = 'x';
        } else {
            for (uint64_t n = twin__random_below(&random, 40); n; n--)
                length += (size_t)sprintf(text + length, "%s ", words[twin__random_below(&random, 10)]);
        }
        char *bytes = malloc(length ? length : 1);
        assert_non_null(bytes);
        memcpy(bytes, text, length);
        all->list[i].text = (twin_text){ bytes, length };
        if (i % 2)
            all->list[i].id = (twin_text){ all->ids[i], (size_t)sprintf(all->ids[i], "d%zu", i) };
    }
    return all;
}

static void free_documents(struct documents *all)
{
    for (size_t i = 0; i < DOCUMENTS; i++)
        free((char *)all->list[i].text.bytes);
    free(all);
}

/* A file of the same documents, which have no id where theirs is their number. */
static void write_lines(struct corpus *corpus, const struct documents *all)
{
    FILE *file = fopen(corpus_path(corpus, "same.jsonl"), "w");
    assert_non_null(file);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        twin_text text = all->list[i].text;
        fprintf(file, "{\"text\":\"%.*s\"", (int)text.length, text.bytes);
        if (all->list[i].id.bytes)
            fprintf(file, ",\"id\":\"%s\"", all->ids[i]);
        fprintf(file, "}\n");
    }
    assert_int_equal(fclose(file), 0);
}

static twin_status get_document(void *context, uint64_t number, twin_memory_document *out)
{
    *out = ((const struct documents *)context)->list[number];
    return TWIN_OK;
}

static void check_same_collections(const twin_collection *a, const twin_collection *b)
{
    size_t count = twin_collection_count(a).documents;
    assert_int_equal(count, twin_collection_count(b).documents);
    assert_int_equal(twin_collection_count(a).copies, twin_collection_count(b).copies);
    assert_memory_equal(twin__collection_signatures(a), twin__collection_signatures(b),
                        count * twin__collection_slots(a) * sizeof(uint32_t));
    assert_memory_equal(twin_collection_firsts(a), twin_collection_firsts(b), count * sizeof(uint32_t));
    twin_scratch x = { 0 }, y = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        twin_text p = twin_collection_entry_of(a, i).id, q = twin_collection_entry_of(b, i).id;
        assert_int_equal(p.length, q.length);
        assert_memory_equal(p.bytes, q.bytes, p.length);
        twin_set s, t;
        assert_int_equal(twin__collection_set(&s, a, &x, i, NULL), TWIN_OK);
        assert_int_equal(twin__collection_set(&t, b, &y, i, NULL), TWIN_OK);
        assert_int_equal(s.count, t.count);
        assert_memory_equal(s.items, t.items, s.count * sizeof s.items[0]);
    }
    twin__scratch_clear(&x);
    twin__scratch_clear(&y);
}

static void a_collection_of_texts_equals_that_of_a_file(void **state)
{
    (void)state;
    static const size_t chunk_bytes[] = { 0, 1, 8192, 50000 };
    struct documents *all = make_documents();
    struct corpus corpus;
    corpus_begin(&corpus);
    write_lines(&corpus, all);
    twin_input *file = open_input(corpus_path(&corpus, "same.jsonl"), plain);
    twin_collection *expected = read_collection(file, plain_options("word:2"));
    for (size_t c = 0; c < sizeof chunk_bytes / sizeof chunk_bytes[0]; c++)
        for (int workers = 1; workers <= 4; workers += 3) {
            twin_input_options options = { .chunk_bytes = chunk_bytes[c] };
            twin_input *inputs[2] = { open_texts(all->list, DOCUMENTS, options) };
            twin_memory_source source = { DOCUMENTS, get_document, all };
            assert_int_equal(twin_input_from_callback(&inputs[1], source, options, NULL), TWIN_OK);
            for (int i = 0; i < 2; i++) {
                twin_collection_options reading = plain_options("word:2");
                assert_int_equal(twin_exec_make(&reading.exec, TWIN_EXEC_PTHREADS, workers), TWIN_OK);
                twin_collection *collection = read_collection(inputs[i], reading);
                check_same_collections(collection, expected);
                twin_collection_free(collection);
                twin_input_free(inputs[i]);
            }
        }
    twin_collection_free(expected);
    twin_input_free(file);
    corpus_end(&corpus);
    free_documents(all);
}

static void rows_in_memory_make_sets(void **state)
{
    (void)state;
    static const twin_memory_document rows[] = {
        { .id = { "x", 1 }, .text = { "1", 1 } }, { .id = { "y", 1 }, .text = { "1", 1 } },
        { .id = { "x", 1 }, .text = { "2", 1 } }, { .id = { "y", 1 }, .text = { "3", 1 } },
        { .id = { "x", 1 }, .text = { "2", 1 } },
    };
    twin_input *input = open_texts(rows, 5, (twin_input_options){ .format = TWIN_INPUT_SETS });
    twin_collection *collection = read_collection(input, plain_options("word:2"));
    assert_int_equal(twin_collection_count(collection).documents, 2);
    assert_text(twin_collection_entry_of(collection, 1).id, "y");
    twin_set x, y;
    twin_scratch scratch = { 0 };
    assert_int_equal(twin__collection_set(&x, collection, &scratch, 0, NULL), TWIN_OK);
    assert_int_equal(twin__collection_set(&y, collection, &scratch, 1, NULL), TWIN_OK);
    assert_int_equal(x.count, 2);
    assert_int_equal(y.count, 2);
    twin__scratch_clear(&scratch);
    twin_collection_free(collection);
    twin_input_free(input);
}

struct failing {
    const struct documents *all;
    uint64_t at;
    atomic_size_t calls;
};

static twin_status get_until(void *context, uint64_t number, twin_memory_document *out)
{
    struct failing *failing = context;
    failing->calls++;
    *out = failing->all->list[number];
    return number == failing->at ? TWIN_EIO : TWIN_OK;
}

static void a_failing_callback_ends_the_reading(void **state)
{
    (void)state;
    struct documents *all = make_documents();
    for (int workers = 1; workers <= 3; workers++) {
        struct failing failing = { .all = all, .at = 100 };
        twin_input *input;
        twin_error error = { 0 };
        twin_memory_source source = { DOCUMENTS, get_until, &failing };
        assert_int_equal(twin_input_from_callback(&input, source, plain, &error), TWIN_OK);
        twin_collection_options options = plain_options("word:2");
        assert_int_equal(twin_exec_make(&options.exec, TWIN_EXEC_PTHREADS, workers), TWIN_OK);
        twin_collection *collection;
        assert_int_equal(twin_collection_read(&collection, input, options, &error), TWIN_EIO);
        assert_null(collection);
        assert_non_null(strstr(error.message, "document 101 "));
        assert_true(failing.calls < DOCUMENTS);
        twin_input_free(input);
    }
    free_documents(all);
}

/* ---- in an index ---- */

static bool count_answers(void *context, twin_text id, bool id_is_number, const twin_index_answer *answer)
{
    (void)id, (void)id_is_number;
    *(size_t *)context += answer->count;
    return true;
}

static void texts_are_added_to_an_index_and_found_there(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    static const twin_memory_document three[] = {
        { .text = { "the harbour lamp was lit again in the winter of the great storm", 64 } },
        { .text = { "a bakery keeps its bread where the river bank had kept its gold", 63 }, .id = { "b", 1 } },
        { .text = { "the harbour lamp was lit again in the winter of the great stone", 64 } },
    };
    twin_error error = { 0 };
    twin_index *index;
    const char *path = corpus_path(&corpus, "index");
    twin_index_options options = { .scheme = twin_scheme_default() };
    options.scheme.threshold = 0.5;
    options.scheme.plan = (twin_plan){ 0 };
    assert_int_equal(twin_shingle_parse(&options.scheme.shingle, "char:5"), TWIN_OK);
    assert_int_equal(twin_index_create(path, options, true, &error), TWIN_OK);
    assert_int_equal(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), TWIN_OK);
    twin_input *input = open_texts(three, 3, plain);
    twin_exec exec = { TWIN_EXEC_SERIAL, 1 };
    twin_index_change change = { 0 };
    assert_int_equal(twin_index_add_input(&change, index, input, (twin_index_add_options){ .exec = exec }, &error),
                     TWIN_OK);
    assert_int_equal(change.added, 3);
    twin_index_view *view;
    twin_index_entry entry;
    bool found;
    assert_int_equal(twin_index_view_create(&view, index, &error), TWIN_OK);
    assert_int_equal(twin_index_find(&entry, &found, view, text_of("3"), &error), TWIN_OK);
    assert_true(found && entry.document == 2);
    twin_index_view_free(view);
    size_t answers = 0;
    twin_index_query_input_options asking = { .exec = exec, .answer = count_answers, .context = &answers };
    assert_int_equal(twin_index_query_input(NULL, index, input, asking, &error), TWIN_OK);
    assert_int_equal(answers, 5);
    twin_index_close(index);
    twin_input_free(input);
    corpus_end(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_borrowed_and_numbered),
        cmocka_unit_test(a_document_is_fetched_by_its_number),
        cmocka_unit_test(there_may_be_no_documents),
        cmocka_unit_test(what_is_too_long_or_an_empty_row_is_a_problem),
        cmocka_unit_test(wrong_arguments_are_refused_with_a_sentence),
        cmocka_unit_test(a_collection_of_texts_equals_that_of_a_file),
        cmocka_unit_test(rows_in_memory_make_sets),
        cmocka_unit_test(a_failing_callback_ends_the_reading),
        cmocka_unit_test(texts_are_added_to_an_index_and_found_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

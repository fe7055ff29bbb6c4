/* test_reader.c — one pass over an input by several workers: the outcome is that of one worker reading line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stages.h"
#include "input/reader.h"

#include "corpus.h"

enum { MOST_WORKERS = 7, LINES = 2000 };

/* ---- a reading that writes a log ---- */

struct log {
    twin_buffer results[MOST_WORKERS]; /* the ids of a chunk */
    struct found {
        twin_position position;
        size_t id, id_length;
        bool has_id;
    } * found[MOST_WORKERS];
    size_t counts[MOST_WORKERS];
    twin_buffer words; /* what was collected, in order */
    uint64_t reported; /* problems */
    uint64_t ill_formed;
    atomic_size_t documents;
    const char *fail_at;       /* an id at which processing fails */
    const char *ill_formed_at; /* the last digit of ids whose documents are ill-formed */
    uint64_t stop_at_chunk;    /* from 1; 0: never */
    uint64_t chunks;
    uint64_t done, total;
};

static void begin(void *context, int worker)
{
    struct log *log = context;
    log->results[worker].length = 0;
    log->counts[worker] = 0;
}

static twin_status process(void *context, int worker, const twin_document *document, uint64_t *ill_formed,
                           twin_error *error)
{
    struct log *log = context;
    atomic_fetch_add(&log->documents, 1);
    if (log->fail_at && document->id.length == strlen(log->fail_at) &&
        memcmp(document->id.bytes, log->fail_at, document->id.length) == 0) {
        error->status = TWIN_ELIMIT;
        strcpy(error->message, "enough");
        return TWIN_ELIMIT;
    }
    if (log->ill_formed_at && document->id.length &&
        document->id.bytes[document->id.length - 1] == *log->ill_formed_at)
        *ill_formed += 2;
    if (!log->found[worker])
        log->found[worker] = malloc((LINES + 1) * sizeof **log->found);
    assert_non_null(log->found[worker]);
    struct found *found = &log->found[worker][log->counts[worker]++];
    *found = (struct found){ document->position, log->results[worker].length, document->id.length,
                             document->id.bytes != NULL };
    return twin_buffer_append(&log->results[worker], document->id.bytes, document->id.length);
}

static void say(struct log *log, const char *words, size_t length)
{
    assert_int_equal(twin_buffer_append(&log->words, words, length), TWIN_OK);
}

static twin_status collect(void *context, int worker, struct twin__reader *reader, twin_error *error)
{
    (void)error;
    struct log *log = context;
    for (size_t i = 0; i < log->counts[worker]; i++) {
        struct found found = log->found[worker][i];
        twin_text id = { found.has_id ? log->results[worker].bytes + found.id : NULL, found.id_length };
        assert_int_equal(twin__reader_finish(&found.position, &id, reader), TWIN_OK);
        char line[64];
        say(log, line,
            (size_t)sprintf(line, "%u:%d@%d=", found.position.source, (int)found.position.line,
                            (int)found.position.offset));
        say(log, id.bytes, id.length);
        say(log, "\n", 1);
    }
    return ++log->chunks == log->stop_at_chunk ? TWIN_ESTOPPED : TWIN_OK;
}

static void on_problem(void *context, const twin_problem *problem)
{
    struct log *log = context;
    char line[256];
    log->reported++;
    say(log, line,
        (size_t)sprintf(line, "problem %u:%d:%d %s\n", problem->position.source, (int)problem->position.line,
                        (int)problem->column, problem->message));
}

static bool on_progress(void *context, const twin_stage *stage, uint64_t done, uint64_t total)
{
    struct log *log = context;
    assert_ptr_equal(stage, &twin__stage_reading);
    assert_true(done >= log->done && done <= total);
    log->done = done;
    log->total = total;
    return true;
}

static twin_status read_into(struct log *log, uint64_t *problems, const twin_input *input, twin_exec exec,
                             bool strict, twin_error *error)
{
    struct twin__reader_options options = { .input = input,
                                            .exec = exec,
                                            .strict = strict,
                                            .stage = &twin__stage_reading,
                                            .begin = begin,
                                            .document = process,
                                            .collect = collect,
                                            .problem = on_problem,
                                            .context = log };
    struct twin__read_counts counts = { 0 };
    struct twin__watch watch;
    twin__watch_begin(&watch, (twin_progress){ on_progress, log }, &twin__stage_reading);
    twin_status status = twin__watch_end(&watch, twin__read_input(&counts, &options, error), error);
    if (problems)
        *problems = counts.problems;
    log->ill_formed = counts.ill_formed;
    return status;
}

static void clear_log(struct log *log)
{
    for (int i = 0; i < MOST_WORKERS; i++) {
        twin_buffer_clear(&log->results[i]);
        free(log->found[i]);
    }
    twin_buffer_clear(&log->words);
    *log = (struct log){ 0 };
}

/* ---- inputs ---- */

/* Two files: lines with an id, without one, blank, and bad, `bad` of a thousand. */
struct files {
    struct corpus corpus;
    char paths[2][160];
};

static void write_files(struct files *files, int bad)
{
    corpus_begin(&files->corpus);
    for (int f = 0; f < 2; f++) {
        snprintf(files->paths[f], sizeof files->paths[f], "%s/%d.jsonl", files->corpus.folder, f);
        FILE *file = fopen(files->paths[f], "w");
        assert_non_null(file);
        for (int i = 0; i < LINES; i++)
            if (i * 7919 % 1000 < bad)
                fprintf(file, i % 2 ? "not JSON\n" : "{\"id\":\"%d\"}\n", i);
            else if (i % 11 == 0)
                fprintf(file, "\r\n");
            else
                fprintf(file, i % 3 ? "{\"id\":\"f%dd%d\",\"text\":\"t\"}\n" : "{\"text\":\"no id\"}\n", f, i);
        assert_int_equal(fclose(file), 0);
    }
}

static twin_input *open_files(const struct files *files, size_t chunk_bytes)
{
    const char *paths[] = { files->paths[0], files->paths[1] };
    twin_input *input;
    twin_input_options options = { .chunk_bytes = chunk_bytes };
    assert_int_equal(twin_input_open(&input, paths, 2, options, NULL), TWIN_OK);
    return input;
}

/* What must be collected, from the files as they were written: problems are reported before the documents of their
 * chunk, so this is for a single chunk per file. */
static void expect_words(twin_buffer *out, const struct files *files, bool problems)
{
    char line[256], words[512];
    for (unsigned f = 0; f < 2; f++) {
        FILE *file = fopen(files->paths[f], "r");
        assert_non_null(file);
        long offset = 0;
        for (int number = 1; fgets(line, sizeof line, file); number++, offset = ftell(file)) {
            char *text = strstr(line, "\"text\""), *id = strstr(line, "\"id\":\"");
            int length = 0;
            if (text && !problems && id)
                length =
                    sprintf(words, "%u:%d@%d=%.*s\n", f, number, (int)offset, (int)strcspn(id + 6, "\""), id + 6);
            else if (text && !problems)
                length = sprintf(words, "%u:%d@%d=%s:%d\n", f, number, (int)offset, files->paths[f], number);
            else if (!text && problems && line[0] != '\r')
                length = sprintf(words,
                                 id ? "problem %u:%d:1 no field \"text\"\n" : "problem %u:%d:1 expected an object\n",
                                 f, number);
            assert_int_equal(twin_buffer_append(out, words, (size_t)length), TWIN_OK);
        }
        fclose(file);
    }
}

/* The lines of `words` that are problems, or those that are not. */
static void split(twin_buffer *out, const twin_buffer *words, bool problems)
{
    const char *line = words->bytes, *end = words->bytes + words->length;
    while (line < end) {
        const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        if ((strncmp(line, "problem", 7) == 0) == problems)
            assert_int_equal(twin_buffer_append(out, line, (size_t)(next - line)), TWIN_OK);
        line = next;
    }
}

static void assert_equal_bytes(const twin_buffer *a, const twin_buffer *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->bytes, b->bytes, a->length);
}

/* ---- tests ---- */

static void every_executor_collects_in_order(void **state)
{
    (void)state;
    static const size_t chunk_bytes[] = { 64, 1000, 0 };
    struct files files;
    twin_buffer documents = { 0 }, problems = { 0 };
    write_files(&files, 20);
    expect_words(&documents, &files, false);
    expect_words(&problems, &files, true);
    for (int e = 0; e < EXECS; e++)
        for (size_t c = 0; c < 3; c++) {
            twin_exec exec;
            if (!exec_number(&exec, e))
                continue;
            struct log log = { 0 };
            uint64_t bad = 0;
            twin_error error = { 0 };
            twin_input *input = open_files(&files, chunk_bytes[c]);
            assert_int_equal(read_into(&log, &bad, input, exec, false, &error), TWIN_OK);
            assert_int_equal(bad, 2 * 20 * LINES / 1000);
            assert_int_equal(bad, log.reported);
            assert_int_equal(log.chunks, twin_input_chunks(input));
            assert_int_equal(log.done, log.total);
            twin_buffer found[2] = { 0 };
            split(&found[0], &log.words, false);
            split(&found[1], &log.words, true);
            assert_equal_bytes(&found[0], &documents);
            assert_equal_bytes(&found[1], &problems);
            twin_buffer_clear(&found[0]);
            twin_buffer_clear(&found[1]);
            clear_log(&log);
            twin_input_free(input);
        }
    twin_buffer_clear(&documents);
    twin_buffer_clear(&problems);
    corpus_end(&files.corpus);
}

static void strict_ends_at_the_first_problem_of_the_input(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 3);
    twin_buffer problems = { 0 };
    expect_words(&problems, &files, true);
    uint64_t line = strtoull(strchr(problems.bytes, ':') + 1, NULL, 10);
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        struct log log = { 0 };
        uint64_t bad = 7;
        twin_error error = { 0 };
        char position[200];
        snprintf(position, sizeof position, "%s:%d", files.paths[0], (int)line);
        twin_input *input = open_files(&files, 300);
        assert_int_equal(read_into(&log, &bad, input, exec, true, &error), TWIN_EFORMAT);
        assert_int_equal(error.status, TWIN_EFORMAT);
        assert_int_equal(error.line, line);
        assert_memory_equal(error.message, position, strlen(position));
        assert_string_equal(twin_error_last(TWIN_EFORMAT), error.message);
        assert_int_equal(log.reported, 0);
        assert_true(log.chunks < twin_input_chunks(input) / 2);
        log.done = 0;
        assert_int_equal(read_into(&log, NULL, input, exec, true, NULL), TWIN_EFORMAT);
        clear_log(&log);
        twin_input_free(input);
    }
    twin_buffer_clear(&problems);
    corpus_end(&files.corpus);
}

static void only_the_first_problems_are_reported_and_all_are_counted(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 500);
    twin_buffer expected = { 0 };
    expect_words(&expected, &files, true);
    for (int e = 0; e < EXECS; e++)
        for (size_t chunk_bytes = 0; chunk_bytes <= 100; chunk_bytes += 100) {
            twin_exec exec;
            if (!exec_number(&exec, e))
                continue;
            struct log log = { 0 };
            uint64_t bad = 0;
            twin_input *input = open_files(&files, chunk_bytes);
            assert_int_equal(read_into(&log, &bad, input, exec, false, NULL), TWIN_OK);
            assert_int_equal(bad, LINES);
            assert_int_equal(log.reported, TWIN_PROBLEMS_KEPT);
            twin_buffer found = { 0 };
            split(&found, &log.words, true);
            assert_true(found.length < expected.length);
            assert_memory_equal(found.bytes, expected.bytes, found.length);
            twin_buffer_clear(&found);
            clear_log(&log);
            twin_input_free(input);
        }
    twin_buffer_clear(&expected);
    corpus_end(&files.corpus);
}

static void ill_formed_documents_are_collected_and_reported_or_end_a_strict_reading(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 0);
    struct log first = { 0 };
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        struct log log = { .ill_formed_at = "7" }, strict = { .ill_formed_at = "7" };
        uint64_t bad = 1;
        twin_error error = { 0 };
        twin_input *input = open_files(&files, 1000);
        assert_int_equal(read_into(&log, &bad, input, exec, false, &error), TWIN_OK);
        assert_int_equal(bad, 0);
        assert_true(log.ill_formed > TWIN_PROBLEMS_KEPT);
        assert_int_equal(log.reported, TWIN_PROBLEMS_KEPT);
        assert_non_null(memmem(log.words.bytes, log.words.length, " 2 ill-formed UTF-8 sequences\n", 30));
        if (!first.ill_formed)
            first = log;
        assert_int_equal(log.ill_formed, first.ill_formed);
        assert_equal_bytes(&log.words, &first.words);
        assert_int_equal(read_into(&strict, NULL, input, exec, true, &error), TWIN_EFORMAT);
        assert_non_null(strstr(error.message, ": 2 ill-formed UTF-8 sequences"));
        clear_log(&strict);
        if (first.words.bytes != log.words.bytes)
            clear_log(&log);
        twin_input_free(input);
    }
    clear_log(&first);
    corpus_end(&files.corpus);
}

static void the_first_failure_in_the_input_is_returned(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 0);
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        struct log log = { .fail_at = "f0d100" };
        twin_error error = { 0 };
        twin_input *input = open_files(&files, 200);
        assert_int_equal(read_into(&log, NULL, input, exec, false, &error), TWIN_ELIMIT);
        assert_string_equal(error.message, "enough");
        assert_string_equal(twin_error_last(TWIN_ELIMIT), "enough");
        assert_true(log.documents < LINES);
        /* What came before the chunk of the failure was collected, and nothing after it. */
        assert_true(log.words.length > 0);
        assert_null(memmem(log.words.bytes, log.words.length, "f0d100\n", 7));
        assert_null(memmem(log.words.bytes, log.words.length, "f0d200\n", 7));
        clear_log(&log);
        twin_input_free(input);
    }
    corpus_end(&files.corpus);
}

static void a_collector_can_stop_the_reading(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 0);
    for (int e = 0; e < EXECS; e++) {
        twin_exec exec;
        if (!exec_number(&exec, e))
            continue;
        struct log log = { .stop_at_chunk = 3 };
        twin_error error = { 0 };
        twin_input *input = open_files(&files, 200);
        assert_int_equal(read_into(&log, NULL, input, exec, false, &error), TWIN_ESTOPPED);
        assert_int_equal(error.status, TWIN_ESTOPPED);
        assert_true(error.message[0] != '\0');
        assert_int_equal(log.chunks, 3);
        assert_true(log.documents < LINES);
        clear_log(&log);
        twin_input_free(input);
    }
    corpus_end(&files.corpus);
}

static void a_file_that_became_shorter_fails(void **state)
{
    (void)state;
    struct files files;
    write_files(&files, 0);
    twin_input *input = open_files(&files, 1000);
    assert_int_equal(truncate(files.paths[1], 500), 0);
    struct log log = { 0 };
    twin_error error = { 0 };
    twin_exec two = { TWIN_EXEC_PTHREADS, 2 };
    assert_int_equal(read_into(&log, NULL, input, two, false, &error), TWIN_EIO);
    assert_non_null(strstr(error.message, "became shorter"));
    clear_log(&log);
    twin_input_free(input);
    corpus_end(&files.corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_executor_collects_in_order),
        cmocka_unit_test(strict_ends_at_the_first_problem_of_the_input),
        cmocka_unit_test(only_the_first_problems_are_reported_and_all_are_counted),
        cmocka_unit_test(ill_formed_documents_are_collected_and_reported_or_end_a_strict_reading),
        cmocka_unit_test(the_first_failure_in_the_input_is_returned),
        cmocka_unit_test(a_collector_can_stop_the_reading),
        cmocka_unit_test(a_file_that_became_shorter_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

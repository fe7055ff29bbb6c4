/* input_log.h — for tests of inputs: a folder per test, and all that is read from an input. Included once per program,
 * after cmocka.h. */
#ifndef TWIN_TESTS_INPUT_LOG_H
#define TWIN_TESTS_INPUT_LOG_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <twinsift/input.h>

#include "input/documents.h"

/* ---- a folder for each test, gone after it ---- */

static char base[64];

static inline int make_base(void **unused)
{
    (void)unused;
    strcpy(base, "/tmp/twinsift-test-XXXXXX");
    return mkdtemp(base) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

static inline int remove_base(void **unused)
{
    (void)unused;
    return nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_base, remove_base)

/* The path of `name` in the test's folder; four may be in use at once. */
static inline const char *path_of(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static inline void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void make_folder(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

/* ---- what was read ---- */

struct seen {
    bool is_problem, is_number, has_id;
    twin_position position;
    uint64_t column;
    twin_problem_kind kind;
    char message[160];
    char *id, *text, *record; /* ended by a zero */
    size_t text_length;
};

struct log {
    struct seen *seen;
    size_t count, capacity;
    uint64_t lines;
};

static inline char *copy_of(twin_text text)
{
    char *copy = malloc(text.length + 1);
    assert_non_null(copy);
    if (text.length)
        memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    return copy;
}

static inline struct seen *add(struct log *log, twin_position position)
{
    if (log->count == log->capacity) {
        log->capacity = 2 * log->capacity + 16;
        log->seen = realloc(log->seen, log->capacity * sizeof log->seen[0]);
        assert_non_null(log->seen);
    }
    struct seen *seen = &log->seen[log->count++];
    *seen = (struct seen){ .position = position };
    if (position.line)
        seen->position.line += log->lines;
    return seen;
}

static inline bool on_document(void *context, const twin_document *document)
{
    struct seen *seen = add(context, document->position);
    seen->has_id = document->id.bytes != NULL;
    seen->is_number = document->id_is_number;
    seen->id = copy_of(document->id);
    seen->text = copy_of(document->text);
    seen->text_length = document->text.length;
    seen->record = copy_of(document->record);
    return true;
}

static inline bool on_problem(void *context, const twin_problem *problem)
{
    struct seen *seen = add(context, problem->position);
    seen->is_problem = true;
    seen->kind = problem->kind;
    seen->column = problem->column;
    snprintf(seen->message, sizeof seen->message, "%s", problem->message);
    return true;
}

static inline twin_visitor visitor_of(struct log *log)
{
    return (twin_visitor){ on_document, on_problem, log };
}

static inline void clear_log(struct log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        free(log->seen[i].id);
        free(log->seen[i].text);
        free(log->seen[i].record);
    }
    free(log->seen);
    *log = (struct log){ 0 };
}

static inline twin_input *open_all(const char *const *paths, size_t count, twin_input_options options)
{
    twin_input *input;
    twin_error error = { 0 };
    if (twin_input_open(&input, paths, count, options, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    return input;
}

static inline twin_input *open_one(const char *path, twin_input_options options)
{
    return open_all(&path, 1, options);
}

/* Reads all pieces in order; line numbers are counted from the start of each input. */
static inline struct log read_all(const twin_input *input)
{
    struct log log = { 0 };
    twin_read_buffers reading = { 0 };
    for (size_t piece = 0; piece < twin_input_chunks(input); piece++) {
        uint64_t lines;
        twin_error error = { 0 };
        if (piece && twin_input_chunk_of(input, piece).source != twin_input_chunk_of(input, piece - 1).source)
            log.lines = 0;
        if (twin__input_read(&lines, input, &reading, piece, visitor_of(&log), &error) != TWIN_OK)
            fail_msg("%s", error.message);
        log.lines += lines;
    }
    twin__read_buffers_clear(&reading);
    return log;
}

static inline void check_same(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->is_problem, b->is_problem);
    assert_int_equal(a->position.offset, b->position.offset);
    assert_int_equal(a->position.line, b->position.line);
    assert_int_equal(a->position.source, b->position.source);
    assert_int_equal(a->column, b->column);
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->message, b->message);
    if (a->is_problem)
        return;
    assert_int_equal(a->position.length, b->position.length);
    assert_int_equal(a->has_id, b->has_id);
    assert_int_equal(a->is_number, b->is_number);
    assert_string_equal(a->id, b->id);
    assert_int_equal(a->text_length, b->text_length);
    assert_memory_equal(a->text, b->text, a->text_length);
    assert_string_equal(a->record, b->record);
}

static inline void check_same_logs(const struct log *a, const struct log *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->lines, b->lines);
    for (size_t i = 0; i < a->count; i++)
        check_same(&a->seen[i], &b->seen[i]);
}

static inline void check_refused(const char *path, twin_input_options options, twin_status status, const char *words)
{
    twin_input *input;
    twin_error error = { 0 };
    assert_int_equal(twin_input_open(&input, &path, 1, options, &error), status);
    assert_null(input);
    assert_int_equal(error.status, status);
    if (!strstr(error.message, words))
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    assert_int_equal(twin_input_open(&input, &path, 1, options, NULL), status);
}

/* Every document can be fetched; one without an id is called by its line. */
static inline void check_fetching(const twin_input *input, const struct log *log)
{
    twin_read_buffers reading = { 0 };
    for (size_t i = 0; i < log->count; i++) {
        const struct seen *s = &log->seen[i];
        twin_document got;
        twin_error error = { 0 };
        twin_status status = twin__input_fetch(&got, input, &reading, s->position, &error);
        if (s->is_problem) {
            assert_int_equal(status, TWIN_EFORMAT);
            continue;
        }
        if (status != TWIN_OK)
            fail_msg("%s", error.message);
        char line[32];
        snprintf(line, sizeof line, "%d", (int)s->position.line);
        const char *id = s->has_id ? s->id : line;
        assert_int_equal(got.id.length, strlen(id));
        assert_memory_equal(got.id.bytes, id, strlen(id));
        assert_int_equal(got.id_is_number, s->is_number);
        assert_int_equal(got.text.length, s->text_length);
        assert_memory_equal(got.text.bytes, s->text, s->text_length);
        assert_int_equal(got.record.length, strlen(s->record));
        assert_memory_equal(got.record.bytes, s->record, strlen(s->record));
    }
    twin__read_buffers_clear(&reading);
}

static const twin_input_options documents = { .format = TWIN_INPUT_DOCUMENTS };
static const twin_input_options rows = { .format = TWIN_INPUT_SETS };

#endif

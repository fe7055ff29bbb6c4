/* test_input_limits.c — an input is read by many threads, and with little memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "input/documents.h"
#include "input_log.h"
#include "scale.h"

enum { THREADS = 4 };

struct crowd {
    const twin_input *input;
    atomic_size_t next;
    struct log *logs; /* one per piece */
};

static void *take_pieces(void *context)
{
    struct crowd *crowd = context;
    twin_read_buffers reading = { 0 };
    for (;;) {
        size_t piece = atomic_fetch_add(&crowd->next, 1);
        if (piece >= twin_input_chunks(crowd->input))
            break;
        struct log *log = &crowd->logs[piece];
        twin__input_read(&log->lines, crowd->input, &reading, piece, visitor_of(log), NULL);
    }
    twin__read_buffers_clear(&reading);
    return NULL;
}

static void check_crowd(const twin_input *input)
{
    struct log expected = read_all(input);
    size_t pieces = twin_input_chunks(input);
    struct crowd crowd = { .input = input, .logs = calloc(pieces, sizeof(struct log)) };
    assert_non_null(crowd.logs);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_pieces, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    size_t at = 0;
    for (size_t piece = 0; piece < pieces; piece++) {
        for (size_t i = 0; i < crowd.logs[piece].count; i++, at++) {
            const struct seen *seen = &crowd.logs[piece].seen[i];
            assert_true(at < expected.count);
            assert_int_equal(seen->position.offset, expected.seen[at].position.offset);
            assert_string_equal(seen->text, expected.seen[at].text);
        }
        clear_log(&crowd.logs[piece]);
    }
    assert_int_equal(at, expected.count);
    free(crowd.logs);
    clear_log(&expected);
}

static void threads_read_what_one_reads(void **unused)
{
    (void)unused;
    const char *path = path_of("c.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 2000; i++)
        fprintf(file, "{\"id\":%d,\"text\":\"line\\t%d%*s\"}\n", i, i, i % 300, "");
    assert_int_equal(fclose(file), 0);
    twin_input *input = open_one(path, (twin_input_options){ .chunk_bytes = 1000 });
    check_crowd(input);
    twin_input_free(input);

    make_folder("d");
    for (int i = 0; i < 50; i++) {
        char name[8];
        snprintf(name, sizeof name, "d/%d", i);
        write_file(path_of(name), name, strlen(name));
    }
    input = open_one(path_of("d"), (twin_input_options){ .chunk_bytes = 1 });
    check_crowd(input);
    twin_input_free(input);
}

static size_t mapped_bytes(void)
{
    char line[200];
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    return strtoul(line, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void memory_that_runs_out_is_told(void **unused)
{
    (void)unused;
    if (SANITIZED) {
        print_message("a sanitizer needs more addresses than any limit leaves: skipped\n");
        skip();
    }
    const char *path = path_of("m.jsonl");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"", file);
    assert_int_equal(fseek(file, 64 << 20, SEEK_SET), 0);
    putc('\n', file);
    assert_int_equal(fclose(file), 0);
    make_folder("d");
    assert_int_equal(rename(path, path_of("d/m")), 0);
    assert_int_equal(symlink("d/m", path), 0);

    const char *paths[] = { path, path_of("d") };
    twin_input *input = open_all(paths, 2, documents);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = (struct rlimit){ mapped_bytes() + (16 << 20), before.rlim_max };
    struct log log = { 0 };
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    twin_status line = twin__input_read(NULL, input, &reading, 0, visitor_of(&log), &error);
    twin_status whole = twin__input_read(NULL, input, &reading, twin_input_chunks(input) - 1, visitor_of(&log), NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(line, TWIN_ENOMEM);
    assert_int_equal(whole, TWIN_ENOMEM);
    assert_string_equal(error.message, "out of memory");
    assert_int_equal(log.count, 0);
    twin__read_buffers_clear(&reading);
    twin_input_free(input);
}

enum { MANY_FILES = 100, FEW_DESCRIPTORS = 64 };

static void write_line(const char *name, int number)
{
    char line[80];
    int length = snprintf(line, sizeof line, "{\"id\":%d,\"text\":\"line %d\"}\n", number, number);
    write_file(path_of(name), line, (size_t)length);
}

/* Files 0 to 99 of one line each; tables among them. */
static void write_many(void)
{
    make_folder("many");
    for (int i = 0; i < MANY_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "many/%02d.%s", i, i % 10 == 9 ? "csv" : "jsonl");
        if (i % 10 == 9)
            write_file(path_of(name), "id,text\n7,a record\n", 19);
        else
            write_line(name, i);
    }
}

static void more_files_than_can_be_open_are_read(void **unused)
{
    (void)unused;
    struct rlimit before, limit;
    write_many();
    twin_input *input = open_one(path_of("many"), documents);
    struct log expected = read_all(input);
    twin_input_free(input);
    assert_int_equal(expected.count, MANY_FILES);

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){ FEW_DESCRIPTORS, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    input = open_one(path_of("many"), documents);
    struct log log = read_all(input);
    assert_int_equal(log.count, expected.count);
    for (size_t i = 0; i < log.count; i++)
        assert_string_equal(log.seen[i].text, expected.seen[i].text);
    for (uint32_t i = 0; i < twin_input_sources(input); i++)
        assert_int_equal(twin_input_change_of(input, i), TWIN_INPUT_UNCHANGED);
    clear_log(&log);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);

    /* A file that another has taken the place of is not read as if it were the same. */
    uint32_t last = (uint32_t)twin_input_sources(input) - 2;
    assert_string_equal(twin_input_name(input, last), path_of("many/98.jsonl"));
    write_line("98", 11);
    assert_int_equal(rename(path_of("98"), path_of("many/98.jsonl")), 0);
    twin_read_buffers reading = { 0 };
    twin_error error = { 0 };
    assert_int_equal(twin_input_change_of(input, last), TWIN_INPUT_CHANGED);
    assert_int_equal(twin__input_read(NULL, input, &reading, twin_input_chunks(input) - 2, visitor_of(&log), &error),
                     TWIN_EIO);
    assert_non_null(strstr(error.message, "98.jsonl was replaced by another file while it was read"));
    assert_int_equal(unlink(path_of("many/98.jsonl")), 0);
    assert_int_equal(twin__input_read(NULL, input, &reading, twin_input_chunks(input) - 2, visitor_of(&log), &error),
                     TWIN_EIO);
    assert_non_null(strstr(error.message, "98.jsonl cannot be opened again: No such file"));
    twin__read_buffers_clear(&reading);
    twin_input_free(input);
    clear_log(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(threads_read_what_one_reads),
        IN_A_FOLDER(memory_that_runs_out_is_told),
        IN_A_FOLDER(more_files_than_can_be_open_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_early_writing.c — a file that goes to the disk early is the same file, and whoever cannot have that gets none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus.h"
#include "support/early_writing.h"

enum { PIECE = 1 << 20, PIECES = 70 }; /* two of the parts that are asked for, and a rest */

static void write_pieces(FILE *file, struct early_writing *early)
{
    char *piece = malloc(PIECE);
    assert_non_null(piece);
    for (int i = 0; i < PIECES; i++) {
        memset(piece, 'a' + i % 26, PIECE);
        assert_int_equal(fwrite(piece, 1, PIECE, file), PIECE);
        early_writing_add(early, PIECE);
    }
    free(piece);
}

static void check_pieces(const char *path, const char *beginning)
{
    size_t begins = strlen(beginning);
    char *piece = malloc(PIECE), *expected = malloc(PIECE);
    FILE *file = fopen(path, "r");
    assert_true(piece && expected && file);
    assert_int_equal(fread(piece, 1, begins, file), begins);
    assert_memory_equal(piece, beginning, begins);
    for (int i = 0; i < PIECES; i++) {
        memset(expected, 'a' + i % 26, PIECE);
        assert_int_equal(fread(piece, 1, PIECE, file), PIECE);
        assert_memory_equal(piece, expected, PIECE);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    free(piece);
    free(expected);
}

/* What was reserved and is not written is no part of the file. */
static void the_file_is_what_was_written(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    const char *path = corpus_path(&corpus, "long");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("header\n", file);
    struct early_writing *early = early_writing_begin(file, (uint64_t)PIECES * PIECE + 5000);
    write_pieces(file, early);
    early_writing_end(early);
    assert_int_equal(fclose(file), 0);
    check_pieces(path, "header\n");
    corpus_end(&corpus);
}

static void it_may_end_before_anything_is_written(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    struct stat found;
    assert_non_null(file);
    early_writing_end(early_writing_begin(file, PIECE));
    assert_int_equal(fstat(fileno(file), &found), 0);
    assert_int_equal(found.st_size, 0);
    fclose(file);
}

static void a_pipe_is_written_as_ever(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *file = fdopen(ends[1], "w");
    assert_non_null(file);
    assert_null(early_writing_begin(file, PIECE));
    early_writing_add(NULL, PIECE);
    early_writing_end(NULL);
    fclose(file);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_is_what_was_written),
        cmocka_unit_test(it_may_end_before_anything_is_written),
        cmocka_unit_test(a_pipe_is_written_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_stream.c — a file read once, as it comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/input.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "input_log.h"
#include "scale.h"

struct taken {
    twin_buffer bytes;
    size_t blocks, most; /* most 0: no limit */
};

static bool take(void *context, const char *bytes, size_t length)
{
    struct taken *taken = context;
    assert_true(length > 0);
    assert_int_equal(twin_buffer_append(&taken->bytes, bytes, length), TWIN_OK);
    return ++taken->blocks != taken->most;
}

static void check_stream(const char *path, const char *expected, size_t length)
{
    struct taken taken = { 0 };
    twin_error error = { 0 };
    if (twin_input_stream(path, take, &taken, (twin_progress){ 0 }, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(taken.bytes.length, length);
    if (length)
        assert_memory_equal(taken.bytes.bytes, expected, length);
    twin_buffer_clear(&taken.bytes);
}

static void check_refusal(const char *path, twin_status status, const char *words)
{
    struct taken taken = { 0 };
    twin_error error = { 0 };
    assert_int_equal(twin_input_stream(path, take, &taken, (twin_progress){ 0 }, &error), status);
    if (!strstr(error.message, words))
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    assert_int_equal(taken.bytes.length, 0);
    twin_buffer_clear(&taken.bytes);
}

static void files_are_streamed_unpacked_and_without_a_mark(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "", "a", "a\nb", "\n", "no line end, but longer than what is held back", "a\0b\n\xEF\xBB\xBF"
    };
    const char *path = path_of("any");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int mark = 0; mark < 2; mark++)
            for (int packed = 0; packed < 2; packed++) {
                size_t length = i == 5 ? 7 : strlen(texts[i]);
                gzFile file = gzopen(path, packed ? "wb" : "wbT");
                assert_non_null(file);
                if (mark)
                    assert_int_equal(gzwrite(file, "\xEF\xBB\xBF", 3), 3);
                if (length)
                    assert_int_equal(gzwrite(file, texts[i], (unsigned)length), length);
                assert_int_equal(gzclose(file), Z_OK);
                check_stream(path, texts[i], length);
            }
    check_refusal(path_of("missing"), TWIN_EIO, "missing cannot be opened");
    check_refusal(base, TWIN_EIO, "cannot be read: Is a directory");
    write_file(path,
               "\xFF\xFE"
               "a\0",
               4);
    check_refusal(path, TWIN_EFORMAT, "is UTF-16");
    write_file(path, "\x1F\x8B\x08 not really", 13);
    check_refusal(path, TWIN_EFORMAT, "its gzip data");
    assert_int_equal(twin_input_stream(NULL, take, NULL, (twin_progress){ 0 }, NULL), TWIN_EINVAL);
}

static void a_taker_may_stop(void **unused)
{
    (void)unused;
    struct taken taken = { .most = 1 };
    char block[600000];
    memset(block, 'x', sizeof block);
    write_file(path_of("long"), block, sizeof block);
    assert_int_equal(twin_input_stream(path_of("long"), take, &taken, (twin_progress){ 0 }, NULL), TWIN_ESTOPPED);
    assert_true(taken.bytes.length < sizeof block);
    twin_buffer_clear(&taken.bytes);
}

static void *write_slowly(void *context)
{
    const int *fd = context;
    for (const char *p = "\xEF\xBB\xBF"
                         "one\ntwo";
         *p; p++)
        assert_int_equal(write(*fd, p, 1), 1);
    close(*fd);
    return NULL;
}

static void a_pipe_may_give_its_bytes_one_by_one(void **unused)
{
    (void)unused;
    int ends[2];
    char path[32];
    pthread_t writer;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    check_stream(path, "one\ntwo", 7);
    pthread_join(writer, NULL);
    close(ends[0]);
}

static bool count_bytes(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    *(uint64_t *)context += length;
    return true;
}

/* What would be a bomb, were it stored: as many equal frames as make more than 1 GiB. */
static void what_is_not_stored_may_have_any_length(void **unused)
{
    (void)unused;
    enum { MEBIBYTE = 1 << 20, FRAMES = QUICK ? 10 : 1100 };
    char *lines = malloc(MEBIBYTE), room[4096];
    assert_non_null(lines);
    memset(lines, '\n', MEBIBYTE);
    size_t length = ZSTD_compress(room, sizeof room, lines, MEBIBYTE, 1);
    assert_false(ZSTD_isError(length));
    free(lines);
    FILE *file = fopen(path_of("long.zst"), "wb");
    assert_non_null(file);
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(fwrite(room, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    uint64_t bytes = 0;
    twin_error error = { 0 };
    if (twin_input_stream(path_of("long.zst"), count_bytes, &bytes, (twin_progress){ 0 }, &error) != TWIN_OK)
        fail_msg("%s", error.message);
    assert_int_equal(bytes, (uint64_t)FRAMES * MEBIBYTE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(files_are_streamed_unpacked_and_without_a_mark),
        IN_A_FOLDER(a_taker_may_stop),
        IN_A_FOLDER(a_pipe_may_give_its_bytes_one_by_one),
        IN_A_FOLDER(what_is_not_stored_may_have_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

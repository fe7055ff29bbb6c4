/* test_packed.c — compressed output is what went in, and a full disk is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/input.h>
#include <unistd.h>

#include "corpus.h"
#include "support/packed_file.h"

enum { LINES = 20000 };

/* Writes lines in pieces of odd lengths, and reads them as an input of lines does. */
static void comes_back(struct corpus *corpus, const char *name)
{
    const char *path = corpus_path(corpus, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    assert_true(fd >= 0);
    FILE *file = packed_open(fd, name);
    assert_non_null(file);
    for (int i = 0; i < LINES; i++)
        assert_true(fprintf(file, "{\"id\":%d,\"text\":\"%.*s\"}\n", i, i % 60,
                            "all that goes in must come out again, byte for byte, and in order") > 0);
    assert_int_equal(fclose(file), 0);

    twin_input *input = open_input(path, (twin_input_options){ 0 });
    twin_buffer bytes = { 0 };
    char line[128];
    assert_int_equal(twin_input_bytes(&bytes, input, 0, 0, UINT64_MAX, NULL), TWIN_OK);
    const char *at = bytes.bytes;
    for (int i = 0; i < LINES; i++) {
        int length = snprintf(line, sizeof line, "{\"id\":%d,\"text\":\"%.*s\"}\n", i, i % 60,
                              "all that goes in must come out again, byte for byte, and in order");
        assert_memory_equal(at, line, (size_t)length);
        at += length;
    }
    assert_ptr_equal(at, bytes.bytes + bytes.length);
    twin_buffer_clear(&bytes);
    twin_input_free(input);
}

static void what_is_packed_comes_back(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    comes_back(&corpus, "lines.jsonl.gz");
    comes_back(&corpus, "lines.jsonl.zst");
    corpus_end(&corpus);
    assert_true(packed_by_name("a.zst"));
    assert_true(packed_by_name("a.jsonl.gz"));
    assert_false(packed_by_name("a.jsonl"));
    assert_false(packed_by_name(".gz"));
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    static const char *const names[] = { "x.gz", "x.zst" };
    for (int i = 0; i < 2; i++) {
        int fd = open("/dev/full", O_WRONLY);
        if (fd < 0) {
            print_message("there is no /dev/full here: skipped\n");
            skip();
        }
        FILE *file = packed_open(fd, names[i]);
        assert_non_null(file);
        uint64_t noise = 1;
        for (int j = 0; j < 300000; j++) {
            noise = noise * 6364136223846793005u + 1442695040888963407u;
            if (fwrite(&noise, 1, sizeof noise, file) != sizeof noise)
                break;
        }
        bool failed = ferror(file) != 0;
        failed |= fclose(file) != 0;
        assert_true(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_packed_comes_back),
        cmocka_unit_test(a_full_disk_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

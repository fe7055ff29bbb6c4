/* test_large_file.c — what is written without staying in the system's cache is all there, and a full disk is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus.h"
#include "support/large_file.h"

enum { PIECES = 3000, MOST = 257, MOST_RESERVED = 64 << 20 };

/* The byte at a place of the file; the period is none of the lengths of pieces. */
static unsigned char byte_at(size_t place)
{
    return (unsigned char)(place * 2654435761u >> 7);
}

/* Writes pieces of all lengths, and one much longer than buffers are, which the file must consist of. */
static void check_file(const char *path, uint64_t cached, uint64_t expected)
{
    enum { LONG = 3 << 20 };
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600), again = fd < 0 ? -1 : dup(fd);
    assert_true(again >= 0);
    FILE *file = large_file_open(fd, cached, expected);
    char *piece = malloc(LONG);
    assert_true(file && piece);
    size_t length = 0;
    for (size_t i = 0; i <= PIECES; i++) {
        size_t more = i < PIECES ? i % MOST : LONG;
        for (size_t k = 0; k < more; k++)
            piece[k] = (char)byte_at(length + k);
        assert_int_equal(fwrite(piece, 1, more, file), more);
        length += more;
    }
    assert_int_equal(fclose(file), 0);

    /* What was reserved, 64 MB at most, and not needed has been given back; half as much is more than enough for what a
     * file system needs besides. */
    struct stat about;
    assert_int_equal(fstat(again, &about), 0);
    assert_true((size_t)about.st_blocks * 512 < length + (MOST_RESERVED >> 1));
    assert_int_equal(lseek(again, 0, SEEK_END), length);
    for (size_t at = 0; at < length;) {
        ssize_t count = pread(again, piece, LONG, (off_t)at);
        assert_true(count > 0);
        for (ssize_t k = 0; k < count; k++)
            if ((unsigned char)piece[k] != byte_at(at + (size_t)k))
                fail_msg("%s: another byte at %zu", path, at + (size_t)k);
        at += (size_t)count;
    }
    free(piece);
    close(again);
}

static void all_bytes_are_written(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_begin(&corpus);
    check_file(corpus_path(&corpus, "from the first byte"), 0, 0);
    check_file(corpus_path(&corpus, "from the middle"), 100000, 0);
    check_file(corpus_path(&corpus, "never"), UINT64_MAX, 0);
    check_file(corpus_path(&corpus, "less than was reserved"), 100000, MOST_RESERVED);
    check_file(corpus_path(&corpus, "more than was reserved"), 100000, 1 << 20);
    check_file(corpus_path(&corpus, "more than any disk has"), 100000, UINT64_MAX);
    check_file(corpus_path(&corpus, "more than this disk has"), 100000, INT64_MAX);
    corpus_end(&corpus);
}

/* Files in memory have no other place to be, so the system refuses to write them without its cache. */
static void where_that_is_refused_it_is_written_as_usual(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/twinsift-test-%ld", (long)getpid());
    if (access("/dev/shm", W_OK) != 0) {
        print_message("/dev/shm cannot be written here: skipped\n");
        skip();
    }
    check_file(path, 1000, MOST_RESERVED);
    unlink(path);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = open("/dev/full", O_WRONLY);
        if (fd < 0) {
            print_message("there is no /dev/full here: skipped\n");
            skip();
        }
        FILE *file = large_file_open(fd, i ? UINT64_MAX : 0, i ? MOST_RESERVED : 0);
        assert_non_null(file);
        bool good = fputs("too much", file) >= 0;
        assert_false(fclose(file) == 0 && good);
    }
}

static void most_of_the_memory_is_not_for_one_file(void **state)
{
    (void)state;
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    assert_true(large_file_cached() > 0);
    assert_true(large_file_cached() < (uint64_t)pages * (uint64_t)bytes / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_are_written),
        cmocka_unit_test(where_that_is_refused_it_is_written_as_usual),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(most_of_the_memory_is_not_for_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

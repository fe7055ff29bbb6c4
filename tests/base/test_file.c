/* test_file.c — files are read and written at an offset; temporary files have no name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/test_file.XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if something is left in it */
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    char bytes[100], read[100];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    int fd = twin__temporary_file(folder);
    assert_true(fd >= 0);
    assert_true(twin__write_at(fd, bytes + 50, 50, 50));
    assert_true(twin__write_at(fd, bytes, 50, 0));
    for (size_t offset = 0; offset <= sizeof bytes; offset++)
        for (size_t length = 0; length <= sizeof read; length += 9) {
            size_t left = sizeof bytes - offset, expected = length < left ? length : left;
            assert_int_equal(twin__read_at(fd, read, length, offset), expected);
            assert_memory_equal(read, bytes + offset, expected);
        }
    assert_int_equal(twin__read_at(fd, read, 10, 1000), 0);
    close(fd);
}

static void a_temporary_file_has_no_name(void **state)
{
    (void)state;
    int fd = twin__temporary_file(folder);
    assert_true(fd >= 0);
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        assert_true(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    closedir(listing);
    close(fd);
}

static void failures_leave_their_reason(void **state)
{
    (void)state;
    char byte = 0;
    errno = 0;
    assert_int_equal(twin__temporary_file("/nowhere/at/all"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(twin__read_at(-1, &byte, 1, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_false(twin__write_at(-1, &byte, 1, 0));
    assert_int_equal(errno, EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_temporary_file_has_no_name),
        cmocka_unit_test(failures_leave_their_reason),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

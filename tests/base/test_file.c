/* test_file.c — files are read and written at an offset; temporary files have no name; finished ones get theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

/* How many files have a name. */
static size_t count_names(void)
{
    size_t count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (const struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static void a_temporary_file_has_no_name(void **state)
{
    (void)state;
    int fd = twin__temporary_file(folder);
    assert_true(fd >= 0);
    assert_int_equal(count_names(), 0);
    close(fd);
}

/* ---- names ---- */

static char path[64], temporary[64];

/* A file of one byte, without a name or called `temporary`; -1 where there are no files without a name. */
static int finished(bool has_name, char byte)
{
    int fd = has_name ? open(temporary, O_RDWR | O_CREAT | O_EXCL, 0600) : open(folder, O_TMPFILE | O_RDWR, 0600);
    if (has_name)
        assert_true(fd >= 0);
    if (fd >= 0)
        assert_true(twin__write_at(fd, &byte, 1, 0));
    return fd;
}

/* Whether the file gets the name; whatever comes of it, no other name is left, and signals come as before. */
static bool gets_name(bool has_name, char byte, const char *name, bool replace)
{
    size_t before = count_names();
    int fd = finished(has_name, byte);
    bool exists = access(name, F_OK) == 0;
    errno = 0;
    bool good = twin__name_file((struct twin__finished_file){ has_name ? -1 : fd, temporary }, name, replace);
    int reason = errno;
    close(fd);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGTERM));
    assert_int_equal(count_names(), before + (good && !exists));
    errno = reason;
    return good;
}

static char byte_of(const char *name)
{
    char byte = 0;
    int fd = open(name, O_RDONLY);
    assert_int_equal(twin__read_at(fd, &byte, 1, 0), 1);
    close(fd);
    return byte;
}

static void a_finished_file_gets_its_name_in_one_step(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(temporary, sizeof temporary, "%s/file.new", folder);
    int unnamed = finished(false, 'x');
    for (int has_name = unnamed < 0; has_name < 2; has_name++) {
        assert_true(gets_name(has_name, 'a', path, false));
        assert_false(gets_name(has_name, 'b', path, false));
        assert_int_equal(errno, EEXIST);
        assert_int_equal(byte_of(path), 'a');
        assert_true(gets_name(has_name, 'c', path, true));
        assert_int_equal(byte_of(path), 'c');
        assert_int_equal(unlink(path), 0);
        assert_true(gets_name(has_name, 'd', path, true)); /* although there is nothing to replace */
        assert_int_equal(unlink(path), 0);
        assert_false(gets_name(has_name, 'e', folder, true)); /* a folder is not replaced */
        assert_true(errno != 0);
    }
    if (unnamed >= 0)
        close(unnamed);
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
        cmocka_unit_test(a_finished_file_gets_its_name_in_one_step),
        cmocka_unit_test(failures_leave_their_reason),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

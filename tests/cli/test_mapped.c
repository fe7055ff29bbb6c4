/* test_mapped.c — a mapped file that is cut short ends the program with a sentence and status 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus.h"
#include "support/mapped.h"

/* In the child: reads a byte of a file that has just been cut short. */
static void read_what_is_gone(const char *path, int errors)
{
    dup2(errors, STDERR_FILENO);
    watch_mapped_files("reader");
    int fd = open(path, O_RDWR);
    const volatile char *bytes = mmap(NULL, 3 << 12, PROT_READ, MAP_SHARED, fd, 0);
    if (fd < 0 || bytes == MAP_FAILED || ftruncate(fd, 1 << 12) != 0)
        _exit(70);
    _exit(bytes[0] == 'x' ? bytes[2 << 12] : 71);
}

static void a_file_cut_short_is_named(void **state)
{
    (void)state;
    struct corpus corpus;
    char content[(3 << 12) + 1], said[256] = "", path[128];
    int pipe_ends[2], status;
    memset(content, 'x', sizeof content);
    content[sizeof content - 1] = '\0';
    corpus_begin(&corpus);
    snprintf(path, sizeof path, "%s", corpus_write(&corpus, "mapped", content));
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t child = fork();
    if (child == 0)
        read_what_is_gone(path, pipe_ends[1]);
    close(pipe_ends[1]);
    assert_true(read(pipe_ends[0], said, 8) > 0);
    for (size_t length = strlen(said); length < sizeof said - 1; length = strlen(said))
        if (read(pipe_ends[0], said + length, sizeof said - 1 - length) <= 0)
            break;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_int_equal(strncmp(said, "reader: /", 9), 0);
    assert_non_null(strstr(said, "/mapped became shorter"));
    close(pipe_ends[0]);
    corpus_end(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_file_cut_short_is_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_progress.c — the progress line, seen through a terminal of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>

#include "../../cli/support/progress.c"

static char seen[65536];

static void work(void *context, size_t begin, size_t end, int worker)
{
    (void)end, (void)worker;
    static atomic_uint_least64_t done;
    static const twin_stage verifying = { "verifying", "pairs" };
    const twin_progress *progress = context;
    if (begin == 0)
        atomic_store(&done, 0);
    for (int i = 0; i < 20; i++)
        progress->report(progress->context, &verifying, atomic_fetch_add(&done, 1), 20000);
    usleep(2000);
}

/* Reads all that was written. The other end is closed, so that it ends: with 0, or an error if it is a terminal. */
static void drain(int reader)
{
    size_t length = 0;
    for (ssize_t got; (got = read(reader, seen + length, sizeof seen - 1 - length)) > 0;)
        length += (size_t)got;
    seen[length] = '\0';
}

/* Works on `pieces` pieces of 2 ms on two threads with standard error on a terminal or a pipe; returns how long it
 * took, in milliseconds, and leaves what was written in `seen`. */
static int64_t watch(size_t pieces, bool terminal, bool quiet)
{
    int reader, writer, ends[2];
    if (terminal && openpty(&reader, &writer, NULL, NULL, NULL) != 0) {
        print_message("skipped: no pseudo-terminal can be had here\n");
        skip();
    }
    if (!terminal) {
        assert_int_equal(pipe(ends), 0);
        reader = ends[0];
        writer = ends[1];
    }
    int before = dup(STDERR_FILENO);
    dup2(writer, STDERR_FILENO);
    int64_t start = now();
    twin_progress progress = progress_begin(quiet);
    if (progress.report)
        twin_exec_for((twin_exec){ TWIN_EXEC_PTHREADS, 2 }, pieces, 1, work, &progress);
    progress_end();
    int64_t took = now() - start;
    dup2(before, STDERR_FILENO);
    close(before);
    close(writer);
    drain(reader);
    close(reader);
    return took;
}

static size_t lines_seen(void)
{
    size_t count = 0;
    for (const char *at = seen; (at = strstr(at, "\rverifying")); at++)
        count++;
    return count;
}

static void long_work_shows_a_line_and_takes_it_away(void **state)
{
    (void)state;
    int64_t took = watch(1300, true, false); /* 1.3 s on two workers, more on a busy machine */
    assert_true(took > 1100);
    assert_true(lines_seen() >= 1);
    /* None in the first second, then at most one in each 100 ms that have begun. */
    assert_true((int64_t)lines_seen() <= (took - 1000) / 100 + 1);
    assert_true(strstr(seen, " %") && strstr(seen, "/s") && strstr(seen, " left"));
    size_t length = strlen(seen);
    assert_true(length > 4 && strcmp(seen + length - 4, "\r\033[K") == 0);
}

static void short_work_shows_nothing(void **state)
{
    (void)state;
    int64_t took = watch(50, true, false);
    assert_true(took >= 1000 || seen[0] == '\0');
}

static void nothing_is_shown_in_a_pipe_or_when_quiet(void **state)
{
    (void)state;
    watch(1, false, false);
    assert_string_equal(seen, "");
    assert_ptr_equal(progress_begin(true).report, go_on);
    watch(1, true, true);
    assert_string_equal(seen, "");
}

static void numbers_read_well(void **state)
{
    (void)state;
    char text[32];
    write_rate(text, sizeof text, 0.25, "pairs");
    assert_string_equal(text, "0.2 pairs/s");
    write_rate(text, sizeof text, 1234567, "B");
    assert_string_equal(text, "1.2 MB/s");
    write_rate(text, sizeof text, 12, "B");
    assert_string_equal(text, "12 B/s");
    write_rate(text, sizeof text, 45600, "lines");
    assert_string_equal(text, "46 K lines/s");
    write_left(text, sizeof text, 7.4);
    assert_string_equal(text, "0:07 left");
    write_left(text, sizeof text, 3723);
    assert_string_equal(text, "1:02:03 left");
}

int main(void)
{
    setenv("TERM", "xterm", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_work_shows_a_line_and_takes_it_away),
        cmocka_unit_test(short_work_shows_nothing),
        cmocka_unit_test(nothing_is_shown_in_a_pipe_or_when_quiet),
        cmocka_unit_test(numbers_read_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

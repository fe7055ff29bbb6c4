/* test_pipes.c — pipes and standard input are read like files. */
#include "mixed_lines.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A pipe that holds the bytes and will give no more. */
static int pipe_of(const void *bytes, size_t length)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, length), length);
    close(ends[1]);
    return ends[0];
}

/* Of a line that is too long as much is kept as shows that it is; lines before and after it are whole. */
static void a_line_without_an_end_is_not_stored(void **unused)
{
    (void)unused;
    static const char format[] = "{\"id\":1,\"text\":\"x\"}\n%s%0*d%s{\"id\":3,\"text\":\"y\"}\n";
    static const int lengths[] = { 30, 31, 32, 33, 100, 60000 };
    char lines[61000], path[32];
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        for (int ending = 0; ending < 2; ending++) {
            int digits = lengths[i] - 18; /* the rest of the line */
            int length = snprintf(lines, sizeof lines, format, "{\"id\":2,\"text\":\"", digits, 0,
                                  ending ? "\"}\r\n" : "\"}\n");
            int fd = pipe_of(lines, (size_t)length);
            snprintf(path, sizeof path, "/dev/fd/%d", fd);
            twin_input *input = open_one(path, (twin_input_options){ .max_bytes = 30, .chunk_bytes = 50 });
            struct log log = read_all(input);
            assert_int_equal(log.count, 3);
            assert_int_equal(log.lines, 3);
            for (size_t line = 0; line < 3; line++)
                assert_int_equal(log.seen[line].is_problem, line == 1 && lengths[i] > 30);
            assert_true(lengths[i] <= 30 || log.seen[1].kind == TWIN_PROBLEM_TOO_LONG);
            clear_log(&log);
            twin_input_free(input);
            close(fd);
        }
}

static void check_pipe(const void *bytes, size_t length, const struct log *expected)
{
    char path[32];
    int fd = pipe_of(bytes, length);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    check_log_of(path, expected);
    close(fd);

    int standard = dup(STDIN_FILENO);
    fd = pipe_of(bytes, length);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    check_log_of("-", expected);
    if (standard >= 0) {
        dup2(standard, STDIN_FILENO);
        close(standard);
    }
}

static void pipes_and_standard_input_are_read_like_files(void **unused)
{
    (void)unused;
    unsigned char packed[4096];
    struct log expected = log_of_mixed();
    check_pipe(mixed, sizeof mixed - 1, &expected);
    check_pipe(packed, gzip(packed, sizeof packed, mixed, sizeof mixed - 1), &expected);
    check_pipe(packed, zstd(packed, sizeof packed, mixed, sizeof mixed - 1), &expected);
    clear_log(&expected);
    check_pipe("", 0, &expected);

    twin_input *input = open_one("/dev/null", documents);
    assert_int_equal(twin_input_chunks(input), 0);
    twin_input_free(input);
    const char *twice[] = { "-", "-" };
    assert_int_equal(twin_input_open(&input, twice, 2, documents, NULL), TWIN_EINVAL);
}

/* As a file that was named itself: what is packed twice is unpacked once. */
static void a_document_from_a_pipe_is_unpacked_once(void **unused)
{
    (void)unused;
    static const char text[] = "a document of some words";
    unsigned char packed[256], twice[256];
    char path[32];
    size_t length = gzip(packed, sizeof packed, text, sizeof text - 1);
    size_t twice_length = gzip(twice, sizeof twice, packed, length);
    for (int times = 1; times <= 2; times++) {
        int fd = times == 1 ? pipe_of(packed, length) : pipe_of(twice, twice_length);
        snprintf(path, sizeof path, "/dev/fd/%d", fd);
        twin_input *input = open_one(path, (twin_input_options){ .as = TWIN_INPUT_AS_FILES });
        struct log log = read_all(input);
        assert_int_equal(log.count, 1);
        assert_int_equal(log.seen[0].text_length, times == 1 ? sizeof text - 1 : length);
        assert_memory_equal(log.seen[0].text, times == 1 ? text : (const char *)packed, log.seen[0].text_length);
        clear_log(&log);
        twin_input_free(input);
        close(fd);
    }
}

/* `(read line; twinsift pairs -) < file`: what was read before is not read again. */
static void standard_input_begins_where_it_stands(void **unused)
{
    (void)unused;
    const char *path = path_of("any name");
    write_file(path, "{\"text\":\"x\"}\n{\"text\":\"y\"}\n", 26);
    int standard = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 13, SEEK_SET), 13);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    twin_input *input = open_one("-", documents);
    assert_string_equal(twin_input_name(input, 0), "standard input");
    struct log log = read_all(input);
    assert_int_equal(log.count, 1);
    assert_string_equal(log.seen[0].text, "y");
    assert_int_equal(log.seen[0].position.line, 1);
    check_fetching(input, &log);
    clear_log(&log);
    twin_input_free(input);
    if (standard >= 0) {
        dup2(standard, STDIN_FILENO);
        close(standard);
    }
}

static void a_socket_is_refused_as_what_it_is(void **unused)
{
    (void)unused;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path_of("s.jsonl"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    check_refused(path_of("s.jsonl"), documents, TWIN_EIO, "is a socket, which cannot be read as a file");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(a_line_without_an_end_is_not_stored),
        IN_A_FOLDER(pipes_and_standard_input_are_read_like_files),
        IN_A_FOLDER(a_document_from_a_pipe_is_unpacked_once),
        IN_A_FOLDER(standard_input_begins_where_it_stands),
        IN_A_FOLDER(a_socket_is_refused_as_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

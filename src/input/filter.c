/* filter.c — runs the command of options.pre for a file.
 *
 * The command is started without a shell, in a process group of its own, with the file as its standard input. What it
 * prints and what it complains of come through two pipes, which are read in turn; in between the call looks whether it
 * is to stop, and then the group is killed. Many threads may do so at once: all descriptors are closed in the command
 * but the three it is given. */
#include "input/filter.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scratch.h"
#include "base/stages.h"

enum { MOST_WORDS = 64, COMPLAINT_BYTES = 100, READ_BYTES = 64 << 10, PAUSE = 20 /* milliseconds */ };

struct command {
    pid_t child;
    int output, errors; /* -1: at the end */
    char complaint[COMPLAINT_BYTES];
    size_t complained;
};

/* ---- starting */

/* The words of the command; the path is in the place of a word {}, and after a command of one word. A name that begins
 * with '-' would be an option. */
static void fill_words(char *words[MOST_WORDS + 2], const twin_input_options *options, const char *path)
{
    size_t count = 0;
    for (; count < MOST_WORDS && options->pre[count]; count++)
        words[count] = (char *)(strcmp(options->pre[count], "{}") == 0 ? path : options->pre[count]);
    if (count == 1)
        words[count++] = (char *)path;
    words[count] = NULL;
}

/* The threads of a run hold back signals, which the command must not. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaddset(&usual, signals[i]);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    return error ? error
                 : posix_spawnattr_setflags(attributes,
                                            POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

static int spawn(pid_t *child, char *words[], const int files[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_attributes(&attributes);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !error; fd++)
            error = posix_spawn_file_actions_adddup2(&actions, files[fd], fd);
        if (!error)
            error = posix_spawnp(child, words[0], &actions, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void close_both(const int pipe[2])
{
    for (int end = 0; end < 2; end++)
        if (pipe[end] >= 0)
            close(pipe[end]);
}

static twin_status start(struct command *out, const twin_input_options *options, const char *path, int fd,
                         twin_error *error)
{
    char *words[MOST_WORDS + 2];
    int output[2] = { -1, -1 }, errors[2] = { -1, -1 };
    fill_words(words, options, path);
    assert(words[0]); /* there is a command */
    int why = pipe2(output, O_CLOEXEC) || pipe2(errors, O_CLOEXEC) ? errno : 0;
    if (!why)
        why = spawn(&out->child, words, (int[]){ fd, output[1], errors[1] });
    if (why) {
        close_both(output);
        close_both(errors);
        errno = why;
        return twin__fail(error, TWIN_EIO, "%s cannot be run: %m", words[0]);
    }
    close(output[1]);
    close(errors[1]);
    out->output = output[0];
    out->errors = errors[0];
    return TWIN_OK;
}

/* ---- reading */

/* False: the pipe is at its end. */
static bool read_output(struct command *command, twin_buffer *block, twin_status *status)
{
    *status = twin_buffer_reserve(block, READ_BYTES);
    ssize_t got = *status == TWIN_OK ? read(command->output, block->bytes + block->length, READ_BYTES) : 0;
    if (got > 0)
        block->length += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

static bool read_complaint(struct command *command)
{
    char bytes[512];
    ssize_t got = read(command->errors, bytes, sizeof bytes);
    for (ssize_t i = 0; i < got && command->complained < COMPLAINT_BYTES - 1; i++)
        command->complaint[command->complained++] = bytes[i];
    return got > 0 || (got < 0 && errno == EINTR);
}

static void close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Until both pipes are at their end, there is more than `most`, or the call is to stop. */
static twin_status read_all(struct command *command, twin_buffer *block, uint64_t most)
{
    twin_status status = TWIN_OK;
    block->length = 0;
    while (status == TWIN_OK && (command->output >= 0 || command->errors >= 0) && block->length <= most) {
        struct pollfd wanted[] = { { .fd = command->output, .events = POLLIN },
                                   { .fd = command->errors, .events = POLLIN } };
        (void)poll(wanted, 2, PAUSE);
        if (wanted[0].revents && !read_output(command, block, &status))
            close_pipe(&command->output);
        if (wanted[1].revents && !read_complaint(command))
            close_pipe(&command->errors);
        if (status == TWIN_OK)
            status = twin__poll();
    }
    return status;
}

/* ---- ending */

/* A command that is no longer wanted is killed with what it has started. */
static int end(struct command *command, bool is_wanted, twin_status *status)
{
    int result = 0;
    close_pipe(&command->output);
    close_pipe(&command->errors);
    while (is_wanted && *status == TWIN_OK) {
        pid_t ended = waitpid(command->child, &result, WNOHANG);
        if (ended != 0 && !(ended < 0 && errno == EINTR))
            return ended < 0 ? 0 : result;
        (void)poll(NULL, 0, 1);
        *status = twin__poll();
    }
    (void)kill(-command->child, SIGKILL);
    while (waitpid(command->child, &result, 0) < 0 && errno == EINTR)
        ;
    return result;
}

static void refuse(struct twin__record *out, struct command *command, const char *name, int result)
{
    command->complaint[command->complained] = '\0';
    command->complaint[strcspn(command->complaint, "\r\n")] = '\0';
    const char *colon = *command->complaint ? ": " : "";
    if (WIFSIGNALED(result))
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "%.40s was ended by signal %d%s%s", name,
                             WTERMSIG(result), colon, command->complaint);
    else
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "%.40s failed with status %d%s%s", name,
                             WEXITSTATUS(result), colon, command->complaint);
}

twin_status twin__filter_run(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                             const char *path, int fd, twin_error *error)
{
    const twin_input_options *options = &source->settings->options;
    struct command command = { .output = -1, .errors = -1 };
    buffers->key.length = 0;
    if (twin_buffer_append(&buffers->key, "./", path[0] == '-' ? 2 : 0) != TWIN_OK ||
        twin_buffer_append(&buffers->key, path, strlen(path) + 1) != TWIN_OK)
        return twin__fail_memory(error);
    twin_status status = start(&command, options, buffers->key.bytes, fd, error);
    if (status != TWIN_OK)
        return status;
    status = read_all(&command, &buffers->block, options->max_bytes);
    bool is_long = buffers->block.length > options->max_bytes;
    int result = end(&command, !is_long, &status);
    if (status == TWIN_ENOMEM)
        return twin__fail_memory(error);
    if (status != TWIN_OK)
        return twin__fail(error, status, "reading was stopped");
    if (is_long)
        twin__record_too_long(out, source);
    else if (result != 0)
        refuse(out, &command, options->pre[0], result);
    return TWIN_OK;
}

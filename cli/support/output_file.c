/* output_file.c — files that appear whole or not at all.
 *
 * A file is written without a name (O_TMPFILE) in the folder of its final name. When it is complete it is put on the
 * disk and named as the library does it (base/file.h). Where a file system has no files without names, it has a temporary
 * name from the beginning, and a signal handler removes it. */
#include "output_file.h"

#include "base/file.h"
#include "interrupt.h"
#include "large_file.h"
#include "messages.h"
#include "packed_file.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Files that a signal has to remove. The handler only reads this; a list that is full is replaced by a longer one and
 * not freed, so that the handler always finds a whole one. */
static struct unfinished {
    struct unfinished *shorter; /* the one before */
    size_t room;
    const char *volatile paths[];
} *volatile unfinished;

static void remove_unfinished(void)
{
    for (size_t i = 0; unfinished && i < unfinished->room; i++)
        if (unfinished->paths[i])
            unlink(unfinished->paths[i]);
}

static void remove_and_die(int number)
{
    remove_unfinished();
    raise(number); /* dies of it: SA_RESETHAND has removed the handler */
}

static void watch_signals(void)
{
    struct sigaction action = { .sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND }, before;
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &action, NULL);
    interrupt_at_once(remove_unfinished);
}

/* There may be many: each notes where it is, and the search for a free place goes on where the last one ended. */
static bool remember(struct output_file *output)
{
    enum { FEW = 8 };
    static size_t last;
    size_t room = unfinished ? unfinished->room : 0;
    for (size_t i = 0; i < room; i++) {
        size_t at = (last + i) % room;
        if (!unfinished->paths[at]) {
            unfinished->paths[at] = output->temporary;
            output->place = last = at;
            return true;
        }
    }
    struct unfinished *longer = calloc(1, sizeof *longer + (room ? 2 * room : FEW) * sizeof longer->paths[0]);
    if (!longer)
        return false;
    longer->shorter = unfinished;
    longer->room = room ? 2 * room : FEW;
    for (size_t i = 0; i < room; i++)
        longer->paths[i] = unfinished->paths[i];
    longer->paths[room] = output->temporary;
    output->place = last = room;
    unfinished = longer;
    return true;
}

static void forget(const struct output_file *output)
{
    if (unfinished && output->place < unfinished->room && unfinished->paths[output->place] == output->temporary)
        unfinished->paths[output->place] = NULL;
}

static void clear(struct output_file *output)
{
    if (output->temporary)
        forget(output);
    if (output->unnamed)
        close(output->unnamed);
    free(output->temporary);
    free(output->path);
    free(output->given);
    memset(output, 0, sizeof *output);
}

/* The permissions that a file made with fopen() would have. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* The C library would write 4 KiB at a time, for a third more of system time. */
enum { BUFFER_BYTES = 1 << 16 };

static FILE *open_stream(struct output_file *output, int fd)
{
    if (packed_by_name(output->path))
        return packed_open(fd, output->path);
    FILE *file = output->expected ? large_file_open(fd, large_file_cached(), output->expected) : fdopen(fd, "w");
    output->buffer = file ? malloc(BUFFER_BYTES) : NULL;
    if (output->buffer)
        setvbuf(file, output->buffer, _IOFBF, BUFFER_BYTES);
    return file;
}

static int close_stream(struct output_file *output)
{
    int status = fclose(output->file);
    free(output->buffer);
    output->buffer = NULL;
    output->file = NULL;
    return status;
}

/* A file without a name exists only as long as it is open. There may be more outputs than a process may have open: the
 * last quarter is left to other files. -1: this one has to have a name. */
static int hold(int fd)
{
    struct rlimit limit;
    int own = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (own >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)own >= limit.rlim_cur / 4 * 3) {
        close(own);
        own = -1;
    }
    return own;
}

/* The name and six more characters, in the same folder; a name that would be too long is cut. */
static char *temporary_name(const char *path)
{
    static const char ending[] = ".XXXXXX";
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0, name = strlen(path + folder);
    if (name > NAME_MAX - strlen(ending))
        name = NAME_MAX - strlen(ending);
    char *temporary = malloc(folder + name + sizeof ending);
    if (temporary)
        snprintf(temporary, folder + name + sizeof ending, "%.*s%s", (int)(folder + name), path, ending);
    return temporary;
}

/* A file with its temporary name. Signals wait until the handler knows the name. -1 and errno on failure. */
static int open_named(struct output_file *output)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int fd = mkstemp(output->temporary);
    int reason = errno;
    if (fd >= 0)
        watch_signals();
    if (fd >= 0 && !remember(output)) {
        unlink(output->temporary);
        close(fd);
        fd = -1;
        reason = ENOMEM;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return fd;
}

static FILE *open_temporary(struct output_file *output, mode_t mode)
{
    output->temporary = temporary_name(output->path);
    if (!output->temporary)
        return NULL;
    int fd = twin__open_unnamed(output->path, 0600), own = hold(fd);
    bool named = own < 0;
    if (named && fd >= 0)
        close(fd);
    if (named)
        fd = open_named(output);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return NULL;
    }
    output->unnamed = named ? 0 : own;
    FILE *file = fchmod(fd, mode) == 0 ? open_stream(output, fd) : NULL;
    if (!file) {
        int reason = errno;
        close(fd);
        if (named)
            unlink(output->temporary);
        errno = reason;
    }
    return file;
}

static bool is_same_file(const struct stat *known, int fd)
{
    struct stat other;
    return fstat(fd, &other) == 0 && other.st_dev == known->st_dev && other.st_ino == known->st_ino;
}

/* Where the shell has sent standard output or error, by the name of /dev/stdout or its own: a file put in its place
 * would not have what is written there besides. -1: neither. */
static int standard_stream(const struct stat *known)
{
    if (is_same_file(known, STDOUT_FILENO))
        return STDOUT_FILENO;
    return is_same_file(known, STDERR_FILENO) ? STDERR_FILENO : -1;
}

static bool open_standard(struct output_file *out, int stream)
{
    int fd = dup(stream);
    out->given = strdup(stream == STDOUT_FILENO ? "standard output" : "standard error");
    out->file = fd >= 0 && out->given ? fdopen(fd, "w") : NULL;
    if (out->file)
        return true;
    fail("%s cannot be written: %s", stream == STDOUT_FILENO ? "standard output" : "standard error", strerror(errno));
    if (fd >= 0)
        close(fd);
    clear(out);
    return false;
}

static bool open_output(struct output_file *out, const char *path, uint64_t expected)
{
    struct stat known;
    bool exists = stat(path, &known) == 0;
    *out = (struct output_file){ .expected = expected };
    if (is_standard(path))
        return open_standard(out, STDOUT_FILENO);
    if (names_folder(path))
        return refuse("%s: is the name of a folder; give that of a file", path);
    int stream = exists ? standard_stream(&known) : -1;
    if (stream >= 0)
        return open_standard(out, stream);
    bool is_regular = exists && S_ISREG(known.st_mode);
    if (exists && !is_regular)
        out->path = strdup(path); /* /dev/fd/63 leads to a pipe, which has no other name */
    else
        out->path = is_regular ? realpath(path, NULL) : follow_links(path); /* writes through a link */
    out->given = strdup(path);
    bool named = out->path && out->given;
    if (named && exists && !is_regular)
        out->file = fopen(path, "w");
    else if (named)
        out->file = open_temporary(out, exists ? known.st_mode & 0777 : usual_mode());
    if (out->file)
        return true;
    fail("%s: cannot be written: %s", path, strerror(errno));
    clear(out);
    return false;
}

bool output_file_open(struct output_file *out, const char *path)
{
    return open_output(out, path, 0);
}

bool output_file_open_large(struct output_file *out, const char *path, uint64_t expected)
{
    return open_output(out, path, expected + 1);
}

static bool report_unwritten(const struct output_file *output)
{
    fail("%s: could not be written: %s", output->given, strerror(errno ? errno : EIO));
    return false;
}

static bool give_up(struct output_file *output)
{
    report_unwritten(output);
    output_file_abandon(output);
    return false;
}

static bool leaves_to_system;

void output_files_leave_to_system(void)
{
    leaves_to_system = true;
}

/* The file as the library names it. */
static struct twin__finished_file finished(const struct output_file *output)
{
    return (struct twin__finished_file){ output->unnamed ? output->unnamed : -1, output->temporary };
}

int output_file_reopen(const struct output_file *output)
{
    if (output->unnamed)
        return fcntl(output->unnamed, F_DUPFD_CLOEXEC, 3);
    if (output->temporary)
        return open(output->temporary, O_RDONLY | O_CLOEXEC);
    errno = ESPIPE;
    return -1;
}

/* Where there are several files, the disk is at work on the first while the next is written, and one wait for all of them
 * is nearly as short as for the last. */
static void begin_sync(const struct output_file *output)
{
    int fd = leaves_to_system ? -1 : output_file_reopen(output);
    if (fd < 0)
        return;
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* of the whole file; it may fail */
    close(fd);
}

bool output_file_close(struct output_file *output)
{
    bool failed = ferror(output->file) != 0;
    int reason = failed ? errno : 0; /* of the write; closing may set another */
    errno = 0;
    bool closed = close_stream(output) == 0;
    errno = reason ? reason : errno;
    if (!closed || failed)
        return give_up(output);
    begin_sync(output);
    return true;
}

/* A name that another program has taken by accident is not tried again. */
static bool name_output(struct output_file *output)
{
    enum { TRIES = 100 };
    char *end = output->temporary + strlen(output->temporary) - strlen("XXXXXX");
    bool good = false;
    for (unsigned i = 0; i < TRIES && !good; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        if (output->unnamed)
            snprintf(end, sizeof "XXXXXX", "%06lx",
                     ((unsigned long)now.tv_nsec ^ (unsigned long)getpid() << 8) & 0xFFFFFF);
        good = twin__name_finished(finished(output), output->path, true);
        if (!good && !(output->unnamed && errno == EEXIST))
            break;
    }
    return good;
}

bool output_folder_sync(const char *path)
{
    return leaves_to_system || twin__sync_folder(path) ||
           refuse("%s: its folder could not be put on the disk: %s", path, strerror(errno));
}

bool output_standard_sync(void)
{
    struct stat known;
    if (fstat(STDOUT_FILENO, &known) != 0 || !S_ISREG(known.st_mode))
        return true;
    char *path = realpath("/dev/stdout", NULL); /* NULL: it has none, or not any more */
    bool good = (fflush(stdout) == 0 && fsync(STDOUT_FILENO) == 0) ||
                refuse("standard output could not be written: %s", strerror(errno));
    good = good && (!path || output_folder_sync(path));
    free(path);
    return good;
}

/* Whether a file comes from the folder of another. */
static bool in_same_folder(const char *a, const char *b)
{
    const char *a_name = strrchr(a, '/'), *b_name = strrchr(b, '/');
    size_t length = a_name ? (size_t)(a_name - a) : 0;
    return (a_name != NULL) == (b_name != NULL) && (!b_name || length == (size_t)(b_name - b)) &&
           memcmp(a, b, length) == 0;
}

/* What is written directly has its name. */
static bool is_staged(const struct output_file *output)
{
    return output && output->temporary;
}

static bool sync_all(struct output_file *const *outputs, size_t count)
{
    for (size_t i = 0; i < count && !leaves_to_system; i++)
        if (is_staged(outputs[i]) && !twin__sync_finished(finished(outputs[i])))
            return report_unwritten(outputs[i]);
    return true;
}

static bool name_all(struct output_file *const *outputs, size_t count)
{
    if (interrupted())
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_staged(outputs[i]) && !name_output(outputs[i]))
            return report_unwritten(outputs[i]);
    return true;
}

static bool sync_folders(struct output_file *const *outputs, size_t count)
{
    const char *last = NULL;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        if (is_staged(outputs[i]) && !(last && in_same_folder(last, outputs[i]->path))) {
            last = outputs[i]->path;
            good = output_folder_sync(last);
        }
    return good;
}

bool output_files_finish(struct output_file *const *outputs, size_t count)
{
    bool good = true, named = false;
    for (size_t i = 0; i < count && good; i++)
        good = !outputs[i] || !outputs[i]->file || output_file_close(outputs[i]);
    good = good && sync_all(outputs, count) && (named = name_all(outputs, count)) && sync_folders(outputs, count);
    for (size_t i = 0; i < count; i++)
        if (outputs[i] && outputs[i]->given) {
            if (named)
                clear(outputs[i]);
            else
                output_file_abandon(outputs[i]);
        }
    return good;
}

bool output_file_finish(struct output_file *output)
{
    return output_files_finish(&output, 1);
}

void output_file_abandon(struct output_file *output)
{
    if (output->file)
        close_stream(output);
    if (output->temporary && !output->unnamed)
        unlink(output->temporary);
    clear(output);
}

/* ---- for the library ---- */

static twin_status write_to_file(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) == length ? TWIN_OK : TWIN_EIO;
}

static twin_status read_from_file(void *context, void *out, size_t *length)
{
    *length = fread(out, 1, *length, context);
    return ferror((FILE *)context) ? TWIN_EIO : TWIN_OK;
}

twin_sink file_sink(FILE *file)
{
    return (twin_sink){ write_to_file, file };
}

twin_source file_source(FILE *file)
{
    return (twin_source){ read_from_file, file };
}

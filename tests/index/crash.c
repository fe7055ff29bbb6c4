/* crash.c — kills writers of an index at random instants, repeatedly.
 *
 *     crash [--kills N] [--seed N] [--folder F]
 *
 * A writer adds and removes batches and acknowledges each on a pipe. Batch b is a function of b, so the state after
 * it can be worked out. After each kill the index must pass its check and be exactly as after the last batch that was
 * acknowledged, or one more; nothing in between. All the while a reader has the index open and holds a view from the
 * very beginning, and now and then the writer's disk is full. Part of the suite with a few kills; run it long by
 * hand. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <twinsift/index.h>
#include <unistd.h>

#include "base/random.h"

enum { IDS = 400, ADDED = 40, REMOVED = 25, WORDS = 60 };

static char path[256];
static const twin_exec serial = { TWIN_EXEC_SERIAL, 1 };

__attribute__((noreturn)) static void die(const char *what, const char *why)
{
    fprintf(stderr, "crash: %s: %s\n", what, why);
    exit(1);
}

static void must(twin_status status, const char *what, const twin_error *error)
{
    if (status != TWIN_OK)
        die(what, error->message[0] ? error->message : twin_status_text(status));
}

/* ---- what batch b does ---- */

/* The batch that wrote each id last; 0: it is not there. */
struct state {
    uint64_t batch[IDS];
};

static bool is_removal(uint64_t batch)
{
    return batch % 3 == 0;
}

static size_t choose_ids(size_t ids[ADDED], uint64_t batch)
{
    uint64_t random = batch * 1000;
    size_t count = is_removal(batch) ? REMOVED : ADDED;
    for (size_t i = 0; i < count; i++)
        ids[i] = twin__random_below(&random, IDS);
    return count;
}

static void play(struct state *state, uint64_t batch)
{
    size_t ids[ADDED], count = choose_ids(ids, batch);
    for (size_t i = 0; i < count; i++)
        state->batch[ids[i]] = is_removal(batch) ? 0 : batch;
}

static void write_text(char *out, size_t id, uint64_t batch)
{
    uint64_t random = id << 32 | batch;
    for (int i = 0; i < WORDS; i++)
        out += sprintf(out, "word%u ", (unsigned)twin__random_below(&random, 5000));
}

static twin_status do_batch(twin_index *index, uint64_t batch, twin_error *error)
{
    static char names[ADDED][24], texts[ADDED][WORDS * 12];
    twin_index_document documents[ADDED];
    twin_text list[ADDED];
    size_t ids[ADDED], count = choose_ids(ids, batch);
    for (size_t i = 0; i < count; i++) {
        sprintf(names[i], "id%zu", ids[i]);
        write_text(texts[i], ids[i], batch);
        list[i] = (twin_text){ names[i], strlen(names[i]) };
        documents[i] = (twin_index_document){ .id = list[i], .text = { texts[i], strlen(texts[i]) }, .time = batch };
    }
    return is_removal(batch)
               ? twin_index_remove(NULL, NULL, index, list, count, error)
               : twin_index_add(NULL, index, documents, count, (twin_index_add_options){ .exec = serial }, error);
}

/* ---- the writer ---- */

static void acknowledge(int pipe, uint64_t batch)
{
    if (write(pipe, &batch, sizeof batch) != sizeof batch)
        _exit(1);
}

/* Writes batches until it is killed. */
__attribute__((noreturn)) static void write_forever(int pipe, uint64_t batch)
{
    twin_index *index;
    twin_error error = { 0 };
    must(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), "the writer could not open", &error);
    for (;;) {
        must(do_batch(index, ++batch, &error), "a batch failed", &error);
        acknowledge(pipe, batch);
    }
}

static void limit_file(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Writes until the file may grow no more; then the index must say so and be as it was, and go on when there is
 * room again. Batches are not acknowledged once one has failed, so that the parent sees the old state. */
__attribute__((noreturn)) static void write_until_full(int pipe, uint64_t batch, uint64_t room)
{
    twin_index *index;
    twin_error error = { 0 };
    struct stat stat_of;
    must(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), "the writer could not open", &error);
    if (stat(path, &stat_of) != 0)
        die(path, strerror(errno));
    signal(SIGXFSZ, SIG_IGN);
    limit_file((rlim_t)stat_of.st_size + room);
    twin_status status = TWIN_OK;
    for (int i = 0; i < 500 && status == TWIN_OK; i++) {
        status = do_batch(index, ++batch, &error);
        if (status == TWIN_OK)
            acknowledge(pipe, batch);
    }
    if (status == TWIN_OK)
        _exit(0); /* it found enough free room */
    if (status != TWIN_EIO || !strstr(error.message, "batches before it remain"))
        die("a full disk", error.message);
    twin_index_view *view;
    must(twin_index_view_create(&view, index, &error), "no view after a full disk", &error);
    must(twin_index_check(view, (twin_progress){ 0 }, &error), "not as it was after a full disk", &error);
    twin_index_view_free(view);
    limit_file(RLIM_INFINITY);
    must(do_batch(index, batch, &error), "not written when there was room again", &error);
    acknowledge(pipe, batch);
    twin_index_close(index);
    _exit(0);
}

/* ---- the reader ---- */

static uint64_t count_documents(twin_index_view *view)
{
    twin_index_info info;
    twin_error error = { 0 };
    must(twin_index_describe(&info, view, &error), "the reader could not count", &error);
    return info.documents;
}

/* Looks until the pipe is closed. The first view must stay what it was. */
__attribute__((noreturn)) static void read_throughout(int pipe)
{
    twin_index *index;
    twin_index_view *first, *view;
    twin_error error = { 0 };
    must(twin_index_open(&index, path, TWIN_INDEX_READ, &error), "the reader could not open", &error);
    must(twin_index_view_create(&first, index, &error), "the reader could not look", &error);
    must(twin_index_view_create(&view, index, &error), "the reader could not look", &error);
    uint64_t documents = count_documents(first);
    char byte;
    acknowledge(pipe, 0); /* the first view is there */
    while (recv(pipe, &byte, 1, MSG_DONTWAIT) != 0) {
        must(twin_index_view_renew(view, &error), "the reader could not look again", &error);
        must(twin_index_check(view, (twin_progress){ 0 }, &error), "the reader saw something wrong", &error);
    }
    must(twin_index_check(first, (twin_progress){ 0 }, &error), "the first view has changed", &error);
    if (count_documents(first) != documents)
        die("the first view", "has other documents than before");
    twin_index_view_free(first);
    twin_index_view_free(view);
    twin_index_close(index);
    _exit(0);
}

/* ---- after each kill ---- */

struct comparison {
    const struct state *state;
    size_t found;
    bool differs;
};

static bool compare_entry(void *context, const twin_index_entry *entry)
{
    struct comparison *comparison = context;
    char digits[24] = { 0 };
    if (entry->id.length > 2 && entry->id.length < sizeof digits)
        memcpy(digits, entry->id.bytes + 2, entry->id.length - 2);
    size_t id = (size_t)strtoul(digits, NULL, 10);
    comparison->found++;
    comparison->differs |= id >= IDS || comparison->state->batch[id] != entry->time;
    return true;
}

static bool is_as(twin_index_view *view, const struct state *state)
{
    struct comparison comparison = { .state = state };
    twin_error error = { 0 };
    size_t there = 0;
    must(twin_index_each(view, compare_entry, &comparison, &error), "the index could not be read", &error);
    for (size_t id = 0; id < IDS; id++)
        there += state->batch[id] != 0;
    return !comparison.differs && comparison.found == there;
}

/* Brings `state` to what the index holds; returns the number of its last batch. */
static uint64_t verify(struct state *state, uint64_t acknowledged)
{
    twin_index *index;
    twin_index_view *view;
    twin_error error = { 0 };
    must(twin_index_open(&index, path, TWIN_INDEX_READ, &error), "could not be opened after a kill", &error);
    must(twin_index_view_create(&view, index, &error), "could not be read after a kill", &error);
    must(twin_index_check(view, (twin_progress){ 0 }, &error), "check failed after a kill", &error);
    if (!is_as(view, state)) {
        play(state, ++acknowledged);
        if (!is_as(view, state))
            die("after a kill", "the index is neither at the last batch nor one further");
    }
    twin_index_view_free(view);
    twin_index_close(index);
    return acknowledged;
}

/* Plays the batches that were acknowledged; returns the last. */
static uint64_t take_acknowledgements(int pipe, struct state *state, uint64_t last)
{
    uint64_t batch;
    while (read(pipe, &batch, sizeof batch) == sizeof batch) {
        if (batch != last + 1)
            die("the writer", "acknowledged out of order");
        play(state, batch);
        last = batch;
    }
    return last;
}

static uint64_t run_writer(struct state *state, uint64_t last, uint64_t *random, bool full)
{
    int pipes[2], status;
    if (pipe(pipes) != 0)
        die("pipe", strerror(errno));
    uint64_t room = twin__random_below(random, 300000);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        if (full)
            write_until_full(pipes[1], last, room);
        write_forever(pipes[1], last);
    }
    close(pipes[1]);
    if (!full) {
        struct timespec nap = { 0, (long)twin__random_below(random, 60000000) }; /* up to 60 ms */
        nanosleep(&nap, NULL);
        kill(child, SIGKILL);
    }
    last = take_acknowledgements(pipes[0], state, last);
    close(pipes[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("the writer", "could not be started");
    if (WIFEXITED(status) && (WEXITSTATUS(status) != 0 || !full))
        die("the writer", "ended by itself");
    return verify(state, last);
}

static pid_t start_reader(int *end)
{
    int ends[2];
    uint64_t ready;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        die("socketpair", strerror(errno));
    pid_t reader = fork();
    if (reader == 0) {
        close(ends[0]);
        read_throughout(ends[1]);
    }
    close(ends[1]);
    *end = ends[0];
    if (reader < 0 || read(ends[0], &ready, sizeof ready) != sizeof ready)
        die("the reader", "could not be started");
    return reader;
}

static void make_index(struct state *state)
{
    twin_index *index;
    twin_error error = { 0 };
    twin_index_options options = { .scheme.shingle = { .kind = TWIN_SHINGLE_WORD, .width = 1 },
                                   .scheme.minhash = { .slots = 64 },
                                   .scheme.threshold = 0.8 };
    must(twin_index_create(path, options, true, &error), "could not be created", &error);
    must(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), "could not be opened", &error);
    must(do_batch(index, 1, &error), "the first batch failed", &error);
    play(state, 1);
    twin_index_close(index);
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "kills", required_argument, NULL, 'k' },
                                             { "seed", required_argument, NULL, 's' },
                                             { "folder", required_argument, NULL, 'f' },
                                             { 0 } };
    unsigned long kills = 20;
    uint64_t random = 1, last = 1;
    char own[] = "/tmp/crash.XXXXXX";
    const char *folder = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'k': kills = strtoul(optarg, NULL, 10); break;
        case 's': random = strtoull(optarg, NULL, 10); break;
        case 'f': folder = optarg; break;
        default: return 2;
        }
    if (!folder && !(folder = mkdtemp(own)))
        die("a folder", strerror(errno));
    snprintf(path, sizeof path, "%s/crash.twin", folder);

    struct state state = { { 0 } };
    int end, status;
    make_index(&state);
    pid_t reader = start_reader(&end);
    for (unsigned long i = 1; i <= kills; i++)
        last = run_writer(&state, last, &random, i % 8 == 0);
    close(end);
    if (waitpid(reader, &status, 0) != reader || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the reader", "did not end well");
    printf("%lu kills and full disks, %llu batches, none lost or halved\n", kills, (unsigned long long)last);
    unlink(path);
    snprintf(path, sizeof path, "%s/crash.twin-lock", folder);
    unlink(path);
    if (folder == own)
        rmdir(own);
    return 0;
}

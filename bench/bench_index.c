/* bench_index.c — what it costs to keep an index: bulk load beside `pairs`, small batches beside bulk, queries by one
 * process and two, bytes a document.
 *
 *     bench_index [DOCUMENTS] [FOLDER]     default 100000 in /tmp
 *
 * Documents are made of 300 invented words, about 2 KB; one in ten is an earlier one with a few words changed. Seconds are of
 * the clock and, in brackets, of the processor, all threads together: on a shared machine or a slow disk compare those.
 * Ratios are within this run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <twinsift/twinsift.h>
#include <unistd.h>

#include "random.h"

enum { WORDS = 300, CHANGED = 6, VOCABULARY = 20000, BATCH = 1000, SMALL_BATCHES = 20, QUESTIONS = 20000 };

static const twin_shingle_options shingle = { .kind = TWIN_SHINGLE_CHAR, .width = 9, .hash = { .seed = 1 } };
static const twin_minhash_options minhash = { .slots = 128, .seed = 1 };
static const double THRESHOLD = 0.8;

struct clocks {
    double wall, processor;
};

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + 1e-6 * (double)time->tv_usec;
}

static struct clocks now(void)
{
    struct timespec wall;
    struct rusage usage;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    getrusage(RUSAGE_SELF, &usage);
    return (struct clocks){ (double)wall.tv_sec + 1e-9 * (double)wall.tv_nsec,
                            seconds(&usage.ru_utime) + seconds(&usage.ru_stime) };
}

static struct clocks since(struct clocks begun)
{
    struct clocks here = now();
    return (struct clocks){ here.wall - begun.wall, here.processor - begun.processor };
}

static void must(twin_status status, const twin_error *error)
{
    if (status == TWIN_OK)
        return;
    fprintf(stderr, "bench_index: %s\n", error->message[0] ? error->message : twin_status_text(status));
    exit(1);
}

/* ---- documents ---- */

static size_t write_word(char *out, uint64_t word)
{
    static const char *const parts[] = { "ba",  "con", "der", "el",  "fin", "go",  "har", "ist",
                                         "jo",  "kel", "lum", "mar", "no",  "or",  "pri", "qua",
                                         "ren", "sta", "tor", "un",  "vel", "wor", "ing", "ed" };
    size_t length = 0;
    uint64_t state = word;
    for (uint64_t i = 2 + word % 2; i > 0; i--) {
        const char *part = parts[twin__random_below(&state, sizeof parts / sizeof parts[0])];
        while (*part)
            out[length++] = *part++;
    }
    out[length] = ' ';
    return length + 1;
}

/* The text of document i; one in ten follows one of the hundred before it. */
static size_t write_text(char *out, uint64_t number)
{
    uint64_t choice = twin__mix(number + 1), source = number, changes = number * 77, length = 0;
    bool follows = number >= 100 && choice % 10 == 0;
    if (follows)
        source = number - 1 - choice / 10 % 99;
    uint64_t state = source << 20;
    uint64_t changed[CHANGED];
    for (int i = 0; i < CHANGED; i++)
        changed[i] = twin__random_below(&changes, WORDS);
    for (uint64_t i = 0; i < WORDS; i++) {
        uint64_t word = twin__random_below(&state, VOCABULARY);
        for (int j = 0; follows && j < CHANGED; j++)
            if (changed[j] == i)
                word = twin__random_below(&changes, VOCABULARY);
        length += write_word(out + length, word);
    }
    return length;
}

static void write_documents(const char *path, uint64_t begin, uint64_t end)
{
    char text[WORDS * 12];
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    for (uint64_t i = begin; i < end; i++)
        fprintf(file, "{\"id\":\"d%llu\",\"text\":\"%.*s\"}\n", (unsigned long long)i, (int)write_text(text, i),
                text);
    fclose(file);
}

static twin_input *open_input(const char *path)
{
    twin_input *input;
    twin_error error = { 0 };
    must(twin_input_open(&input, &path, 1, (twin_input_options){ 0 }, &error), &error);
    return input;
}

/* ---- pairs, as the measure of all ---- */

static struct clocks measure_pairs(const char *corpus, twin_exec exec)
{
    twin_collection *collection;
    twin_similar *similar;
    twin_plan plan;
    twin_error error = { 0 };
    struct clocks begun = now();
    twin_input *input = open_input(corpus);
    must(twin_plan_from_slots(&plan, (twin_plan_point){ THRESHOLD, 0.999 }, minhash.slots), &error);
    must(twin_collection_read(&collection, input,
                              (twin_collection_options){ .shingle = shingle, .minhash = minhash, .exec = exec },
                              &error),
         &error);
    must(twin_similar_find(&similar, collection,
                           (twin_similar_options){ .threshold = THRESHOLD, .bands = { .plan = plan }, .exec = exec },
                           &error),
         &error);
    struct clocks spent = since(begun);
    printf("pairs                  %8.2f s (%.2f)   %llu similar\n", spent.wall, spent.processor,
           (unsigned long long)twin_similar_count(similar).similar);
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
    return spent;
}

/* ---- adding ---- */

static struct clocks add(twin_index *index, const char *path, size_t batch, twin_exec exec)
{
    twin_error error = { 0 };
    struct clocks begun = now();
    twin_input *input = open_input(path);
    must(
        twin_index_add_input(NULL, index, input, (twin_index_feed){ .exec = exec, .batch_documents = batch }, &error),
        &error);
    twin_input_free(input);
    return since(begun);
}

static void measure_adding(twin_index *index, const char *corpus, const char *more, uint64_t documents,
                           struct clocks pairs, twin_exec exec)
{
    struct clocks bulk = add(index, corpus, 0, exec);
    printf("  bulk load            %8.2f s (%.2f)   %.2f (%.2f) times pairs, at most 3 wanted\n", bulk.wall,
           bulk.processor, bulk.wall / pairs.wall, bulk.processor / pairs.processor);
    struct clocks small = add(index, more, BATCH, exec);
    double scale = (double)documents / (BATCH * SMALL_BATCHES);
    printf("  batches of %d      %8.2f s (%.2f)   %.0f %% (%.0f %%) of the bulk rate, at least 20 %% wanted\n", BATCH,
           small.wall, small.processor, 100 * bulk.wall / (small.wall * scale),
           100 * bulk.processor / (small.processor * scale));
}

/* ---- asking ---- */

/* Asks for every so many-th document, and returns how many others were found. */
static uint64_t ask(const char *path, uint64_t documents, uint64_t seed)
{
    twin_index *index;
    twin_index_view *view;
    twin_index_answer answer = { 0 };
    twin_error error = { 0 };
    char text[WORDS * 12];
    uint64_t found = 0;
    must(twin_index_open(&index, path, TWIN_INDEX_READ, &error), &error);
    must(twin_index_view_create(&view, index, &error), &error);
    struct clocks begun = now();
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        size_t length = write_text(text, twin__random_below(&seed, documents));
        must(twin_index_query(&answer, view, (twin_index_question){ 0 }, (twin_text){ text, length }, &error),
             &error);
        found += answer.count - 1;
    }
    struct clocks spent = since(begun);
    printf("    a process          %8.2f s (%.2f)   %.0f (%.0f) queries a second, at least 5000 wanted\n", spent.wall,
           spent.processor, QUESTIONS / spent.wall, QUESTIONS / spent.processor);
    twin_index_answer_clear(&answer);
    twin_index_view_free(view);
    twin_index_close(index);
    return found;
}

static void measure_asking(const char *path, uint64_t documents, int processes)
{
    printf("  %d reader%s\n", processes, processes > 1 ? "s" : "");
    fflush(stdout);
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            ask(path, documents, (uint64_t)i + 1);
            fflush(stdout);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static void measure_index(const char *folder, twin_keep keep, uint64_t documents, struct clocks pairs, twin_exec exec)
{
    char path[512], corpus[512], more[512];
    struct stat stat_of;
    twin_index *index;
    twin_error error = { 0 };
    snprintf(path, sizeof path, "%s/bench.twin", folder);
    snprintf(corpus, sizeof corpus, "%s/corpus.jsonl", folder);
    snprintf(more, sizeof more, "%s/more.jsonl", folder);
    printf("keep %s\n", twin_keep_name(keep));
    twin_index_options options = { .shingle = shingle, .minhash = minhash, .threshold = THRESHOLD, .keep = keep };
    must(twin_index_create(path, options, true, &error), &error);
    must(twin_index_open(&index, path, TWIN_INDEX_WRITE, &error), &error);
    measure_adding(index, corpus, more, documents, pairs, exec);
    twin_index_close(index);
    if (stat(path, &stat_of) == 0)
        printf("  size                 %8.0f bytes a document\n",
               (double)stat_of.st_size / (double)(documents + BATCH * SMALL_BATCHES));
    measure_asking(path, documents, 1);
    measure_asking(path, documents, 2);
    unlink(path);
    snprintf(path, sizeof path, "%s/bench.twin-lock", folder);
    unlink(path);
}

int main(int argc, char **argv)
{
    uint64_t documents = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    char folder[256], corpus[512], more[512];
    twin_exec exec;
    snprintf(folder, sizeof folder, "%s/bench_index.XXXXXX", argc > 2 ? argv[2] : "/tmp");
    if (!mkdtemp(folder) || twin_exec_make(&exec, TWIN_EXEC_PTHREADS, 0) != TWIN_OK)
        return 1;
    snprintf(corpus, sizeof corpus, "%s/corpus.jsonl", folder);
    snprintf(more, sizeof more, "%s/more.jsonl", folder);
    write_documents(corpus, 0, documents);
    write_documents(more, documents, documents + BATCH * SMALL_BATCHES);
    printf("%llu documents, %d workers\n", (unsigned long long)documents, exec.workers);
    measure_pairs(corpus, exec); /* once to bring the file into memory */
    struct clocks pairs = measure_pairs(corpus, exec);
    measure_index(folder, TWIN_KEEP_SETS, documents, pairs, exec);
    measure_index(folder, TWIN_KEEP_TEXT, documents, pairs, exec);
    measure_index(folder, TWIN_KEEP_NONE, documents, pairs, exec);
    unlink(corpus);
    unlink(more);
    rmdir(folder);
    return 0;
}

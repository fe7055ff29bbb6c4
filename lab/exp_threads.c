/* exp_threads.c — threads: all executors give the same result; their times, next to those of Bianchi and Dewidar.
 *
 * Generates a collection with planted near-duplicates, runs the whole pipeline on it with every executor, compares
 * signatures and pairs with the serial run, and reports time, speed-up and efficiency. */
#include "collection/contents.h"
#include "join/similar_private.h"
#include "lab.h"
#include "support/usage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- collections of the sizes that Bianchi and Dewidar used */

enum { TEXT = 10000, WORDS = 3000, LONGEST = 10 };

struct words {
    char all[WORDS][LONGEST + 1];
};

static void draw_words(struct words *out, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t w = 0; w < WORDS; w++) {
        size_t length = 2 + draw_below(&state, LONGEST - 1);
        for (size_t i = 0; i < length; i++)
            out->all[w][i] = (char)('a' + draw_below(&state, 26));
        out->all[w][length] = '\0';
    }
}

/* Documents of 10 KB of random words; every fifth one is its predecessor with about one word in fifty
 * changed. */
static void write_document(FILE *out, const struct words *words, size_t number, uint64_t seed)
{
    bool copy = number % 5 == 4;
    uint64_t state = seed_of(seed, copy ? number - 1 : number), changes = seed_of(seed, number + 1000000);
    fprintf(out, "{\"id\":%zu,\"text\":\"", number);
    for (size_t written = 0; written < TEXT;) {
        const char *word = words->all[draw_below(&state, WORDS)];
        if (copy && draw_below(&changes, 50) == 0)
            word = words->all[draw_below(&changes, WORDS)];
        written += (size_t)fprintf(out, "%s ", word);
    }
    fputs("\"}\n", out);
}

/* An unnamed file of documents. */
static FILE *write_collection(size_t documents, uint64_t seed)
{
    struct words *words = need(1, sizeof *words);
    FILE *file = file_temporary();
    draw_words(words, seed);
    for (size_t d = 0; d < documents; d++)
        write_document(file, words, d, seed);
    if (fflush(file) != 0)
        die("the documents could not be written: %s", strerror(errno));
    free(words);
    return file;
}

/* ---- the pipeline, timed */

struct times {
    double wall, processor; /* seconds, the best of the repeats */
};

struct result {
    uint64_t fingerprint; /* of signatures and pairs */
    size_t pairs;
};

/* Seconds of all threads. */
static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The parameters of Bianchi and Dewidar: shingles of 9 characters, 200 functions, bands of 5 rows, 5,000 buckets. */
static void run_once(struct result *out, const char *path, twin_exec exec, uint64_t seed)
{
    twin_input *input;
    twin_collection *collection;
    twin_similar *similar;
    twin_error error = { 0 };
    const twin_match *matches;
    static const twin_hash xxh3 = { .family = TWIN_HASH_XXH3 };
    twin_collection_options reading = {
        .scheme.shingle = { .kind = TWIN_SHINGLE_CHAR, .width = 9, .hash = xxh3 },
        .scheme.minhash = { .sketch = TWIN_SKETCH_CLASSIC, .slots = 200, .seed = seed },
        .exec = exec
    };
    twin_similar_options finding = { .threshold = 0.5,
                                     .bands = { .plan = { 40, 5 }, .buckets = 5000 },
                                     .exec = exec };
    twin_input_options opening = { .as = TWIN_INPUT_AS_JSONL, .chunk_bytes = 1 << 16 };
    expect(twin_input_open(&input, &path, 1, opening, &error), path, &error);
    expect(twin_collection_read(&collection, input, reading, &error), path, &error);
    expect(twin_similar_find(&similar, collection, finding, &error), path, &error);
    out->pairs = twin__similar_matches(&matches, similar);
    uint64_t signatures = twin_hash_bytes(xxh3, twin__collection_signatures(collection),
                                          twin_collection_count(collection).documents * 200 * sizeof(uint32_t));
    out->fingerprint = signatures;
    for (size_t i = 0; i < out->pairs; i++) {
        uint64_t parts[3] = { out->fingerprint, (uint64_t)matches[i].a << 32 | matches[i].b, 0 };
        memcpy(&parts[2], &matches[i].similarity, sizeof parts[2]);
        out->fingerprint = twin_hash_bytes(xxh3, parts, sizeof parts);
    }
    twin_similar_free(similar);
    twin_collection_free(collection);
    twin_input_free(input);
}

static struct times run_timed(struct result *out, const char *path, twin_exec exec, uint64_t seed, int repeats)
{
    struct times best = { INFINITY, INFINITY };
    for (int i = 0; i < repeats; i++) {
        double wall = seconds(), processor = processor_seconds();
        run_once(out, path, exec, seed);
        best.wall = fmin(best.wall, seconds() - wall);
        best.processor = fmin(best.processor, processor_seconds() - processor);
    }
    return best;
}

/* ---- the table */

enum { SIZES = 4 };
static const size_t sizes[SIZES] = { 10, 50, 100, 1000 };

struct worker_row {
    twin_executor kind;
    int workers;
    const char *seconds[SIZES], *efficiency[SIZES]; /* of Bianchi and Dewidar */
};

#define NOTHING                                                                                                      \
    {                                                                                                                \
        "–", "–", "–", "–"                                                                                         \
    }
static const struct worker_row rows[] = {
    { TWIN_EXEC_SERIAL, 1, { "0.43", "9.9", "42.5", "–" }, NOTHING },
    { TWIN_EXEC_PTHREADS, 1, { "0.46", "10.5", "42.1", "–" }, NOTHING },
    { TWIN_EXEC_PTHREADS, 2, { "0.23", "5.15", "20.6", "–" }, { "0.935", "0.96", "1.0", "–" } },
    { TWIN_EXEC_PTHREADS, 5, { "0.11", "2.63", "10.8", "–" }, { "0.78", "0.752", "0.786", "–" } },
    { TWIN_EXEC_PTHREADS, 10, { "0.11", "2.11", "8.67", "1134.5" }, { "0.39", "0.47", "0.49", "–" } },
    { TWIN_EXEC_OPENMP, 1, { "0.1", "10.2", "42.6", "–" }, NOTHING },
    { TWIN_EXEC_OPENMP, 2, { "0.26", "5.2", "21.6", "–" }, { "0.82", "0.95", "0.98", "–" } },
    { TWIN_EXEC_OPENMP, 5, { "0.14", "2.5", "10.4", "–" }, { "0.614", "0.79", "0.82", "–" } },
    { TWIN_EXEC_OPENMP, 10, { "0.13", "2.03", "7.7", "1017.8" }, { "0.33", "0.48", "0.55", "–" } },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

struct growth {
    size_t tried, different; /* runs compared with serial */
    size_t pairs;            /* found by serial */
    struct times serial;
};

static void run_size(struct lab *lab, struct table *table, struct growth *out, size_t size, const char *path)
{
    struct result serial = { 0 };
    uint64_t seed = seed_of(lab->seed, 1700);
    int repeats = sizes[size] >= 1000 ? 2 : 5;
    for (size_t r = 0; r < ROWS; r++) {
        twin_exec exec;
        struct result result;
        if (twin_exec_make(&exec, rows[r].kind, rows[r].workers) != TWIN_OK)
            continue; /* not in this build */
        struct times times = run_timed(&result, path, exec, seed, repeats);
        if (r == 0) {
            serial = result;
            out->serial = times;
            out->pairs = serial.pairs;
        }
        out->tried++;
        out->different += result.fingerprint != serial.fingerprint || result.pairs != serial.pairs;
        double speed_up = out->serial.wall / times.wall;
        table_row(table, "%zu\t%s\t%d\t%.4f\t%.2f\t%.2f\t%s\t%s", sizes[size],
                  twin_name_of(TWIN_NAMES_EXECUTOR, rows[r].kind), rows[r].workers, times.wall, speed_up,
                  speed_up / rows[r].workers, rows[r].seconds[size], rows[r].efficiency[size]);
        progress(lab, size * ROWS + r + 1, SIZES * ROWS);
    }
}

/* One line of the plot: column `column` of an executor with `workers` workers. */
static void plot_line(FILE *script, const char *executor, int workers, int column, const char *style)
{
    fprintf(script, ", 'threads.tsv' skip 1 using 1:(strcol(2) eq '%s' && $3 == %d ? $%d : NaN) with %s", executor,
            workers, column, style);
}

static void plot_times(struct lab *lab, size_t largest)
{
    FILE *script = plot_begin(lab);
    fputs("set xlabel 'documents of 10 KB'\nset ylabel 'seconds'\nset logscale xy\nset key above horizontal maxcols "
          "2 width -6 font ',12'\n"
          "set format y '%g'\nset datafile missing NaN\n" /* lines continue across rows of others */
          "plot [7:",
          script);
    fprintf(script, "%zu] x*0.0002 ls 1 dt '.' title 'proportional to the input'", largest + largest / 2);
    plot_line(script, "serial", 1, 7, "linespoints ls 9 title 'Bianchi and Dewidar, serial'");
    plot_line(script, "pthreads", 10, 7, "linespoints ls 9 pt 6 title 'Bianchi and Dewidar, pthreads × 10'");
    plot_line(script, "serial", 1, 4, "linespoints ls 2 title 'serial'");
    plot_line(script, "pthreads", 2, 4, "linespoints ls 3 title 'pthreads × 2'");
    plot_line(script, "openmp", 2, 4, "linespoints ls 4 title 'OpenMP × 2'");
    fputc('\n', script);
    plot_end(lab, script, "threads",
             "Seconds to find all similar pairs of a collection, next to those of Bianchi and Dewidar.");
}

void exp_threads(struct lab *lab)
{
    struct growth growth[SIZES] = { 0 };
    size_t count = lab->quick ? 3 : SIZES, different = 0, tried = 0;
    struct table table;
    twin_exec processors;
    expect(twin_exec_make(&processors, TWIN_EXEC_PTHREADS, 0), "executor", NULL);
    table_begin(&table, "threads",
                "documents\texecutor\tthreads\tseconds\tspeed-up\tefficiency\treference: seconds\tefficiency");
    say(lab,
        "Generated documents of 10 KB; parameters and reference of Bianchi and Dewidar: char:9, 200 functions, rows "
        "5, 5,000 buckets. This machine has %d processors.",
        processors.workers);
    for (size_t s = 0; s < count; s++) {
        char path[PATH_ROOM];
        FILE *documents = write_collection(sizes[s], seed_of(lab->seed, 1701));
        file_path(path, documents);
        run_size(lab, &table, &growth[s], s, path);
        fclose(documents);
        different += growth[s].different;
        tried += growth[s].tried;
    }
    table_end(lab, &table);
    claim(lab, different == 0, "%zu of %zu runs gave signatures or pairs that differ from the serial run", different,
          tried);
    size_t last = count - 1, before = lab->quick ? 0 : 2;
    claim(lab, growth[last].pairs == sizes[last] / 5, "%zu pairs found; %zu were planted", growth[last].pairs,
          sizes[last] / 5);
    double times = growth[last].serial.processor / growth[before].serial.processor;
    static const char linear[] = "ten times the documents (%zu to %zu) take %.1f times the CPU time; reference: %s";
    if (lab->quick) /* a few milliseconds prove nothing */
        say(lab, linear, sizes[before], sizes[last], times, "99");
    else
        claim(lab, times <= 15, linear, sizes[before], sizes[last], times, "131");
    plot_times(lab, sizes[last]);
}

/* lab.h — what the experiments share.
 *
 * An experiment measures, puts its numbers beside theory and reference in tables and plots, and makes claims. It
 * passes when all its claims hold. Everything random comes from the seed, so a run can be repeated. */
#ifndef TWIN_LAB_H
#define TWIN_LAB_H

#include "support/messages.h"
#include "support/progress.h"

#include <stdio.h>
#include <twinsift/twinsift.h>

struct lab {
    bool quick;       /* a short run: fewer repeats, the same claims */
    const char *data; /* the folder of the data sets; NULL: there is none */
    const char *out;  /* the folder for tables and plots */
    uint64_t seed;
    twin_exec exec;
    FILE *page; /* the body of the report so far; NULL when none is asked for */

    /* the experiment that runs */
    const struct experiment *now;
    twin_progress progress;
    unsigned claims, broken; /* claims made, and those that did not hold */
};

struct experiment {
    const char *name, *title;
    void (*run)(struct lab *lab);
};

void exp_hash_distribution(struct lab *lab);
void exp_hash_correlation(struct lab *lab);
void exp_hash_independence(struct lab *lab);
void exp_bloom_k(struct lab *lab);
void exp_bloom_n(struct lab *lab);
void exp_bloom_big(struct lab *lab);
void exp_bloom_small(struct lab *lab);
void exp_bloom_overfill(struct lab *lab);
void exp_counting(struct lab *lab);
void exp_minhash_permutations(struct lab *lab);
void exp_minhash_error(struct lab *lab);
void exp_lsh_curve(struct lab *lab);
void exp_lsh_plan(struct lab *lab);
void exp_movielens(struct lab *lab);
void exp_embed_bounds(struct lab *lab);
void exp_embed_collision(struct lab *lab);
void exp_forest_precision(struct lab *lab);
void exp_forest_order(struct lab *lab);
void exp_reuters_duplicates(struct lab *lab);
void exp_forest_vs_by(struct lab *lab);
void exp_threads(struct lab *lab);

/* ---- notebook.c: what an experiment says, on standard output and in the report */

/* A paragraph. */
void say(struct lab *lab, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence that must hold, with its numbers; told as "ok" or "FAILED". Returns `holds`. */
bool claim(struct lab *lab, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The claim that no p-value of a family is too small for chance. The p-values are corrected in place (Holm). */
bool claim_chance(struct lab *lab, double *p_values, size_t count, const char *what);

/* The experiment, or a part of it, cannot be done here, and why. One that makes no claim is skipped. */
void skip(struct lab *lab, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports how much of the experiment is done. Workers may call it. */
void progress(const struct lab *lab, size_t done, size_t total);

/* Reports an error and ends the program with EXIT_ERROR. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Ends the program unless the call went well. */
void expect(twin_status status, const char *what, const twin_error *error);

/* Memory, or the end of the program. */
void *need(size_t count, size_t size);

/* ---- files.c: files, or the end of the program */

enum { PATH_ROOM = 4096 };

/* Opens OUT/NAME for writing, and tells the whole path. */
FILE *file_create(char path[PATH_ROOM], const struct lab *lab, const char *name, const char *suffix);
FILE *file_open(const char *path); /* for reading */
FILE *file_temporary(void);        /* without a name */

/* Closes what was written. */
void file_close(FILE *file, const char *path);

/* ---- table.c: numbers side by side */

/* Cells as text, row after row; those of the first row are the names of the columns. */
struct table {
    char name[64];
    char **cells;
    size_t columns, count, capacity;
};

/* `name` is that of the file; `columns` has tabs between the names. */
void table_begin(struct table *out, const char *name, const char *columns);

/* A row, with tabs between its cells. "–" is a cell with nothing in it. */
void table_row(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the table, writes OUT/NAME.tsv, puts it into the report, and lets it go. A table that would be long to read
 * is only written. */
void table_end(struct lab *lab, struct table *table);
void table_write_only(struct lab *lab, struct table *table);

/* ---- plot.c: pictures, drawn by gnuplot */

/* A script that has the house style set, and finds tables by their file names ('bloom-k.tsv'). Line styles: 1 theory,
 * 2 observed, 3, 4, 5 further observations, 9 reference. */
FILE *plot_begin(void);

/* The same for two pictures, one above the other: what is seen, and, after plot_lower(), its ratio to theory, which
 * shows what the first is too coarse for. */
FILE *plot_begin_pair(void);
void plot_lower(FILE *script);

/* Lets gnuplot read the script and write OUT/NAME.svg. Without gnuplot there is no picture, and a warning. */
void plot_end(struct lab *lab, FILE *script, const char *name, const char *caption);

/* ---- report.c: one page of it all */

void report_begin(struct lab *lab);
void report_text(FILE *page, const char *text); /* with <, > and & escaped */
void report_picture(FILE *page, const char *path, const char *caption);

/* Writes OUT/report.html. */
void report_end(struct lab *lab, const char *summary);

/* ---- stats.c: what chance allows */

struct interval {
    double low, high;
};

/* A claim about chance fails a right implementation once in this many runs (after correction for the number of
 * tests in it); some forty claims make one false alarm in 2,500 full runs, each with another seed. */
#define CLAIM_LEVEL 1e-5

/* Two-sided p-values. */
double p_normal(double z);
double p_binomial(double hits, double trials, double probability);

/* The probability of so much or more with `freedom` degrees of freedom. */
double p_chi_square(double chi_square, double freedom);

/* Clopper and Pearson's interval of 95 % for a probability; hits and trials need not be whole. */
struct interval interval_of(double hits, double trials);

/* Multiplies p-values by what their number asks for (Holm 1979), in place, and returns the smallest. */
double correct(double *p_values, size_t count);

/* ---- items.c: things to hash */

/* The next number of the stream whose state is *state. */
uint64_t draw(uint64_t *state);
uint64_t draw_below(uint64_t *state, uint64_t n);
double draw_unit(uint64_t *state);

/* A seed for part `part` of what depends on `seed`. */
uint64_t seed_of(uint64_t seed, uint64_t part);

struct items {
    twin_text *texts;
    char *bytes;
    size_t count;
};

/* Distinct random strings of 1 to 50 letters, digits, dots and underlines (A's generateStrings). */
void items_random(struct items *out, size_t count, uint64_t seed);

/* "1", "2", …: strings that differ in few bits, as people's ids do. */
void items_numbers(struct items *out, size_t count);
void items_clear(struct items *items);

/* ---- filters.c: false positives, by theory and by trial */

/* The rate that theory expects of a filter with so many items, and how much it varies from filter to filter. */
struct theory {
    double rate, variance;
};
struct theory theory_of(twin_bloom_shape shape, double items);

struct trial {
    twin_bloom_options options;
    size_t items, asked; /* a filter: strings added, other strings asked for */
    size_t repeats;      /* filters, each with a hash member and strings of its own */
    uint64_t seed;
};

struct outcome {
    twin_bloom_shape shape;
    double theory;
    uint64_t hits, asked;     /* false positives, of strings asked for, in all filters */
    uint64_t denied, added;   /* false negatives: must be none */
    double rate, p;           /* observed, and the p-value of theory */
    struct interval interval; /* 95 %, filters taken to differ as theory has it */
    double told, estimate;    /* what the filters say: their rate now, and items; averages */
    size_t past_plan;         /* filters that say they are past their plan */
};
void try_filters(struct outcome *out, const struct lab *lab, struct trial trial);

#endif

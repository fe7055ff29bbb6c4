/* lab.h — what the experiments share.
 *
 * An experiment measures, compares its numbers with theory and with published results ("reference") in tables and
 * plots, and makes claims. It passes when all its claims hold. Everything random comes from the seed, so a run can be
 * repeated. Publications are cited by the short names of docs/references.md. */
#ifndef TWIN_LAB_H
#define TWIN_LAB_H

#include "support/messages.h"
#include "support/progress.h"

#include <stdio.h>
#include <twinsift/twinsift.h>

struct lab {
    bool quick;       /* a short run: fewer repeats, wider bounds, and no claims about time */
    const char *data; /* the folder of the data sets, or NULL */
    const char *out;  /* the folder for tables and plots */
    uint64_t seed;
    twin_exec exec;
    FILE *page;     /* the body of the HTML report so far, or NULL */
    FILE *contents; /* its table of contents, or NULL */

    /* the experiment that is running */
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
void exp_mail_enron(struct lab *lab);
void exp_mail_threshold(struct lab *lab);
void exp_mail_trec(struct lab *lab);
void exp_mail_forest(struct lab *lab);
void exp_mail_robust(struct lab *lab);
void exp_mail_share(struct lab *lab);
void exp_mail_long(struct lab *lab);
void exp_mail_travel(struct lab *lab);
void exp_mail_growth(struct lab *lab);
void exp_mail_folders(struct lab *lab);
void exp_mail_labels(struct lab *lab);
void exp_mail_steps(struct lab *lab);

/* ---- notebook.c: text on standard output and in the report */

/* A paragraph. */
void say(struct lab *lab, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A statement that must hold, with its numbers; printed as "ok" or "FAILED". Returns `holds`. */
bool claim(struct lab *lab, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The claim that no p-value is below CLAIM_LEVEL. The p-values are corrected in place (Holm 1979). */
bool claim_chance(struct lab *lab, double *p_values, size_t count, const char *what);

/* Prints why the experiment, or a part of it, cannot run. One that makes no claim counts as skipped. */
void skip(struct lab *lab, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reports how much of the experiment is done. Workers may call it. */
void progress(const struct lab *lab, size_t done, size_t total);

/* Reports an error and ends the program with EXIT_ERROR. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Exits with an error message unless `status` is TWIN_OK. */
void expect(twin_status status, const char *what, const twin_error *error);

/* Allocates zeroed memory; exits when there is none. */
void *need(size_t count, size_t size);

/* ---- files.c: files; errors end the program, except that a data set may be missing */

enum { PATH_ROOM = 4096 };

/* Opens OUT/NAME for writing and writes the full path to `path`. */
FILE *file_create(char path[PATH_ROOM], const struct lab *lab, const char *name, const char *suffix);
FILE *file_open(const char *path); /* for reading */
FILE *file_temporary(void);        /* unnamed */

/* The path by which a file that is open, such as an unnamed one, can be opened again. */
void file_path(char path[PATH_ROOM], FILE *file);

/* Closes a file after writing and checks for errors. */
void file_close(FILE *file, const char *path);

/* Returns false, after skip(), when there is no data folder. */
bool data_given(struct lab *lab);

/* Writes DATA/NAME to `path`. Returns false, after skip(), when it does not exist. */
bool data_find(char path[PATH_ROOM], struct lab *lab, const char *name);

/* ---- table.c: tables on standard output, in TSV files and in the report */

/* Cells as text, row by row; the first row holds the column names. */
struct table {
    char name[64];
    char **cells;
    size_t columns, count, capacity;
};

/* `name` is the file name without .tsv; `columns` are tab-separated names. */
void table_begin(struct table *out, const char *name, const char *columns);

/* Adds a row of tab-separated cells. "–" marks an empty cell. */
void table_row(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the table, writes OUT/NAME.tsv, adds it to the report, and frees it. table_write_only() is for long tables:
 * it writes the file only. */
void table_end(struct lab *lab, struct table *table);
void table_write_only(struct lab *lab, struct table *table);

/* ---- plot.c: SVG plots, drawn by gnuplot */

/* Starts a gnuplot script with the common style, titled with the running experiment. It finds tables by their file
 * names ('bloom-k.tsv'). Line styles: 1 theory, 2 observed, 3, 4, 5 further observations, 9 reference. */
FILE *plot_begin(const struct lab *lab);

/* The same for two panels, one above the other: the observations, and, after plot_lower(), their ratio to theory,
 * which shows deviations that the upper panel is too coarse for. */
FILE *plot_begin_pair(const struct lab *lab);
void plot_lower(FILE *script);

/* The same for two panels of the same kind, which get equal heights. */
FILE *plot_begin_halves(const struct lab *lab);
void plot_lower_half(FILE *script);

/* Runs gnuplot on the script, which writes OUT/NAME.svg. Without gnuplot there is no plot, and a warning. */
void plot_end(struct lab *lab, FILE *script, const char *name, const char *caption);

/* ---- report.c: all tables and plots on one HTML page */

void report_begin(struct lab *lab);
void report_section(struct lab *lab,
                    const struct experiment *experiment); /* a heading, and its line in the contents */
void report_text(FILE *page, const char *text);           /* with <, > and & escaped */
void report_picture(FILE *page, const char *path, const char *caption);

/* Writes OUT/report.html. */
void report_end(struct lab *lab, const char *summary);

/* ---- stats.c: p-values and confidence intervals */

struct interval {
    double low, high;
};

/* A statistical claim rejects a correct implementation with this probability, after correction for the number of
 * tests in it. With some forty claims that is one false alarm in 2,500 full runs with different seeds. */
#define CLAIM_LEVEL 1e-5

/* Two-sided p-values. */
double p_normal(double z);
double p_binomial(double hits, double trials, double probability);

/* The probability of this χ² or more with `freedom` degrees of freedom. */
double p_chi_square(double chi_square, double freedom);

/* The 95 % interval of Clopper and Pearson (1934) for a probability; hits and trials need not be integers. */
struct interval interval_of(double hits, double trials);

/* Holm's correction (Holm 1979) of p-values for multiple tests, in place. Returns the smallest. */
double correct(double *p_values, size_t count);

/* ---- items.c: random strings and numbers */

/* The next number of the stream whose state is *state. */
uint64_t draw(uint64_t *state);
uint64_t draw_below(uint64_t *state, uint64_t n);
double draw_unit(uint64_t *state);

/* A seed for part `part` of an experiment, derived from `seed`. */
uint64_t seed_of(uint64_t seed, uint64_t part);

struct items {
    twin_text *texts;
    char *bytes;
    size_t count;
};

/* Distinct random strings of 1 to 50 letters, digits, dots and underlines, as Martins and Jesus 2015 drew them. */
void items_random(struct items *out, size_t count, uint64_t seed);

/* "1", "2", …: strings that differ in few bits, as ids do in practice. */
void items_numbers(struct items *out, size_t count);
void items_clear(struct items *items);

/* ---- filters.c: false positives, expected and observed */

/* The expected rate of a filter with `items` items, and its variance from filter to filter. */
struct theory {
    double rate, variance;
};
struct theory theory_of(twin_bloom_shape shape, double items);

/* A rate that was observed. Filters differ a little in how full they are, so hits are overdispersed compared with a
 * binomial; interval and p-value allow for that. */
struct observed {
    double rate, p;           /* p: the p-value of theory */
    struct interval interval; /* 95 % */
};

/* Hits among the trials with several filters, `per_filter` trials with each. */
struct observed observe(uint64_t hits, uint64_t trials, size_t per_filter, struct theory theory);

struct trial {
    twin_bloom_options options;
    size_t items, queries; /* per filter: strings added, other strings queried */
    size_t repeats;        /* filters, each with its own hash function and strings */
    uint64_t seed;
};

struct outcome {
    twin_bloom_shape shape;
    double theory;
    uint64_t hits, queries; /* false positives, and queries, over all filters */
    uint64_t denied, added; /* false negatives: must be none */
    struct observed observed;
    double reported, estimate; /* the rate and the item count that the filters report; averages */
    size_t past_plan;          /* filters that report being past their plan */
};
void try_filters(struct outcome *out, const struct lab *lab, struct trial trial);

#endif

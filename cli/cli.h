/* cli.h — what the commands of the program share. */
#ifndef TWIN_CLI_H
#define TWIN_CLI_H

#include <getopt.h>
#include <stdio.h>
#include <twinsift/twinsift.h>

/* Exit statuses. A question answers FOUND or NOT_FOUND, batch work that was done is FOUND. */
enum { FOUND = 0, NOT_FOUND = 1, TROUBLE = 2 };

/* One row of main.c's table. `run` gets its own name as argv[0]; getopt starts afresh for it. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

int cmd_bloom(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_plan(int argc, char **argv);

/* ---- report.c: what goes to standard error */

/* The words behind "twinsift" in every message from now on: "pairs", "index create". They must stay. */
void report_as(const char *command);

/* Says "twinsift COMMAND: sentence" and returns TROUBLE. A sentence names what and where, without a full stop. */
int trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for something that does not end the run. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A call's status as trouble: the sentence of `error` if there is one, else `what` and the status in words. */
int trouble_status(const char *what, twin_status status, const twin_error *error);

/* Prints a help text on standard output and returns FOUND. */
int print_help(const char *text);

/* Whether what was printed on standard output went well so far. Asked right after printing, it keeps the reason. */
bool output_is_good(void);

/* Closes standard output and returns `status`, or TROUBLE when something of it was lost, and says so. */
int close_output(int status);

/* ---- progress.c: one line on a terminal for work over a second */

/* Starts the clock and returns what to hand to the library: a line that shows stage, share, rate and time left;
 * nothing when `quiet`, or when standard error is not a terminal. One at a time. */
twin_progress progress_begin(bool quiet);

/* Takes the line away; messages do that by themselves, and the line comes back. */
void progress_end(void);
void progress_clear(void);

/* ---- options.c: values of options; on false, the trouble is already told */

/* Values of options without a letter of their own: the common ones, and a command's own. */
enum { OPTION_COMMON = 256, OPTION_OWN = 512, OPTION_HELP = 'h' };

/* The next option of `table`, as getopt_long() returns it, with its value in optarg; -1 when there are no more.
 * A row whose value is a letter is also that short option. A wrong option is told and comes as '?'. */
int next_option(int argc, char **argv, const struct option *table);

/* Each reads the value of the option called `name` ("--threshold"). */
bool read_fraction(double *out, const char *name, const char *value);

/* "0.6:0.01": two fractions. */
bool read_point(twin_plan_point *out, const char *name, const char *value);

/* A whole number from `least` to `most`; K, M and G behind it mean thousand, million, thousand million. */
bool read_count(uint64_t *out, const char *name, const char *value, uint64_t least, uint64_t most);

/* Any 64-bit number, also 0x…: a seed. */
bool read_seed(uint64_t *out, const char *name, const char *value);

/* The place of `value` among the `count` names. */
bool read_choice(size_t *out, const char *name, const char *value, const char *const *names, size_t count);

/* The fewest insertions, deletions and replacements between two short names, for "did you mean". */
size_t spelling_distance(const char *a, const char *b);

/* ---- common.c: the options of pairs, dedup and index */

/* What the common options say. Strings stay where they were, in argv. */
struct common_options {
    /* who works */
    twin_executor executor;
    int threads;    /* 0: all */
    twin_exec exec; /* made of these two */
    uint64_t seed;

    /* documents */
    twin_input_options input;     /* --sets, --id-field, --text-field */
    twin_shingle_options shingle; /* --shingle; its hash is the member of --hash numbered --seed */
    twin_normal normal;           /* --raw: only checked, and with byte:N not even that */
    const char *stop_words;       /* a file; NULL: the built-in list */
    bool strict;

    /* signatures, candidates */
    twin_minhash_options minhash; /* --sketch, --hashes or --error, --seed */
    double threshold;
    size_t bands, rows; /* 0, 0: to be planned */
    uint32_t buckets;   /* 0: a bucket for each band hash */
    twin_method method;
    uint64_t top; /* 0: not given */

    /* similar */
    twin_measure measure; /* when edit is false */
    bool edit;            /* --measure edit */
    size_t max_edits;     /* TWIN_EDIT_FAR: not given */
    twin_verify verify;
    twin_copies copies;
    uint64_t audit; /* documents to compare with all others; 0: none */

    /* manners */
    bool json, quiet, stats;

    /* which options were given, for what excludes what */
    twin_hash_family family;
    uint64_t hashes; /* 0: not given */
    double error;    /* 0: not given */
    bool shingle_given, threshold_given, method_given;
};

/* The rows of the common options, ended by zeros, and their part of a help text. */
extern const struct option common_table[];
extern const char common_help[];

/* Room for the common options and a command's own. */
enum { OPTION_TABLE_ROOM = 64 };

/* Fills `out` with `own` and then the common rows, both ended by zeros; of two rows of one name the first counts. */
void join_options(struct option out[OPTION_TABLE_ROOM], const struct option *own);

/* The defaults; then each option that is not the command's own; then the checks across options, and what follows
 * from several: exec, shingle.hash, minhash.
 *
 *     struct common_options common = common_defaults();
 *     join_options(table, own);
 *     for (int option; (option = next_option(argc, argv, table)) != -1;)
 *         switch (option) {
 *         case OPTION_HELP: return print_help(help);
 *         case 'o': output = optarg; break;
 *         default:
 *             if (!common_option(&common, option, optarg))
 *                 return TROUBLE;
 *         }
 *     if (!common_finish(&common))
 *         return TROUBLE;
 */
struct common_options common_defaults(void);
bool common_option(struct common_options *common, int option, const char *value);
bool common_finish(struct common_options *common);

/* ---- words.c: lists of words */

/* The words of a file, one a line, blank lines left out. Both are to be freed, also on false; the trouble is then
 * told. */
bool read_words(char **file, twin_text **words, size_t *count, const char *path);

/* ---- json_out.c: names of documents in what is printed */

/* A JSON string, quotes and all. Bytes that are not UTF-8 become U+FFFD, one for each maximal run that cannot be
 * part of a character. */
void json_string(FILE *out, const char *bytes, size_t length);

/* A field of a tab-separated line: control characters as \xHH, all else as it is. */
void tsv_field(FILE *out, const char *bytes, size_t length);

/* ---- aside.c: files that appear whole or not at all */

/* A file being written beside `path`; a signal that ends the program removes it. What is not a regular file, such
 * as /dev/stdout, is written as it is. */
struct aside {
    char *path;      /* what it will be called */
    char *temporary; /* what it is called; NULL: written directly */
    FILE *file;
};

/* Opens; false when it cannot, and the trouble is told. */
bool aside_open(struct aside *out, const char *path);

/* Closes, and on true gives the file its name; else the trouble is told and the file is gone. */
bool aside_finish(struct aside *aside);

/* Closes and removes it. */
void aside_abandon(struct aside *aside);

/* ---- gnuplot.c: pictures */

/* A place to write what gnuplot shall do; NULL when there is none, and the trouble is told. */
FILE *gnuplot_script(void);

/* Lets gnuplot read the script, which is closed, and write to `picture`. On false the trouble is told. */
bool gnuplot_run(FILE *picture, FILE *script);

/* "16 bytes", "1.20 MiB" */
void print_size(uint64_t bytes);

#endif

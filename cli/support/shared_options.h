/* shared_options.h — the options that several commands take, declared once.
 *
 * A request begins with a struct shared_options; a command names the options it takes in `shared` (command.h), with
 * the sets below. To add an option to several commands: a row in shared_options.c, a member and a place in a set here,
 * and the code that uses the value. */
#ifndef TWIN_SUPPORT_SHARED_OPTIONS_H
#define TWIN_SUPPORT_SHARED_OPTIONS_H

#include "command.h"
#include "messages.h"

/* Sets of options. */
#define TAKES_INPUT                                                                                                  \
    "id-field id-from text-field as hidden include exclude pre pre-glob sets weights strict fail-on-skipped "        \
    "max-document-bytes "                                                                                            \
    "max-unpacked-bytes temp" /* documents: see inputs.h */
#define TAKES_SCHEME                                                                                                 \
    "shingle stop-words raw multiset hashes error bands rows hash sketch seed key-file" /* see search_options.h */
#define TAKES_EXEC "threads executor"
#define TAKES_MANNERS "json quiet"

/* A line of exit statuses, for --help. */
#define SKIPPED_STATUS "3  with --fail-on-skipped: done, but documents were skipped"

/* What an INPUT is, for --help. */
#define ABOUT_INPUT                                                                                                  \
    "An INPUT is a file of JSON lines (.jsonl, .ndjson), a JSON array (.json) or a table (.csv, .tsv), whose "       \
    "records have an \"id\" and "                                                                                    \
    "a "                                                                                                             \
    "\"text\"; another file, which is one document; a folder of such files; or - for JSON lines on standard input. " \
    "Files may be compressed (.gz, .zst)."

/* The default of --max-document-bytes. */
enum { MAX_DOCUMENT_BYTES = 256000000 };

struct shared_options {
    struct request_base base;
    bool json, quiet;
    const char *output; /* for results_open() */

    /* --threads (0: all), --executor */
    uint64_t threads;
    twin_executor executor;

    /* documents */
    twin_input_options input;             /* --sets, --id-field, --text-field */
    struct option_texts include, exclude; /* globs */
    struct option_texts pre, pre_globs;   /* the words of a command; globs */
    bool strict, fail_on_skipped;
    uint64_t max_document_bytes; /* 0: the default */

    /* --shingle, --raw, --hash, --sketch, --seed, --threshold, --bands, --rows: completed by search_options_finish() */
    twin_scheme scheme;
    const char *stop_words; /* a file; NULL: the built-in list */
    uint64_t hashes;        /* 0: not given */
    double error;           /* 0: not given */

    uint64_t memory; /* bytes; 0: not given. See memory.h */

    /* files */
    bool force;
    double wait;          /* seconds, for a lock */
    twin_keep keep;       /* index */
    const char *key_file; /* NULL: none */
    char separator;       /* bloom: the end of an item */

    enum color color;
};

/* The defaults of a command that reads documents, and of one that does not: their threshold is 0, "not given". */
#define SHARED_DEFAULTS(threshold_)                                                                                  \
    {                                                                                                                \
        .executor = TWIN_EXEC_PTHREADS, .separator = '\n', .scheme = {                                               \
            .shingle = { .kind = TWIN_SHINGLE_AUTO, .width = 9 },                                                    \
            .minhash = { .sketch = TWIN_SKETCH_FAST, .slots = 128, .seed = 1 },                                      \
            .threshold = (threshold_)                                                                                \
        }                                                                                                            \
    }

/* The rows of the shared options. */
extern const struct option_row shared_option_rows[];

/* The executor that --executor and --threads ask for, or else TWINSIFT_THREADS. On false the error has been
 * reported. */
bool make_exec(twin_exec *out, const struct shared_options *shared);

#endif

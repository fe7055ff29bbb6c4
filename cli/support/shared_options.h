/* shared_options.h — the options of pairs and index. */
#ifndef TWIN_SUPPORT_SHARED_OPTIONS_H
#define TWIN_SUPPORT_SHARED_OPTIONS_H

#include "options.h"

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

/* Fills `out` with `own` and then the common rows, both ended by zeros; of two rows of one name the first counts. */
void join_options(struct option out[OPTION_TABLE_ROOM], const struct option *own);

/* The defaults; then each option that is not the command's own; then the checks across options, and what follows
 * from several: exec, shingle.hash, minhash.
 *
 *     struct common_options common = common_defaults();
 *     join_options(table, own);
 *     for (int option; (option = next_option(argc, argv, table)) != -1;)
 *         switch (option) {
 *         case OPTION_HELP: return fputs(help, stdout), EXIT_DONE;
 *         case 'o': output = optarg; break;
 *         default:
 *             if (!common_option(&common, option, optarg))
 *                 return EXIT_ERROR;
 *         }
 *     if (!common_finish(&common))
 *         return EXIT_ERROR;
 */
struct common_options common_defaults(void);
bool common_option(struct common_options *common, int option, const char *value);
bool common_finish(struct common_options *common);

/* Where inputs are unpacked: $TMPDIR, or NULL, the library's own choice, when that is unset or empty. */
const char *temp_folder(void);

/* Warns of a document that was left out, with its position. */
void warn_problem(const twin_input *input, const twin_problem *problem);

/* "16 bytes", "1.20 MiB" */
void print_size(uint64_t bytes);

#endif

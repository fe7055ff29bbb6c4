/* search_options.h — from options to a scheme: how documents become signatures and candidates.
 *
 * The only place of the program that checks the options of TAKES_SCHEME against each other. Policy is the library's:
 * twin_scheme_complete() plans bands and rows. */
#ifndef TWIN_SUPPORT_SEARCH_OPTIONS_H
#define TWIN_SUPPORT_SEARCH_OPTIONS_H

#include "shared_options.h"
#include "word_list.h"

/* Checks the options against each other and fills in the scheme: slots, bands and rows if they were given, seed, hash.
 * On false the error has been reported. */
bool search_options_finish(struct shared_options *shared);

/* The scheme of the options for this measure: plans bands and rows, unless they are given. Reports options that have
 * no effect, and a plan that misses pairs at the threshold. On false the error has been reported. */
bool complete_scheme(twin_scheme *out, const struct shared_options *shared, twin_measure measure);

/* --measure: the measures of sets, and one of texts. */
enum measure { MEASURE_JACCARD, MEASURE_CONTAINMENT, MEASURE_EDIT };

/* The row of --max-edits; `request` has the member `max_edits`, TWIN_EDIT_FAR: not given. */
#define MAX_EDITS_ROW(request)                                                                                       \
    {                                                                                                                \
        "max-edits", 0, OPTIONS_MATCHING, "N",                                                                       \
            "with --measure edit: at most N characters inserted, deleted or replaced", &option_size,                 \
            OPTION_AT(request, max_edits), .most = TWIN_EDIT_MAX_LENGTH                                              \
    }

/* The first contradiction with --measure edit as a sentence; NULL when there is none. */
const char *edit_contradiction(const struct shared_options *shared);

/* How texts are compared: with --max-edits the threshold applies only if it is given too. Memory, executor and progress
 * are the caller's. */
twin_edit_join_options edit_join_options(const struct shared_options *shared, const twin_scheme *scheme,
                                         size_t max_edits);

/* Reads the file of --stop-words, if it was given, into `list`, which must outlive the scheme; clear it also on
 * false. */
bool load_stop_words(struct shared_options *shared, struct word_list *list);

/* ---- which documents are kept, and what part of the work is done */

enum { KEEP_FIELD_ROOM = 256 };

/* --keep. */
struct keep {
    twin_preference rule;
    char field[KEEP_FIELD_ROOM]; /* empty: none */
};

/* The options of the library for --keep and --chain. They refer to `keep`. */
twin_dedup_options keep_rule(const struct keep *keep, bool chain, twin_similar_options search);

/* The kinds of --keep, a struct keep, and --part K/N, a twin_part. */
extern const struct option_kind option_keep, option_part;

/* The rows of both; `request` has the members `keep`, `chain` and `part`. */
#define KEEP_ROW(request)                                                                                            \
    {                                                                                                                \
        "keep", 0, OPTIONS_MATCHING, "WHICH",                                                                        \
            "which of several similar documents to keep: first, last, longest, shortest, or the one with the "       \
            "largest "                                                                                               \
            "or smallest value of a field, FIELD:max or FIELD:min",                                                  \
            &option_keep, OPTION_AT(request, keep), .choices = "first last longest shortest"                         \
    }
#define CHAIN_ROW(request)                                                                                           \
    {                                                                                                                \
        "chain", 0, OPTIONS_MATCHING, NULL,                                                                          \
            "also drop documents that a chain of similar documents connects with a kept one", &option_flag,          \
            OPTION_AT(request, chain)                                                                                \
    }
#define PART_ROW(request, what)                                                                                      \
    {                                                                                                                \
        "part", 0, OPTIONS_SEARCH, "K/N", what, &option_part, OPTION_AT(request, part)                               \
    }

#endif

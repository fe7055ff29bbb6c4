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

#endif

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

/* Reads the file of --stop-words, if it was given, into `list`, which must outlive the scheme; clear it also on
 * false. */
bool load_stop_words(struct shared_options *shared, struct word_list *list);

#endif

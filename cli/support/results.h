/* results.h — where results go: standard output, or the file of --output. */
#ifndef TWIN_SUPPORT_RESULTS_H
#define TWIN_SUPPORT_RESULTS_H

#include "shared_options.h"

#include <stdbool.h>
#include <stdio.h>

/* Results go to the file of --output from now on, which appears when the program ends, unless that is with an error;
 * compressed if its name ends in .gz or .zst. Without it: to standard output. On false the error has been reported, for
 * instance that the file is one of the arguments. */
bool results_open(const struct shared_options *shared);

FILE *results(void);

/* Whether all results could be written so far. Call it right after printing: it keeps errno's reason, which
 * close_output() reports. */
bool output_is_good(void);

/* Closes the output and returns `status`, or reports the loss and returns EXIT_ERROR. */
int close_output(int status);

#endif

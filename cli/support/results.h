/* results.h — where results go: standard output, or the file of --output. */
#ifndef TWIN_SUPPORT_RESULTS_H
#define TWIN_SUPPORT_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

/* Results go to this file from now on, which appears when the program ends, unless that is with an error; compressed if
 * its name ends in .gz or .zst. NULL: to standard output. On false the error has been reported. */
bool results_open(const char *path);

FILE *results(void);

/* Whether all results could be written so far. Call it right after printing: it keeps errno's reason, which close_output()
 * reports. */
bool output_is_good(void);

/* Closes the output and returns `status`, or reports the loss and returns EXIT_ERROR. */
int close_output(int status);

#endif

/* failure.h — failures to open or read one of many files. */
#ifndef TWIN_INPUT_FAILURE_H
#define TWIN_INPUT_FAILURE_H

#include <stdbool.h>

/* Whether an errno says what this process lacks, and not what is wrong with a file. */
bool twin__is_our_failure(int error);

/* What follows the name in a sentence that begins with it: "cannot be read". */
const char *twin__after_name(const char *message, const char *name);

#endif

/* dedup_examples.h — the examples in the report of twinsift dedup. */
#ifndef TWIN_DEDUP_EXAMPLES_H
#define TWIN_DEDUP_EXAMPLES_H

#include "dedup_output.h"

/* Writes them as parts of an HTML page: the largest groups, and the least similar pairs, within the collection and with
 * what is known elsewhere. */
void write_dedup_examples(FILE *out, const struct dedup_result *result);

#endif

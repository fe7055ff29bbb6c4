/* options.h — options and their values; on false the error has been reported. */
#ifndef TWIN_SUPPORT_OPTIONS_H
#define TWIN_SUPPORT_OPTIONS_H

#include <getopt.h>
#include <twinsift/twinsift.h>

/* Values of options without a letter of their own: the common ones, and a command's own. */
enum { OPTION_TABLE_ROOM = 64 };

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

#endif

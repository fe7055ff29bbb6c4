/* paths.h — what the name of a file says, and whether there is such a file. */
#ifndef TWIN_SUPPORT_PATHS_H
#define TWIN_SUPPORT_PATHS_H

#include <stdbool.h>

/* "-": standard input, or standard output. */
bool is_standard(const char *name);

/* Whether it can be read only once: standard input, and pipes of any name, such as /dev/fd/63. */
bool is_read_once(const char *name);

/* Whether a name is that of an index, and not of an input: FILE.twin. */
bool is_index(const char *name);

/* Whether a name ends in a slash: an output that is a folder. */
bool names_folder(const char *name);

/* Whether there is a folder of this name. */
bool is_folder(const char *name);

/* The name of the file that a name leads to through symbolic links, also where the last leads to nothing: a file is to
 * be made there. The caller frees it. NULL: errno says why. */
char *follow_links(const char *name);

/* Whether there is nothing of this name; false also when that cannot be found out. */
bool is_missing(const char *name);

#endif

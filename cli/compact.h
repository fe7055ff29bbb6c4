/* compact.h — the commands that write a file again without the room of what was removed. */
#ifndef TWIN_COMPACT_H
#define TWIN_COMPACT_H

#include "support/shared_options.h"

/* Compacts the file, waiting for others as --wait says, and reports its size before and after. The exit status. */
typedef twin_status compact_function(const char *path, twin_progress progress, twin_error *error);
int compact_file(const struct shared_options *shared, const char *path, compact_function *compact);

#endif

/* filter.h — a command that makes the text of a file: pdftotext, pandoc. */
#ifndef TWIN_INPUT_FILTER_H
#define TWIN_INPUT_FILTER_H

#include "base/scratch.h"
#include "input/source.h"

/* Replaces the block of the buffers by what the command of options.pre prints for the file behind `fd`, which is its
 * standard input; `path` is for its argument. If it fails, `out` becomes a problem with the first line it complained of.
 * No shell is between: a name is a name. */
twin_status twin__filter_run(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                             const char *path, int fd, twin_error *error);

#endif

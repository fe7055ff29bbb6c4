/* document_file.h — a file that is one document. */
#ifndef TWIN_INPUT_DOCUMENT_FILE_H
#define TWIN_INPUT_DOCUMENT_FILE_H

#include "base/scratch.h"
#include "input/source.h"

/* Reads the file behind `fd`, which is at its start, into the buffers: unpacked if it is gzip or zstd, converted if it
 * is UTF-16, without a byte order mark; or what the command of options.pre makes of it, if `filtered`, its path, is
 * not NULL. `out` becomes a document with a text, or a problem: not readable, too long,
 * damaged, or not text (unless options.as says that every file is a document). What the process lacks, such as
 * memory or room for unpacking, is a failure. */
twin_status twin__document_from_file(struct twin__record *out, const struct twin__source *source,
                                     twin_read_buffers *buffers, int fd, const char *filtered, twin_error *error);

/* The same for a file that was unpacked already; `fd` may be anywhere. */
twin_status twin__document_from_unpacked(struct twin__record *out, const struct twin__source *source,
                                         twin_read_buffers *buffers, int fd, twin_error *error);

#endif

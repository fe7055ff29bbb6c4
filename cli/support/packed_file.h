/* packed_file.h — writing compressed files through a FILE. */
#ifndef TWIN_SUPPORT_PACKED_FILE_H
#define TWIN_SUPPORT_PACKED_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a file of this name is compressed: .gz, .zst. */
bool packed_by_name(const char *name);

/* Whether its name promises another compression, which is not offered: .bz2, .xz, .lz4, .zip. */
bool packed_otherwise(const char *name);

/* A FILE whose bytes are written compressed, as the name says, to the descriptor, which then belongs to it. Closing it
 * reports any failure. NULL and errno on failure: the descriptor is still the caller's. */
FILE *packed_open(int fd, const char *name);

#endif

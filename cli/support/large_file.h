/* large_file.h — files that may be too large for the system's cache. */
#ifndef TWIN_SUPPORT_LARGE_FILE_H
#define TWIN_SUPPORT_LARGE_FILE_H

#include <stdint.h>
#include <stdio.h>

/* A FILE that writes to the descriptor, which then belongs to it. After the first `cached` bytes, which stay in the
 * system's cache as usual, the disk gets the others at once, and they leave the cache when it has them, where the
 * system can do that. Room for `expected` bytes, which may be more or less than are written, is reserved where that
 * saves time. NULL and errno on failure: the descriptor is still the caller's. */
FILE *large_file_open(int fd, uint64_t cached, uint64_t expected);

/* As much of a file as is left to the cache: a tenth of the machine's memory. With more, Linux begins to write anyway. */
uint64_t large_file_cached(void);

#endif

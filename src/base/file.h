/* file.h — reading a file at an offset. */
#ifndef TWIN_BASE_FILE_H
#define TWIN_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to `length` bytes at `offset`, fewer only at the end of the file. -1 and errno on failure. */
ssize_t twin__read_at(int fd, void *out, size_t length, uint64_t offset);

#endif

/* file.h — reading and writing a file at an offset; temporary files. */
#ifndef TWIN_BASE_FILE_H
#define TWIN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to `length` bytes at `offset`, fewer only at the end of the file. -1 and errno on failure. */
ssize_t twin__read_at(int fd, void *out, size_t length, uint64_t offset);

/* Writes all bytes at `offset`. False and errno on failure. */
bool twin__write_at(int fd, const void *bytes, size_t length, uint64_t offset);

/* A file without a name, so that nothing is left behind however the process ends. -1 and errno on failure. */
int twin__temporary_file(const char *folder);

#endif

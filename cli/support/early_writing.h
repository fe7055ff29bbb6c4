/* early_writing.h — a large file goes to the disk while it is being written. */
#ifndef TWIN_SUPPORT_EARLY_WRITING_H
#define TWIN_SUPPORT_EARLY_WRITING_H

#include <stdint.h>
#include <stdio.h>

struct early_writing;

/* Begins; `bytes` or somewhat more will be written from here on. NULL: it cannot be done, and the file is written as any
 * other. Nothing is gained with a file that the system can hold in memory. */
struct early_writing *early_writing_begin(FILE *file, uint64_t bytes);

/* Another `bytes` were written. One thread at a time. */
void early_writing_add(struct early_writing *early, size_t bytes);

/* Ends, before the file is closed; what is left is for the system to write. */
void early_writing_end(struct early_writing *early);

#endif

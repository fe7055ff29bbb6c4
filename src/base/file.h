/* file.h — reading and writing a file at an offset; temporary files; files that get their name when they are whole. */
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

/* ---- files that get their name when they are whole
 *
 * What has been written is safe from the end of the process, and not from that of the machine. A file that a power cut
 * leaves whole, or not at all, takes three steps, in this order:
 *
 *     its bytes go to the disk ──► it gets its name ──► the folder of that name goes to the disk
 *
 * With the name first there may be a name and no bytes behind it; without the third step, no name. Nothing is reported
 * as done before the third. ---- */

/* Opens a file in the folder of `path` that has no name yet, so that nothing of it is left behind by one who is killed.
 * -1 and errno on failure; EOPNOTSUPP where there are no such files, or they could not be given a name later. */
int twin__open_unnamed(const char *path, mode_t mode);

/* A finished file that is to get its name. */
struct twin__finished_file {
    int fd; /* it has no name (O_TMPFILE); -1: it is called `temporary` */
    const char
        *temporary; /* in the folder of the final name: a file without a name is called so while it replaces one */
};

/* The first step. False and errno on failure. */
bool twin__sync_finished(struct twin__finished_file file);

/* The second step, which happens at once. `replace`: a file of that name is replaced; otherwise it is a failure, EEXIST.
 * Afterwards there is no file called `temporary`: signals wait for the moment in which there is one, so that a program
 * ended by one leaves nothing behind. That holds unless the program has threads of its own that take signals. False and
 * errno on failure. */
bool twin__name_finished(struct twin__finished_file file, const char *path, bool replace);

/* The third step, for the folder that `path` is in. Not every file system can do that, and who may not read a folder
 * may not do it: both are no failure. False and errno on failure. */
bool twin__sync_folder(const char *path);

/* All three steps; afterwards there is no file called `temporary`. False and errno on failure. */
bool twin__name_file(struct twin__finished_file file, const char *path, bool replace);

#endif

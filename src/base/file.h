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

/* A finished file, on the disk, that is to get its name. */
struct twin__finished_file {
    int fd; /* it has no name (O_TMPFILE); -1: it is called `temporary` */
    const char
        *temporary; /* in the folder of the final name: a file without a name is called so while it replaces one */
};

/* Gives the file its name in one step, and puts the name on the disk, where the file system can. `replace`: a file of that
 * name is replaced; otherwise it is a failure, EEXIST. Afterwards there is no file called `temporary`: signals wait for
 * the moment in which there is one, so that whoever is ended by one leaves nothing behind. That holds unless the program
 * has threads of its own that take signals. False and errno on failure. */
bool twin__name_file(struct twin__finished_file file, const char *path, bool replace);

#endif

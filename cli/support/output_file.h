/* output_file.h — files that appear whole or not at all, compressed if their names end in .gz or .zst. */
#ifndef TWIN_SUPPORT_OUTPUT_FILE_H
#define TWIN_SUPPORT_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <twinsift/buffer.h>

/* A file being written in the folder of `path`. It has no name until it is finished, where the file system can do
 * that, so that nothing is left behind however the program ends; else, and where too many files are open, it has another
 * name, and a signal that ends the program removes it. A link is followed, also to where there is no file yet. What is
 * not a regular file, such as /dev/stdout, is written directly. */
struct output_file {
    char *given;     /* the name as the user has given it, for messages; NULL: nothing is open */
    char *path;      /* where that leads; NULL: to a standard stream */
    char *temporary; /* the present name, or the one it has for a moment; NULL: written directly */
    int unnamed;     /* the file, if it has no name; 0: it has one */
    size_t place;    /* of a temporary name among those that a signal has to remove */
    FILE *file;
    char *buffer;      /* of the file */
    uint64_t expected; /* bytes, if it may be large; 0: it is not */
};

/* Opens; "-" is standard output. On false the error has been reported. */
bool output_file_open(struct output_file *out, const char *path);

/* The same, for about so many bytes; a part of a file that is large for this machine does not stay in the system's cache
 * (large_file.h). */
bool output_file_open_large(struct output_file *out, const char *path, uint64_t expected);

/* Closes the file, which still has to be finished: so several appear together, or none. On false the error has been
 * reported and the file is gone. */
bool output_file_close(struct output_file *output);

/* Closes the files that are open, and gives them their names, so that a power cut after it takes none away: all are put
 * on the disk, then each gets its name, then the folders are put on the disk. Those that are NULL or hold nothing are
 * passed over. On false the error has been reported and all that have no name yet are gone. */
bool output_files_finish(struct output_file *const *outputs, size_t count);
bool output_file_finish(struct output_file *output);

/* Puts the folder that `path` is in on the disk: a folder that was made for an output is a name like that of a file. On
 * false the error has been reported. */
bool output_folder_sync(const char *path);

/* Puts standard output on the disk, and its name, if the shell has sent it to a file. On false the error has been reported. */
bool output_standard_sync(void);

/* From now on nothing is put on the disk before it gets its name: --no-sync. */
void output_files_leave_to_system(void);

/* A descriptor to read a file that is closed and not finished; the caller closes it. -1 and errno on failure, also of what
 * is written directly. */
int output_file_reopen(const struct output_file *output);

/* Closes and removes it; nothing, if it is gone. */
void output_file_abandon(struct output_file *output);

/* A file that is open, as the library takes it. */
twin_sink file_sink(FILE *file);
twin_source file_source(FILE *file);

#endif

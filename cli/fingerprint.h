/* fingerprint.h — a number for the state of files, so that a run can be recognised as the repetition of an earlier
 * one. */
#ifndef TWIN_FINGERPRINT_H
#define TWIN_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds bytes to the number. */
void fingerprint_add(uint64_t *number, const void *bytes, size_t length);

/* Adds name, inode, size and time of the last change of a file; of a folder those of all that is in it. False, with
 * errno: some of it is not there, and only the names have been added. */
bool fingerprint_add_file(uint64_t *number, const char *name);

/* What is in a file. */
struct contents {
    uint64_t bytes, lines;
    uint64_t checksum; /* fingerprint_add() of each MiB, begun with 0; the last part may be shorter */
};

/* Reads a file from its beginning, at most `most` bytes. False and errno on failure. */
bool fingerprint_contents(struct contents *out, int file, uint64_t most);

#endif

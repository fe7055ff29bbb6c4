/* walk.h — a folder and all that is below it. */
#ifndef TWIN_CLI_WALK_H
#define TWIN_CLI_WALK_H

#include <stdbool.h>
#include <sys/stat.h>

struct walk_entry {
    const char *path;
    const struct stat *known; /* of a link, the link itself */
    int reason;               /* errno where the entry, or what is in this folder, could not be read */
};

/* Calls `visit` for `path`, which may be a link to a folder, and for all below it: folders before what is in them,
 * names in the order of their bytes. Stops when `visit` returns false. False then, and when out of memory. */
bool walk(const char *path, bool (*visit)(void *context, const struct walk_entry *entry), void *context);

#endif

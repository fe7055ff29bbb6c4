/* walk.c — by a stack of names that are still to be visited, so that deep folders need no more of the processor's.
 * fts(3), which does this, is not in every C library. */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names still to be visited, the next one last. */
struct pending {
    char **paths;
    size_t count, room;
};

static bool push(struct pending *pending, char *path)
{
    if (pending->count == pending->room) {
        size_t room = pending->room ? 2 * pending->room : 64;
        char **paths = realloc(pending->paths, room * sizeof *paths);
        if (!paths)
            return false;
        pending->paths = paths;
        pending->room = room;
    }
    pending->paths[pending->count++] = path;
    return true;
}

static char *join_path(const char *folder, const char *name)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s/%s", folder, name);
    return path;
}

static int last_name_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Pushes what is in a folder, the last name first. False and errno on failure; what was pushed remains. */
static bool push_folder(struct pending *pending, const char *folder)
{
    size_t first = pending->count;
    DIR *open = opendir(folder);
    if (!open)
        return false;
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(open)); errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *path = join_path(folder, entry->d_name);
        if (!path || !push(pending, path)) {
            free(path);
            errno = ENOMEM;
            break;
        }
    }
    int reason = errno;
    closedir(open);
    if (pending->count > first)
        qsort(pending->paths + first, pending->count - first, sizeof pending->paths[0], last_name_first);
    errno = reason;
    return reason == 0;
}

bool walk(const char *path, bool (*visit)(void *context, const struct walk_entry *entry), void *context)
{
    struct pending pending = { 0 };
    char *root = strdup(path);
    bool going = root && push(&pending, root);
    if (!going)
        free(root);
    for (bool is_root = true; going && pending.count; is_root = false) {
        struct stat known = { 0 };
        char *next = pending.paths[--pending.count];
        int reason = (is_root ? stat(next, &known) : lstat(next, &known)) == 0 ? 0 : errno;
        if (reason == 0 && S_ISDIR(known.st_mode) && !push_folder(&pending, next))
            reason = errno;
        going = visit(context, &(struct walk_entry){ next, &known, reason });
        free(next);
    }
    while (pending.count)
        free(pending.paths[--pending.count]);
    free(pending.paths);
    return going;
}

/* paths.c — what the name of a file says, and whether there is such a file. */
#include "paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
}

bool is_read_once(const char *name)
{
    struct stat known;
    return is_standard(name) || (stat(name, &known) == 0 && !S_ISREG(known.st_mode) && !S_ISDIR(known.st_mode));
}

bool is_index(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".twin") == 0;
}

bool names_folder(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && name[length - 1] == '/';
}

bool is_folder(const char *name)
{
    struct stat known;
    return stat(name, &known) == 0 && S_ISDIR(known.st_mode);
}

char *follow_links(const char *name)
{
    enum { MOST_LINKS = 40 }; /* as many as the system follows */
    char target[PATH_MAX], *at = strdup(name);
    for (int i = 0; at && i < MOST_LINKS; i++) {
        ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0)
            return at;
        target[length] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/'); /* else it is relative to the link's folder */
        char *next;
        if (asprintf(&next, "%.*s%s", slash ? (int)(slash + 1 - at) : 0, at, target) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    errno = at ? ELOOP : ENOMEM;
    free(at);
    return NULL;
}

bool is_missing(const char *name)
{
    return access(name, F_OK) != 0 && errno == ENOENT;
}

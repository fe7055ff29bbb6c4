/* paths.c — what the name of a file says, and whether there is such a file. */
#include "paths.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_standard(const char *name)
{
    return strcmp(name, "-") == 0;
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

bool is_missing(const char *name)
{
    return access(name, F_OK) != 0 && errno == ENOENT;
}

/* files.c — files, or the end of the program. */
#include "lab.h"

#include <errno.h>
#include <string.h>

FILE *file_create(char path[PATH_ROOM], const struct lab *lab, const char *name, const char *suffix)
{
    snprintf(path, PATH_ROOM, "%s/%s%s", lab->out, name, suffix);
    FILE *file = fopen(path, "w");
    if (!file)
        die("%s: cannot be written: %s", path, strerror(errno));
    return file;
}

FILE *file_open(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("%s: cannot be read: %s", path, strerror(errno));
    return file;
}

FILE *file_temporary(void)
{
    FILE *file = tmpfile();
    if (!file)
        die("a temporary file could not be made: %s", strerror(errno));
    return file;
}

void file_close(FILE *file, const char *path)
{
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        die("%s: could not be written: %s", path, strerror(errno));
}

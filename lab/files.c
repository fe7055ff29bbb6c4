/* files.c — opening and closing files; any error ends the program. */
#include "lab.h"

#include <errno.h>
#include <string.h>

FILE *file_create(char path[PATH_ROOM], const struct lab *lab, const char *name, const char *suffix)
{
    snprintf(path, PATH_ROOM, "%s/%s%s", lab->out, name, suffix);
    FILE *file = fopen(path, "w");
    if (!file)
        die("%s: cannot write: %s", path, strerror(errno));
    return file;
}

FILE *file_open(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        die("%s: cannot read: %s", path, strerror(errno));
    return file;
}

FILE *file_temporary(void)
{
    FILE *file = tmpfile();
    if (!file)
        die("cannot create a temporary file: %s", strerror(errno));
    return file;
}

void file_close(FILE *file, const char *path)
{
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        die("%s: write failed: %s", path, strerror(errno));
}

/* files.c — opening and closing files; any error ends the program. Data sets may be missing. */
#include "lab.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

void file_path(char path[PATH_ROOM], FILE *file)
{
    snprintf(path, PATH_ROOM, "/proc/self/fd/%d", fileno(file));
}

void file_close(FILE *file, const char *path)
{
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        die("%s: write failed: %s", path, strerror(errno));
}

bool data_given(struct lab *lab)
{
    if (!lab->data)
        skip(lab, "no data folder; use --data DIR or set TWINSIFT_DATA");
    return lab->data != NULL;
}

bool data_find(char path[PATH_ROOM], struct lab *lab, const char *name)
{
    if (!data_given(lab))
        return false;
    snprintf(path, PATH_ROOM, "%s/%s", lab->data, name);
    bool exists = access(path, R_OK) == 0;
    if (!exists)
        skip(lab, "%s does not exist", path);
    return exists;
}

/* overwrite.c — outputs that cannot be written, or would destroy what is read, or each other. */
#include "overwrite.h"

#include "messages.h"
#include "packed_file.h"
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_regular(const char *path)
{
    struct stat known;
    return stat(path, &known) == 0 && S_ISREG(known.st_mode);
}

/* Whether the file, which exists, is somewhere below the folder. */
static bool is_below(const char *path, const char *folder)
{
    char *file = realpath(path, NULL), *above = realpath(folder, NULL);
    size_t length = above ? strlen(above) : 0;
    bool below = file && above && strncmp(file, above, length) == 0 && (file[length] == '/' || length == 1);
    free(file);
    free(above);
    return below;
}

/* The name without links and dots: that of the folder and its own. The caller frees it; NULL: none. */
static char *canonical_of_new(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *above = folder ? realpath(folder, NULL) : NULL;
    char *found = NULL;
    size_t room = above ? strlen(above) + strlen(name) + 2 : 0;
    if (above && (found = malloc(room)))
        snprintf(found, room, "%s/%s", above, name);
    free(folder);
    free(above);
    return found;
}

char *canonical_path(const char *path)
{
    char *found = realpath(path, NULL), *target = found ? NULL : follow_links(path);
    if (target)
        found = canonical_of_new(target);
    free(target);
    return found;
}

char *canonical_folder(const char *path)
{
    char *found = canonical_path(path);
    if (found)
        *strrchr(found, '/') = '\0';
    return found;
}

/* Whether `length` bytes of a name are whole parts of it. */
static bool ends_part(const char *name, size_t length)
{
    return name[length] == '\0' || name[length] == '/';
}

char *path_from(const char *path, const char *folder)
{
    size_t shared = 0;
    for (size_t i = 0;; i++) {
        if (ends_part(path, i) && ends_part(folder, i))
            shared = i;
        if (path[i] != folder[i] || !path[i])
            break;
    }
    const char *down = path + shared + (path[shared] == '/'), *up = folder + shared;
    char *found = malloc(3 * strlen(up) + strlen(down) + 1), *out = found;
    for (; found && *up; up++)
        if (up[0] == '/' && up[1])
            out = stpcpy(out, "../");
    if (found)
        memcpy(out, down, strlen(down) + 1);
    return found;
}

bool belongs_to_index(const char *output, const char *index)
{
    char *name = canonical_path(output), *beside = canonical_path(index);
    size_t length = beside ? strlen(beside) : 0;
    bool begins = name && beside && strncmp(name, beside, length) == 0;
    bool belongs = begins && (strcmp(name + length, "-lock") == 0 || strncmp(name + length, "-update", 7) == 0);
    free(name);
    free(beside);
    if (belongs)
        fail("%s: belongs to the index %s, so it cannot be the output; write to another file", output, index);
    return belongs;
}

/* Where the shell has sent standard output; as a name of ours for the file behind it. */
static const char standard_file[] = "/dev/stdout";

bool overwrites_input(const char *output, const char *const *inputs, size_t count)
{
    struct stat written, read;
    bool to_standard = is_standard(output);
    const char *path = to_standard ? standard_file : output;
    for (size_t i = 0; i < count; i++)
        if (is_index(inputs[i]) && belongs_to_index(output, inputs[i]))
            return true;
    if (!is_regular(path) || stat(path, &written) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        bool from_standard = is_standard(inputs[i]);
        if ((from_standard ? fstat(STDIN_FILENO, &read) : stat(inputs[i], &read)) != 0)
            continue;
        if (read.st_dev == written.st_dev && read.st_ino == written.st_ino) {
            fail("%s: is read, so it cannot be the output too; write to another file", !to_standard ? output
                                                                                       : from_standard
                                                                                           ? "standard input"
                                                                                           : inputs[i]);
            return true;
        }
        bool is_new = to_standard && written.st_size == 0; /* by the shell, for this */
        if (S_ISDIR(read.st_mode) && !is_new && is_below(path, inputs[i])) {
            fail("%s: is in %s, which is read, and would be %s; write to a file elsewhere, or remove it",
                 to_standard ? "standard output" : output, inputs[i], to_standard ? "read too" : "overwritten");
            return true;
        }
    }
    return false;
}

bool is_same_output(const char *a, const char *b)
{
    struct stat known;
    if (is_standard(a) || is_standard(b))
        return strcmp(a, b) == 0;
    if (stat(a, &known) == 0 && !S_ISREG(known.st_mode))
        return false;
    char *first = canonical_path(a), *second = canonical_path(b);
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

/* The folder above; the caller frees it. */
static char *folder_of(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length ? strndup(path, length) : strdup(".");
}

/* 0, or why not. */
static int reason_not_writable(const char *output)
{
    struct stat known;
    bool to_folder = names_folder(output), exists = stat(output, &known) == 0;
    if (exists && !to_folder && S_ISDIR(known.st_mode))
        return EISDIR;
    if (exists && !S_ISREG(known.st_mode))
        return access(output, W_OK) == 0 ? 0 : errno;
    char *target = follow_links(output), *folder = target ? folder_of(target) : NULL;
    int reason =
        folder && access(folder, W_OK | X_OK) == 0 ? 0 : errno; /* a file is written next to its name first */
    free(folder);
    free(target);
    return reason;
}

#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000 /* as the kernel has it; not in every C library */
#endif

/* A file that is mounted, as containers do with single files, has no name that could be given to another. */
static bool is_mounted(const char *output)
{
#ifdef __linux__
    struct statx known;
    return !names_folder(output) && is_regular(output) && statx(AT_FDCWD, output, 0, 0, &known) == 0 &&
           (known.stx_attributes & STATX_ATTR_MOUNT_ROOT);
#else
    (void)output;
    return false; /* only folders are mounted */
#endif
}

bool output_is_possible(const char *output)
{
    if (packed_otherwise(output))
        return refuse("%s: cannot be compressed like that; name it .gz or .zst", output);
    if (is_mounted(output))
        return refuse("%s: is mounted, so that no other file can take its place; write to a file in a folder that is "
                      "mounted, or to standard output",
                      output);
    int reason = is_standard(output) ? 0 : reason_not_writable(output);
    if (reason)
        fail("%s: cannot be written: %s", output, strerror(reason));
    return reason == 0;
}

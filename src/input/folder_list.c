/* folder_list.c — the regular files below a folder.
 *
 * Folders are listed one after the other from a stack, with their paths in one buffer; links are not followed, and
 * what is no regular file is counted. At the end the files are sorted by path, so that their order is not that of the
 * disk. */
#include "input/folder_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "input/failure.h"

/* A deeper folder counts as one that cannot be opened. Each is opened by its whole path, so the
 * work for a tree that is one long chain grows with the square of its depth. */
enum { MAX_DEPTH = 1024 };

/* Folders still to be listed, by where their path stands in `paths`. */
struct pending {
    size_t path;
    unsigned depth;
};

struct listing {
    struct folder *folder;
    const twin_input_options *options;
    struct pending *pending;
    size_t waiting, capacity;
};

/* The kernel takes at most PATH_MAX bytes at a time: long paths are walked in strides that end
 * at a slash. */
int twin__folder_open(int fd, const char *path, int flags)
{
    enum { STRIDE = PATH_MAX - 1 };
    char part[PATH_MAX];
    int at = fd;
    while (strlen(path) > STRIDE) {
        size_t length = STRIDE;
        while (path[length] != '/')
            length--;
        memcpy(part, path, length);
        part[length] = '\0';
        int next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int why = errno;
        if (at != fd)
            close(at);
        errno = why;
        if (next < 0)
            return -1;
        at = next;
        path += length + 1;
    }
    int opened = openat(at, path, flags | O_NOFOLLOW | O_CLOEXEC);
    int why = errno;
    if (at != fd)
        close(at);
    errno = why;
    return opened;
}

/* Until all are listed, an entry's path is its offset in `paths`, which may still move. */
static bool add_entry(struct folder *folder, size_t path, int error)
{
    if (!TWIN__ARRAY_GROW(&folder->entries, &folder->capacity, folder->count, 1))
        return false;
    folder->entries[folder->count++] = (struct folder_entry){ .path = (const char *)(uintptr_t)path, .error = error };
    return true;
}

static bool add_pending(struct listing *l, size_t path, unsigned depth)
{
    if (!TWIN__ARRAY_GROW(&l->pending, &l->capacity, l->waiting, 1))
        return false;
    l->pending[l->waiting++] = (struct pending){ path, depth };
    return true;
}

/* Appends "parent/name" and its zero to the paths. The parent's bytes may move while room is
 * made. */
static bool add_path(twin_buffer *paths, size_t *out, size_t parent, const char *name)
{
    size_t length = strlen(paths->bytes + parent), name_length = strlen(name);
    if (twin_buffer_reserve(paths, length + name_length + 2) != TWIN_OK)
        return false;
    *out = paths->length;
    if (length) {
        memcpy(paths->bytes + paths->length, paths->bytes + parent, length);
        paths->length += length;
        paths->bytes[paths->length++] = '/';
    }
    memcpy(paths->bytes + paths->length, name, name_length + 1);
    paths->length += name_length + 1;
    return true;
}

/* The kind of an entry; DT_UNKNOWN when it is gone by now. */
static unsigned char kind_of(DIR *stream, const struct dirent *entry)
{
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    struct stat about;
    if (fstatat(dirfd(stream), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(about.st_mode);
}

/* Whether the path, or if there is no slash in the glob its last name, is what a glob describes. */
static bool fits(const char *path, const char *glob)
{
    size_t length = strlen(glob);
    char plain[PATH_MAX];
    bool is_below = strchr(glob, '/') && strchr(glob, '/') != glob + length - 1; /* one at the end says nothing */
    const char *name = strrchr(path, '/');
    if (length >= sizeof plain)
        return false;
    memcpy(plain, glob, length + 1);
    while (length > 1 && plain[length - 1] == '/')
        plain[--length] = '\0';
    return fnmatch(plain + (is_below && plain[0] == '/'), is_below || !name ? path : name + 1, 0) == 0;
}

bool twin__path_fits(const char *path, const char *const *globs)
{
    bool found = false;
    for (; globs && *globs && !found; globs++)
        found = fits(path, *globs);
    return found;
}

static bool is_chosen(const char *path, bool is_folder, const twin_input_options *options)
{
    const char *const *include = options->include;
    return !twin__path_fits(path, options->exclude) &&
           (is_folder || !include || !*include || twin__path_fits(path, include));
}

static bool add_named(struct listing *l, DIR *stream, const struct dirent *entry, struct pending parent)
{
    unsigned char kind = kind_of(stream, entry);
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
        return true;
    if (entry->d_name[0] == '.' && !l->options->hidden) {
        l->folder->hidden++;
        return true;
    }
    if (kind != DT_REG && kind != DT_DIR) {
        l->folder->links += kind == DT_LNK;
        l->folder->special += kind != DT_LNK && kind != DT_UNKNOWN;
        return true;
    }
    size_t path;
    if (!add_path(&l->folder->paths, &path, parent.path, entry->d_name))
        return false;
    if (!is_chosen(l->folder->paths.bytes + path, kind == DT_DIR, l->options)) {
        l->folder->paths.length = path;
        return true;
    }
    return kind == DT_DIR ? add_pending(l, path, parent.depth + 1) : add_entry(l->folder, path, 0);
}

/* Lists one folder; takes the descriptor. `why` becomes 0, or the errno of a folder that could
 * not be read. */
static twin_status list_one(struct listing *l, int *why, int fd, struct pending at)
{
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        *why = errno;
        if (fd >= 0)
            close(fd);
        return *why == ENOMEM ? TWIN_ENOMEM : TWIN_OK;
    }
    twin_status status = TWIN_OK;
    struct dirent *entry;
    while (errno = 0, status == TWIN_OK && (entry = readdir(stream)))
        if (!add_named(l, stream, entry, at))
            status = TWIN_ENOMEM;
    *why = status == TWIN_OK ? errno : 0;
    closedir(stream);
    return status;
}

static twin_status list_all(struct listing *l, int root, const char *name, twin_error *error)
{
    while (l->waiting) {
        struct pending at = l->pending[--l->waiting];
        int why = ENAMETOOLONG, flags = O_RDONLY | O_DIRECTORY;
        twin_status status = TWIN_OK;
        if (at.depth == 0)
            status = list_one(l, &why, openat(root, ".", flags | O_CLOEXEC), at);
        else if (at.depth <= MAX_DEPTH)
            status = list_one(l, &why, twin__folder_open(root, l->folder->paths.bytes + at.path, flags), at);
        if (status != TWIN_OK)
            return twin__fail_memory(error);
        errno = why;
        if (why && (at.depth == 0 || twin__is_our_failure(why)))
            return twin__fail(error, TWIN_EIO, "%s cannot be listed: %m", name);
        if (why && !add_entry(l->folder, at.path, why))
            return twin__fail_memory(error);
    }
    return TWIN_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct folder_entry *)a)->path, ((const struct folder_entry *)b)->path);
}

twin_status twin__folder_list(struct folder *out, int fd, const char *name, const twin_input_options *options,
                              twin_error *error)
{
    *out = (struct folder){ 0 };
    struct listing l = { .folder = out, .options = options };
    twin_status status = TWIN_OK;
    if (twin_buffer_append(&out->paths, "", 1) != TWIN_OK || !add_pending(&l, 0, 0))
        status = twin__fail_memory(error);
    else
        status = list_all(&l, fd, name, error);
    free(l.pending);
    if (status != TWIN_OK) {
        twin__folder_clear(out);
        return status;
    }
    for (size_t i = 0; i < out->count; i++)
        out->entries[i].path = out->paths.bytes + (uintptr_t)out->entries[i].path;
    if (out->count)
        qsort(out->entries, out->count, sizeof out->entries[0], by_path);
    return TWIN_OK;
}

void twin__folder_clear(struct folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free(folder->entries[i].refusal);
    free(folder->entries);
    twin_buffer_clear(&folder->paths);
    *folder = (struct folder){ 0 };
}

/* mail_files.c — which files of a folder are mail.
 *
 * A Maildir is a folder with folders cur and new, whose files are messages; tmp has messages that are still being
 * written, and next to them mail programs keep files of their own. A file in cur has its flags after ":2,"; these are
 * heeded also where cur itself is the folder that is read. */
#include "input/folder_list.h"

#include <stdlib.h>
#include <string.h>

/* The start of the last component of a path. */
static size_t name_of(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

/* Whether the folder part of the path, `length` bytes that end in a slash or none, ends in this component; `root`
 * becomes the bytes before that. */
static bool is_below(size_t *root, const char *path, size_t length, const char *component)
{
    size_t wanted = strlen(component);
    if (length < wanted + 1 || memcmp(path + length - wanted - 1, component, wanted) != 0)
        return false;
    *root = length - wanted - 1;
    return *root == 0 || path[*root - 1] == '/';
}

/* Folders with a cur or new: the first bytes of paths. */
struct roots {
    struct root {
        const char *path;
        size_t length;
    } * items;
    size_t count;
};

static int by_bytes(const void *a, const void *b)
{
    const struct root *x = a, *y = b;
    size_t common = x->length < y->length ? x->length : y->length;
    int order = common ? memcmp(x->path, y->path, common) : 0;
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static bool is_root(const struct roots *roots, const char *path, size_t length)
{
    struct root key = { path, length };
    return roots->count > 0 && bsearch(&key, roots->items, roots->count, sizeof key, by_bytes);
}

static twin_status find_roots(struct roots *out, const struct folder *files)
{
    out->items = malloc((files->count + 1) * sizeof out->items[0]);
    if (!out->items)
        return TWIN_ENOMEM;
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->entries[i].path;
        size_t name = name_of(path, strlen(path)), root;
        if (is_below(&root, path, name, "cur") || is_below(&root, path, name, "new"))
            out->items[out->count++] = (struct root){ path, root };
    }
    qsort(out->items, out->count, sizeof out->items[0], by_bytes);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (kept == 0 || by_bytes(&out->items[kept - 1], &out->items[i]) != 0)
            out->items[kept++] = out->items[i];
    out->count = kept;
    return TWIN_OK;
}

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static bool is_draft_or_deleted(const char *name)
{
    const char *flags = strrchr(name, ':');
    if (!flags || strncmp(flags, ":2,", 3) != 0 || flags[3 + strspn(flags + 3, LETTERS)])
        return false;
    return strpbrk(flags + 3, "DT");
}

static bool is_mail(const struct roots *roots, const char *path)
{
    size_t name = name_of(path, strlen(path)), root;
    if (path[name] == '.' || is_draft_or_deleted(path + name))
        return false;
    if (is_below(&root, path, name, "cur") || is_below(&root, path, name, "new"))
        return true;
    if (is_below(&root, path, name, "tmp") && is_root(roots, path, root))
        return false;
    return !is_root(roots, path, name);
}

twin_status twin__mail_files(struct folder *files)
{
    struct roots roots = { 0 };
    twin_status status = find_roots(&roots, files);
    if (status != TWIN_OK)
        return status;
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++)
        if (files->entries[i].error || is_mail(&roots, files->entries[i].path))
            files->entries[kept++] = files->entries[i];
    files->count = kept;
    free(roots.items);
    return TWIN_OK;
}

/* dedup_paths.c — where twinsift dedup writes, and that this is nothing it reads.
 *
 * Outputs are compared with everything that is read, and with each other, as files and not as names: a link is the
 * file it leads to. With -o FOLDER/ each input has an output of its own name. If two inputs have the same name, the
 * outputs are in the same subfolders as the inputs, below the folder that all inputs have in common. */
#include "dedup.h"

#include "support/messages.h"
#include "support/overwrite.h"
#include "support/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one output per input ---- */

/* The length of a path without slashes at its end. */
static size_t trimmed(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* Where the last name in the first `length` bytes of a path begins. */
static size_t last_name(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

/* An input's path, or the end of it, in the folder, without what leads nowhere: a/./b and a//b are a/b. The caller
 * frees it. */
static char *name_in(const char *folder, const char *path)
{
    size_t room = strlen(folder) + strlen(path) + 2, length = strlen(folder), part;
    char *name = malloc(room);
    if (!name)
        return NULL;
    memcpy(name, folder, length);
    for (; *path; path += part + (path[part] == '/')) {
        part = strcspn(path, "/");
        if (part == 0 || (part == 1 && *path == '.'))
            continue;
        memcpy(name + length, path, part);
        length += part;
        name[length++] = '/';
    }
    name[length - 1] = '\0';
    return name;
}

/* Whether a path leads up again: below another folder it would lead out of that. */
static bool leads_up(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2)
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* The length of the path, with a slash at its end, of the folder that all files among the inputs are in. */
static size_t common_folder(const twin_input *input)
{
    const char *first = NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < twin_input_sources(input); i++) {
        const char *name = twin_input_name(input, i);
        if (is_folder(name))
            continue;
        if (!first) {
            first = name;
            length = strlen(name);
        }
        size_t same = 0;
        while (same < length && first[same] == name[same])
            same++;
        length = last_name(first, same);
    }
    return length;
}

static char **name_all(const char *folder, const twin_input *input, bool with_folders)
{
    size_t count = twin_input_sources(input), common = with_folders ? common_folder(input) : 0;
    char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) {
        const char *path = twin_input_name(input, (uint32_t)i);
        bool whole = with_folders && !is_folder(path) && !leads_up(path + common);
        if (!(names[i] = name_in(folder, path + (whole ? common : last_name(path, trimmed(path)))))) {
            free_names(names, input);
            return NULL;
        }
    }
    return names;
}

void free_names(char **names, const twin_input *input)
{
    for (size_t i = 0; names && i < twin_input_sources(input); i++)
        free(names[i]);
    free(names);
}

struct named {
    const char *name;
    uint32_t source;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->source > y->source) - (x->source < y->source);
}

/* Finds two inputs whose outputs have the same name: the first two of `out`, which the caller frees. False: there are
 * none, or no memory to find them, and `out` is NULL. */
static bool find_equal(struct named **out, char *const *names, const twin_input *input)
{
    size_t count = twin_input_sources(input);
    struct named *sorted = *out = calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct named){ names[i], (uint32_t)i };
    if (sorted)
        qsort(sorted, count, sizeof *sorted, by_name);
    for (size_t i = 1; sorted && i < count; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
            memmove(sorted, sorted + i - 1, 2 * sizeof *sorted);
            return true;
        }
    return false;
}

char **names_in_folder(const char *folder, const twin_input *input)
{
    struct named *equal = NULL;
    char **names = name_all(folder, input, false);
    if (names && find_equal(&equal, names, input)) {
        free_names(names, input);
        names = name_all(folder, input, true);
    }
    free(equal);
    return names;
}

/* Two inputs of the same name would overwrite each other. */
static bool names_differ(char *const *names, const twin_input *input)
{
    struct named *equal;
    bool differ = !find_equal(&equal, names, input);
    if (!equal)
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    if (!differ)
        fail("%s and %s would both become %s; give each input once, and by a path without ..",
             twin_input_name(input, equal[0].source), twin_input_name(input, equal[1].source), equal[0].name);
    free(equal);
    return differ;
}

/* ---- all outputs ---- */

/* What is read: arguments and inputs, or only the folders among them; and what options name. */
struct names {
    const char **items;
    size_t count;
};

static bool gather(struct names *out, const struct dedup_paths *paths, const twin_input *input, bool folders)
{
    size_t sources = twin_input_sources(input), others = paths->against ? paths->against->count : 0;
    out->items = calloc(paths->base->count + sources + others + 1, sizeof *out->items);
    if (!out->items)
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    for (size_t i = 0; i < paths->base->count; i++)
        if (!folders || is_folder(paths->base->arguments[i]))
            out->items[out->count++] = paths->base->arguments[i];
    for (size_t i = 0; i < sources && !folders; i++)
        out->items[out->count++] = twin_input_name(input, (uint32_t)i);
    for (size_t i = 0; i < others; i++)
        out->items[out->count++] = paths->against->items[i];
    if (paths->update)
        out->items[out->count++] = paths->update;
    return true;
}

/* Whether the other outputs, or what is read, are not what this one is. */
static bool is_free(const struct dedup_paths *paths, const struct names *read, const char *output)
{
    const char *others[] = { paths->dropped, paths->groups, paths->report };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i] && others[i] != output && is_same_output(output, others[i]))
            return refuse("%s: is the output of two options; give each a file of its own", output);
    return !(paths->update && belongs_to_index(output, paths->update)) &&
           !overwrites_input(output, read->items, read->count);
}

static bool is_good(const struct dedup_paths *paths, const struct names *read, const char *output)
{
    return output_is_possible(output) && is_free(paths, read, output);
}

/* Dropped documents, groups and report are one file each, whatever there is to write. */
static bool is_good_file(const struct dedup_paths *paths, const struct names *read, const char *output)
{
    if (names_folder(output))
        return refuse("%s: is the name of a folder; give that of a file", output);
    return is_good(paths, read, output);
}

/* Files by what they are, whatever their names. */
struct files {
    struct file_number {
        dev_t device;
        ino_t number;
    } * items;
    size_t count;
};

static int by_file(const void *a, const void *b)
{
    const struct file_number *x = a, *y = b;
    return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                  : (x->number > y->number) - (x->number < y->number);
}

static bool list_inputs(struct files *out, const twin_input *input)
{
    struct stat known;
    *out = (struct files){ .items = calloc(twin_input_sources(input) + 1, sizeof *out->items) };
    if (!out->items)
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    for (uint32_t i = 0; i < twin_input_sources(input); i++)
        if (stat(twin_input_name(input, i), &known) == 0)
            out->items[out->count++] = (struct file_number){ known.st_dev, known.st_ino };
    qsort(out->items, out->count, sizeof *out->items, by_file);
    return true;
}

static bool is_among(const struct files *files, const char *name)
{
    struct stat known;
    return stat(name, &known) == 0 && bsearch(&(struct file_number){ known.st_dev, known.st_ino }, files->items,
                                              files->count, sizeof *files->items, by_file);
}

void remark_same_inputs(const twin_input *input)
{
    struct stat known;
    struct files files = { 0 };
    struct file_number twice = { 0 };
    if (twin_input_sources(input) < 2 || !list_inputs(&files, input))
        return;
    bool found = false;
    for (size_t i = 1; i < files.count && !found; i++)
        if ((found = by_file(&files.items[i - 1], &files.items[i]) == 0))
            twice = files.items[i];
    free(files.items);
    for (uint32_t i = (uint32_t)twin_input_sources(input); found && i-- > 0;) {
        const char *name = twin_input_name(input, i);
        if (stat(name, &known) != 0 || known.st_dev != twice.device || known.st_ino != twice.number)
            continue;
        if (S_ISREG(known.st_mode) || S_ISDIR(known.st_mode)) /* of devices, such as /dev/null, any number */
            warn("%s: is given more than once, so that each of its documents is a copy of itself", name);
        return;
    }
}

/* There may be many thousands of inputs and outputs: each output is looked up among them. */
static bool outputs_are_free(const struct dedup_paths *paths, const twin_input *input, char *const *names)
{
    struct names read = { 0 };
    struct files files = { 0 };
    bool good = names_differ(names, input) && gather(&read, paths, input, true) && list_inputs(&files, input);
    for (size_t i = 0; good && i < twin_input_sources(input); i++)
        good = is_among(&files, names[i])
                   ? refuse("%s: is read, so it cannot be the output too; write to another folder", names[i])
                   : is_free(paths, &read, names[i]);
    free(files.items);
    free(read.items);
    return good;
}

/* Whether the path of a folder ends in a name, by which the list of its kept files can be called: . and / do not. */
static bool has_name(const char *path)
{
    size_t at = last_name(path, trimmed(path)), length = trimmed(path) - at;
    bool leads_elsewhere = length <= strlen("..") && strncmp(path + at, "..", length) == 0;
    return length > 0 && !leads_elsewhere;
}

static bool folders_have_names(const struct dedup_paths *paths, const twin_input *input)
{
    for (uint32_t i = 0; i < twin_input_sources(input); i++)
        if (twin_input_folder_info(input, i).documents && !has_name(twin_input_name(input, i)))
            return refuse("%s: has no name for a file in %s; use -o FILE, or give the folder by its name",
                          twin_input_name(input, i), paths->output);
    return true;
}

static bool folder_is_free(const struct dedup_paths *paths, const twin_input *input)
{
    for (size_t i = 0; i < paths->base->count; i++)
        if (is_standard(paths->base->arguments[i]))
            return refuse("standard input has no name for a file in %s; use -o FILE", paths->output);
    if (!folders_have_names(paths, input))
        return false;
    char **names = names_in_folder(paths->output, input);
    if (!names)
        return refuse_status("the output", TWIN_ENOMEM, NULL);
    bool good = output_is_possible(paths->output) && outputs_are_free(paths, input, names);
    free_names(names, input);
    return good;
}

static bool standard_input_is_read_once(const struct dedup_paths *paths)
{
    size_t times = 0;
    for (size_t i = 0; i < paths->base->count; i++)
        times += is_standard(paths->base->arguments[i]);
    for (size_t i = 0; paths->against && i < paths->against->count; i++)
        times += is_standard(paths->against->items[i]);
    if (times > 1)
        fail("standard input can be read only once");
    return times <= 1;
}

bool dedup_paths_are_good(const struct dedup_paths *paths, const twin_input *input)
{
    struct names read = { 0 };
    const char *output = paths->output;
    bool to_folder = output && names_folder(output);
    bool good = standard_input_is_read_once(paths) && gather(&read, paths, input, false) &&
                (!paths->dropped || (is_good_file(paths, &read, paths->dropped) && tables_have_one_header(input))) &&
                (!paths->groups || is_good_file(paths, &read, paths->groups)) &&
                (!paths->report || is_good_file(paths, &read, paths->report)) &&
                (!output || to_folder || (is_good(paths, &read, output) && tables_have_one_header(input))) &&
                (!to_folder || folder_is_free(paths, input));
    free(read.items);
    return good;
}

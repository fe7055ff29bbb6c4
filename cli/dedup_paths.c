/* dedup_paths.c — where twinsift dedup writes, and that this is nothing it reads.
 *
 * Outputs are compared with everything that is read, and with each other, as files and not as names: a link is the
 * file it leads to. With -o FOLDER/ each input has an output of its own name. */
#include "dedup_paths.h"
#include "dedup_output.h"

#include "support/messages.h"
#include "support/overwrite.h"
#include "support/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one output per input ---- */

/* The name of an input's output: that of the input in the folder. The caller frees it. */
static char *name_in(const char *folder, const char *input)
{
    size_t length = strlen(input);
    while (length > 1 && input[length - 1] == '/')
        length--;
    size_t begin = length;
    while (begin > 0 && input[begin - 1] != '/')
        begin--;
    size_t room = strlen(folder) + length - begin + 1;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%s%.*s", folder, (int)(length - begin), input + begin);
    return name;
}

char **names_in_folder(const char *folder, const twin_input *input)
{
    size_t count = twin_input_sources(input);
    char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        if (!(names[i] = name_in(folder, twin_input_name(input, (uint32_t)i)))) {
            free_names(names, input);
            return NULL;
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

/* Two inputs of the same name would overwrite each other. */
static bool names_differ(char *const *names, const twin_input *input)
{
    size_t count = twin_input_sources(input);
    struct named *sorted = calloc(count + 1, sizeof *sorted);
    bool differ = sorted != NULL;
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct named){ names[i], (uint32_t)i };
    if (sorted)
        qsort(sorted, count, sizeof *sorted, by_name);
    else
        fail_status("the output", TWIN_ENOMEM, NULL);
    for (size_t i = 1; differ && i < count; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0) {
            differ = false;
            fail("%s and %s would both become %s; give outputs of their own",
                 twin_input_name(input, sorted[i - 1].source), twin_input_name(input, sorted[i].source),
                 sorted[i].name);
        }
    free(sorted);
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

/* Whether the other two outputs, or what is read, are not what this one is. */
static bool is_free(const struct dedup_paths *paths, const struct names *read, const char *output)
{
    const char *others[] = { paths->groups, paths->report };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i] && others[i] != output && is_same_output(output, others[i]))
            return refuse("%s: is the output of two options; give each a file of its own", output);
    return !overwrites_input(output, read->items, read->count);
}

static bool is_good(const struct dedup_paths *paths, const struct names *read, const char *output)
{
    return output_is_possible(output) && is_free(paths, read, output);
}

/* An output of one input can be another input only if both have the same name, and then two outputs have it too: so
 * each is compared with its own input. */
static bool outputs_are_free(const struct dedup_paths *paths, const twin_input *input, char *const *names)
{
    struct names read = { 0 };
    bool good = names_differ(names, input) && gather(&read, paths, input, true);
    for (size_t i = 0; good && i < twin_input_sources(input); i++) {
        const char *own = twin_input_name(input, (uint32_t)i);
        good = !overwrites_input(names[i], &own, 1) && is_free(paths, &read, names[i]);
    }
    free(read.items);
    return good;
}

static bool folder_is_free(const struct dedup_paths *paths, const twin_input *input)
{
    for (size_t i = 0; i < paths->base->count; i++)
        if (is_standard(paths->base->arguments[i]))
            return refuse("standard input has no name for a file in %s; use -o FILE", paths->output);
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
                (!paths->groups || is_good(paths, &read, paths->groups)) &&
                (!paths->report || is_good(paths, &read, paths->report)) &&
                (!output || to_folder || (is_good(paths, &read, output) && tables_have_one_header(input))) &&
                (!to_folder || folder_is_free(paths, input));
    free(read.items);
    return good;
}

/* open.c — opens a path as the kind of source it is.
 *
 * The kinds are asked in a fixed order whether the path is theirs, and the first that accepts it opens it. Names
 * decide what files hold, unless the caller has said so. A folder may have files that hold many documents; each of
 * these becomes a source of its own after the folder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "input/folder_list.h"
#include "input/source.h"

/* In the order in which they are asked: the first that accepts a path reads it. */
static const struct twin__source_kind *const kinds[] = {
    &twin__mailbox, &twin__folder, &twin__lines, &twin__table, &twin__file,
};

/* ---- names ---- */

bool twin__name_ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending), same = 0;
    if (length < ending_length)
        return false;
    name += length - ending_length;
    while (same < ending_length && twin__is_in_any_case(name[same], ending[same]))
        same++;
    return same == ending_length;
}

/* Whether a name ends so, or in the same and .gz or .zst. */
static bool ends_in_or_packed(const char *name, const char *ending)
{
    static const char *const packings[] = { "", ".gz", ".zst" };
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        char whole[16];
        snprintf(whole, sizeof whole, "%s%s", ending, packings[i]);
        if (twin__name_ends_in(name, whole))
            return true;
    }
    return false;
}

/* The names of files that hold many documents. */
static const struct {
    const char *ending;
    enum twin__content content;
} endings[] = {
    { ".json", TWIN__CONTENT_JSON },   { ".jsonl", TWIN__CONTENT_JSONL }, { ".ndjson", TWIN__CONTENT_JSONL },
    { ".csv", TWIN__CONTENT_CSV },     { ".tsv", TWIN__CONTENT_TSV },     { ".fa", TWIN__CONTENT_FASTA },
    { ".fasta", TWIN__CONTENT_FASTA },
};

bool twin__is_filtered(const char *path, const struct twin__input_settings *settings)
{
    const twin_input_options *options = &settings->options;
    return options->pre && (!options->pre_globs || twin__path_fits(path, options->pre_globs));
}

enum twin__content twin__content_of_name(const char *name, const struct twin__input_settings *settings)
{
    if (twin__is_filtered(name, settings))
        return TWIN__CONTENT_DOCUMENT;
    switch (settings->options.as) {
    case TWIN_INPUT_AS_FILES:
    case TWIN_INPUT_AS_HTML: return TWIN__CONTENT_DOCUMENT;
    case TWIN_INPUT_AS_JSONL: return TWIN__CONTENT_JSONL;
    case TWIN_INPUT_AS_LINES: return TWIN__CONTENT_LINES;
    case TWIN_INPUT_AS_CSV: return TWIN__CONTENT_CSV;
    case TWIN_INPUT_AS_TSV: return TWIN__CONTENT_TSV;
    case TWIN_INPUT_AS_FASTA: return TWIN__CONTENT_FASTA;
    default: break;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_in_or_packed(name, endings[i].ending))
            return endings[i].content;
    return TWIN__CONTENT_DOCUMENT;
}

/* /dev/stdin and /dev/fd/63 open what is behind them, which may be a regular file of any name. */
bool twin__opening_can_repeat(const struct twin__opening *opening)
{
    return S_ISREG(opening->about.st_mode) && strcmp(opening->path, "-") != 0 &&
           strncmp(opening->path, "/dev/", 5) != 0;
}

/* What cannot be opened again has no name to judge by. */
enum twin__content twin__content_of(const struct twin__opening *opening)
{
    bool nameless = !twin__opening_can_repeat(opening);
    if (opening->settings->options.format == TWIN_INPUT_SETS)
        return TWIN__CONTENT_JSONL;
    if (nameless && opening->settings->options.as == TWIN_INPUT_AS_NAMED)
        return TWIN__CONTENT_JSONL;
    return twin__content_of_name(opening->path, opening->settings);
}

/* ---- opening ---- */

static twin_status open_kind(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!kinds[i]->accepts(opening))
            continue;
        twin_status status = kinds[i]->open(out, opening, error);
        if (*out) {
            (*out)->kind = kinds[i];
            (*out)->settings = opening->settings;
        }
        return status;
    }
    return twin__fail(error, TWIN_EINVAL, "%s is not a known kind of input", opening->name);
}

twin_status twin__opening_open(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    *out = NULL;
    char *name = strdup(opening->name);
    twin_status status = name ? open_kind(out, opening, error) : twin__fail_memory(error);
    if (opening->fd >= 0)
        close(opening->fd);
    opening->fd = -1;
    if (!*out) {
        free(name);
        return status;
    }
    (*out)->name = name;
    (*out)->id_name = opening->settings->names_lines ? name : NULL;
    if (status != TWIN_OK) {
        twin__source_close(*out);
        *out = NULL;
    }
    return status;
}

static twin_status append_source(struct twin__source_list *list, struct twin__source *source, twin_error *error)
{
    /* Not by the macro: clang-tidy suspects the size of a pointer. */
    if (!twin__array_grow(&list->items, &list->capacity, list->count, 1, sizeof(void *))) {
        twin__source_close(source);
        return twin__fail_memory(error);
    }
    list->items[list->count++] = source;
    return TWIN_OK;
}

static twin_status open_parts(struct twin__source_list *list, struct twin__source *source, twin_error *error)
{
    size_t parts = source->kind->parts ? source->kind->parts(source) : 0;
    twin_status status = TWIN_OK;
    for (size_t i = 0; i < parts && status == TWIN_OK; i++) {
        struct twin__source *part = NULL;
        status = source->kind->open_part(&part, source, i, error);
        if (part)
            status = append_source(list, part, error);
    }
    return status;
}

twin_status twin__source_open(struct twin__source_list *out, const char *path,
                              const struct twin__input_settings *settings, twin_error *error)
{
    bool is_standard = strcmp(path, "-") == 0;
    struct twin__opening opening = { .path = path,
                                     .name = is_standard ? "standard input" : path,
                                     .settings = settings };
    opening.fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (opening.fd < 0 && errno == ENXIO && stat(path, &opening.about) == 0 && S_ISSOCK(opening.about.st_mode))
        return twin__fail(error, TWIN_EIO, "%s is a socket, which cannot be read as a file", path);
    if (opening.fd < 0 || fstat(opening.fd, &opening.about) != 0) {
        twin_status status = twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", opening.name);
        if (opening.fd >= 0)
            close(opening.fd);
        return status;
    }
    struct twin__source *source;
    twin_status status = twin__opening_open(&source, &opening, error);
    if (!source)
        return status;
    status = append_source(out, source, error);
    return status == TWIN_OK ? open_parts(out, source, error) : status;
}

void twin__source_close(struct twin__source *source)
{
    if (!source)
        return;
    char *name = source->name;
    source->kind->close(source);
    free(name);
}

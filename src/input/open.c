/* open.c — opens a path as the kind of source it is. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/foreign.h"
#include "input/source.h"

/* In the order in which they are asked: the first that accepts a path reads it. */
static const struct twin__source_kind *const kinds[] = {
    &twin__folder,
    &twin__lines,
};

bool twin__name_ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

bool twin__names_json_lines(const char *name)
{
    static const char *const endings[] = {
        ".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (twin__name_ends_in(name, endings[i]))
            return true;
    return false;
}

static bool looks_like_text(int fd)
{
    char bytes[4096];
    ssize_t got = twin__read_at(fd, bytes, sizeof bytes, 0);
    return got > 0 && !memchr(bytes, '\0', (size_t)got);
}

static twin_status fail_unknown(const struct twin__opening *opening, twin_error *error)
{
    const char *advice = twin__foreign_name(opening->path);
    if (advice)
        return twin__fail(error, TWIN_EINVAL, "%s is not a known kind of input: %s", opening->path, advice);
    return twin__fail(error, TWIN_EINVAL,
                      "%s is not a known kind of input: give a folder, or a file whose name ends in .jsonl or "
                      ".ndjson, followed by .gz or .zst if it is compressed%s",
                      opening->path,
                      looks_like_text(opening->fd) ? "; if it is a text itself, give the folder it is in" : "");
}

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
    return fail_unknown(opening, error);
}

twin_status twin__source_open(struct twin__source **out, const char *path,
                              const struct twin__input_settings *settings, twin_error *error)
{
    *out = NULL;
    bool is_standard = strcmp(path, "-") == 0;
    char *name = strdup(is_standard ? "standard input" : path);
    if (!name)
        return twin__fail_memory(error);
    struct twin__opening opening = { .path = path, .name = name, .settings = settings };
    opening.fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    twin_status status;
    if (opening.fd < 0 || fstat(opening.fd, &opening.about) != 0)
        status = twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", name);
    else
        status = open_kind(out, &opening, error);
    if (opening.fd >= 0)
        close(opening.fd);
    if (*out)
        (*out)->name = name;
    else
        free(name);
    if (status != TWIN_OK) {
        twin__source_close(*out);
        *out = NULL;
    }
    return status;
}

void twin__source_close(struct twin__source *source)
{
    if (!source)
        return;
    char *name = source->name;
    source->kind->close(source);
    free(name);
}

/* source.c — one input is opened: what it is, and what must be unpacked first. */
#include "input/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/unpack.h"

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), ending_length = strlen(ending);
    return length >= ending_length && strcmp(name + length - ending_length, ending) == 0;
}

static bool is_json_lines(const char *name)
{
    static const char *const endings[] = {
        ".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_in(name, endings[i]))
            return true;
    return false;
}

/* /dev/stdin and /dev/fd/63 open what stands behind them, which may be a regular file of any name. */
static bool may_have_any_name(const char *path, const twin_input_options *options)
{
    return options->format == TWIN_INPUT_SETS || strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0;
}

static bool looks_like_text(int fd)
{
    char bytes[4096];
    ssize_t got = twin__read_at(fd, bytes, sizeof bytes, 0);
    return got > 0 && !memchr(bytes, '\0', (size_t)got);
}

static twin_status unknown_kind(int fd, const char *path, twin_error *error)
{
    return twin__fail(error, TWIN_EINVAL,
                      "%s is not an input that is known: give a folder, or a file whose name ends in .jsonl or "
                      ".ndjson, with .gz or .zst behind it if it is packed%s",
                      path, looks_like_text(fd) ? "; if it is a text itself, give the folder it is in" : "");
}

static twin_status check_packing(enum packing found, const char *path, twin_error *error)
{
    if (ends_in(path, ".gz") && found != PACKED_GZIP)
        return twin__fail(error, TWIN_EFORMAT, "%s is not gzip data, though its name ends in .gz", path);
    if (ends_in(path, ".zst") && found != PACKED_ZSTD)
        return twin__fail(error, TWIN_EFORMAT, "%s is not zstd data, though its name ends in .zst", path);
    return TWIN_OK;
}

/* Replaces the descriptor by that of a temporary file. `total` is 0 when it is not known. */
static twin_status unpack(struct source *s, uint64_t total, const twin_input_options *options, twin_error *error)
{
    int unpacked;
    struct unpack_options how = { s->name, options->temp_folder, total, options->progress };
    twin_status status = twin__unpack(&unpacked, &s->end, s->fd, how, error);
    if (status != TWIN_OK)
        return status;
    close(s->fd);
    s->fd = unpacked;
    s->begin = 0;
    return TWIN_OK;
}

/* A regular file that is not packed is read where it is; its own bytes tell whether it is. */
static twin_status open_file(struct source *s, const char *path, uint64_t size, const twin_input_options *options,
                             twin_error *error)
{
    if (!may_have_any_name(path, options) && !is_json_lines(path))
        return unknown_kind(s->fd, path, error);

    unsigned char bytes[TWIN__PACKING_BYTES];
    off_t at = lseek(s->fd, 0, SEEK_CUR); /* standard input may have been read from before */
    s->begin = at > 0 ? (uint64_t)at : 0;
    s->end = size > s->begin ? size : s->begin;
    ssize_t got = twin__read_at(s->fd, bytes, sizeof bytes, s->begin);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", s->name);
    enum packing found = twin__packing_of(bytes, (size_t)got);
    twin_status status = check_packing(found, path, error);
    if (status != TWIN_OK || found == PACKED_NOT)
        return status;
    return unpack(s, s->end - s->begin, options, error);
}

static twin_status skip_mark(struct source *s, twin_error *error)
{
    char mark[3];
    size_t length = s->end - s->begin < sizeof mark ? (size_t)(s->end - s->begin) : sizeof mark;
    ssize_t got = twin__read_at(s->fd, mark, length, s->begin);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", s->name);
    if (got == 3 && memcmp(mark, "\xEF\xBB\xBF", 3) == 0)
        s->begin += 3;
    return TWIN_OK;
}

static twin_status open_folder(struct source *s, const char *path, const twin_input_options *options,
                               twin_error *error)
{
    if (options->format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s is a folder, and rows are read from files", s->name);
    if (strcmp(path, "-") == 0)
        return twin__fail(error, TWIN_EINVAL, "standard input is a folder; give the folder by its name");
    s->is_folder = true;
    return twin__folder_list(&s->folder, s->fd, s->name, error);
}

twin_status twin__source_open(struct source *out, const char *path, const twin_input_options *options,
                              twin_error *error)
{
    bool is_standard = strcmp(path, "-") == 0;
    *out = (struct source){ .fd = -1, .name = strdup(is_standard ? "standard input" : path) };
    if (!out->name)
        return twin__fail_memory(error);

    out->fd = is_standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat about;
    if (out->fd < 0 || fstat(out->fd, &about) != 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", out->name);
    if (S_ISDIR(about.st_mode))
        return open_folder(out, path, options, error);
    twin_status status = S_ISREG(about.st_mode) ? open_file(out, path, (uint64_t)about.st_size, options, error)
                                                : unpack(out, 0, options, error);
    return status == TWIN_OK ? skip_mark(out, error) : status;
}

void twin__source_close(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    twin__folder_clear(&source->folder);
    free(source->name);
    *source = (struct source){ .fd = -1 };
}

/* file.c — a file that was named itself and is one document. Its id is its name.
 *
 * The file is opened whenever it is read, so that very many can be given. What cannot be opened twice, such as a
 * pipe, is copied to a temporary file first, which stays open. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "input/document_file.h"
#include "input/failure.h"
#include "input/foreign.h"
#include "input/unpack.h"

struct file {
    struct twin__source source;
    char *path; /* NULL: `fd` is a copy of the file, unpacked */
    int fd;
};

static const struct file *file_of(const struct twin__source *source)
{
    return (const struct file *)source;
}

/* ---- opening ---- */

static bool accepts(const struct twin__opening *opening)
{
    return !S_ISDIR(opening->about.st_mode) && twin__content_of(opening) == TWIN__CONTENT_DOCUMENT;
}

static twin_status hold(struct file *file, const struct twin__opening *opening, twin_error *error)
{
    const twin_input_options *options = &opening->settings->options;
    uint64_t size;
    struct unpack_options how = { .name = opening->name,
                                  .temp_folder = options->temp_folder,
                                  .progress = options->progress,
                                  .most = options->max_bytes,
                                  .most_option = "--max-document-bytes",
                                  .memory = options->memory_bytes };
    return twin__unpack(&file->fd, &size, opening->fd, how, error);
}

static twin_status refuse(const struct twin__opening *opening, const char *is, const char *advice, twin_error *error)
{
    return twin__fail(error, TWIN_EINVAL, "%s %s; %s", opening->name, is, advice);
}

static bool begins_like_json(twin_text text)
{
    char first = twin__first_visible(text.bytes, text.length);
    return first == '{' || first == '[';
}

static twin_status refuse_problem(const struct twin__opening *opening, const twin_problem *problem, twin_error *error)
{
    if (problem->kind == TWIN_PROBLEM_FOREIGN)
        return refuse(opening, problem->message, "extract its text, or use --as files to read its bytes as they are",
                      error);
    return twin__fail(error, TWIN_EFORMAT, "%s: %s", opening->name, problem->message);
}

/* A file of another kind would be a strange document: --as files takes it as one. Other programs write JSON
 * lines without giving them a name that says so. */
static twin_status check_kind(const struct file *file, const struct twin__opening *opening, twin_error *error)
{
    twin_read_buffers buffers = { 0 };
    struct twin__record record = { 0 };
    twin_status status = twin__document_from_file(&record, &file->source, &buffers, opening->fd, NULL, error);
    if (status == TWIN_OK && record.what == TWIN__RECORD_PROBLEM)
        status = refuse_problem(opening, &record.problem, error);
    else if (status == TWIN_OK && begins_like_json(record.document.text))
        status = refuse(opening, "looks like JSON",
                        "use --as jsonl if it is JSON lines, or --as files if it is one document", error);
    twin__read_buffers_clear(&buffers);
    return status;
}

static twin_status open_file(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    bool by_choice = opening->settings->options.as == TWIN_INPUT_AS_FILES ||
                     (twin__opening_can_repeat(opening) && twin__is_filtered(opening->path, opening->settings));
    const char *advice = by_choice ? NULL : twin__foreign_name(opening->path);
    if (advice)
        return twin__fail(error, TWIN_EINVAL, "%s is not a known kind of input: %s", opening->name, advice);
    struct file *file = calloc(1, sizeof *file);
    if (!file)
        return twin__fail_memory(error);
    *out = &file->source;
    file->fd = -1;
    file->source.settings = opening->settings;
    file->source.name = (char *)opening->name;
    file->source.chunks = 1;
    twin_status status = TWIN_OK;
    if (!twin__opening_can_repeat(opening))
        status = hold(file, opening, error);
    else if (!(file->path = strdup(opening->path)))
        status = twin__fail_memory(error);
    if (status == TWIN_OK && !by_choice)
        status = check_kind(file, opening, error);
    return status;
}

static void close_file(struct twin__source *source)
{
    struct file *file = (struct file *)source;
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file);
}

/* ---- reading ---- */

static uint64_t chunk_size(const struct twin__source *source, size_t chunk)
{
    (void)source, (void)chunk;
    return 1;
}

static twin_status look_at(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                           twin_error *error)
{
    const struct file *file = file_of(source);
    int fd = file->path ? open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : file->fd;
    if (fd < 0 && twin__is_our_failure(errno))
        return twin__fail(error, TWIN_EIO, "%s cannot be opened: %m", source->name);
    if (fd < 0) {
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be opened: %m");
        return TWIN_OK;
    }
    const char *filtered = file->path && twin__is_filtered(file->path, source->settings) ? file->path : NULL;
    twin_status status = file->path ? twin__document_from_file(out, source, buffers, fd, filtered, error)
                                    : twin__document_from_unpacked(out, source, buffers, fd, error);
    if (file->path)
        close(fd);
    out->document.id = (twin_text){ source->name, strlen(source->name) };
    out->document.position = (twin_position){ .source = source->number };
    return status;
}

static twin_status read_file(const struct twin__source *source, struct twin__chunk *chunk)
{
    struct twin__record record;
    twin_status status = look_at(&record, source, chunk->buffers, chunk->error);
    return status == TWIN_OK ? twin__deliver(chunk, &record, (twin_position){ .source = source->number }) : status;
}

/* ---- positions ---- */

static bool contains(const struct twin__source *source, twin_position position)
{
    (void)source;
    return position.offset == 0;
}

static twin_status fetch(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                         twin_position position, twin_error *error)
{
    (void)position; /* there is one only */
    return look_at(out, source, buffers, error);
}

static twin_status describe(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    (void)position;
    return twin_buffer_append(out, source->name, strlen(source->name));
}

const struct twin__source_kind twin__file = {
    .accepts = accepts,
    .open = open_file,
    .chunk_size = chunk_size,
    .read = read_file,
    .contains = contains,
    .fetch = fetch,
    .describe = describe,
    .close = close_file,
};

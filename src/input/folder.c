/* folder.c — a folder: each regular file below it is a document. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/folder_list.h"
#include "input/source.h"

enum {
    BYTES_PER_FILE = 16 << 10, /* a guess that makes chunks of folders about as long as those of lines */
    READ_STEP = 16 << 10,
};

struct folder_source {
    struct twin__source source;
    int fd;
    struct folder files;
    size_t files_per_chunk;
};

static const struct folder_source *folder_of(const struct twin__source *source)
{
    return (const struct folder_source *)source;
}

/* ---- opening ---- */

static bool accepts(const struct twin__opening *opening)
{
    return S_ISDIR(opening->about.st_mode);
}

static twin_status open_folder(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    const twin_input_options *options = &opening->settings->options;
    if (options->format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s is a folder, and rows are read from files", opening->name);
    if (strcmp(opening->path, "-") == 0)
        return twin__fail(error, TWIN_EINVAL, "standard input is a folder; give the folder by its name");
    struct folder_source *folder = calloc(1, sizeof *folder);
    if (!folder)
        return twin__fail_memory(error);
    *out = &folder->source;
    folder->fd = opening->fd;
    opening->fd = -1;
    twin_status status = twin__folder_list(&folder->files, folder->fd, opening->name, error);
    size_t each = options->chunk_bytes < 2 * BYTES_PER_FILE ? 1 : options->chunk_bytes / BYTES_PER_FILE;
    folder->files_per_chunk = each;
    folder->source.chunks = folder->files.count / each + (folder->files.count % each != 0);
    return status;
}

static void close_folder(struct twin__source *source)
{
    struct folder_source *folder = (struct folder_source *)source;
    close(folder->fd);
    twin__folder_clear(&folder->files);
    free(folder);
}

/* ---- reading ---- */

static void bounds(size_t *begin, size_t *end, const struct folder_source *folder, size_t chunk)
{
    size_t each = folder->files_per_chunk, count = folder->files.count;
    *begin = chunk * each;
    *end = count - *begin < each ? count : *begin + each;
}

static uint64_t chunk_size(const struct twin__source *source, size_t chunk)
{
    size_t begin, end;
    bounds(&begin, &end, folder_of(source), chunk);
    return end - begin;
}

/* The path of a file, after the folder's name as it was given. */
static twin_status append_path(twin_buffer *out, const struct folder_source *folder, uint64_t number)
{
    const char *path = folder->files.entries[number].path;
    twin_status status = twin_buffer_append(out, folder->source.name, strlen(folder->source.name));
    if (status == TWIN_OK && out->length && out->bytes[out->length - 1] != '/')
        status = twin_buffer_append(out, "/", 1);
    return status == TWIN_OK ? twin_buffer_append(out, path, strlen(path)) : status;
}

/* Replaces the block by an open file; `too_long` when that exceeds the limit. False: errno or
 * *status says why. */
static bool read_whole(twin_buffer *block, bool *too_long, twin_status *status, int fd, uint64_t size, uint64_t limit)
{
    *too_long = size > limit;
    size_t more = size < limit ? (size_t)size + 1 : READ_STEP; /* one more, to see that the file ends there */
    block->length = 0;
    while (!*too_long) {
        *status = twin_buffer_reserve(block, more);
        if (*status != TWIN_OK)
            return false;
        size_t room = block->capacity - block->length;
        ssize_t got = twin__read_at(fd, block->bytes + block->length, room, block->length);
        if (got < 0)
            return false;
        block->length += (size_t)got;
        *too_long = block->length > limit;
        if ((size_t)got < room)
            return true;
        more = READ_STEP;
    }
    return true;
}

static twin_status look_at_open_file(struct twin__record *out, const struct twin__source *source,
                                     twin_read_buffers *buffers, int fd)
{
    struct stat about;
    bool too_long, is_known = fstat(fd, &about) == 0;
    twin_status status = TWIN_OK;
    if (is_known && !S_ISREG(about.st_mode))
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "is not a regular file any more");
    else if (!is_known || !read_whole(&buffers->block, &too_long, &status, fd, (uint64_t)about.st_size,
                                      source->settings->options.max_bytes))
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be read: %m");
    else if (too_long)
        twin__record_too_long(out, source);
    return status;
}

/* What the process lacks is a failure; what a file lacks is a problem. */
static bool is_failure(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* As at the start of lines, a byte order mark is no part of the text. */
static twin_text without_mark(twin_text text)
{
    enum { MARK_LENGTH = sizeof TWIN__BYTE_ORDER_MARK - 1 };
    bool marked = text.length >= MARK_LENGTH && memcmp(text.bytes, TWIN__BYTE_ORDER_MARK, MARK_LENGTH) == 0;
    return marked ? (twin_text){ text.bytes + MARK_LENGTH, text.length - MARK_LENGTH } : text;
}

static twin_status look_at_file(struct twin__record *out, const struct folder_source *folder,
                                twin_read_buffers *buffers, uint64_t number)
{
    const struct folder_entry *entry = &folder->files.entries[number];
    out->what = TWIN__RECORD_DOCUMENT;
    errno = entry->error;
    int fd = errno ? -1 : twin__folder_open(folder->fd, entry->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && is_failure(errno))
        return errno == ENOMEM ? TWIN_ENOMEM : TWIN_EIO;
    if (fd < 0) {
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be opened: %m");
        return TWIN_OK;
    }
    twin_status status = look_at_open_file(out, &folder->source, buffers, fd);
    close(fd);
    twin_text id = { entry->path, strlen(entry->path) };
    if (status == TWIN_OK && folder->source.settings->has_several) { /* two folders may hold files of one name */
        buffers->id.length = 0;
        status = append_path(&buffers->id, folder, number);
        id = (twin_text){ buffers->id.bytes, buffers->id.length };
    }
    twin_text text = without_mark((twin_text){ buffers->block.bytes, buffers->block.length });
    out->document = (twin_document){
        .id = id, .text = text, .record = text, .position = { .offset = number, .source = folder->source.number }
    };
    return status;
}

static twin_status fail_file(const struct folder_source *folder, twin_status status, twin_error *error)
{
    if (status == TWIN_ENOMEM)
        return twin__fail_memory(error);
    return twin__fail(error, status, "%s cannot be read: %m", folder->source.name);
}

static twin_status read_files(const struct twin__source *source, struct twin__chunk *chunk)
{
    const struct folder_source *folder = folder_of(source);
    struct twin__record record;
    size_t begin, end;
    bounds(&begin, &end, folder, chunk->number);
    for (size_t i = begin; i < end; i++) {
        twin_status status = look_at_file(&record, folder, chunk->buffers, i);
        if (status != TWIN_OK)
            return fail_file(folder, status, chunk->error);
        status = twin__deliver(chunk, &record, (twin_position){ .offset = i, .source = source->number });
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

/* ---- positions ---- */

static bool contains(const struct twin__source *source, twin_position position)
{
    return position.offset < folder_of(source)->files.count;
}

static twin_status fetch(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                         twin_position position, twin_error *error)
{
    twin_status status = look_at_file(out, folder_of(source), buffers, position.offset);
    return status == TWIN_OK ? status : fail_file(folder_of(source), status, error);
}

static twin_status describe(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    return append_path(out, folder_of(source), position.offset);
}

static twin_folder_info folder_info(const struct twin__source *source)
{
    const struct folder *files = &folder_of(source)->files;
    twin_folder_info info = { .links = files->links, .special = files->special };
    for (size_t i = 0; i < files->count; i++)
        if (!files->entries[i].error && twin__names_json_lines(files->entries[i].path)) {
            info.json_lines++;
            if (!info.first_json_lines)
                info.first_json_lines = files->entries[i].path;
        }
    return info;
}

const struct twin__source_kind twin__folder = {
    .accepts = accepts,
    .open = open_folder,
    .chunk_size = chunk_size,
    .read = read_files,
    .contains = contains,
    .fetch = fetch,
    .describe = describe,
    .folder_info = folder_info,
    .close = close_folder,
};

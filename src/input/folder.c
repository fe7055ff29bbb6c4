/* folder.c — a folder: each regular file below it is a document, or, by its name, holds many.
 *
 * Files that hold many are sources of their own, which open.c opens through open_part(). They
 * keep their place in the list of files, because one that cannot be opened is reported there. */
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
#include "input/folder_list.h"
#include "input/json_records.h"
#include "input/numbered.h"

struct folder_source {
    struct twin__numbered base;
    int fd;
    struct folder files;
};

static const struct folder_source *folder_of(const struct twin__source *source)
{
    return (const struct folder_source *)source;
}

static twin_status append_path(twin_buffer *out, const struct folder_source *folder, uint64_t number)
{
    return twin__append_path(out, folder->base.source.name, folder->files.entries[number].path);
}

/* ---- reading ---- */

static twin_status read_entry(struct twin__record *out, const struct folder_source *folder,
                              twin_read_buffers *buffers, uint64_t number, int fd, twin_error *error)
{
    const struct twin__source *source = &folder->base.source;
    if (!twin__is_filtered(folder->files.entries[number].path, source->settings))
        return twin__document_from_file(out, source, buffers, fd, NULL, error);
    twin_buffer path = { 0 };
    twin_status status = append_path(&path, folder, number);
    if (status == TWIN_OK)
        status = twin_buffer_append(&path, "", 1);
    status = status == TWIN_OK ? twin__document_from_file(out, source, buffers, fd, path.bytes, error)
                               : twin__fail_memory(error);
    twin_buffer_clear(&path);
    return status;
}

static twin_status look_at_document(struct twin__record *out, const struct folder_source *folder,
                                    twin_read_buffers *buffers, uint64_t number, twin_error *error)
{
    const struct folder_entry *entry = &folder->files.entries[number];
    errno = entry->error;
    int fd = errno ? -1 : twin__folder_open(folder->fd, entry->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return twin__numbered_refuse(out, &folder->base.source, error);
    twin_status status = read_entry(out, folder, buffers, number, fd, error);
    close(fd);
    twin_text id = { entry->path, strlen(entry->path) };
    if (status == TWIN_OK && folder->base.source.settings->full_names) { /* two folders may hold files of one name */
        buffers->id.length = 0;
        if (append_path(&buffers->id, folder, number) != TWIN_OK)
            return twin__fail_memory(error);
        id = (twin_text){ buffers->id.bytes, buffers->id.length };
    }
    out->document.id = id;
    out->document.position = (twin_position){ .offset = number, .source = folder->base.source.number };
    return status;
}

static twin_status look_at_file(struct twin__record *out, const struct twin__source *source,
                                twin_read_buffers *buffers, uint64_t number, twin_error *error)
{
    const struct folder_source *folder = folder_of(source);
    const struct folder_entry *entry = &folder->files.entries[number];
    if (!entry->is_source)
        return look_at_document(out, folder, buffers, number, error);
    out->what = TWIN__RECORD_BLANK;
    if (entry->refusal)
        twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "%s", entry->refusal);
    return TWIN_OK;
}

/* ---- opening ---- */

static bool accepts(const struct twin__opening *opening)
{
    return S_ISDIR(opening->about.st_mode);
}

/* Of the .json files in folders most are settings, and the like: only an array of objects is a source. */
static bool is_source(int folder, const char *path, enum twin__content content)
{
    enum { LOOKED_AT = 256 };
    char first[LOOKED_AT];
    if (content != TWIN__CONTENT_JSON)
        return content != TWIN__CONTENT_DOCUMENT;
    int fd = twin__folder_open(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    ssize_t got = fd >= 0 ? twin__read_at(fd, first, sizeof first, 0) : -1;
    if (fd >= 0)
        close(fd);
    return got > 0 && twin__begins_json_objects(first, (size_t)got);
}

static twin_status open_folder(struct twin__source **out, struct twin__opening *opening, twin_error *error)
{
    const twin_input_options *options = &opening->settings->options;
    if (options->format == TWIN_INPUT_SETS)
        return twin__fail(error, TWIN_EINVAL, "%s is a folder; sets are read from files", opening->name);
    if (strcmp(opening->path, "-") == 0)
        return twin__fail(error, TWIN_EINVAL, "standard input is a folder; give the folder by its name");
    struct folder_source *folder = calloc(1, sizeof *folder);
    if (!folder)
        return twin__fail_memory(error);
    *out = &folder->base.source;
    folder->fd = opening->fd;
    opening->fd = -1;
    twin_status status = twin__folder_list(&folder->files, folder->fd, opening->name, options, error);
    for (size_t i = 0; i < folder->files.count; i++) {
        struct folder_entry *entry = &folder->files.entries[i];
        entry->is_source = !entry->error &&
                           is_source(folder->fd, entry->path, twin__content_of_name(entry->path, opening->settings));
    }
    folder->base.look_at = look_at_file;
    twin__numbered_divide(&folder->base, folder->files.count, options->chunk_bytes / TWIN__BYTES_PER_FILE);
    return status;
}

static void close_folder(struct twin__source *source)
{
    struct folder_source *folder = (struct folder_source *)source;
    close(folder->fd);
    twin__folder_clear(&folder->files);
    free(folder);
}

/* ---- files that are sources ---- */

static size_t parts(const struct twin__source *source)
{
    return folder_of(source)->files.count;
}

/* What is wrong with the file is a problem of the folder's, reported when that is read. */
static twin_status refuse(struct folder_entry *entry, const char *why, twin_error *error)
{
    entry->refusal = strdup(why);
    return entry->refusal ? TWIN_OK : twin__fail_memory(error);
}

static int open_entry(struct stat *about, const struct folder_source *folder, const struct folder_entry *entry)
{
    int fd = twin__folder_open(folder->fd, entry->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, about) == 0 && S_ISREG(about->st_mode))
        return fd;
    if (fd >= 0) {
        close(fd);
        errno = EINVAL; /* it has become something else */
    }
    return -1;
}

static twin_status open_named(struct twin__source **out, const struct folder_source *folder,
                              struct folder_entry *entry, const char *name, twin_error *error)
{
    struct twin__opening opening = { .path = entry->path, .name = name, .settings = folder->base.source.settings };
    twin_error why = { 0 };
    opening.fd = open_entry(&opening.about, folder, entry);
    if (opening.fd < 0) {
        bool ours = twin__is_our_failure(errno);
        twin__fail(&why, TWIN_EIO, "%s cannot be opened: %m", name);
        return ours ? twin__fail(error, TWIN_EIO, "%s", why.message)
                    : refuse(entry, twin__after_name(why.message, name), error);
    }
    twin_status status = twin__opening_open(out, &opening, &why);
    if (status == TWIN_EFORMAT || status == TWIN_EUNSUPPORTED)
        return refuse(entry, twin__after_name(why.message, name), error);
    if (status != TWIN_OK)
        return twin__fail(error, status, "%s", why.message);
    /* With one folder its name is no part of ids, be they of files or of lines in them. */
    (*out)->id_name =
        (*out)->name + (folder->base.source.settings->full_names ? 0 : strlen(name) - strlen(entry->path));
    return TWIN_OK;
}

static twin_status open_part(struct twin__source **out, struct twin__source *source, size_t part, twin_error *error)
{
    struct folder_source *folder = (struct folder_source *)source;
    struct folder_entry *entry = &folder->files.entries[part];
    if (!entry->is_source)
        return TWIN_OK;
    twin_buffer name = { 0 };
    twin_status status = append_path(&name, folder, part);
    if (status == TWIN_OK)
        status = twin_buffer_append(&name, "", 1);
    status = status == TWIN_OK ? open_named(out, folder, entry, name.bytes, error) : twin__fail_memory(error);
    twin_buffer_clear(&name);
    return status;
}

/* ---- positions ---- */

static twin_status describe(twin_buffer *out, const struct twin__source *source, twin_position position)
{
    return append_path(out, folder_of(source), position.offset);
}

static twin_folder_info folder_info(const struct twin__source *source)
{
    const struct folder *files = &folder_of(source)->files;
    twin_folder_info info = { .links = files->links, .special = files->special, .hidden = files->hidden };
    for (size_t i = 0; i < files->count; i++) {
        info.shards += files->entries[i].is_source;
        info.documents += !files->entries[i].is_source;
    }
    return info;
}

const struct twin__source_kind twin__folder = {
    .accepts = accepts,
    .open = open_folder,
    .chunk_size = twin__numbered_chunk_size,
    .read = twin__numbered_read,
    .contains = twin__numbered_contains,
    .fetch = twin__numbered_fetch,
    .describe = describe,
    .folder_info = folder_info,
    .parts = parts,
    .open_part = open_part,
    .close = close_folder,
};

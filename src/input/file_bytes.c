/* file_bytes.c — the bytes of a file of records, at any offset. */
#include "input/file_bytes.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/foreign.h"
#include "input/json_records.h"
#include "input/unpack.h"

static twin_status check_packing(enum packing found, const char *name, twin_error *error)
{
    if (twin__name_ends_in(name, ".gz") && found != PACKED_GZIP)
        return twin__fail(error, TWIN_EFORMAT, "%s is not gzip data, though its name ends in .gz", name);
    if (twin__name_ends_in(name, ".zst") && found != PACKED_ZSTD)
        return twin__fail(error, TWIN_EFORMAT, "%s is not zstd data, though its name ends in .zst", name);
    return TWIN_OK;
}

/* Whether JSON lines may be an array after all, whatever the name. */
static bool may_be_json(const struct twin__opening *opening)
{
    return opening->settings->options.format == TWIN_INPUT_DOCUMENTS &&
           twin__content_of(opening) == TWIN__CONTENT_JSONL;
}

/* Replaces the descriptor by that of a temporary file. `total` is 0 when it is not known. A folder may hold thousands
 * of compressed files, so what they may keep in memory is counted over all of them. */
static twin_status unpack(struct twin__file_bytes *bytes, uint64_t total, const struct twin__opening *opening,
                          twin_input_format format, twin_error *error)
{
    enum twin__content content = twin__content_of(opening);
    bool are_lines =
        content == TWIN__CONTENT_JSON || content == TWIN__CONTENT_JSONL || content == TWIN__CONTENT_LINES;
    const twin_input_options *options = &opening->settings->options;
    size_t *memory_left = opening->settings->memory_left;
    int unpacked;
    struct unpack_options how = { .name = opening->name,
                                  .temp_folder = options->temp_folder,
                                  .total = total,
                                  .progress = options->progress,
                                  .most = options->max_unpacked_bytes,
                                  .memory = *memory_left ? *memory_left : 1, /* 0 would be the default */
                                  .is_json = content == TWIN__CONTENT_JSON,
                                  .may_be_json = may_be_json(opening),
                                  .is_lines = true,
                                  .format = format };
    if (are_lines) /* one byte more than is allowed, after the '\r' of a line end, makes a line too long */
        how.longest_line = (uint64_t)options->max_bytes + 2;
    twin_status status = twin__unpack(&unpacked, &bytes->end, bytes->fd, how, error);
    if (status != TWIN_OK)
        return status;
    if (bytes->end <= *memory_left)
        *memory_left -= (size_t)bytes->end;
    close(bytes->fd);
    bytes->fd = unpacked;
    bytes->begin = 0;
    return TWIN_OK;
}

/* A regular file that is not packed, and has lines, is read where it is; its first bytes show whether it is. */
static twin_status open_regular(struct twin__file_bytes *bytes, const struct twin__opening *opening,
                                twin_input_format format, twin_error *error)
{
    enum { LOOKED_AT = 256 };
    unsigned char first[LOOKED_AT];
    uint64_t size = (uint64_t)opening->about.st_size;
    off_t at = lseek(bytes->fd, 0, SEEK_CUR); /* standard input may have been read from before */
    bytes->begin = at > 0 ? (uint64_t)at : 0;
    bytes->end = size > bytes->begin ? size : bytes->begin;
    ssize_t got = twin__read_at(bytes->fd, first, sizeof first, bytes->begin);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", opening->name);
    enum packing found = twin__packing_of(first, (size_t)got);
    twin_status status = check_packing(found, opening->name, error);
    bool is_json = twin__content_of(opening) == TWIN__CONTENT_JSON ||
                   (may_be_json(opening) && twin__begins_json_records((const char *)first, (size_t)got));
    bytes->is_original = found == PACKED_NOT && !is_json;
    bytes->modified = opening->about.st_mtim;
    if (status != TWIN_OK || bytes->is_original)
        return status;
    return unpack(bytes, bytes->end - bytes->begin, opening, format, error);
}

static twin_status skip_byte_order_mark(struct twin__file_bytes *bytes, const char *name, twin_error *error)
{
    char mark[3];
    size_t length = bytes->end - bytes->begin < sizeof mark ? (size_t)(bytes->end - bytes->begin) : sizeof mark;
    ssize_t got = twin__read_at(bytes->fd, mark, length, bytes->begin);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", name);
    bytes->begin += twin__byte_order_mark(mark, (size_t)got);
    return TWIN_OK;
}

/* A file of another kind would be a bad document per line. */
static twin_status check_kind(const struct twin__file_bytes *bytes, const char *name, twin_input_format format,
                              twin_error *error)
{
    char first[TWIN__FOREIGN_BYTES];
    size_t length = bytes->end - bytes->begin < sizeof first ? (size_t)(bytes->end - bytes->begin) : sizeof first;
    ssize_t got = twin__read_at(bytes->fd, first, length, bytes->begin);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", name);
    const char *advice = twin__foreign_bytes(first, (size_t)got, format);
    return advice ? twin__fail(error, TWIN_EFORMAT, "%s %s", name, advice) : TWIN_OK;
}

/* Half of the descriptors that a process may have are for files that stay open; the others are for what is opened for
 * a moment, and for the caller. */
static bool is_high(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           (rlim_t)fd >= limit.rlim_cur / 2;
}

/* There may be more inputs than files that can be open. */
static void close_for_now(struct twin__file_bytes *bytes, const struct twin__opening *opening)
{
    if (!bytes->is_original || !is_high(bytes->fd) || !twin__opening_can_repeat(opening) ||
        strlen(opening->name) >= PATH_MAX)
        return;
    bytes->device = opening->about.st_dev;
    bytes->number = opening->about.st_ino;
    close(bytes->fd);
    bytes->fd = -1;
}

static bool is_same_file(const struct twin__file_bytes *bytes, const struct stat *now)
{
    return now->st_dev == bytes->device && now->st_ino == bytes->number;
}

/* The descriptor, or that of the file opened again, for a moment. */
static twin_status take_descriptor(int *out, const struct twin__file_bytes *bytes, const char *name,
                                   twin_error *error)
{
    struct stat now;
    *out = bytes->fd;
    if (bytes->fd >= 0)
        return TWIN_OK;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); /* it may have become a pipe */
    if (fd < 0 || fstat(fd, &now) != 0) {
        twin_status status = twin__fail(error, TWIN_EIO, "%s cannot be opened again: %m", name);
        if (fd >= 0)
            close(fd);
        return status;
    }
    *out = fd;
    if (is_same_file(bytes, &now))
        return TWIN_OK;
    close(fd);
    return twin__fail(error, TWIN_EIO, "%s was replaced by another file while it was read", name);
}

static twin_status read_exactly(char *out, int fd, const char *name, uint64_t offset, size_t length,
                                twin_error *error)
{
    ssize_t got = twin__read_at(fd, out, length, offset);
    if (got < 0)
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", name);
    if ((size_t)got < length)
        return twin__fail(error, TWIN_EIO, "%s became shorter while it was read", name);
    return TWIN_OK;
}

twin_status twin__file_bytes_open(struct twin__file_bytes *out, struct twin__opening *opening,
                                  twin_input_format format, twin_error *error)
{
    *out = (struct twin__file_bytes){ .fd = opening->fd };
    opening->fd = -1;
    twin_status status = S_ISREG(opening->about.st_mode) ? open_regular(out, opening, format, error)
                                                         : unpack(out, 0, opening, format, error);
    if (status == TWIN_OK)
        status = skip_byte_order_mark(out, opening->name, error);
    if (status == TWIN_OK)
        status = check_kind(out, opening->name, format, error);
    if (status == TWIN_OK)
        close_for_now(out, opening);
    return status;
}

void twin__file_bytes_close(struct twin__file_bytes *bytes)
{
    if (bytes->fd >= 0)
        close(bytes->fd);
}

twin_status twin__file_bytes_read(twin_buffer *block, const struct twin__file_bytes *bytes, const char *name,
                                  uint64_t offset, size_t length, twin_error *error)
{
    if (twin_buffer_reserve(block, length + 2) != TWIN_OK)
        return twin__fail_memory(error);
    int fd;
    twin_status status = take_descriptor(&fd, bytes, name, error);
    if (status != TWIN_OK)
        return status;
    status = read_exactly(block->bytes + block->length, fd, name, offset, length, error);
    if (fd != bytes->fd)
        close(fd);
    if (status == TWIN_OK)
        block->length += length;
    return status;
}

twin_status twin__file_bytes_range(twin_buffer *out, const struct twin__file_bytes *bytes, const char *name,
                                   uint64_t begin, uint64_t end, twin_error *error)
{
    if (end > bytes->end)
        end = bytes->end;
    return begin < end ? twin__file_bytes_read(out, bytes, name, begin, (size_t)(end - begin), error) : TWIN_OK;
}

twin_input_change twin__file_bytes_change(const struct twin__file_bytes *bytes, const char *name)
{
    struct stat now;
    bool is_open = bytes->fd >= 0;
    if (!is_open && (stat(name, &now) != 0 || !is_same_file(bytes, &now)))
        return TWIN_INPUT_CHANGED;
    if (!bytes->is_original || (is_open && fstat(bytes->fd, &now) != 0))
        return TWIN_INPUT_UNCHANGED;
    if ((uint64_t)now.st_size > bytes->end)
        return TWIN_INPUT_GROWN;
    bool same = (uint64_t)now.st_size == bytes->end && now.st_mtim.tv_sec == bytes->modified.tv_sec &&
                now.st_mtim.tv_nsec == bytes->modified.tv_nsec;
    return same ? TWIN_INPUT_UNCHANGED : TWIN_INPUT_CHANGED;
}

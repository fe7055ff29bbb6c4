/* numbered.c — sources whose documents are known by number. */
#include "input/numbered.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/scratch.h"
#include "input/failure.h"

static const struct twin__numbered *numbered_of(const struct twin__source *source)
{
    return (const struct twin__numbered *)source;
}

void twin__numbered_divide(struct twin__numbered *numbered, uint64_t count, uint64_t per_chunk)
{
    uint64_t each = per_chunk ? per_chunk : 1;
    numbered->count = count;
    numbered->per_chunk = each;
    numbered->source.chunks = count / each + (count % each != 0);
}

static void bounds(uint64_t *begin, uint64_t *end, const struct twin__numbered *numbered, size_t chunk)
{
    uint64_t each = numbered->per_chunk, count = numbered->count;
    *begin = chunk * each;
    *end = count - *begin < each ? count : *begin + each;
}

uint64_t twin__numbered_chunk_size(const struct twin__source *source, size_t chunk)
{
    uint64_t begin, end;
    bounds(&begin, &end, numbered_of(source), chunk);
    return end - begin;
}

twin_status twin__numbered_read(const struct twin__source *source, struct twin__chunk *chunk)
{
    const struct twin__numbered *numbered = numbered_of(source);
    struct twin__record record;
    uint64_t begin, end;
    bounds(&begin, &end, numbered, chunk->number);
    for (uint64_t i = begin; i < end; i++) {
        twin_status status = numbered->look_at(&record, source, chunk->buffers, i, chunk->error);
        if (status != TWIN_OK)
            return status;
        twin_position position = { .offset = i, .source = source->number };
        if (numbered->counts_lines)
            position.line = ++chunk->lines;
        status = twin__deliver(chunk, &record, position);
        if (status != TWIN_OK)
            return status;
    }
    return TWIN_OK;
}

bool twin__numbered_contains(const struct twin__source *source, twin_position position)
{
    return position.offset < numbered_of(source)->count;
}

twin_status twin__numbered_fetch(struct twin__record *out, const struct twin__source *source,
                                 twin_read_buffers *buffers, twin_position position, twin_error *error)
{
    return numbered_of(source)->look_at(out, source, buffers, position.offset, error);
}

twin_status twin__numbered_refuse(struct twin__record *out, const struct twin__source *source, twin_error *error)
{
    if (errno == ENOMEM)
        return twin__fail_memory(error);
    if (twin__is_our_failure(errno))
        return twin__fail(error, TWIN_EIO, "%s cannot be read: %m", source->name);
    twin__record_problem(out, TWIN_PROBLEM_UNREADABLE, 0, "cannot be opened: %m");
    return TWIN_OK;
}

twin_status twin__append_path(twin_buffer *out, const char *folder, const char *path)
{
    twin_status status = twin_buffer_append(out, folder, strlen(folder));
    if (status == TWIN_OK && out->length && out->bytes[out->length - 1] != '/')
        status = twin_buffer_append(out, "/", 1);
    return status == TWIN_OK ? twin_buffer_append(out, path, strlen(path)) : status;
}

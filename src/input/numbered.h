/* numbered.h — sources whose documents are known by number: files of a folder, messages, texts in memory. */
#ifndef TWIN_INPUT_NUMBERED_H
#define TWIN_INPUT_NUMBERED_H

#include "base/scratch.h"
#include "input/source.h"

/* Each kind has a struct of its own that begins with this one. */
struct twin__numbered {
    struct twin__source source;
    uint64_t count, per_chunk;
    bool counts_lines; /* a document is a line */

    /* Reads a document, whose position it sets. */
    twin_status (*look_at)(struct twin__record *out, const struct twin__source *source, twin_read_buffers *buffers,
                           uint64_t number, twin_error *error);
};

/* Divides `count` documents into chunks of that many; at least one. */
void twin__numbered_divide(struct twin__numbered *numbered, uint64_t count, uint64_t per_chunk);

/* Functions of the kind, as source.h describes them. */
uint64_t twin__numbered_chunk_size(const struct twin__source *source, size_t chunk);
twin_status twin__numbered_read(const struct twin__source *source, struct twin__chunk *chunk);
bool twin__numbered_contains(const struct twin__source *source, twin_position position);
twin_status twin__numbered_fetch(struct twin__record *out, const struct twin__source *source,
                                 twin_read_buffers *buffers, twin_position position, twin_error *error);

/* ---- documents that are files */

/* A guess that makes chunks of files about as long as those of lines. */
enum { TWIN__BYTES_PER_FILE = 16 << 10 };

/* A file could not be opened, errno says why: a problem of the record, unless it is this process that cannot. */
twin_status twin__numbered_refuse(struct twin__record *out, const struct twin__source *source, twin_error *error);

/* Appends the path of a file in a folder, which begins with the folder's name as it was given. */
twin_status twin__append_path(twin_buffer *out, const char *folder, const char *path);

#endif

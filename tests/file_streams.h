/* file_streams.h — open files, as the library takes them. */
#ifndef TWIN_TESTS_FILE_STREAMS_H
#define TWIN_TESTS_FILE_STREAMS_H

#include <stdio.h>
#include <twinsift/buffer.h>

static inline twin_status write_to_file(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) == length ? TWIN_OK : TWIN_EIO;
}

static inline twin_status read_from_file(void *context, void *out, size_t *length)
{
    *length = fread(out, 1, *length, context);
    return ferror((FILE *)context) ? TWIN_EIO : TWIN_OK;
}

static inline twin_sink file_sink(FILE *file)
{
    return (twin_sink){ write_to_file, file };
}

static inline twin_source file_source(FILE *file)
{
    return (twin_source){ read_from_file, file };
}

#endif

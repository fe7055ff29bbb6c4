/* buffer.c — a growing array of bytes. */
#include <twinsift/buffer.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { SMALLEST = 64 };

twin_status twin_buffer_reserve(twin_buffer *buffer, size_t more)
{
    if (!buffer)
        return twin__fail_null(NULL, "buffer");
    if (more <= buffer->capacity - buffer->length)
        return TWIN_OK;
    if (more > PTRDIFF_MAX - buffer->length)
        return TWIN_ENOMEM;

    /* Doubling keeps the copying linear; no capacity passes PTRDIFF_MAX, so twice one cannot overflow. */
    size_t needed = buffer->length + more, capacity = buffer->capacity < SMALLEST ? SMALLEST : 2 * buffer->capacity;
    if (capacity > PTRDIFF_MAX)
        capacity = PTRDIFF_MAX;
    if (capacity < needed)
        capacity = needed;
    char *bytes = realloc(buffer->bytes, capacity);
    if (!bytes)
        return TWIN_ENOMEM;

    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return TWIN_OK;
}

twin_status twin_buffer_append(twin_buffer *buffer, const void *bytes, size_t length)
{
    if (!bytes && length)
        return twin__fail_null(NULL, "bytes");
    twin_status status = twin_buffer_reserve(buffer, length);
    if (status != TWIN_OK)
        return status;
    if (length)
        memcpy(buffer->bytes + buffer->length, bytes, length);
    buffer->length += length;
    return TWIN_OK;
}

void twin_buffer_clear(twin_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->bytes);
    *buffer = (twin_buffer){ 0 };
}

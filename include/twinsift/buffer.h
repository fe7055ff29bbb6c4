/* buffer.h — borrowed bytes, and growing arrays of bytes. */
#ifndef TWINSIFT_BUFFER_H
#define TWINSIFT_BUFFER_H

#include <twinsift/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes, not zero-terminated. */
typedef struct twin_text {
    const char *bytes;
    size_t length;
} twin_text;

/* A growing array of bytes; begin with {0} and end with twin_buffer_clear(). */
typedef struct twin_buffer {
    char *bytes;
    size_t length, capacity;
} twin_buffer;

/* Makes room for `more` bytes past `length`. */
TWIN_API twin_status twin_buffer_reserve(twin_buffer *buffer, size_t more);
TWIN_API twin_status twin_buffer_append(twin_buffer *buffer, const void *bytes, size_t length);
TWIN_API void twin_buffer_clear(twin_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif

/* buffer.h — borrowed bytes, growing arrays of bytes, and where bytes go to and come from. */
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

/* Memory that the calls of one thread reuse. Begin with a pointer that is NULL, and give its address to each call: the
 * first makes the memory. What a call leaves in it lives until it is used again. End with twin_scratch_free(). */
typedef struct twin_scratch twin_scratch;
TWIN_API void twin_scratch_free(twin_scratch *scratch);

/* Where bytes go, such as an open file: `write` takes all of them, or returns why it cannot, TWIN_EIO with errno for
 * instance. A few kilobytes at a time. */
typedef struct twin_sink {
    twin_status (*write)(void *context, const void *bytes, size_t length);
    void *context;
} twin_sink;

/* Where bytes come from: `read` writes up to *length of them to `out`, and *length becomes how many; 0 at the end. */
typedef struct twin_source {
    twin_status (*read)(void *context, void *out, size_t *length);
    void *context;
} twin_source;

#ifdef __cplusplus
}
#endif
#endif

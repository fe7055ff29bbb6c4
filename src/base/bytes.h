/* bytes.h — borrowed bytes, and the numbers in them. */
#ifndef TWIN_BASE_BYTES_H
#define TWIN_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Aligned or not. */
struct twin__bytes {
    const void *at;
    size_t length;
};

/* Numbers of eight and four bytes, in the byte order of the machine. */
static inline uint64_t twin__get8(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t twin__get4(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline void twin__put8(void *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void twin__put4(void *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

#endif

/* keys.h — secret keys, and random bits. */
#ifndef TWIN_SUPPORT_KEYS_H
#define TWIN_SUPPORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a key: 16 bytes, or 32 hexadecimal digits. On false the error has been reported. */
bool read_key(uint64_t key[2], const char *path);

/* Random bits of the system, which nobody can guess. On false the error has been reported. */
bool draw_random(void *out, size_t bytes);

#endif

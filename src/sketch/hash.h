/* hash.h — whether hash functions are the same, and windows of bytes. */
#ifndef TWIN_SKETCH_HASH_H
#define TWIN_SKETCH_HASH_H

#include <twinsift/hash.h>

/* Whether two are the same function: of one family, with the same seed or, for sip, the same key. */
bool twin__hash_equal(twin_hash a, twin_hash b);

/* Hashes the `count` windows of `width` bytes that start at bytes[0], bytes[1], …: out[i] is
 * twin_hash_bytes(hash, bytes + i, width). `bytes` holds count + width - 1 bytes. */
void twin__hash_windows(uint64_t *out, twin_hash hash, const void *bytes, size_t width, size_t count);

#endif

/* sort_bytes.h — sorting as many numbers as there may be. */
#ifndef TWIN_KERNELS_SORT_BYTES_H
#define TWIN_KERNELS_SORT_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* By the leading `bytes` bytes, stably: slower, but for any number of items. Those of sort.h use it beyond 2^32. */
void twin__sort_by_bytes(uint64_t *items, uint64_t *spare, size_t n, unsigned bytes);

#endif

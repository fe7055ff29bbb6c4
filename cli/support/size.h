/* size.h — sizes in words. */
#ifndef TWIN_SUPPORT_SIZE_H
#define TWIN_SUPPORT_SIZE_H

#include <stdint.h>

enum { SIZE_ROOM = 32 };

/* "16 bytes", "1.20 MiB": powers of 1024. Returns `out`. */
const char *write_size(char out[SIZE_ROOM], uint64_t bytes);

/* "37.1 KB": powers of 1000. */
const char *write_decimal_size(char out[SIZE_ROOM], double bytes);

#endif

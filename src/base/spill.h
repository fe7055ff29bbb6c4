/* spill.h — an array in a temporary file that is read as if it were in memory.
 *
 * Pages of a mapped file count as memory of the process once they are touched, although the system may take them back
 * at any time. So readers report roughly how much they touch, and after a certain amount all pages are given back.
 * They stay in the page cache of the system while there is room for them; touching them again is cheap then.
 * collection/spill_file.h makes such arrays. */
#ifndef TWIN_BASE_SPILL_H
#define TWIN_BASE_SPILL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twinsift/status.h>

struct twin__spill {
    char *bytes; /* while it grows: what has not been written yet; then all of it */
    size_t length, capacity;
    int fd;           /* -1: there is none */
    uint64_t in_file; /* bytes */
    bool is_mapped;
    size_t most_touched; /* bytes that may be touched before pages are given back */
    atomic_size_t touched;
};

/* Bytes that the system maps around a page that is touched. */
enum { TWIN__SPILL_AROUND = 1 << 16 };

/* Reports that `bytes` consecutive bytes will be read; TWIN__SPILL_AROUND for a single element. Any thread may call it;
 * `spill` may be NULL. */
void twin__spill_touch(struct twin__spill *spill, size_t bytes);

#endif

/* snapshot.h — one state of a file, and which of its pages have been checked. */
#ifndef TWIN_STORE_SNAPSHOT_H
#define TWIN_STORE_SNAPSHOT_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/page.h"

struct twin__snapshot {
    size_t uses; /* under the lock of its environment */
    const char *path;
    pthread_mutex_t lock; /* held while a page is checked */
    struct twin__page_file file;
    struct twin__page_checked tables[TWIN__STORE_MOST_TABLES]; /* in the order of the schema */
    atomic_uchar checked[];                                    /* a bit per page */
};

/* The state that transaction `number` left, which the caller reads. Checks the leaf of the main tree. TWIN_EBUSY,
 * without a sentence, when the meta pages are no longer those of `number`; damage: TWIN_EFORMAT. `path` is
 * borrowed. */
twin_status twin__snapshot_create(struct twin__snapshot **out, int fd, const char *path,
                                  const struct twin__store_schema *schema, uint64_t number, twin_error *error);
void twin__snapshot_free(struct twin__snapshot *snapshot);

static inline bool twin__snapshot_has_checked(const struct twin__snapshot *snapshot, uint64_t page)
{
    return atomic_load_explicit(&snapshot->checked[page / 8], memory_order_acquire) >> page % 8 & 1;
}

/* Where a page lies, and what the page that refers to it says of it. */
struct twin__snapshot_page {
    struct twin__page_checked *tree;
    uint64_t number;
    const unsigned char *at;
    unsigned depth; /* from 1 */
    struct twin__page_bounds bounds;
};

/* Checks a page that a checked one refers to, unless another thread just has. */
twin_status twin__snapshot_check(struct twin__snapshot *snapshot, struct twin__snapshot_page page, twin_error *error);

#endif

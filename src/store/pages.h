/* pages.h — checks of a file's pages, made with read calls before LMDB may use them. */
#ifndef TWIN_STORE_PAGES_H
#define TWIN_STORE_PAGES_H

#include "store/store.h"

/* The two meta pages: all that LMDB reads before the first transaction. TWIN_OK, or TWIN_EFORMAT with a sentence. Another
 * process may be writing them. */
twin_status twin__store_check_head(int fd, const char *path, const struct twin__store_schema *schema,
                                   twin_error *error);

/* In place of the number of a transaction: the last one, of a file that nobody writes. */
#define TWIN__STORE_NEWEST UINT64_MAX

struct twin__pages_state {
    uint64_t number; /* of the transaction that left it */
    bool to_write;   /* also what LMDB needs to change it: heads of long values */
};

struct twin__page_file;

/* The file as its meta page of transaction `number` describes it. TWIN_EBUSY, without a sentence, when that has been
 * overwritten; damage: TWIN_EFORMAT. */
twin_status twin__store_read_meta(struct twin__page_file *out, int fd, const char *path,
                                  const struct twin__store_schema *schema, uint64_t number, twin_error *error);

/* Whether a file is LMDB's and, unless it is too damaged to tell, a store of this schema. */
bool twin__store_is_of(const struct twin__store_schema *schema, int fd, const char *path);

/* Every page of every tree of a state. While the caller reads that state (LMDB's reader table), no page of it can
 * change. TWIN_OK when the file is a store of this schema that LMDB can use without ever leaving a page or missing a
 * record; TWIN_EBUSY, without a sentence, when the meta pages are no longer those of `number`; else TWIN_EFORMAT.
 * What values contain is not checked. Takes a bit of memory per page. */
twin_status twin__store_check_pages(int fd, const char *path, const struct twin__store_schema *schema,
                                    struct twin__pages_state state, twin_error *error);

#endif

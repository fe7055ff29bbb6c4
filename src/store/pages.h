/* pages.h — a look at the pages of a file before LMDB maps it. */
#ifndef TWIN_STORE_PAGES_H
#define TWIN_STORE_PAGES_H

#include "store/store.h"

/* TWIN_OK when the file is a store of this schema, as far as the first pages of its trees show, and is as long as it
 * should be; else TWIN_EFORMAT with a sentence. */
twin_status twin__store_check_pages(int fd, const char *path, const struct twin__store_schema *schema,
                                    twin_error *error);

#endif

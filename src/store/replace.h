/* replace.h — names of files. */
#ifndef TWIN_STORE_REPLACE_H
#define TWIN_STORE_REPLACE_H

#include "base/file.h"
#include "store/store.h"

/* The name itself or, if it is that of a symbolic link, of the file behind it: LMDB's lock file goes by the name, and a
 * link is not to be replaced. To be freed; NULL: out of memory. */
char *twin__store_follow(const char *path);

/* Removes what processes left behind that died while they created or replaced `path`. The caller has it open, so nobody
 * is replacing it now. */
void twin__store_remove_leftovers(const char *path);

/* Gives a finished file its name: that of one that it replaces, or one that must be free. */
twin_status twin__store_name_file(struct twin__finished_file file, const char *path, bool replace, twin_error *error);

#endif

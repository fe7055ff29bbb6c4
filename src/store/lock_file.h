/* lock_file.h — FILE-lock, before LMDB opens it. */
#ifndef TWIN_STORE_LOCK_FILE_H
#define TWIN_STORE_LOCK_FILE_H

#include <twinsift/status.h>

/* TWIN_OK when there is no FILE-lock, or it is LMDB's; TWIN_EINVAL when it is a link or any other file, which LMDB
 * would overwrite. Call it only while this process does not have the file open: closing the lock file drops its
 * locks. */
twin_status twin__lock_file_check(const char *path, twin_error *error);

#endif

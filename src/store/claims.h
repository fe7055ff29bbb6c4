/* claims.h — the indexes that this process has open, so that none is opened twice.
 *
 * LMDB's locks are those of POSIX and belong to the process: whoever closes the lock file a second time drops them for
 * all, and another process may then write over what this one reads. So it has to be known before LMDB opens anything. */
#ifndef TWIN_STORE_CLAIMS_H
#define TWIN_STORE_CLAIMS_H

#include <twinsift/status.h>

/* Claims the file behind `fd`, which was opened as `path`, for `owner`. TWIN_EBUSY: this process has it open, by
 * whatever name, or has another open that shares its lock file. */
twin_status twin__claim(const void *owner, int fd, const char *path, twin_error *error);

/* Notes the lock file, which there may not be before LMDB has opened `path`. */
void twin__claim_lock_file(const void *owner, const char *path);

/* Gives back what `owner` has claimed, if anything. To be called after LMDB has closed the file and before `fd` is, for
 * then another file may get its number. */
void twin__unclaim(const void *owner);

/* TWIN_EBUSY with a sentence if this process has the file behind `fd` open, else TWIN_OK. */
twin_status twin__refuse_claimed(int fd, const char *path, twin_error *error);

#endif

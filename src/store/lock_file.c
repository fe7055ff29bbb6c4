/* lock_file.c — FILE-lock, before LMDB opens it.
 *
 * LMDB follows links, and writes its table of readers over whatever it finds: to read an index would destroy the file
 * that FILE-lock is or points to. So it is opened here first, without following a link, and must begin as LMDB's do.
 * (A process that may write to the folder can still exchange it in the moment between.) */
#include "store/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"

static const uint32_t MAGIC = 0xBEEFC0DE; /* in the first four bytes */
enum { SLOT_BYTES = 64 };                 /* the file is a whole number of these */

/* One that another process has just created is empty, or zeros. */
static bool is_lock_file(int fd)
{
    struct stat found;
    unsigned char head[4];
    if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    if (found.st_size == 0)
        return true;
    if (twin__read_at(fd, head, sizeof head, 0) != (ssize_t)sizeof head)
        return false;
    uint32_t magic = twin__get4(head);
    return magic == MAGIC || (magic == 0 && found.st_size % SLOT_BYTES == 0);
}

static twin_status check_lock_file(const char *path, const char *name, twin_error *error)
{
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno != ELOOP)
        return TWIN_OK; /* not there, or not to be read: then LMDB cannot write it either */
    bool good = fd >= 0 && is_lock_file(fd);
    if (fd >= 0)
        close(fd);
    return good ? TWIN_OK
                : twin__fail(error, TWIN_EINVAL, "%s: %s is not its lock file and would be overwritten; move it away",
                             path, name);
}

twin_status twin__lock_file_check(const char *path, twin_error *error)
{
    char *name = NULL;
    if (asprintf(&name, "%s-lock", path) < 0)
        return twin__fail_memory(error);
    twin_status status = check_lock_file(path, name, error);
    free(name);
    return status;
}

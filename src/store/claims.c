/* claims.c — the indexes that this process has open, so that none is opened twice. */
#include "store/claims.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A file, whatever it is called. */
struct identity {
    bool known;
    dev_t device;
    ino_t inode;
};

struct claim {
    struct claim *next;
    const void *owner;
    pid_t process; /* a child made by fork() has a copy of the list, but opened nothing */
    struct identity file, lock_file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the list */
static struct claim *claims;

static struct identity identity_of(int known, const struct stat *found)
{
    return known == 0 ? (struct identity){ true, found->st_dev, found->st_ino } : (struct identity){ 0 };
}

static struct identity file_behind(int fd)
{
    struct stat found;
    return identity_of(fstat(fd, &found), &found);
}

/* It is only looked at: to open and close it would drop the locks. */
static struct identity lock_file_of(const char *path)
{
    struct stat found;
    char *name = NULL;
    if (asprintf(&name, "%s-lock", path) < 0)
        return (struct identity){ 0 };
    struct identity identity = identity_of(stat(name, &found), &found);
    free(name);
    return identity;
}

static bool same(struct identity a, struct identity b)
{
    return a.known && b.known && a.device == b.device && a.inode == b.inode;
}

static twin_status refuse(struct identity file, struct identity lock_file, const char *path, twin_error *error)
{
    pid_t process = getpid();
    for (const struct claim *claim = claims; claim; claim = claim->next)
        if (claim->process == process && same(claim->file, file))
            return twin__fail(error, TWIN_EBUSY, "%s: this process has it open already", path);
        else if (claim->process == process && same(claim->lock_file, lock_file))
            return twin__fail(error, TWIN_EBUSY, "%s: this process still has the file open that had this name before",
                              path);
    return TWIN_OK;
}

twin_status twin__claim(const void *owner, int fd, const char *path, twin_error *error)
{
    struct claim *claim = malloc(sizeof *claim);
    if (!claim)
        return twin__fail_memory(error);
    *claim = (struct claim){
        .owner = owner, .process = getpid(), .file = file_behind(fd), .lock_file = lock_file_of(path)
    };
    pthread_mutex_lock(&lock);
    twin_status status = refuse(claim->file, claim->lock_file, path, error);
    if (status == TWIN_OK) {
        claim->next = claims;
        claims = claim;
    }
    pthread_mutex_unlock(&lock);
    if (status != TWIN_OK)
        free(claim);
    return status;
}

void twin__claim_lock_file(const void *owner, const char *path)
{
    struct identity lock_file = lock_file_of(path);
    pthread_mutex_lock(&lock);
    for (struct claim *claim = claims; claim; claim = claim->next)
        if (claim->owner == owner)
            claim->lock_file = lock_file;
    pthread_mutex_unlock(&lock);
}

void twin__unclaim(const void *owner)
{
    pthread_mutex_lock(&lock);
    struct claim **link = &claims;
    while (*link && (*link)->owner != owner)
        link = &(*link)->next;
    struct claim *claim = *link;
    if (claim)
        *link = claim->next;
    pthread_mutex_unlock(&lock);
    free(claim);
}

twin_status twin__refuse_claimed(int fd, const char *path, twin_error *error)
{
    pthread_mutex_lock(&lock);
    twin_status status = refuse(file_behind(fd), (struct identity){ 0 }, path, error);
    pthread_mutex_unlock(&lock);
    return status;
}

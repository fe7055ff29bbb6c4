/* store_folder.h — a temporary folder, and the paths of a store and of another file in it, for make_folder() and drop_folder(). */
#ifndef TEST_STORE_FOLDER_H
#define TEST_STORE_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[96], other_path[96]; /* of files that there need not be */

static inline int make_folder(void **state_unused)
{
    (void)state_unused;
    strcpy(folder, "/tmp/twinsift-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/store.twin", folder);
    snprintf(other_path, sizeof other_path, "%s/other", folder);
    return 0;
}

static inline void remove_with_lock_file(const char *name)
{
    char lock_path[128];
    snprintf(lock_path, sizeof lock_path, "%s-lock", name);
    unlink(name);
    unlink(lock_path);
}

static inline int drop_folder(void **state_unused)
{
    (void)state_unused;
    remove_with_lock_file(path);
    unlink(other_path);
    return rmdir(folder); /* which fails when anything else was left behind */
}

#endif

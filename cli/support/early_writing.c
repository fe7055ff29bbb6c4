/* early_writing.c — a large file goes to the disk while it is being written.
 *
 * A system keeps what is written in memory, and begins to write it to the disk when it is a tenth of the memory, say. Soon
 * after, it makes the program wait for the disk. So a file that is likely to be longer than that is given its room on the disk at
 * once, and a thread asks for each part of it to be written as soon as it is complete: the disk is busy from the
 * beginning, and the program waits less (bench/README.md). All of this is advice, so failures are of no consequence. */
#include "early_writing.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define PART_BYTES ((off_t)32 << 20)

struct early_writing {
    int file;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    off_t asked;   /* the disk was asked to write up to here */
    off_t written; /* with the lock: the program has written up to here */
    bool ended;    /* with the lock */
};

/* Waits for the next part to be complete; false: none will be asked for any more. */
static bool await_part(struct early_writing *early)
{
    pthread_mutex_lock(&early->lock);
    while (!early->ended && early->written - early->asked < PART_BYTES)
        pthread_cond_wait(&early->changed, &early->lock);
    bool go_on = !early->ended;
    pthread_mutex_unlock(&early->lock);
    return go_on;
}

static void *ask_for_parts(void *context)
{
    struct early_writing *early = context;
    for (; await_part(early); early->asked += PART_BYTES)
        sync_file_range(early->file, early->asked, PART_BYTES, SYNC_FILE_RANGE_WRITE);
    return NULL;
}

struct early_writing *early_writing_begin(FILE *file, uint64_t bytes)
{
    off_t from = ftello(file);
    struct early_writing *early = from >= 0 ? malloc(sizeof *early) : NULL;
    if (!early)
        return NULL;
    *early = (struct early_writing){ .file = fileno(file),
                                     .lock = PTHREAD_MUTEX_INITIALIZER,
                                     .changed = PTHREAD_COND_INITIALIZER,
                                     .asked = from,
                                     .written = from };
    if (fallocate(early->file, FALLOC_FL_KEEP_SIZE, from, (off_t)bytes) == 0 &&
        pthread_create(&early->thread, NULL, ask_for_parts, early) == 0)
        return early;
    free(early); /* no regular file, or on a file system that cannot reserve room */
    return NULL;
}

void early_writing_add(struct early_writing *early, size_t bytes)
{
    if (!early)
        return;
    pthread_mutex_lock(&early->lock);
    early->written += (off_t)bytes;
    pthread_cond_signal(&early->changed);
    pthread_mutex_unlock(&early->lock);
}

void early_writing_end(struct early_writing *early)
{
    if (!early)
        return;
    pthread_mutex_lock(&early->lock);
    early->ended = true;
    pthread_cond_signal(&early->changed);
    pthread_mutex_unlock(&early->lock);
    pthread_join(early->thread, NULL);
    pthread_cond_destroy(&early->changed);
    pthread_mutex_destroy(&early->lock);
    free(early);
}

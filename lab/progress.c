/* progress.c — a line on the terminal: which experiment, and how much of it is done. */
#include "lab.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool visible;

static bool on_terminal(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

/* At most ten times a second. */
static bool is_due(void)
{
    static int64_t last;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now = (int64_t)time.tv_sec * 10 + time.tv_nsec / 100000000;
    bool due = now != last;
    last = now;
    return due;
}

void progress(const struct lab *lab, size_t done, size_t total)
{
    pthread_mutex_lock(&lock);
    if (on_terminal() && is_due()) {
        fprintf(stderr, "\r%s  %3.0f %%\033[K", lab->now->name, total ? 100.0 * (double)done / (double)total : 0);
        visible = true;
    }
    pthread_mutex_unlock(&lock);
}

void progress_clear(void)
{
    pthread_mutex_lock(&lock);
    if (visible)
        fputs("\r\033[K", stderr);
    visible = false;
    pthread_mutex_unlock(&lock);
}

/* aside.c — files that appear whole or not at all. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 8 }; /* files being written at a time */

/* What a signal has to remove. Its handler may only read these. */
static const char *volatile unfinished[MOST];

static void remove_and_die(int number)
{
    for (int i = 0; i < MOST; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
    raise(number); /* as it would have died: the handler is gone after one call */
}

static void watch_signals(void)
{
    static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    struct sigaction action = { .sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND }, before;
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        if (sigaction(deadly[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) /* nohup stays nohup */
            sigaction(deadly[i], &action, NULL);
}

static bool remember(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (!unfinished[i]) {
            unfinished[i] = path;
            return true;
        }
    errno = EMFILE;
    return false;
}

static void forget(const char *path)
{
    for (int i = 0; i < MOST; i++)
        if (unfinished[i] == path)
            unfinished[i] = NULL;
}

static void clear(struct aside *aside)
{
    if (aside->temporary)
        forget(aside->temporary);
    free(aside->temporary);
    free(aside->path);
    *aside = (struct aside){ 0 };
}

/* The permissions that a file made with fopen() would have. */
static mode_t usual_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static FILE *open_temporary(struct aside *aside, mode_t mode)
{
    size_t size = strlen(aside->path) + sizeof ".XXXXXX";
    aside->temporary = malloc(size);
    if (!aside->temporary)
        return NULL;
    snprintf(aside->temporary, size, "%s.XXXXXX", aside->path);
    int fd = mkstemp(aside->temporary);
    if (fd < 0) {
        free(aside->temporary);
        aside->temporary = NULL;
        return NULL;
    }
    watch_signals();
    FILE *file = remember(aside->temporary) && fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        int why = errno;
        close(fd);
        unlink(aside->temporary);
        errno = why;
    }
    return file;
}

bool aside_open(struct aside *out, const char *path)
{
    struct stat known;
    bool exists = stat(path, &known) == 0;
    *out = (struct aside){ 0 };
    out->path = exists ? realpath(path, NULL) : strdup(path); /* a link stays a link */
    if (out->path && exists && !S_ISREG(known.st_mode))
        out->file = fopen(path, "w");
    else if (out->path)
        out->file = open_temporary(out, exists ? known.st_mode & 0777 : usual_mode());
    if (out->file)
        return true;
    trouble("%s: cannot be written: %s", path, strerror(errno));
    clear(out);
    return false;
}

bool aside_finish(struct aside *aside)
{
    errno = 0;
    bool good = ferror(aside->file) == 0;
    good = fclose(aside->file) == 0 && good;
    good = good && (!aside->temporary || rename(aside->temporary, aside->path) == 0);
    if (!good) {
        trouble("%s: could not be written: %s", aside->path, strerror(errno ? errno : EIO));
        if (aside->temporary)
            unlink(aside->temporary);
    }
    clear(aside);
    return good;
}

void aside_abandon(struct aside *aside)
{
    fclose(aside->file);
    if (aside->temporary)
        unlink(aside->temporary);
    clear(aside);
}

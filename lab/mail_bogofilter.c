/* mail_bogofilter.c — bogofilter beside our filter, where it is installed, as a program of its own.
 *
 * It gets lists of paths on its standard input, learns each kind at once, and prints "path S 0.99" for each message. */
#include "mail_user.h"

#include <ctype.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs it; false: it is not installed, or fails. Statuses up to 2 are verdicts. */
static bool run(char *const arguments[], FILE *in, FILE *out)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    fflush(in);
    rewind(in);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    bool started = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) <= 2;
}

static FILE *open_temporary(void)
{
    FILE *file = tmpfile();
    if (!file)
        die("a temporary file could not be created");
    return file;
}

static bool learn(char *folder, const struct mails *mails, bool spam)
{
    char *arguments[] = { "bogofilter", "-d", folder, spam ? "-s" : "-n", "-b", NULL };
    FILE *list = open_temporary(), *out = open_temporary();
    for (size_t i = 0; i < mails->count; i++)
        if (mails->lines[i]->is_spam == spam)
            fprintf(list, "%s\n", mails->lines[i]->path);
    bool good = run(arguments, list, out);
    fclose(list);
    fclose(out);
    return good;
}

bool bogofilter_begin(struct bogofilter *out, const struct mails *learnt)
{
    snprintf(out->folder, sizeof out->folder, "%s", "/tmp/twinsift-lab-XXXXXX");
    if (!mkdtemp(out->folder))
        die("a temporary folder could not be created");
    bool good = learn(out->folder, learnt, true) && learn(out->folder, learnt, false);
    if (!good)
        bogofilter_end(out);
    return good;
}

void bogofilter_end(struct bogofilter *bogofilter)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/wordlist.db", bogofilter->folder);
    unlink(path);
    rmdir(bogofilter->folder);
}

/* "path S 0.99": what is before the last two words was given to it. */
static bool read_line(char *verdict, double *score, char *line)
{
    char *last = strrchr(line, ' ');
    if (!last || last - line < 2)
        return false;
    *score = strtod(last + 1, NULL);
    *verdict = last[-1];
    return strchr("SHU", *verdict) != NULL;
}

struct figures bogofilter_judge(struct bogofilter *bogofilter, const struct mails *mails)
{
    char *arguments[] = { "bogofilter", "-d", bogofilter->folder, "-T", "-b", NULL }, *line = NULL;
    struct figures figures = figures_begin(mails);
    FILE *list = open_temporary(), *out = open_temporary();
    size_t room = 0;
    for (size_t i = 0; i < mails->count; i++)
        fprintf(list, "%s\n", mails->lines[i]->path);
    if (!run(arguments, list, out))
        die("bogofilter failed");
    rewind(out);
    for (size_t i = 0; i < mails->count; i++) {
        char verdict;
        double score;
        if (getline(&line, &room, out) < 0 || !read_line(&verdict, &score, line))
            die("bogofilter prints something else than expected");
        figures_count(&figures, mails->lines[i], verdict == 'S' ? 2 : verdict == 'U' ? 1 : 0, score);
    }
    free(line);
    fclose(list);
    fclose(out);
    figures_end(&figures);
    return figures;
}

/* gnuplot.c — pictures, drawn by gnuplot if it is there. */
#include "cli.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

FILE *gnuplot_script(void)
{
    FILE *script = tmpfile();
    if (!script)
        trouble("a temporary file could not be made: %s", strerror(errno));
    return script;
}

/* Files, not pipes: a program that ends before it has read everything does no harm. */
static int start(pid_t *child, int input, int output, int errors)
{
    char *arguments[] = { "gnuplot", "-d", NULL }; /* -d: the user's own settings change nothing */
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The last line with letters in it: gnuplot shows where before it says what. */
static void tell_complaint(FILE *errors)
{
    char line[200], last[200] = "it does not say why";
    rewind(errors);
    while (fgets(line, sizeof line, errors)) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") < strlen(line))
            snprintf(last, sizeof last, "%s", line);
    }
    trouble("gnuplot failed: %s", last + strspn(last, " \t"));
}

bool gnuplot_run(FILE *picture, FILE *script)
{
    FILE *errors = tmpfile();
    pid_t child = -1;
    int status = -1, error = errno;
    if (errors) {
        fflush(script);
        rewind(script);
        error = start(&child, fileno(script), fileno(picture), fileno(errors));
    }
    if (error == ENOENT)
        trouble("gnuplot is needed to draw and is not installed (Debian and Ubuntu: apt install gnuplot-nox)");
    else if (error)
        trouble("gnuplot could not be started: %s", strerror(error));
    else if (waitpid(child, &status, 0) != child || status != 0)
        tell_complaint(errors);
    fclose(script);
    if (errors)
        fclose(errors);
    return !error && status == 0;
}

/* plot.c — plots, drawn by gnuplot if it is installed. */
#include "plot.h"

#include "messages.h"
#include "output_file.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Files, not pipes: it does no harm when gnuplot ends before it has read everything. */
static int start(pid_t *child, const int files[3], const char *folder)
{
    char *arguments[] = { "gnuplot", "-d", NULL }; /* -d: ignores the user's own settings */
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_adddup2(&actions, files[fd], fd);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Copies the last line with letters in it: gnuplot shows where before it says what. */
static void copy_complaint(char reason[PLOT_REASON_ROOM], FILE *errors)
{
    char line[200], last[200] = "it gives no reason";
    rewind(errors);
    while (fgets(line, sizeof line, errors)) {
        line[strcspn(line, "\n")] = '\0';
        if (strspn(line, " \t^") < strlen(line))
            snprintf(last, sizeof last, "%s", line);
    }
    snprintf(reason, PLOT_REASON_ROOM, "gnuplot failed: %s", last + strspn(last, " \t"));
}

enum plot_result plot_run(char reason[PLOT_REASON_ROOM], FILE *picture, FILE *script, const char *folder)
{
    FILE *errors = tmpfile();
    pid_t child = -1;
    int status = -1, error = errno;
    if (errors) {
        fflush(script);
        rewind(script);
        error = start(&child, (int[]){ fileno(script), fileno(picture), fileno(errors) }, folder);
    }
    if (error == ENOENT)
        snprintf(reason, PLOT_REASON_ROOM, "gnuplot is not installed (Debian and Ubuntu: apt install gnuplot-nox)");
    else if (error)
        snprintf(reason, PLOT_REASON_ROOM, "gnuplot could not be started: %s", strerror(error));
    else if (waitpid(child, &status, 0) != child || status != 0)
        copy_complaint(reason, errors);
    if (errors)
        fclose(errors);
    return error == ENOENT ? PLOT_NO_GNUPLOT : error || status != 0 ? PLOT_FAILED : PLOT_DRAWN;
}

bool plot_draw(const char *path, void (*write)(FILE *script, const void *context), const void *context)
{
    struct output_file picture;
    if (!output_file_open(&picture, path))
        return false;
    FILE *script = tmpfile();
    char reason[PLOT_REASON_ROOM];
    enum plot_result result = PLOT_FAILED;
    if (script) {
        write(script, context);
        result = plot_run(reason, picture.file, script, NULL);
        fclose(script);
    } else
        snprintf(reason, sizeof reason, "a temporary file could not be created: %s", strerror(errno));
    if (result == PLOT_DRAWN)
        return output_file_finish(&picture);
    fail("--plot: %s", reason);
    output_file_abandon(&picture);
    return false;
}

/* serve_program.c — the server runs in a program of its own.
 *
 * It needs libmicrohttpd, and with it six libraries more, which take longer to load than most commands run. So twinsift is
 * linked without them. It knows the options of the server and their help, and gives way to twinsift-serve: the same program,
 * linked with the server, beside the file of this program, as in a build folder, or in the folder of its kind (libexec),
 * as it is installed. */
#include "commands.h"
#include "support/messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#ifdef TWIN_SERVE_FOLDER /* relative to the folder of programs */

#define NAME "twinsift-serve"

/* Where this program's file is, without its name. False if it cannot be determined. */
static bool find_own_folder(char *out, size_t room)
{
#ifdef __APPLE__
    uint32_t length = (uint32_t)room;
    if (_NSGetExecutablePath(out, &length) != 0)
        return false;
#else
    ssize_t length = readlink("/proc/self/exe", out, room - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
#endif
    char *name = strrchr(out, '/');
    if (!name || strcmp(name + 1, NAME) == 0) /* it would run itself for ever */
        return false;
    *name = '\0';
    return true;
}

static void run_from(const char *folder, const char *further, char **arguments)
{
    char *path;
    if (asprintf(&path, "%s/%s" NAME, folder, further) < 0)
        return;
    execv(path, arguments);
    free(path);
}

bool serve_program_enter(char **arguments)
{
    char folder[4096];
    if (!find_own_folder(folder, sizeof folder))
        return refuse(NAME " cannot be found");
    run_from(folder, "", arguments);
    if (errno == ENOENT)
        run_from(folder, TWIN_SERVE_FOLDER "/", arguments);
    if (errno == ENOENT)
        fail(NAME " is not installed: it serves, and was expected in %s or %s/%s", folder, folder, TWIN_SERVE_FOLDER);
    else
        fail("cannot run " NAME ": %s", strerror(errno));
    return false;
}

#else

bool serve_program_enter(char **arguments)
{
    (void)arguments;
    return true;
}

#endif

/* mail_program.c — the commands of mail run in a program of their own, and so does the server.
 *
 * What reads mail needs GMime, and with it some twenty shared libraries, which take longer to load than most commands
 * run; the server needs seven more. So twinsift is linked without them. It knows the commands of mail and of the server, their
 * options and their help, and gives way to twinsift-mail or twinsift-serve when one is to be run: the same program, linked with
 * what reads mail, or serves. Those are beside the file of this program, as in a build folder, or in the folder of their kind
 * (libexec), as they are installed. */
#include "mail_program.h"

#include "support/messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twinsift/twinsift.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#ifdef TWIN_MAIL_FOLDER /* relative to the folder of programs */

/* Where this program's file is, without its name. False if it cannot be determined. */
static bool find_own_folder(char *out, size_t room, const char *wanted)
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
    if (!name || strcmp(name + 1, wanted) == 0) /* it would run itself for ever */
        return false;
    *name = '\0';
    return true;
}

static void run_from(const char *folder, const char *further, const char *name, char **arguments)
{
    char *path;
    if (asprintf(&path, "%s/%s%s", folder, further, name) < 0)
        return;
    execv(path, arguments);
    free(path);
}

/* `does`: what it is there for. */
static bool enter(const char *name, const char *does, char **arguments)
{
    char folder[4096];
    if (!find_own_folder(folder, sizeof folder, name))
        return refuse("%s cannot be found", name);
    run_from(folder, "", name, arguments);
    if (errno == ENOENT)
        run_from(folder, TWIN_MAIL_FOLDER "/", name, arguments);
    if (errno == ENOENT)
        fail("%s is not installed: it %s, and was expected in %s or %s/%s", name, does, folder, folder,
             TWIN_MAIL_FOLDER);
    else
        fail("cannot run %s: %s", name, strerror(errno));
    return false;
}

bool mail_program_enter(char **arguments)
{
    return twin_message_available() == TWIN_OK || enter("twinsift-mail", "reads mail", arguments);
}

bool serve_program_enter(char **arguments)
{
#ifdef TWIN_SERVE_PROGRAM
    return enter("twinsift-serve", "serves", arguments);
#else
    return mail_program_enter(arguments);
#endif
}

#else

bool mail_program_enter(char **arguments)
{
    (void)arguments;
    return true;
}

bool serve_program_enter(char **arguments)
{
    (void)arguments;
    return true;
}

#endif

/* mail_program.c — the commands of mail run in a program of their own.
 *
 * What reads mail needs GMime, and with it some twenty shared libraries, which take longer to load than most commands
 * run. So twinsift is linked without them. It knows the commands of mail, their options and their help, and gives way
 * to twinsift-mail when one is to be run: the same program, linked with what reads mail. That one is beside the file
 * of this program, as in a build folder, or in the folder of its kind (libexec), as it is installed. */
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

static const char NAME[] = "twinsift-mail";

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
    if (asprintf(&path, "%s/%s%s", folder, further, NAME) < 0)
        return;
    execv(path, arguments);
    free(path);
}

bool mail_program_enter(char **arguments)
{
    char folder[4096];
    if (twin_message_available() == TWIN_OK)
        return true;
    if (!find_own_folder(folder, sizeof folder))
        return refuse("%s cannot be found", NAME);
    run_from(folder, "", arguments);
    if (errno == ENOENT)
        run_from(folder, TWIN_MAIL_FOLDER "/", arguments);
    if (errno == ENOENT)
        fail("%s is not installed: it reads mail, and was expected in %s or %s/%s", NAME, folder, folder,
             TWIN_MAIL_FOLDER);
    else
        fail("cannot run %s: %s", NAME, strerror(errno));
    return false;
}

#else

bool mail_program_enter(char **arguments)
{
    (void)arguments;
    return true;
}

#endif

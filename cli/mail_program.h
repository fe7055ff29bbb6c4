/* mail_program.h — the commands of mail run in a program of their own, and so does the server. */
#ifndef TWIN_MAIL_PROGRAM_H
#define TWIN_MAIL_PROGRAM_H

#include <stdbool.h>

/* Before a command of mail: true if this program can read mail, or was built without it, which the command then
 * reports. Else runs the one that can, with the arguments of main(), and does not return unless that fails: then the
 * error has been reported. */
bool mail_program_enter(char **arguments);

/* The same before serve, in a program without the server: true if this build has none. */
bool serve_program_enter(char **arguments);

#endif

/* completion.c — completion scripts for shells, printed from the tables of commands and options. */
#include "command.h"

void completion_print(const struct program *program, const char *shell)
{
    (void)program, (void)shell;
}

/* report.c — messages on standard error. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *current;

void report_as(const char *command)
{
    current = command;
}

static bool in_colour(void)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

/* One whole line at a time, so that lines of several threads do not mix. */
static void say(const char *colour, const char *format, va_list arguments)
{
    bool coloured = in_colour();
    progress_clear();
    flockfile(stderr);
    fprintf(stderr, "%stwinsift%s%s:%s ", coloured ? colour : "", current ? " " : "", current ? current : "",
            coloured ? "\033[0m" : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
}

int trouble(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("\033[1;31m", format, arguments);
    va_end(arguments);
    return TROUBLE;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("\033[1;33m", format, arguments);
    va_end(arguments);
}

int trouble_status(const char *what, twin_status status, const twin_error *error)
{
    if (error && error->message[0])
        return trouble("%s", error->message);
    return trouble("%s: %s", what, twin_status_text(status));
}

int print_help(const char *text)
{
    fputs(text, stdout);
    return FOUND;
}

static int output_error;

bool output_is_good(void)
{
    if (!ferror(stdout))
        return true;
    if (!output_error)
        output_error = errno ? errno : EIO;
    return false;
}

/* What was printed counts only once it has arrived: a full disk shows up here at the latest. */
int close_output(int status)
{
    if (output_is_good()) {
        errno = 0;
        if (fflush(stdout) == 0 && fclose(stdout) == 0)
            return status;
        output_error = errno ? errno : EIO;
    }
    return trouble("standard output could not be written: %s", strerror(output_error));
}

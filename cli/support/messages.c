/* messages.c — messages on standard error, and the end of standard output. */
#include "messages.h"

#include "escape.h"
#include "interrupt.h"
#include "progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *sender = "twinsift";
static enum color color;

void messages_from(const char *name)
{
    sender = name;
}

void messages_color(enum color when)
{
    color = when;
}

const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* Writes whole lines, so that messages of several threads do not mix. Whoever ended the program knows why. */
static void print_message(const char *style, const char *format, va_list arguments)
{
    if (interrupted())
        return;
    bool colored = terminal_color(STDERR_FILENO, color);
    char *sentence = NULL;
    int length = vasprintf(&sentence, format, arguments);
    progress_clear();
    flockfile(stderr);
    fprintf(stderr, "%s%s:%s ", colored ? style : "", sender, colored ? "\033[0m" : "");
    if (length >= 0)
        escape_message(stderr, sentence, (size_t)length);
    else
        fputs(twin_status_text(TWIN_ENOMEM), stderr);
    fputc('\n', stderr);
    funlockfile(stderr);
    if (length >= 0)
        free(sentence);
}

static const char bold_red[] = "\033[1;31m", bold_yellow[] = "\033[1;33m";

int fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(bold_red, format, arguments);
    va_end(arguments);
    return EXIT_ERROR;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(bold_yellow, format, arguments);
    va_end(arguments);
}

int fail_status(const char *what, twin_status status, const twin_error *error)
{
    if (error && error->message[0])
        return fail("%s", error->message);
    return fail("%s: %s", what, twin_status_text(status));
}

/* mapped.c — files that are mapped into memory and become shorter.
 *
 * Reading a page of a mapped file that is not there any more raises SIGBUS, in whichever thread reads it. The handler
 * may call little, so it finds the name of the file in /proc/self/maps with read() alone, writes one sentence and
 * ends the process. A program may do that; the library must not. */
#include "mapped.h"

#include "messages.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const char *sender;

/* Reads a number in base 16 and moves behind it. */
static uintptr_t scan_hex(const char **p)
{
    uintptr_t number = 0;
    for (;; ++*p) {
        char c = **p;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 16;
        if (digit == 16)
            return number;
        number = number << 4 | digit;
    }
}

/* Whether a line of /proc/self/maps, "begin-end ...", has the address. */
static bool covers(const char *line, uintptr_t address)
{
    uintptr_t begin = scan_hex(&line);
    if (*line != '-')
        return false;
    line++;
    return address >= begin && address < scan_hex(&line);
}

enum { LINE_ROOM = 4096 + 128 };

/* Reads a line without its end; false at the end of the file. */
static bool read_line(int fd, char line[LINE_ROOM])
{
    size_t length = 0;
    char c;
    ssize_t got;
    while ((got = read(fd, &c, 1)) == 1 && c != '\n')
        if (length < LINE_ROOM - 1)
            line[length++] = c;
    line[length] = '\0';
    return got == 1 || length > 0;
}

/* The path of the file that is mapped at an address; NULL when it is not found. Control characters in it become '?'. */
static const char *mapped_path(char line[LINE_ROOM], uintptr_t address)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = false;
    while (fd >= 0 && !found && read_line(fd, line))
        found = covers(line, address);
    if (fd >= 0)
        close(fd);
    char *path = found ? strchr(line, '/') : NULL;
    for (char *p = path; p && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7F)
            *p = '?';
    return path;
}

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* BUS_ADRERR is what a page without a file behind it raises. */
static void end_with_sentence(int number, siginfo_t *info, void *context)
{
    (void)context;
    static char line[LINE_ROOM];
    const char *path = info->si_code == BUS_ADRERR ? mapped_path(line, (uintptr_t)info->si_addr) : NULL;
    if (!path) {
        raise(number); /* dies of it: SA_RESETHAND has removed the handler */
        return;
    }
    static const char ending[] = "-lock"; /* of the file of locks beside an index or a model, which grows */
    size_t length = strlen(path);
    bool is_lock = length > strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
    say(sender);
    say(": ");
    say(path);
    say(is_lock ? " could not be written: its disk is full, or has failed\n"
                : " became shorter, or its disk failed, while it was read\n");
    _exit(EXIT_ERROR);
}

void watch_mapped_files(const char *program)
{
    struct sigaction action = { .sa_sigaction = end_with_sentence, .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };
    sender = program;
    sigaction(SIGBUS, &action, NULL);
}

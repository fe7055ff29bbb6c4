/* main.c — the table of commands. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    { "pairs", cmd_pairs, "find all similar documents, or sets, in a collection" },
    { "index", cmd_index, "keep an index on disk: create, add, remove, query, pairs, info, check, export, compact" },
    { "bloom", cmd_bloom, "Bloom and counting filters in a file: create, add, has, count, remove, merge, info" },
    { "plan", cmd_plan, "parameters from the error you accept, with the curve" },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(void)
{
    printf("twinsift finds lookalikes: documents that are nearly the same, sets that overlap,\n"
           "messages that have been seen before.\n"
           "\n"
           "usage: twinsift COMMAND [OPTION]... [ARGUMENT]...\n"
           "\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  twinsift %-8s %s\n", commands[i].name, commands[i].summary);
    printf("\n"
           "twinsift COMMAND --help tells more, with examples; twinsift --version tells the version.\n"
           "Exit status: 0 done or yes, 1 no, 2 trouble, with a sentence on standard error.\n"
           "TWINSIFT_CPU=scalar|avx2|avx512 chooses the instructions; results do not depend on it.\n");
    return EXIT_DONE;
}

static int missing(void)
{
    char names[128] = "";
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 i == 0             ? ""
                 : i + 1 < COMMANDS ? ", "
                                    : " or ",
                 commands[i].name);
    }
    return fail("which command? %s; twinsift --help tells more", names);
}

static int unknown(const char *name)
{
    const struct command *nearest = NULL;
    size_t least = 3; /* more than two slips of the finger is another word */
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t distance = spelling_distance(name, commands[i].name);
        if (distance < least && distance < strlen(commands[i].name)) {
            least = distance;
            nearest = &commands[i];
        }
    }
    if (nearest)
        return fail("there is no command \"%s\"; did you mean \"%s\"?", name, nearest->name);
    return fail("there is no command \"%s\"; twinsift --help lists them", name);
}

/* A file opened later must not become standard output because the caller closed that. Opened the wrong way round,
 * so that using one still fails. */
static void hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static bool choose_cpu(void)
{
    const char *name = getenv("TWINSIFT_CPU");
    if (!name || !*name)
        return true;
    twin_cpu level;
    if (twin_cpu_from_name(&level, name) != TWIN_OK)
        return fail("TWINSIFT_CPU: \"%s\" is not one of scalar, avx2, avx512", name), false;
    if (twin_cpu_use(level) != TWIN_OK)
        return fail("TWINSIFT_CPU: this machine cannot run %s, at best %s", name, twin_cpu_name(twin_cpu_best())),
               false;
    return true;
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name)
        return missing();
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help();
    if (strcmp(name, "--version") == 0)
        return printf("twinsift %s\n", twin_version()), EXIT_DONE;
    if (name[0] == '-')
        return fail("there is no option %s before a command; twinsift --help tells more", name);
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(name, commands[i].name) == 0) {
            static char sender[32];
            snprintf(sender, sizeof sender, "twinsift %s", name);
            messages_from(sender);
            return choose_cpu() ? commands[i].run(argc - 1, argv + 1) : EXIT_ERROR;
        }
    return unknown(name);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL); /* a reader that leaves, as head does, ends us quietly */
    hold_standard_files();
    int status = run(argc, argv);
    progress_end();
    return close_output(status);
}

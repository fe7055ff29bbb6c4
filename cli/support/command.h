/* command.h — commands as table rows, and the frame that runs them.
 *
 * A program is a table of commands; a command is one struct: what it does, which options and arguments it takes, its
 * defaults, and the function that runs it. The frame finds the command, reads its options into a copy of the defaults,
 * and prints --help from the same tables.
 *
 *     static const struct request defaults = { .shared = SHARED_DEFAULTS, .batch = 20000 };
 *     const struct command command_index_add = {
 *         .name = "twinsift index add", ... .defaults = &defaults, .size = sizeof defaults, .run = run,
 *     }; */
#ifndef TWIN_SUPPORT_COMMAND_H
#define TWIN_SUPPORT_COMMAND_H

#include "options.h"

/* The options a command can take, those of all commands included. */
enum { COMMAND_OPTIONS_ROOM = 64 };

struct command {
    const char *name;                 /* "twinsift index add" */
    const char *summary;              /* what it does, lower case, no full stop */
    const char *usage;                /* what follows the name, one form per line: "[OPTION]... FILE INPUT..." */
    const char *about;                /* paragraphs for --help; may be NULL */
    const char *shared;               /* names of the shared options it takes, separated by blanks */
    const char *checked;              /* shared options it accepts too, but only checks; may be NULL */
    const struct option_row *options; /* its own, ended by zeros; may be NULL */
    size_t least, most;               /* how many arguments it takes that are not options */
    const char *status;               /* exit statuses, one per line: "0  done" */
    const char *examples;             /* one per line; may be NULL */
    const void *defaults;             /* the request before options are read; begins with a struct request_base */
    size_t size;                      /* of the request */
    int (*run)(void *request);        /* returns the exit status */
    bool hidden;                      /* not listed in the overview */
    int error;                        /* exit status of errors; 0: EXIT_ERROR */
};

/* What every request begins with; the frame fills it in. */
struct request_base {
    const struct command *command;
    const struct program *program;
    const struct option_row *given[COMMAND_OPTIONS_ROOM]; /* the options that were given */
    size_t given_count;
    const char *const *arguments; /* all that is not an option */
    size_t count;
    const char *const *words; /* options and arguments in the order in which they were given */
    size_t word_count;
};

/* Commands with the same first word, such as "index". */
struct command_group {
    const char *name, *summary, *about, *status, *examples;
};

struct program {
    const char *name;                               /* "twinsift" */
    const char *about;                              /* paragraphs for --help */
    const struct command *const *commands;          /* ended by NULL */
    const struct command_group *groups;             /* ended by zeros */
    const struct option_row *shared;                /* the shared options, ended by zeros */
    const char *headings[OPTION_GROUPS];            /* of groups of options, where the usual ones do not suit */
    bool (*prepare)(const struct command *command); /* called before it runs; on false the error has been reported */
    const char *notes;                              /* the end of --help */
};

/* Runs what the arguments of main() ask for and returns the exit status. */
int program_run(const struct program *program, int argc, char **argv);

/* Runs one command; argv[0] is its name. */
int command_run(const struct program *program, const struct command *command, int argc, char **argv);

/* Whether an option was given. */
bool option_given(const struct request_base *request, const char *name);

/* Fills `out` with the options that a command takes and returns how many: shared ones, its own, those of all commands.
 * Those that are only checked are included on request. */
size_t command_options(const struct option_row *out[COMMAND_OPTIONS_ROOM], const struct program *program,
                       const struct command *command, bool with_checked);

/* The command or group that the words name; NULL when there is none. */
const struct command *find_command(const struct program *program, const char *first, const char *second);
const struct command_group *find_group(const struct program *program, const char *name);

/* "index add": the name without that of the program. */
const char *command_words(const struct command *command);

/* Whether the command is listed in the overview by its own name: not hidden, and no verb of a group. */
bool is_listed(const struct command *command);

/* Whether the command is a verb of the group, and its name in it. */
const char *verb_of(const struct command *command, const struct command_group *group);

/* help.c: prints on standard output. */
void help_program(const struct program *program);
void help_group(const struct program *program, const struct command_group *group);
void help_command(const struct program *program, const struct command *command);

/* completion.c: prints a script for "bash", "zsh" or "fish". */
void completion_print(const struct program *program, const char *shell);

#endif

/* command.c — finds the command that is meant, reads its options, and runs it.
 *
 * getopt_long() does the splitting, with a table made of the command's rows, so that options may come in any place, as
 * --name=value, or abbreviated. What it refuses is explained here: an option may be unknown, misspelt, ambiguous, or
 * one of another command. */
#include "command.h"

#include "messages.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables */

static bool is_among(const char *words, const char *word)
{
    return words && word_number(words, word) >= 0;
}

size_t command_options(const struct option_row *out[COMMAND_OPTIONS_ROOM], const struct program *program,
                       const struct command *command, bool with_checked)
{
    size_t count = 0;
    for (const struct option_row *row = program->shared; row->name && count < COMMAND_OPTIONS_ROOM; row++)
        if (is_among(command->shared, row->name) || (with_checked && is_among(command->checked, row->name)))
            out[count++] = row;
    for (const struct option_row *row = command->options; row && row->name && count < COMMAND_OPTIONS_ROOM; row++)
        out[count++] = row;
    for (const struct option_row *row = program->shared; row->name && count < COMMAND_OPTIONS_ROOM; row++)
        if (row->everywhere) {
            assert(row->offset < command->size); /* its request begins with the shared options */
            out[count++] = row;
        }
    return count;
}

const char *command_words(const struct command *command)
{
    const char *blank = strchr(command->name, ' ');
    return blank ? blank + 1 : command->name;
}

bool is_listed(const struct command *command)
{
    return !command->hidden && !strchr(command_words(command), ' ');
}

const char *verb_of(const struct command *command, const struct command_group *group)
{
    const char *words = command_words(command);
    size_t length = strlen(group->name);
    return strncmp(words, group->name, length) == 0 && words[length] == ' ' ? words + length + 1 : NULL;
}

const struct command_group *find_group(const struct program *program, const char *name)
{
    for (const struct command_group *group = program->groups; group->name; group++)
        if (strcmp(group->name, name) == 0)
            return group;
    return NULL;
}

const struct command *find_command(const struct program *program, const char *first, const char *second)
{
    char words[OPTION_VALUE_ROOM];
    snprintf(words, sizeof words, "%s%s%s", first, second ? " " : "", second ? second : "");
    for (const struct command *const *command = program->commands; *command; command++)
        if (strcmp(command_words(*command), words) == 0)
            return *command;
    return NULL;
}

bool option_given(const struct request_base *request, const char *name)
{
    for (size_t i = 0; i < request->given_count; i++)
        if (strcmp(request->given[i]->name, name) == 0)
            return true;
    return false;
}

/* ---- options that are refused */

/* The row of that name, or that letter, of any command of the program; NULL when there is none. */
static const struct option_row *row_of_any(const struct program *program, const char *name, int letter)
{
    for (const struct command *const *command = program->commands; *command; command++) {
        const struct option_row *rows[COMMAND_OPTIONS_ROOM];
        size_t count = command_options(rows, program, *command, true);
        for (size_t i = 0; i < count; i++)
            if (name ? strcmp(rows[i]->name, name) == 0 : rows[i]->letter == letter)
                return rows[i];
    }
    return NULL;
}

/* Appends the names that begin with `part` to `list` and returns how many there are. */
static size_t list_prefixed(char list[256], const struct option_row *const *rows, size_t count, const char *part)
{
    size_t found = 0;
    list[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strncmp(rows[i]->name, part, strlen(part)) == 0) {
            size_t used = strlen(list);
            snprintf(list + used, 256 - used, "%s--%s", found++ ? ", " : "", rows[i]->name);
        }
    return found;
}

/* The option most like a wrong one; NULL when none is within two slips of the finger. */
static const char *nearest_option(const struct option_row *const *rows, size_t count, const char *name)
{
    const char *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < count; i++) {
        size_t distance = spelling_distance(name, rows[i]->name);
        if (distance < least && distance < strlen(rows[i]->name) / 2) {
            least = distance;
            nearest = rows[i]->name;
        }
    }
    return nearest;
}

static void refuse_long(const struct request_base *request, const struct option_row *const *rows, size_t count,
                        const char *name)
{
    const struct command *command = request->command;
    const char *nearest = nearest_option(rows, count, name);
    char list[256];
    if (row_of_any(request->program, name, 0))
        fail("--%s does not apply to '%s'; see '%s --help'", name, command_words(command), command->name);
    else if (list_prefixed(list, rows, count, name) > 1)
        fail("--%s is ambiguous: %s", name, list);
    else if (nearest)
        fail("unknown option --%s; did you mean --%s?", name, nearest);
    else
        fail("unknown option --%s; see '%s --help'", name, command->name);
}

/* Explains why getopt_long() has refused an option. */
static void explain_refusal(const struct request_base *request, const struct option_row *const *rows, size_t count,
                            int answer, const char *word)
{
    const struct command *command = request->command;
    char name[OPTION_VALUE_ROOM] = "";
    bool is_long = word && strncmp(word, "--", 2) == 0;
    if (is_long)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (answer == ':' && is_long)
        fail("--%s needs a value", name);
    else if (answer == ':')
        fail("-%c needs a value", optopt);
    else if (is_long && optopt)
        fail("--%s takes no value", name);
    else if (is_long)
        refuse_long(request, rows, count, name);
    else if (row_of_any(request->program, NULL, optopt))
        fail("-%c does not apply to '%s'; see '%s --help'", optopt, command_words(command), command->name);
    else
        fail("unknown option -%c; see '%s --help'", optopt, command->name);
}

/* ---- reading */

enum { LONG_OPTION = 256 }; /* getopt_long() returns this plus the number of the row, or a letter */

/* The tables of getopt_long(). `letters` begins with what `mode` says. */
static void make_tables(struct option table[COMMAND_OPTIONS_ROOM + 1], char letters[3 * COMMAND_OPTIONS_ROOM + 4],
                        const struct option_row *const *rows, size_t count, const char *mode)
{
    letters += snprintf(letters, 4, "%s", mode);
    for (size_t i = 0; i < count; i++) {
        const char *argument = rows[i]->argument;
        int takes = !argument ? no_argument : argument[0] == '[' ? optional_argument : required_argument;
        table[i] = (struct option){ rows[i]->name, takes, NULL, LONG_OPTION + (int)i };
        if (rows[i]->letter)
            *letters++ = rows[i]->letter;
        for (int colons = rows[i]->letter ? takes : 0; colons > 0; colons--)
            *letters++ = ':';
    }
    *letters = '\0';
    table[count] = (struct option){ 0 };
}

static const struct option_row *row_of(const struct option_row *const *rows, size_t count, int option)
{
    if (option >= LONG_OPTION)
        return rows[option - LONG_OPTION];
    for (size_t i = 0; i < count; i++)
        if (rows[i]->letter == option)
            return rows[i];
    return NULL;
}

static int print_version(const struct program *program)
{
    printf("%s %s\n", program->name, twin_version());
    return EXIT_DONE;
}

enum { GO_ON = -1 }; /* not an exit status: nothing has ended the program yet */

static int read_options(struct request_base *request, int argc, char **argv)
{
    const struct option_row *rows[COMMAND_OPTIONS_ROOM];
    struct option table[COMMAND_OPTIONS_ROOM + 1];
    char letters[3 * COMMAND_OPTIONS_ROOM + 4];
    size_t count = command_options(rows, request->program, request->command, true);
    make_tables(table, letters, rows, count, ":"); /* a missing value is ':', an unknown option '?' */
    opterr = 0;
    optind = 0; /* begins anew */
    for (int option; (option = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        if (option == '?' || option == ':') {
            explain_refusal(request, rows, count, option, argv[optind - 1]);
            return EXIT_ERROR;
        }
        const struct option_row *row = row_of(rows, count, option);
        if (row->kind == &option_help) {
            help_command(request->program, request->command);
            return EXIT_DONE;
        }
        if (row->kind == &option_version)
            return print_version(request->program);
        if (!option_given(request, row->name))
            request->given[request->given_count++] = row;
        if (!row->kind->read((char *)request + row->offset, row, optarg))
            return EXIT_ERROR;
    }
    request->arguments = (const char *const *)argv + optind;
    request->count = (size_t)(argc - optind);
    return GO_ON;
}

static bool check_count(const struct request_base *request)
{
    const struct command *command = request->command;
    int form = (int)strcspn(command->usage, "\n"); /* the first one */
    if (request->count < command->least)
        fail("missing argument; usage: %s %.*s", command->name, form, command->usage);
    else if (request->count > command->most)
        fail("unexpected argument \"%s\"; usage: %s %.*s", request->arguments[command->most], command->name, form,
             command->usage);
    return request->count >= command->least && request->count <= command->most;
}

int command_run(const struct program *program, const struct command *command, int argc, char **argv)
{
    messages_from(command->name);
    struct request_base *request = malloc(command->size);
    char **words = request ? malloc((size_t)argc * sizeof *words) : NULL; /* getopt_long() puts options first */
    if (!words) {
        free(request);
        return fail_status(command->name, TWIN_ENOMEM, NULL);
    }
    memcpy(words, argv, (size_t)argc * sizeof *words);
    memcpy(request, command->defaults, command->size);
    request->program = program;
    request->command = command;
    request->words = (const char *const *)words + 1;
    request->word_count = (size_t)(argc - 1);
    int status = read_options(request, argc, argv), error = command->error ? command->error : EXIT_ERROR;
    if (status == EXIT_ERROR)
        status = error;
    if (status == GO_ON) {
        bool ready = check_count(request) && (!program->prepare || program->prepare(command));
        status = ready ? command->run(request) : error;
    }
    free(words);
    free(request);
    return status;
}

/* ---- finding the command */

/* "pairs, index, bloom or plan": the commands of the program, or the verbs of a group. */
static const char *list_names(char out[256], const struct program *program, const struct command_group *group)
{
    const char *names[32];
    size_t count = 0;
    for (const struct command *const *command = program->commands; *command && count < 32; command++) {
        const char *words = group ? verb_of(*command, group) : command_words(*command);
        bool is_verb = words && strchr(words, ' ');
        if (words && !is_verb && !(*command)->hidden)
            names[count++] = words;
    }
    for (const struct command_group *g = program->groups; !group && g->name && count < 32; g++)
        names[count++] = g->name;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(out);
        snprintf(out + used, 256 - used, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    }
    return out;
}

/* The command, or verb of the group, that is spelt most like `name`; NULL when none is near. */
static const char *nearest_name(const struct program *program, const struct command_group *group, const char *name)
{
    const char *nearest = NULL;
    size_t least = 3; /* more than two slips of the finger is another word */
    for (const struct command *const *command = program->commands; *command; command++) {
        const char *words = group ? verb_of(*command, group) : command_words(*command);
        if (words && !strchr(words, ' ') && spelling_distance(name, words) < least &&
            spelling_distance(name, words) < strlen(words)) {
            least = spelling_distance(name, words);
            nearest = words;
        }
    }
    for (const struct command_group *g = program->groups; !group && g->name; g++)
        if (spelling_distance(name, g->name) < least && spelling_distance(name, g->name) < strlen(g->name)) {
            least = spelling_distance(name, g->name);
            nearest = g->name;
        }
    return nearest;
}

static int unknown(const struct program *program, const struct command_group *group, const char *name)
{
    char names[256];
    const char *nearest = nearest_name(program, group, name), *what = group ? "verb" : "command";
    if (nearest)
        return fail("unknown %s \"%s\"; did you mean \"%s\"?", what, name, nearest);
    if (group)
        return fail("unknown verb \"%s\"; expected %s", name, list_names(names, program, group));
    return fail("unknown command \"%s\"; see '%s --help'", name, program->name);
}

/* All options of a group's verbs, each once. */
static size_t group_options(const struct option_row *out[COMMAND_OPTIONS_ROOM], const struct program *program,
                            const struct command_group *group)
{
    size_t count = 0;
    for (const struct command *const *command = program->commands; *command; command++) {
        const struct option_row *rows[COMMAND_OPTIONS_ROOM];
        size_t more = verb_of(*command, group) ? command_options(rows, program, *command, true) : 0;
        for (size_t i = 0; i < more; i++) {
            size_t known = 0;
            while (known < count && strcmp(out[known]->name, rows[i]->name) != 0)
                known++;
            if (known == count && count < COMMAND_OPTIONS_ROOM)
                out[count++] = rows[i];
        }
    }
    return count;
}

/* The place of the verb in argv, argc when there is none: options may come before it. *asked becomes the kind of
 * --help or --version among these. */
static int verb_place(const struct option_kind **asked, const struct program *program,
                      const struct command_group *group, int argc, char **argv)
{
    const struct option_row *rows[COMMAND_OPTIONS_ROOM];
    struct option table[COMMAND_OPTIONS_ROOM + 1];
    char letters[3 * COMMAND_OPTIONS_ROOM + 4];
    size_t count = group_options(rows, program, group);
    make_tables(table, letters, rows, count, "+:"); /* stops at the first argument */
    opterr = 0;
    optind = 0;
    *asked = NULL;
    for (int option; (option = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        const struct option_row *row = option == '?' || option == ':' ? NULL : row_of(rows, count, option);
        if (row && (row->kind == &option_help || row->kind == &option_version))
            *asked = row->kind;
    }
    return optind;
}

static int run_group(const struct program *program, const struct command_group *group, int argc, char **argv)
{
    static char sender[OPTION_VALUE_ROOM];
    char names[256];
    const struct option_kind *asked;
    int place = verb_place(&asked, program, group, argc, argv);
    snprintf(sender, sizeof sender, "%s %s", program->name, group->name);
    messages_from(sender);
    if (asked == &option_version)
        return print_version(program);
    if (asked == &option_help && place == argc) {
        help_group(program, group);
        return EXIT_DONE;
    }
    if (place == argc)
        return fail("missing verb: %s; see '%s --help'", list_names(names, program, group), sender);
    char *verb = argv[place];
    const struct command *command = find_command(program, group->name, verb);
    if (!command)
        return unknown(program, group, verb);
    memmove(argv + 2, argv + 1, (size_t)(place - 1) * sizeof *argv); /* the verb comes first, then its options */
    argv[1] = verb;
    return command_run(program, command, argc - 1, argv + 1);
}

/* "help", "help index", "help index add". */
static int run_help(const struct program *program, int argc, char **argv)
{
    const struct command_group *group = argc > 0 ? find_group(program, argv[0]) : NULL;
    const struct command *command = argc > 0 ? find_command(program, argv[0], argc > 1 ? argv[1] : NULL) : NULL;
    if (argc == 0)
        help_program(program);
    else if (group && argc == 1)
        help_group(program, group);
    else if (command && argc <= 2)
        help_command(program, command);
    else
        return group ? unknown(program, group, argv[1]) : unknown(program, NULL, argv[0]);
    return EXIT_DONE;
}

int program_run(const struct program *program, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    char names[256];
    messages_from(program->name);
    if (!name)
        return fail("missing command: %s; see '%s --help'", list_names(names, program, NULL), program->name);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return run_help(program, 0, NULL);
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print_version(program);
    if (strcmp(name, "help") == 0)
        return run_help(program, argc - 2, argv + 2);
    if (name[0] == '-')
        return fail("unknown option %s before a command; see '%s --help'", name, program->name);
    const struct command_group *group = find_group(program, name);
    const struct command *command = find_command(program, name, NULL);
    if (group)
        return run_group(program, group, argc - 1, argv + 1);
    return command ? command_run(program, command, argc - 1, argv + 1) : unknown(program, NULL, name);
}

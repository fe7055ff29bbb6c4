/* help.c — --help, printed from the tables of commands and options.
 *
 * Text is wrapped at a fixed width, not at that of the terminal, so that the tests and the manual see the same
 * lines. */
#include "command.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 98, COLUMN = 26 }; /* of a line; where the text of an option begins */

/* The bytes up to the next blank; "(default: VALUE)" is not broken after the colon. */
static size_t word_length(const char *text)
{
    static const char opening[] = "(default: ";
    size_t skipped = strncmp(text, opening, sizeof opening - 1) == 0 ? sizeof opening - 1 : 0;
    return skipped + strcspn(text + skipped, " \n");
}

/* Prints text in lines of at most WIDTH columns, all but the first indented; `column` is where the cursor is. A line
 * end in the text stays one. */
static void print_wrapped(const char *text, int column, int indent)
{
    for (bool first = true; *text; first = false) {
        size_t length = word_length(text);
        int columns = 0; /* of the word: bytes that begin a character */
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (!first && column + 1 + columns > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first && column > indent) {
            putchar(' ');
            column++;
        }
        fwrite(text, 1, length, stdout);
        column += columns;
        text += length;
        for (; *text == '\n'; text++, column = indent)
            printf("\n%*s", text[1] == '\n' ? 0 : indent, "");
        text += *text == ' ';
    }
    putchar('\n');
}

static void print_paragraphs(const char *text)
{
    if (text) {
        putchar('\n');
        print_wrapped(text, 0, 0);
    }
}

/* A heading, and lines under it, each indented. */
static void print_lines(const char *heading, const char *lines)
{
    if (!lines)
        return;
    printf("\n%s:\n", heading);
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        printf("  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void print_option(const struct option_row *row, const struct command *command)
{
    char value[OPTION_VALUE_ROOM] = "", text[512];
    const char *argument = row->argument ? row->argument : "";
    int column = printf(row->letter ? "  -%c, --%s" : "  ", row->letter, row->name);
    if (!row->letter)
        column += printf("--%s", row->name);
    if (argument[0] == '[')
        column += printf("[=%s", argument + 1);
    else if (argument[0])
        column += printf(" %s", argument);
    if (row->kind->show)
        row->kind->show(value, (const char *)command->defaults + row->offset, row);
    snprintf(text, sizeof text, value[0] ? "%s (default: %s)" : "%s", row->help, value);
    if (column > COLUMN - 2)
        column = printf("\n") - 1;
    printf("%*s", COLUMN - column, "");
    print_wrapped(text, COLUMN, COLUMN);
}

static void print_options(const struct program *program, const struct command *command)
{
    static const char *const headings[] = { [OPTIONS_INPUT] = "Input",
                                            [OPTIONS_MATCHING] = "Matching",
                                            [OPTIONS_SEARCH] = "Search",
                                            [OPTIONS_OUTPUT] = "Output" };
    const struct option_row *rows[COMMAND_OPTIONS_ROOM];
    size_t count = command_options(rows, program, command, false);
    for (int group = 0; group < OPTION_GROUPS; group++) {
        bool any = false;
        for (size_t i = 0; i < count; i++)
            if ((int)rows[i]->group == group) {
                const char *heading = program->headings[group] ? program->headings[group] : headings[group];
                if (!any)
                    printf("\n%s:\n", heading);
                print_option(rows[i], command);
                any = true;
            }
    }
}

/* Options that are accepted only if they agree with the file. */
static void print_checked(const char *names)
{
    char name[OPTION_VALUE_ROOM], text[512] = "Options stored in the file are accepted too, and must agree with it:";
    for (size_t i = 0; names && word_at(name, names, i); i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s --%s", i ? "," : "", name);
    }
    print_paragraphs(names ? text : NULL);
}

static void print_usage(const char *name, const char *forms)
{
    for (bool first = true; *forms; first = false) {
        size_t length = strcspn(forms, "\n");
        printf("%s %s %.*s\n", first ? "Usage:" : "      ", name, (int)length, forms);
        forms += length + (forms[length] == '\n');
    }
}

void help_command(const struct program *program, const struct command *command)
{
    printf("%s - ", command->name);
    print_wrapped(command->summary, (int)strlen(command->name) + 3, 0);
    putchar('\n');
    print_usage(command->name, command->usage);
    print_paragraphs(command->about);
    print_options(program, command);
    print_checked(command->checked);
    print_lines("Exit status", command->status);
    print_lines("Examples", command->examples);
}

static void print_entry(const char *name, const char *summary)
{
    printf("  %-10s ", name);
    print_wrapped(summary, 13, 13);
}

void help_group(const struct program *program, const struct command_group *group)
{
    printf("%s %s - %s\n\nUsage: %s %s VERB [OPTION]... [ARGUMENT]...\n\nVerbs:\n", program->name, group->name,
           group->summary, program->name, group->name);
    for (const struct command *const *command = program->commands; *command; command++)
        if (verb_of(*command, group))
            print_entry(verb_of(*command, group), (*command)->summary);
    printf("\nSee '%s %s VERB --help' for the options of a verb.\n", program->name, group->name);
    print_paragraphs(group->about);
    print_lines("Exit status", group->status);
    print_lines("Examples", group->examples);
}

void help_program(const struct program *program)
{
    print_wrapped(program->about, 0, 0);
    printf("\nUsage: %s COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n", program->name);
    for (const struct command *const *command = program->commands; *command; command++)
        if (is_listed(*command))
            print_entry(command_words(*command), (*command)->summary);
    for (const struct command_group *group = program->groups; group->name; group++)
        print_entry(group->name, group->summary);
    print_entry("help", "print the help of a command: help [COMMAND [VERB]]");
    print_paragraphs(program->notes);
}

/* commands.h — the commands, each in the file of its name; main.c holds the table. */
#ifndef TWIN_COMMANDS_H
#define TWIN_COMMANDS_H

#include "support/command.h"

extern const struct command command_pairs, command_dedup, command_contamination, command_show, command_plan,
    command_serve, command_completion;
extern const struct command command_sign, command_band, command_join, command_filter;
extern const struct command command_index_create, command_index_add, command_index_remove, command_index_query,
    command_index_pairs, command_index_info, command_index_check, command_index_export, command_index_compact;
extern const struct command command_bloom_create, command_bloom_add, command_bloom_has, command_bloom_count,
    command_bloom_remove, command_bloom_merge, command_bloom_info;
extern const struct command command_mail_learn, command_mail_check, command_mail_correct, command_mail_forget,
    command_mail_info, command_mail_compact, command_mail_export, command_mail_import, command_mail_eval,
    command_mail_milter;

bool command_serve_is_here(void); /* whether the server is in this program */

/* Before serve, in a program without the server: true if this build has none. Else runs the one that has it, with the arguments
 * of main(), and does not return unless that fails: then the error has been reported. */
bool serve_program_enter(char **arguments);

#endif

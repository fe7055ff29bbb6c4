/* cli.h — what the commands of the program share. */
#ifndef TWIN_CLI_H
#define TWIN_CLI_H

#include "support/escape.h"
#include "support/messages.h"
#include "support/options.h"
#include "support/output_file.h"
#include "support/plot.h"
#include "support/progress.h"
#include "support/shared_options.h"
#include "support/word_list.h"

/* One row of main.c's table. `run` gets its own name as argv[0]; getopt starts afresh for it. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

int cmd_bloom(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_pairs(int argc, char **argv);
int cmd_plan(int argc, char **argv);

#endif

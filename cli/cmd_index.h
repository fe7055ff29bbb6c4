/* cmd_index.h — what the files of twinsift index know of each other: cmd_index.c reads options and changes an index,
 * cmd_index_ask.c asks it. */
#ifndef TWIN_CMD_INDEX_H
#define TWIN_CMD_INDEX_H

#include "cli.h"

/* What was asked. */
struct index_request {
    struct common_options common;
    const char *given[OPTION_TABLE_ROOM]; /* names of the options that were given */
    size_t given_count;
    twin_keep keep;
    bool force, per_label, show;
    uint64_t top, label, time, batch;
    const char *path;          /* the index */
    const char *const *inputs; /* what else is not an option */
    size_t count;
    uint64_t problems;
};

/* Whether an option was given: "--seed". */
bool index_given(const struct index_request *request, const char *name);

/* Opens the index, and checks that options which it fixes say what it says. NULL: the trouble is told. */
twin_index *index_open(struct index_request *request, twin_index_access access);

/* Opens the inputs behind the index; NULL: the trouble is told. */
twin_input *index_inputs(struct index_request *request, const twin_index *index, twin_progress progress);

/* Names a bad document, unless there were too many. `context` is a struct index_naming. */
struct index_naming {
    struct index_request *request;
    const twin_input *input;
};
void index_problem(void *context, const twin_problem *problem);
void index_problems_end(const struct index_request *request);

int index_query(struct index_request *request);
int index_pairs(struct index_request *request);
int index_info(struct index_request *request);
int index_check(struct index_request *request);
int index_export(struct index_request *request);

#endif

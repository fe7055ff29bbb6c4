/* index_file.h — what the verbs of twinsift index share. */
#ifndef TWIN_INDEX_FILE_H
#define TWIN_INDEX_FILE_H

#include "support/inputs.h"
#include "support/messages.h"
#include "support/record.h"

#include <stdio.h>

/* The options that an index stores: those of create. The other verbs only check them. */
#define INDEX_STORES "keep sets " TAKES_SCHEME
#define INDEX_TAKES "wait " TAKES_EXEC " " TAKES_MANNERS

/* --wait: when to give up; and whether to try again what returned `status`, after a little while. */
double patience_end(const struct shared_options *shared);
bool wait_for_lock(twin_status status, double end);

/* The index is the first argument. */
const char *index_path(const struct shared_options *shared);

/* Completes the options and opens the index; checks that options it stores have the values it has. NULL: the error has
 * been reported. */
twin_index *index_open(struct shared_options *shared, twin_index_access mode);

/* Opens the arguments after the index as inputs of the kind it has. NULL: the error has been reported. */
twin_input *index_inputs(struct shared_options *shared, const twin_index *index, twin_progress progress);

/* Prints what was added and replaced, or removed. */
void print_change(const struct shared_options *shared, const twin_index_change *change, bool removing);

/* Warns that similarities are estimates, if they are; and that matches may be missed if the threshold, unless 0, is
 * below that for which the index was planned, and how many are. */
void warn_answers(const char *path, const twin_index *index, double threshold);

/* That there are no pairs may have a simple reason, and this says so: the index has fewer documents than are needed, 1 or
 * 2. */
void remark_few_documents(const char *path, twin_index *index, uint64_t needed);

/* Says that as many queries had more candidates than were compared; 0: as many as by default. */
void warn_incomplete(const char *path, uint64_t queries, uint64_t most_compared);

/* --threshold, or 0, the index's own. */
double threshold_of(const struct shared_options *shared);

/* An index and inputs of its kind, opened. */
struct index_run {
    twin_index *index;
    twin_input *input;
    twin_exec exec;
    twin_progress progress;
};

/* Opens the index and the inputs, and calls `use` with the request: the frame of verbs that read documents. Returns the
 * exit status. */
typedef int index_use(void *request, const struct index_run *run);
int with_inputs(struct shared_options *shared, twin_index_access mode, index_use *use);

/* Opens the index and a view of it, and calls `read`: the frame of verbs that only read. Returns the exit status. */
typedef twin_status index_read(struct shared_options *shared, const twin_index *index, twin_index_view *view,
                               twin_error *error);
int with_view(struct shared_options *shared, index_read *read);

#endif

/* dedup_update.h — adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * What is to be added is first written to a file next to the index, which gets its name, INDEX-update-RUN.jsonl, when
 * the outputs of the run have theirs. From then on the run is done but for the index: whoever updates this index next
 * adds what is in the file, again if need be, and removes it. Before that nothing has changed, neither index nor
 * outputs. So a run that was killed at any point is completed by the next, and the same command, given again, either
 * does everything or finds its outputs complete. That it finds also when the run had come to its end: before the file
 * is removed, INDEX-updated says which run it was. */
#ifndef TWIN_DEDUP_UPDATE_H
#define TWIN_DEDUP_UPDATE_H

#include "dedup_output.h"
#include "support/output_file.h"

/* What distinguishes runs. */
struct update_run {
    const char *index;
    const char *output;          /* NULL: standard output, and then no run is the same */
    const char *groups, *report; /* what else it writes; NULL: nothing */
    const twin_input *input;
    twin_exec exec;
    twin_progress progress;
    bool quiet;         /* no remarks */
    uint64_t number;    /* set by update_recover(), as the next */
    bool is_repeatable; /* another run can be the same: from files, to files */
    int last;           /* INDEX-updated, held by this run; 0: not */
};

/* Begins an update: one at a time. Completes what earlier runs left. *is_done becomes whether one of them was this run,
 * or the last one was, and its outputs are still there; a remark says so. It is an error if that run had no groups and
 * this one wants them: its documents are known now, and would all be dropped. On false the error has been reported; end
 * with update_end() in any case. */
bool update_recover(bool *is_done, struct update_run *run);

/* Writes what is kept to the file, which has no name yet; it ends with update_finish(), or with
 * output_file_abandon(). */
bool update_write(struct output_file *file, const struct update_run *run, const struct dedup_result *result);

/* When the outputs are there: gives the file its name, adds what is in it, and removes it. */
bool update_finish(struct output_file *file, const struct update_run *run);

/* Lets other runs update the index; nothing, if none was begun. */
void update_end(struct update_run *run);

#endif

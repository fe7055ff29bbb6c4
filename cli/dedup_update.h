/* dedup_update.h — adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * What an index knows is dropped from then on. So a document must be in the output, for good, before it is in the index.
 * This is the order in which files go to the disk; each arrow waits for what is before it (fsync):
 *
 *     outputs ──► their folders ──► journal ──► its folder ──► INDEX-updated ──► index ──► INDEX-updated ──► journal
 *     and groups                                                "began"          batches     "done"            removed
 *     └── dedup_outputs_finish() ─┘ └───────────────────────── update_finish() ──────────────────────────────────────┘
 *
 * The journal, INDEX-update-RUN.jsonl (below), has the documents that are to be added, and says what the outputs
 * are. Whether the process is killed or the machine stops,
 *
 * - before the journal has its name, neither index nor, but for a moment, outputs have changed: the same command does
 *   the same again;
 * - after that the outputs are complete: whoever updates this index next adds what is in the journal, again if need be,
 *   and removes it. If that is the same command, there is nothing else to do for it; also when the run had come to its
 *   end, which "done" says.
 *
 * Nothing is taken for granted at that: the journal must be whole, and the outputs must be what it says. If they are not,
 * because somebody has changed them, then the run is done again. Before the first batch, which "began" knows, it begins
 * anew. Later the journal says which documents the run had kept: these are not known to it, although the index may
 * have them. What cannot be made again, since the journal is damaged or that of another command, is refused. */
#ifndef TWIN_DEDUP_UPDATE_H
#define TWIN_DEDUP_UPDATE_H

#include "dedup_output.h"

/* ---- dedup_journal.c
 *
 * INDEX-update-RUN.jsonl: the documents that a run of dedup --update adds to its index, and the outputs
 * that it has written before. It appears and goes as drawn above.
 *
 * It consists of JSON lines, so that 'twinsift index add' can read it too:
 *
 *     {"twinsift":"update","version":1,"run":"59610d52ed424531","read":300}
 *     {"output":"day.out","bytes":557940,"checksum":"0f3c4a5d2e6b7980"}          for each output of kept documents
 *     {"groups":"day.groups","bytes":7316,"checksum":"8c7d19e02b5a4f63"}         if there are groups
 *     {"number":0,"id":"a1","text":"…"}                                          for each document that is kept
 *     {"documents":266,"outputs":2,"checksum":"5b1e0d3f9a7c2846"}
 *
 * "run" is the number in the name. "read" is how many documents the inputs had, and "number" which of them it is. Names of
 * outputs are seen from the folder of the index; a byte that is not printable ASCII, and % " \, is written as %XX. Checksums are those of
 * fingerprint_contents(); the last is that of all lines before its own. */

struct journal_output {
    char *name;
    bool is_groups;
    uint64_t bytes, checksum;
};

struct journal {
    uint64_t run, read, documents;
    struct journal_output *outputs;
    size_t output_count;
};

/* What is wrong, as a part of a sentence that begins with the name of the file. */
enum { JOURNAL_FAULT_ROOM = 4500 };

/* Writes the journal of outputs that are staged; it is closed and has no name yet. On false the error has been
 * reported. */
bool journal_write(struct output_file *out, const char *path, uint64_t run, const struct dedup_result *result,
                   const struct dedup_outputs *outputs);

/* Reads a journal without its documents, once all of its bytes have been checked. On false `fault` says what is wrong.
 * End with journal_clear() in any case. */
bool journal_read(struct journal *out, const char *path, char fault[JOURNAL_FAULT_ROOM]);
void journal_clear(struct journal *journal);

/* Whether the outputs, groups only if they are wanted, are what the run has written. On false `fault` names the first that
 * is not, which becomes `wrong`. */
bool journal_outputs_are_whole(const struct journal *journal, bool with_groups, const struct journal_output **wrong,
                               char fault[JOURNAL_FAULT_ROOM]);

/* Whether outputs that are staged, of kept documents, are those that the run had written. */
bool journal_has(const struct journal *journal, const struct dedup_outputs *outputs);

/* The numbers of the documents; the caller frees them. NULL: the error has been reported. */
uint32_t *journal_numbers(const struct journal *journal, const char *path);

/* Adds the documents to an index, again if need be; if somebody else changes it, after so many seconds at most. On false
 * the error has been reported. */
bool journal_add(twin_index_change *change, const struct journal *journal, const char *path, const char *index,
                 twin_index_add_options options, double patience);

/* ---- dedup_update.c */

/* What distinguishes runs. */
struct update_run {
    const char *index;
    const char *output;                    /* NULL: standard output, and then no run is the same */
    const char *dropped, *groups, *report; /* what else it writes; NULL: nothing */
    const twin_input *input;
    twin_exec exec;
    twin_progress progress;
    const struct shared_options *shared; /* quiet, wait, include, exclude */

    /* set by update_recover() */
    uint64_t number;
    bool is_repeatable; /* another run can be the same: from files, to files */
    int last;           /* INDEX-updated, held by this run; 0: not */
    char *journal;      /* the name */
    bool is_again;      /* outputs of an interrupted run are made again, from its journal: */
    struct journal earlier;
};

/* Begins an update: one at a time. Completes what earlier runs left. *is_done becomes whether one of them was this run,
 * or the last one was, and its outputs are still there; a remark says so. It is an error if that run had no groups and
 * this one wants them: its documents are known now, and would all be dropped. On false the error has been reported; end
 * with update_end() in any case. */
bool update_recover(bool *is_done, struct update_run *run);

/* When it is known what the index has: if that is all, and this run was done before, be it not the last, its outputs would
 * be replaced by empty ones. Then *is_done becomes true, and they remain. On false the error has been reported. */
bool update_check_known(bool *is_done, const struct update_run *run, const struct known *known);

/* If outputs are made again: what the interrupted run had kept is not known to the index. On false the error has been
 * reported. */
bool update_forget(const struct update_run *run, struct known *known, const twin_collection *collection);

/* Writes the journal of outputs that are staged, which has no name yet; it ends with update_finish(), or with
 * output_file_abandon(). If outputs are made again, checks that they are as they were: they have a journal. */
bool update_stage(struct output_file *journal, const struct update_run *run, const struct dedup_result *result,
                  const struct dedup_outputs *outputs);

/* When the outputs are there: names the journal, adds what is in it, and removes it. */
bool update_finish(struct output_file *journal, const struct update_run *run);

/* Lets other runs update the index; nothing, if none was begun. */
void update_end(struct update_run *run);

#endif

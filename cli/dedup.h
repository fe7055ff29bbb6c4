/* dedup.h — the parts of twinsift dedup, as cmd_dedup.c calls them: what is known elsewhere, what an interrupted run has
 * left, the outputs and where they may be, the report, and the index that is updated. */
#ifndef TWIN_DEDUP_H
#define TWIN_DEDUP_H

#include "support/output_file.h"
#include "support/shared_options.h"

#include <stdio.h>
#include <twinsift/twinsift.h>

/* ---- dedup_known.c: documents that an index or another collection has */

/* The document elsewhere that a document of the input is similar to. */
struct known_match {
    const char *file; /* the index, or the input it is in; NULL: there is none */
    size_t id, id_length;
    bool id_is_number;
    uint32_t number; /* in the other collection, or KNOWN_IN_INDEX */
    double similarity;
};
#define KNOWN_IN_INDEX UINT32_MAX

/* One match per document of the input; begin with {0}, end with known_clear(). */
struct known {
    struct known_match *matches;
    size_t count;
    twin_buffer ids;
    bool *excluded;                /* the same as flags; NULL before known_finish() */
    struct known_indexes *indexes; /* while the input is read; NULL: there are none */
    const twin_collection *other;  /* NULL: there is none */
};
void known_clear(struct known *known);

/* Indexes that are queried with each document while the input is read; what several have is known by the first that has
 * it. */
struct known_request {
    const char **paths;
    size_t count;
    double threshold;          /* 0: that of each index */
    const twin_scheme *scheme; /* by which the documents of the input are compared with each other */
    twin_exec exec;
    bool quiet; /* no remarks about their answers */
};

/* Opens them. On false the error has been reported. */
bool known_begin(struct known *known, struct known_request request);

/* What a collection calls with each document (twin_collection_options.on_document); the context is a struct known,
 * `number` that of the worker. */
twin_status known_examine(void *context, const twin_document *document, int number, twin_error *error);

/* Closes the indexes; from now on there is a match for each document of the collection, which has been read. */
bool known_collect(struct known *known, const twin_collection *collection);

/* The same for another collection that was read by the same scheme; it must outlive `known`. */
bool known_between(struct known *known, const twin_collection *collection, const twin_input *input,
                   const twin_collection *other, twin_similar_options search);

/* Makes the flags. */
bool known_finish(struct known *known);

twin_text known_id(const struct known *known, const struct known_match *match);

/* ---- dedup_resume.c: the finished stages of a dedup in files, so that a run that was killed can be continued.
 *
 * The files are those of sign, band and join, in a folder of their own in the temporary folder. Its name is made from
 * everything that the result depends on: names, sizes and dates of the inputs and of the files in them, how they are
 * read, scheme, rule. So a run finds the files of an earlier one only if it would have made the same. */

struct resume {
    char *folder; /* NULL: nothing is kept */
    int lock;     /* the folder, locked against another run that would use it */
    twin_buffer note;
};

/* Makes or finds the folder. On false the error has been reported; call resume_clear() in any case. */
bool resume_begin(struct resume *out, const struct shared_options *shared, const twin_scheme *scheme,
                  const twin_dedup_options *rule);
void resume_clear(struct resume *resume);

/* The collection that an earlier run has read; *found is false when there is none. On false the error has been
 * reported. */
bool resume_collection(twin_collection **out, bool *found, const struct resume *resume, const twin_input *input,
                       twin_collection_options options);

/* Keeps a collection that has been read. */
bool resume_keep(const struct resume *resume, const twin_collection *collection);

/* twin_dedup_find() from what an earlier run has found, keeping what is found. */
bool resume_find(twin_dedup **out, const struct resume *resume, const twin_collection *collection,
                 const twin_dedup_options *options);

/* All is done: removes the files. */
void resume_end(struct resume *resume);

/* ---- dedup_output.c: what is written, and where: kept records, groups, a report */

/* A stage of the run. */
struct dedup_stage {
    const char *name;
    double seconds;
    uint64_t bytes; /* that it read or wrote; 0: that says nothing about it */
};

/* How the result was found. */
enum { MOST_DEDUP_STAGES = 8 };
struct dedup_run {
    struct dedup_stage stages[MOST_DEDUP_STAGES];
    size_t stage_count;
    const twin_dedup_audit *audit;   /* NULL: there was none */
    twin_progress progress;          /* receives "writing" */
    bool by_field;                   /* a field decides which documents are kept */
    const uint64_t *seed;            /* NULL: it would reveal a secret key */
    const struct request_base *base; /* the command */
    const twin_scheme *scheme;
    bool by_edits; /* documents are compared as texts */
};

/* Ends a stage that began at *since, in seconds, and sets that to now. */
void end_dedup_stage(struct dedup_run *run, double *since, const char *name, uint64_t bytes);

/* What was found, and in what. */
struct dedup_result {
    const twin_input *input;
    const twin_collection *collection;
    const twin_dedup *dedup;
    const struct known *known;
    const struct dedup_run *run; /* how it was found; NULL: it is not known */
    twin_exec exec;              /* for writing; {0}: one worker */
    bool of_dropped;             /* documents that are dropped are written instead of kept ones */
    twin_part part;              /* of the inputs that are written, one in a file; {0}: all of them */
    bool quiet;                  /* no remarks */
};

/* Whether one header is that of all tables among the inputs, so that their records can be in one output. On false the
 * error has been reported. */
bool tables_have_one_header(const twin_input *input);

/* Outputs that are written and have no names yet. */
struct dedup_output {
    struct output_file file;
    size_t made; /* the length of the path of the first folder that was made for it; 0: none */
};
struct dedup_outputs {
    struct dedup_output *items; /* of kept documents, of dropped ones, and of groups; some may hold nothing */
    size_t kept, count;         /* of kept documents; of these and of dropped ones */
    char **names;               /* of those of kept documents in a folder; NULL: in none */
    const struct dedup_result *standard; /* unless NULL, is written to standard output when the others are finished */
};

/* Where documents and groups are written, whole or not at all; NULL: they are not. */
struct dedup_targets {
    const char *kept;    /* if it ends in a slash, one file per input in that folder; "-": standard output */
    const char *dropped; /* one file */
    const char *groups;
};

/* Writes documents: of files of lines the records, byte for byte, each with a line end; of folders and sets the ids, one
 * per line. Of groups a JSON line each: the id that is kept and those dropped for it, with their similarities; and one for
 * each document that an index knows, with the id there and the name of the index.
 *
 * On false the error has been reported, and whatever was there before is unchanged. End with one of the next two;
 * `result` must live until then. */
bool dedup_outputs_stage(struct dedup_outputs *out, const struct dedup_result *result, struct dedup_targets targets);

/* Gives the outputs their names, and puts them on the disk. On false the error has been reported. */
bool dedup_outputs_finish(struct dedup_outputs *outputs);

/* Removes them; nothing, if there are none. */
void dedup_outputs_abandon(struct dedup_outputs *outputs);

/* Stages and finishes. */
bool write_dedup_outputs(const struct dedup_result *result, struct dedup_targets targets);

/* Says so if documents have the same id: groups name them by it. */
void remark_repeated_ids(const twin_collection *collection);

/* Writes an HTML page with counts, plots and examples. */
bool write_report(const struct dedup_result *result, const char *path);

/* The beginning of a page, up to its heading, and the table of what was run: first a row with the command, last the version
 * and the date. */
void write_page_head(FILE *out, const char *title, const char *heading);
void write_page_command(FILE *out, const struct request_base *base);
void write_page_version(FILE *out);

/* Prints counts, the largest groups, the audit, stages and memory on standard error. */
void print_summary(const struct dedup_result *result);

/* Prints counts, stages, the audit and memory on standard error as one JSON object; `run` must be known. */
void print_stats(const struct dedup_result *result);

/* "52 MB/s", or nothing if bytes say nothing about the stage. */
enum { RATE_ROOM = 32 };
const char *write_stage_rate(char out[RATE_ROOM], const struct dedup_stage *stage);

/* "83.78 % of the documents; saves 64.9 MB": the bytes are those of records, where there are any. */
const char *write_kept_share(char *out, size_t room, const twin_dedup_counts *counts);

/* Fills `out` with the largest groups, largest first, of equal ones the earlier; returns how many. */
enum { LARGEST_GROUPS = 10 };
size_t largest_groups(const twin_dedup_group *out[LARGEST_GROUPS], const twin_dedup *dedup);

/* How many bytes of a text to show: at most `most`, and whole characters. */
size_t excerpt_length(twin_text text, size_t most);

/* ---- dedup_paths.c: where is written, and that this is nothing that is read */

/* What a run writes, and what it reads besides its inputs. */
struct dedup_paths {
    const char *output, *dropped, *groups, *report; /* NULL: none; "-": standard output */
    const char *update;
    const struct option_texts *against; /* NULL: none */
    const struct request_base *base;    /* the inputs, or the files of steps, as they were given */
};

/* Whether each output has a folder, nothing that is read would be overwritten, and no two outputs are one file; on
 * false the error has been reported. To be called before anything is read: it may take hours to reach the output. */
bool dedup_paths_are_good(const struct dedup_paths *paths, const twin_input *input);

/* Says if one file is given twice, be it under another name or in a folder: nobody means that. */
void remark_same_inputs(const twin_input *input);

/* The output of each input in a folder, which ends in a slash, or in its subfolders if inputs have the same name. Free it
 * with free_names(). NULL: out of memory. */
char **names_in_folder(const char *folder, const twin_input *input);
void free_names(char **names, const twin_input *input);

/* ---- dedup_update.c: adding to an index what was kept, so that an interrupted run can be repeated.
 *
 * What an index knows is dropped from then on. So a document must be in the output, for good, before it is in the index.
 * This is the order in which files go to the disk; each arrow waits for what is before it (fsync):
 *
 *     outputs ──► their folders ──► journal ──► its folder ──► INDEX-updated ──► index ──► INDEX-updated ──► journal
 *     and groups                                                "began"          batches     "done"            removed
 *     └── dedup_outputs_finish() ─┘ └───────────────────────── update_finish() ──────────────────────────────────────┘
 *
 * Standard output is one of the outputs where the shell has sent it to a file (output_standard_sync()).
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

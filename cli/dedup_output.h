/* dedup_output.h — what twinsift dedup writes, and where: kept records, groups, a report. */
#ifndef TWIN_DEDUP_OUTPUT_H
#define TWIN_DEDUP_OUTPUT_H

#include "dedup_known.h"
#include "support/output_file.h"

#include <stdio.h>
#include <twinsift/twinsift.h>

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
    bool by_field;                   /* a field decides which documents stay */
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
    bool of_dropped;             /* documents that are dropped are written instead of those that stay */
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
 * per line. Of groups a JSON line each: the id that stays and those dropped for it, with their similarities; and one for
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

/* The beginning of a page, up to its heading, and of its table of what was run: a row with the command. */
void write_page_head(FILE *out, const char *title, const char *heading);
void write_page_command(FILE *out, const struct request_base *base);

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

/* ---- dedup_records.c: the records of one input */

/* Documents begin .. end - 1 are those of one input. */
struct dedup_range {
    uint32_t source;
    size_t begin, end;
};

/* Whether the document is one of those that are written. */
static inline bool dedup_is_chosen(const struct dedup_result *result, size_t document)
{
    return (twin_dedup_keepers(result->dedup)[document] == document) != result->of_dropped;
}

/* About how many bytes those that are written have. */
uint64_t dedup_record_bytes(const struct dedup_result *result, struct dedup_range range);

/* Writes them byte for byte, each with a line end. On false the error has been reported. */
bool write_dedup_records(FILE *out, const struct dedup_result *result, struct dedup_range range);

/* ---- dedup_examples.c: the examples in the report */

/* Writes them as parts of an HTML page: the largest groups, and the least similar pairs, within the collection and with
 * what is known elsewhere. */
void write_dedup_examples(FILE *out, const struct dedup_result *result);

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

#endif

/* steps.h — the files of sign, band, join and filter, as arguments of these commands.
 *
 * Each file begins with letters that identify its kind, so arguments may come in any order; only that of the files of
 * signatures counts, for it is the order of the documents. Such a file has a note with the names and options of its
 * inputs, which are opened again when documents must be read. */
#ifndef TWIN_STEPS_H
#define TWIN_STEPS_H

#include "support/shared_options.h"

#include <stdio.h>

/* What band, join and filter have in common as commands (command.h). */
#define STEPS_COMMAND                                                                                                \
    .shared = "memory temp " TAKES_EXEC " no-sync quiet", .least = 1, .most = SIZE_MAX,                              \
    .status = "0  done\n"                                                                                            \
              "2  error"

enum step_kind { STEP_SIGNATURES, STEP_CANDIDATES, STEP_PAIRS, STEP_KINDS };

/* Files of one kind, with their names. */
struct step_files {
    const char **names;
    twin_source *sources; /* the context of each is its FILE */
    size_t count;
};

struct steps {
    struct step_files of[STEP_KINDS];
    twin_buffer *notes; /* of the files of signatures */
    twin_input *input;
    twin_collection *collection;
};

/* Opens the arguments, and reads the signatures as a collection. `kinds` are those that are wanted beside signatures,
 * as 1 << kind. On false the error has been reported; call steps_clear() in any case. */
bool steps_open(struct steps *out, const struct shared_options *shared, unsigned kinds, twin_exec exec,
                twin_progress progress);
void steps_clear(struct steps *steps);

/* The files of a kind as the library wants them; and the report of what failed in them. */
twin_saved_files steps_saved(const struct steps *steps, enum step_kind kind, size_t *failed);
void steps_fail(const struct steps *steps, enum step_kind kind, size_t failed, twin_status status,
                const twin_error *error);

/* Appends the note of the inputs, which are the arguments; and how long each of them is, once they are open. */
bool steps_note(twin_buffer *out, const struct shared_options *shared);
bool steps_note_sizes(twin_buffer *out, const twin_input *input);

/* Names inputs that are longer than when they were signed. */
void steps_remark_grown(const struct steps *steps);

/* Whether an output was given, can be written, and is not one of the arguments; on false the error has been
 * reported. */
bool steps_output_is_good(const char *output, const struct request_base *base);

/* Whether no signatures of inputs other than the arguments are in the output: another task may have written them there
 * by mistake, and no later step could know of the documents that are lost. On false the error has been reported. */
bool steps_keep_signatures(const char *output, const struct request_base *base);

/* Write a file of one of the kinds, whole or not at all; on false the error has been reported. Unless `base` is NULL,
 * signatures are kept as above, also if another task has written them in the meantime. */
bool steps_write_signatures(const char *path, const struct request_base *base, const twin_collection *collection,
                            const twin_buffer *note);
bool steps_write_candidates(const char *path, const twin_collection *collection, twin_similar_options search,
                            twin_part part);

/* What a file of pairs is made of. Unless candidates.failed becomes SIZE_MAX, what is wrong with the candidates is in
 * `error`, and has not been reported. */
struct step_pairs {
    const twin_collection *collection;
    twin_saved_files candidates;
    const twin_dedup_options *rule;
    twin_part part;
};
bool steps_write_pairs(const char *path, const struct step_pairs *pairs, twin_error *error);

#endif

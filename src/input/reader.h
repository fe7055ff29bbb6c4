/* reader.h — reads all documents of an input on several workers, with results in the order of
 * the input.
 *
 * Each worker takes a chunk, has every document of it processed into results of its own, and
 * then waits for the chunk's turn to have them collected. So documents are processed in parallel
 * and the outcome is that of one worker. */
#ifndef TWIN_INPUT_READER_H
#define TWIN_INPUT_READER_H

#include <twinsift/exec.h>
#include <twinsift/input.h>

struct twin__reader;

struct twin__reader_options {
    const twin_input *input;
    twin_exec exec;
    bool strict;             /* the first problem ends the reading with TWIN_EFORMAT and a sentence */
    const twin_stage *stage; /* for the watch of the call (base/stages.h) */

    /* By several workers at once: drops a worker's results before a new chunk; adds those of a
     * document, whose line is counted within the chunk, and counts up its ill-formed sequences. A
     * failure ends the reading; `error` may be left empty. */
    void (*begin)(void *context, int worker);
    twin_status (*document)(void *context, int worker, const twin_document *document, uint64_t *ill_formed,
                            twin_error *error);

    /* By one at a time, in the order of the input: takes over a worker's results, with positions
     * and ids made final by twin__reader_finish(); is called for the first TWIN_PROBLEMS_KEPT
     * problems, and for as many ill-formed documents, or NULL. Those of a chunk come before its
     * results. */
    twin_status (*collect)(void *context, int worker, struct twin__reader *reader, twin_error *error);
    void (*problem)(void *context, const twin_problem *problem);
    void *context;
};

/* How many there were, also of those that were not reported. */
struct twin__read_counts {
    uint64_t problems, ill_formed; /* documents left out, and documents with ill-formed UTF-8 */
};

/* Reads the whole input. `counts` may be NULL. Of several failures the one that comes first in the input is
 * returned, with its sentence. */
twin_status twin__read_input(struct twin__read_counts *counts, const struct twin__reader_options *options,
                             twin_error *error);

/* Counts the line of a position of the chunk from the start of its source. A document without an
 * id (`id` has NULL bytes) is named by that line; the name lives until the next call. */
twin_status twin__reader_finish(twin_position *position, twin_text *id, struct twin__reader *reader);

/* The failure that a problem is in strict mode: TWIN_EFORMAT, "FILE:LINE:BYTE: message". */
twin_status twin__fail_problem(twin_error *error, const twin_input *input, const twin_problem *problem);

#endif

/* ingest.h — the documents of an input, prepared on many workers, taken over in order. */
#ifndef TWIN_INDEX_INGEST_H
#define TWIN_INDEX_INGEST_H

#include "index/handle.h"

/* What a worker does with a document of an input, and what is done with its results, one piece after the other. */
struct twin__index_ingest_options {
    const twin_index *index;
    const twin_input *input;
    twin_exec exec;
    bool strict;
    /* The worker's part; its results are in a place of its own. */
    twin_status (*work)(void *context, int worker, const twin_index_document *document, twin_position position);
    void (*restart)(void *context, int worker);
    /* Takes the worker's results over; lines are to be raised by `line_base`. */
    twin_status (*hand_in)(void *context, int worker, uint64_t line_base, twin_error *error);
    void (*problem)(void *context, const twin_problem *problem);
    void *context, *problem_context;
    const twin_stage *stage;
    twin_progress progress;
};
twin_status twin__index_ingest(uint64_t *problems, const struct twin__index_ingest_options *feeding,
                               twin_error *error);

#endif

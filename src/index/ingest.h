/* ingest.h — the documents of an input, prepared on many workers, taken over in order. */
#ifndef TWIN_INDEX_INGEST_H
#define TWIN_INDEX_INGEST_H

#include "index/handle.h"
#include "input/reader.h"

/* What is done with the documents of an input, as in input/reader.h. For sets, which have ids, `collect` gets no
 * reader. */
struct twin__index_ingest_options {
    const twin_index *index;
    const twin_input *input;
    twin_exec exec;
    bool strict;
    void (*begin)(void *context, int worker);
    twin_status (*process)(void *context, int worker, const twin_index_document *document, twin_position position,
                           uint64_t *ill_formed, twin_error *error);
    twin_status (*collect)(void *context, int worker, struct twin__reader *reader, twin_error *error);
    void (*problem)(void *context, const twin_problem *problem);
    void *context, *problem_context;
    const twin_stage *stage;
};
twin_status twin__index_ingest(struct twin__read_counts *counts, struct twin__index_ingest_options *options,
                               twin_error *error);

#endif

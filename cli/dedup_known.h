/* dedup_known.h — documents that an index or another collection has. */
#ifndef TWIN_DEDUP_KNOWN_H
#define TWIN_DEDUP_KNOWN_H

#include "support/shared_options.h"

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

/* Indexes that are queried with each document while the input is read; what one has stays known by the first that has
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
bool known_between(struct known *known, const twin_collection *collection, const twin_collection *other,
                   twin_similar_options search);

/* Makes the flags. */
bool known_finish(struct known *known);

twin_text known_id(const struct known *known, const struct known_match *match);

#endif

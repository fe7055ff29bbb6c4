/* dedup_known.h — documents that an index or another collection has, and adding to an index what it has not. */
#ifndef TWIN_DEDUP_KNOWN_H
#define TWIN_DEDUP_KNOWN_H

#include "support/shared_options.h"

/* The document elsewhere that a document of the input is similar to. */
struct known_match {
    const char *file; /* the index, or the input it is in; NULL: there is none */
    size_t id, id_length;
    bool id_is_number;
    double similarity;
};

/* One match per document of the input; begin with {0}, end with known_clear(). */
struct known {
    struct known_match *matches;
    size_t count, capacity;
    twin_buffer ids;
    bool *excluded; /* the same as flags; NULL before known_finish() */
};
void known_clear(struct known *known);

/* Queries an index for each document of the input; what an earlier index knows stays known by that one. `threshold` 0: that
 * of the index. On false the error has been reported. */
bool known_find(struct known *known, const char *path, const twin_input *input, double threshold, twin_exec exec,
                twin_progress progress);

/* The same for another collection that was read by the same scheme; its input must outlive `known`. */
bool known_between(struct known *known, const twin_collection *collection, const twin_collection *other,
                   twin_exec exec, twin_progress progress);

/* Makes the flags; `documents` is the number of documents of the collection read from the same input. */
bool known_finish(struct known *known, size_t documents);

/* The id of the match. */
twin_text known_id(const struct known *known, const struct known_match *match);

/* Adds the documents that stay to an index, in batches. On false the error has been reported. */
bool add_kept(const char *path, const twin_collection *collection, const twin_dedup *dedup, twin_exec exec);

#endif

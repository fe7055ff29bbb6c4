/* edit_join_private.h — what the files of the edit join, and its audit, share: edit_join.c decides when two texts are
 * near and searches for pairs class by class, in one of three ways: edit_tiles.c compares all short texts,
 * edit_keys.c looks up what near texts must share, edit_forest.c finds most. */
#ifndef TWIN_JOIN_EDIT_JOIN_PRIVATE_H
#define TWIN_JOIN_EDIT_JOIN_PRIVATE_H

#include <twinsift/edit_join.h>

#include "join/provided.h"
#include "join/similar_private.h"

/* Fills in what is zero and checks the rest, the collection too. */
twin_status twin__edit_join_complete(twin_edit_join_options *options, const twin_collection *collection,
                                     twin_error *error);

/* The longest text, in characters, that can be near to one of `length`. */
size_t twin__edit_join_reach(twin_edit_join_options options, size_t length);

/* The indel ratio of two texts that are near, and -1 of others. */
twin_status twin__edit_join_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                    twin_edit_join_options options);

/* ---- a class ---- */

/* Distinct documents in order of their length, of which each of the first `middle` is sought among those after it. */
struct twin__edit_class {
    const uint32_t *documents;
    size_t middle, count;
    const struct twin__provider *provider; /* of their texts */
    twin_edit_join_options options;        /* complete */
    twin_edit_scratch *scratch;            /* one per worker */
    twin_similar *similar;                 /* gets the counts, and the pairs in no certain order: */
                                           /* packed, or, if a forest finds them, as matches */
};

static inline size_t twin__edit_class_length(const struct twin__edit_class *class, size_t position)
{
    return class->provider->size(class->provider, class->documents[position]);
}

/* Whether the lengths of the texts at two positions allow them to be near; `context` is the class. */
bool twin__edit_class_allows(const void *context, uint32_t position, uint32_t other);

/* Pairs of positions become pairs of documents. */
void twin__edit_class_name(const struct twin__edit_class *class, struct twin__pairs *pairs);

/* Compares pairs of documents, adds those that are near to `out`, and adds up the time it takes. */
twin_status twin__edit_class_verify(twin_matches *out, const struct twin__edit_class *class,
                                    const struct twin__pairs *pairs, twin_error *error);

/* ---- edit_keys.c */

/* Adds all near pairs of a class to those found. *done becomes false, and nothing is added, when the edits are too many
 * for this, the texts too long, or when it is expected to take longer than `worth` nanoseconds, or, if that is 0,
 * longer than a forest. */
twin_status twin__edit_join_by_keys(bool *done, const struct twin__edit_class *class, double worth,
                                    twin_error *error);

#endif

/* edit_join_private.h — what the files of the edit join, and its audit, share: edit_join.c decides when two texts are near
 * and searches for pairs class by class, edit_keys.c searches a class without missing any. */
#ifndef TWIN_JOIN_EDIT_JOIN_PRIVATE_H
#define TWIN_JOIN_EDIT_JOIN_PRIVATE_H

#include <twinsift/edit_join.h>

/* Fills in what is zero and checks the rest, the collection too. */
twin_status twin__edit_join_complete(twin_edit_join_options *options, const twin_collection *collection,
                                     twin_error *error);

/* The longest text, in characters, that can be near to one of `length`. */
size_t twin__edit_join_reach(twin_edit_join_options options, size_t length);

/* The indel ratio of two texts that are near, and -1 of others. */
twin_status twin__edit_join_compare(double *out, twin_edit_scratch *scratch, twin_text a, twin_text b,
                                    twin_edit_join_options options);

/* ---- edit_keys.c */

/* Distinct documents in order of their length, of which those before `middle` are sought: by themselves and by the
 * others. */
struct twin__range {
    const twin_collection *collection;
    const uint32_t *documents;
    size_t middle, count;
};

/* Adds all near pairs of a class to the matches, in no certain order. When the edits are too many for this, the texts too
 * long, or too much alike without being near, *done becomes false and nothing is added. */
twin_status twin__edit_join_by_keys(bool *done, twin_similar *similar, struct twin__range range,
                                    twin_edit_join_options options, twin_error *error);

#endif

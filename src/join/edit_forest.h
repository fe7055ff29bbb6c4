/* edit_forest.h — pairs of a class of texts that are near, through a forest. */
#ifndef TWIN_JOIN_EDIT_FOREST_H
#define TWIN_JOIN_EDIT_FOREST_H

#include "join/edit_join_private.h"

/* What it keeps from class to class: signatures, which two classes share, and memory. */
struct twin__edit_forest;
twin_status twin__edit_forest_create(struct twin__edit_forest **out, size_t documents, int workers);
void twin__edit_forest_free(struct twin__edit_forest *forest);

/* Adds near pairs of the class to its matches, in no certain order. Classes follow each other in one order of
 * documents. */
twin_status twin__edit_forest_search(struct twin__edit_forest *forest, const struct twin__edit_class *class,
                                     twin_error *error);

#endif

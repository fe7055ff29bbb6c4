/* edit_tiles.h — all pairs of short texts that are near, by comparing all that their lengths allow. */
#ifndef TWIN_JOIN_EDIT_TILES_H
#define TWIN_JOIN_EDIT_TILES_H

#include "join/edit_join_private.h"
#include "join/near_pairs.h"
#include "join/short_texts.h"

/* Replaces `out` by the pairs that are near, in no certain order, of each of the first `middle` texts and those after
 * it. The options are complete, and allow fewer than 64 edits or any number. */
twin_status twin__tiles_compare(struct twin__near_pairs *out, const struct twin__short_texts *texts, size_t middle,
                                twin_edit_join_options options);

/* How long that takes, roughly, in nanoseconds on a processor with AVX2. It is the same on every machine, for the
 * choice of a method depends on it. `firsts` and `counts` are how many of the first ones, and of all, have each
 * length. */
double twin__tiles_cost(const size_t firsts[TWIN__EDIT_WORD + 1], const size_t counts[TWIN__EDIT_WORD + 1],
                        twin_edit_join_options options);

#endif

/* edit_tiles.h — all pairs of short texts that are near, by comparing all that their lengths allow. */
#ifndef TWIN_JOIN_EDIT_TILES_H
#define TWIN_JOIN_EDIT_TILES_H

#include "join/edit_join_private.h"
#include "join/near_pairs.h"
#include "join/short_texts.h"

struct twin__tiles {
    const struct twin__short_texts *patterns, *others;
    size_t pattern_count; /* of the patterns, those before this one */
    bool by_order; /* `others` has the patterns at its beginning, and each is compared with those after it only */
    twin_edit_join_options options; /* complete; fewer than 64 edits, or any number */
};

/* Replaces `out` by the pairs of a pattern and another text that are near: unless by_order, those where the pattern is
 * the document with the lower number. */
twin_status twin__tiles_compare(struct twin__near_pairs *out, const struct twin__tiles *tiles);

/* How long that takes, roughly, in nanoseconds on a processor with AVX2. It is the same on every machine, for the choice
 * of a method depends on it. `patterns` and `others` are how many there are of each length; in order, as above. */
double twin__tiles_cost(const size_t patterns[TWIN__EDIT_WORD + 1], const size_t others[TWIN__EDIT_WORD + 1],
                        twin_edit_join_options options);

#endif

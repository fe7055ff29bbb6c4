/* edit_join.h — lookalikes by edit distance: the texts of a collection that few edits part.
 *
 * Two texts are near when their indel ratio (twin_edit_ratio) is high enough, when few enough edits
 * (twin_edit_distance) turn one into the other, or both, whichever is asked; characters of the normalised texts
 * count. Texts of like length are looked up in a forest by the MinHash of their short runs of characters, and what
 * comes near is compared exactly. What comes out is true; what is missing, the forest did not find. Texts of up to 64
 * characters are compared with all others of such lengths, or, within four edits and up to 256 characters, looked up by
 * what they must share, segments or deletions, and none is missed, unless that would take much longer than the forest. See
 * docs/decisions/0042-edit-distance-join.md for how likely that is, and what it costs. */
#ifndef TWINSIFT_EDIT_JOIN_H
#define TWINSIFT_EDIT_JOIN_H

#include <twinsift/edit.h>
#include <twinsift/similar.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct twin_edit_join_options {
    double ratio;     /* the least indel ratio, up to 1; 0: any if edits are limited, else 0.8 */
    bool limit_edits; /* whether `edits` applies */
    size_t edits;     /* the most edits; 0: only equal texts */
    size_t grams;     /* characters of a run; 0: two to five, by the length of the texts */
    twin_minhash_options
        minhash; /* of the runs; 128 slots find 99 of 100 pairs at a ratio of .95 at the very least */
    bool packed; /* keep pairs in half the memory where that is possible; then twin_similar_matches() has none */
    twin_exec exec;
    twin_progress progress; /* reports stage "pairing" */
} twin_edit_join_options;

/* Finds the near pairs among the distinct documents of a collection of texts (twin_collection_options.texts), which
 * must outlive the result; release with twin_similar_free(). The similarity of a match is the indel ratio. Of very many
 * lookalikes that are not near enough each document is compared with the likeliest only, so the time grows with the
 * documents and with the pairs found, not with the square. TWIN_EINVAL when the collection is not of texts. */
TWIN_API twin_status twin_edit_join_find(twin_similar **out, const twin_collection *collection,
                                         twin_edit_join_options options, twin_error *error);

#ifdef __cplusplus
}
#endif
#endif
